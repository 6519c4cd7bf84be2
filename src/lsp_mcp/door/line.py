"""A connection to a daemon, one message per line: `Line`."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from lsp_mcp.door.place import NO_FOLDER, connect, folder
from lsp_mcp.door.request import DaemonRequest, where_neovim_is

_HELLO_TIMEOUT = 60.0  # seconds for a daemon to begin to serve
_SILENCE = 5.0  # seconds without a message while one is awaited, after which the daemon may be stuck
_LONGEST_NAME = 1000  # characters of an argument that names a file
_TRIES = 6  # daemons tried in a row; one that is just ending may have taken the connection
Json = dict[str, Any]


class RefusedError(Exception):
    """There is no daemon, or it does not serve this client: the message says why.

    `is_told`: the daemon says so; a client that tries without it gets the same answer.
    """

    is_told = False


def expect(request: DaemonRequest, message: bytes) -> None:
    """Tell a daemon that is still starting which files the call in `message` may name, so that it begins with them."""
    named = _that_may_name_files(message)
    to_daemon = connect(request, starts=False) if named else None
    if to_daemon is not None:
        with to_daemon, contextlib.suppress(OSError):  # it has ended, and the next one does without
            to_daemon.sendall(json.dumps({"expect": named}).encode() + b"\n")


def _that_may_name_files(message: bytes) -> list[str]:
    try:
        arguments = json.loads(message)["params"]["arguments"].values()
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return []  # not a call
    return [one for one in arguments if isinstance(one, str) and "." in one and len(one) < _LONGEST_NAME]


class Line:
    """A connection to a daemon that was asked to serve; usable once it has agreed."""

    def __init__(
        self, request: DaemonRequest, *, resumed: bool = False, kept: Json | None = None, starts: bool = True
    ) -> None:
        """Connect, starting a daemon if there is none, unless not `starts`.

        `resumed`: another daemon served the client before, and passed on `kept`.

        Raises:
            RefusedError: that is not possible.
        """
        hello = {
            "served": request.served,
            "parts": request.parts,
            "flags": request.client,
            "call": request.call,
            "batch": request.batch,
            "terminal": sys.stdout.isatty(),
            "pid": os.getpid(),
            "resumed": resumed,
            "kept": kept or {},
            "around": where_neovim_is(os.environ),
        }
        self._request = request
        self._starts = starts
        self._hello = json.dumps(hello).encode() + b"\n"
        self._has_agreed = False
        # The tools that may change something, once it has agreed; `x*` means all names that begin with `x`.
        self.writing: frozenset[str] = frozenset()
        self._connect()

    def _connect(self) -> None:
        to_daemon = connect(self._request, starts=self._starts)
        if to_daemon is None:
            if folder() is None:
                raise RefusedError(f"{NO_FOLDER}; see: lsp-mcp doctor")
            raise RefusedError("cannot start a daemon" if self._starts else "no daemon is running")
        self._socket = to_daemon
        self._incoming = _Incoming(to_daemon, self._request.name)
        self._stream = io.BufferedReader(self._incoming)

    def agree(self) -> None:
        """Wait until the daemon serves; idempotent.

        Raises:
            RefusedError: it does not.
        """
        if self._has_agreed:
            return
        answer: Json = {}
        for last in (*[False] * (_TRIES - 1), True):
            try:
                self.send(self._hello)
                self._incoming.patience = _HELLO_TIMEOUT
                answer = self.message()
                self._incoming.patience = None
            except TimeoutError:
                self.close()
                raise RefusedError("the daemon does not answer; end it: lsp-mcp daemon stop") from None
            except (OSError, ValueError):
                answer = {}
            if answer or last:
                break
            self.close()
            self._connect()
        if not answer.get("serves"):
            self.close()
            refusal = RefusedError(str(answer.get("refused") or "the daemon exited before it was ready; see its log"))
            refusal.is_told = "refused" in answer
            raise refusal
        self.writing = frozenset(answer.get("writing", ()))
        self._has_agreed = True

    def message(self) -> Json:
        """The next message, parsed; empty when the daemon has ended.

        Raises:
            ValueError: it is not JSON.
            TimeoutError: it did not come in time.
        """
        found = json.loads(self._stream.readline() or b"{}")
        return found if isinstance(found, dict) else {}

    @property
    def has_ended(self) -> bool:
        """Whether the daemon is known to have ended; its last messages may still be readable."""
        poll = select.poll()
        poll.register(self._socket, 0)
        return any(events & (select.POLLHUP | select.POLLNVAL) for _, events in poll.poll(0))

    def send(self, line: bytes) -> None:
        """Raises OSError: the daemon has ended."""
        self._incoming.wake()
        self._socket.sendall(line)

    def read(self) -> bytes:
        """The next message; empty when the daemon has ended, even within a message."""
        try:
            line = self._stream.readline()
        except OSError:
            return b""
        return line if line.endswith(b"\n") else b""

    def await_while(self, is_awaited: Callable[[], bool]) -> None:
        """From now on messages are awaited only while this is true; it is asked whenever something is sent."""
        self._incoming.is_awaited = is_awaited

    def end_input(self) -> None:
        """Announce that the client sends nothing more."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has ended

    def abort(self) -> None:
        """Disconnect: a reader in another thread sees the daemon's end."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended

    def close(self) -> None:
        """Idempotent."""
        self._stream.close()
        self._socket.close()


class _Incoming(io.RawIOBase):
    """The data from a daemon. One that is stuck while a message is awaited is killed, which is the end of the data."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.patience: float | None = None  # seconds for the next data
        self.is_awaited: Callable[[], bool] = lambda: True
        self._connection = connection
        self._name = name
        self._woken, self._waking = socket.socketpair()
        self._waking.setblocking(False)

    def readable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase`. Raises TimeoutError: nothing came within `patience`."""
        self._wait()
        return self._connection.recv_into(buffer)

    def wake(self) -> None:
        """A message may be awaited from now on; for any thread."""
        with contextlib.suppress(OSError):  # it was woken often enough, or is closed
            self._waking.send(b"w")

    def close(self) -> None:
        """See `io.RawIOBase`."""
        self._woken.close()
        self._waking.close()
        super().close()

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        silence = None
        since = begun = time.monotonic()
        was_awaited = True
        while True:
            now = time.monotonic()
            is_awaited = self.is_awaited()
            if is_awaited and not was_awaited:
                since = now
            was_awaited = is_awaited
            found = {number for number, _ in poll.poll(max(0.0, since + _SILENCE - now) * 1000 if is_awaited else None)}
            if self._connection.fileno() in found:
                return
            if found:
                self._woken.recv(1024)
                continue
            if silence is None:
                from lsp_mcp.door.stuck import Silence

                silence = Silence(self._name)
            silence.look(self._connection)
            since = time.monotonic()
            if self.patience is not None and since - begun >= self.patience:
                raise TimeoutError
