"""Messages between a client on stdio and its daemon, also across the end of one daemon and the start of the next."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import Any, BinaryIO

from lsp_mcp.door.asked import Asked
from lsp_mcp.door.place import connect

_HELLO_TIMEOUT = 30.0  # seconds for a daemon to begin to serve
_TRIES = 6  # daemons that are asked in a row; one that ends just now may have taken the connection
_MOST_DEATHS = 5  # daemons that may end over the same calls
Json = dict[str, Any]


class RefusedError(Exception):
    """There is no daemon, or it does not serve this client: the message says why.

    `is_told`: the daemon says that; whoever tries without it hears the same.
    """

    is_told = False


class Line:
    """A connection to a daemon that has agreed to serve: whole messages, one a line."""

    def __init__(self, asked: Asked, *, resumed: bool = False) -> None:
        """Connect, starting a daemon if there is none.

        `resumed`: the client was served by another one before.

        Raises:
            RefusedError: that is not possible.
        """
        for last in (*[False] * (_TRIES - 1), True):
            to_daemon = connect(asked)
            if to_daemon is None:
                raise RefusedError("no daemon can be started")
            self._socket, self._stream = to_daemon, to_daemon.makefile("rb")
            try:
                answer = self._introduced(asked, resumed=resumed)
            except (OSError, ValueError):
                answer = {}
            if answer or last:
                break
            self.close()
        if not answer.get("serves"):
            self.close()
            refusal = RefusedError(str(answer.get("refused") or "the daemon ended before it served; see its log"))
            refusal.is_told = "refused" in answer
            raise refusal
        self.writing: frozenset[str] = frozenset(answer.get("writing", ()))  # the tools that change something

    def _introduced(self, asked: Asked, *, resumed: bool) -> Json:
        hello = {
            "identity": asked.identity,
            "flags": asked.client,
            "call": asked.call,
            "terminal": sys.stdout.isatty(),
            "pid": os.getpid(),
            "resumed": resumed,
        }
        self.send(json.dumps(hello).encode() + b"\n")
        self._socket.settimeout(_HELLO_TIMEOUT)
        answer = self.message()
        self._socket.settimeout(None)
        return answer

    def message(self) -> Json:
        """The next message, parsed; empty when the daemon has ended."""
        found = json.loads(self.read() or b"{}")
        return found if isinstance(found, dict) else {}

    def send(self, line: bytes) -> None:
        """Raises OSError: the daemon has ended."""
        self._socket.sendall(line)

    def read(self) -> bytes:
        """The next message; empty when the daemon has ended, also within one."""
        try:
            line = self._stream.readline()
        except OSError:
            return b""
        return line if line.endswith(b"\n") else b""

    def end_input(self) -> None:
        """Say that the client sends nothing more."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has ended

    def close(self) -> None:
        """Idempotent."""
        self._stream.close()
        self._socket.close()


class Forwarding:
    """One client's session: what it asked is remembered until it is answered, and asked again of the next daemon.

    A call that changes something is never asked again: the client is told that its outcome is not known.
    """

    def __init__(self, asked: Asked, line: Line) -> None:
        self._asked = asked
        self._line: Line | None = line
        self._writing = line.writing
        self._pending: dict[str, tuple[bytes, Json]] = {}  # by id, as JSON
        self._introduction: list[bytes] = []  # `initialize`, and that it was received
        self._swallowed = ""  # the id of an answer that the client has already
        self._deaths = 0
        self._changing = threading.Condition()  # holds for all of the above
        self._ended = False

    def run(self) -> int:
        """Forward until the client ends or nothing can be done for it; the exit status."""
        threading.Thread(target=self._from_client, daemon=True).start()
        try:
            return self._to_client()
        except BrokenPipeError:
            return 0  # the client reads nothing more

    def _from_client(self) -> None:
        stream = sys.stdin.buffer
        while message := stream.readline():
            if not message.isspace():
                self._forward(message if message.endswith(b"\n") else message + b"\n")
        with self._changing:
            self._ended = True
            if self._line:
                self._line.end_input()
            self._changing.notify_all()

    def _forward(self, message: bytes) -> None:
        with self._changing:
            self._note(message)
            line = self._line
            self._changing.notify_all()  # without a daemon the other thread connects, and sends what is pending
        if line is None:
            return
        try:
            line.send(message)  # not under the lock: it may wait until answers are read
        except OSError:
            pass  # the other thread sees its end, and asks the next one

    def _note(self, message: bytes) -> None:
        try:
            found = json.loads(message)
        except ValueError:
            return  # the daemon refuses it
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict) or "method" not in one:
                continue
            if one["method"] == "notifications/cancelled":
                params = one.get("params")
                key = json.dumps(params.get("requestId")) if isinstance(params, dict) else ""
                self._pending.pop(key, None)  # it may be answered or not
            if one["method"] == "initialize":
                self._introduction = [message]
            elif one["method"] == "notifications/initialized" and self._introduction:
                self._introduction.append(message)
            if "id" in one:
                self._pending[json.dumps(one["id"])] = (message, one)

    def _to_client(self) -> int:
        out = os.fdopen(os.dup(1), "wb")
        while True:
            line = self._line
            if line is None and not self._connect(out):
                return 1 if not self._ended else 0
            line = self._line
            assert line
            while message := line.read():
                if self._is_for_client(message):
                    out.write(message)
                    out.flush()
            with self._changing:
                line.close()
                self._line = None
                if self._ended:
                    return 0

    def _is_for_client(self, message: bytes) -> bool:
        """Whether to hand it on; an answer ends its request."""
        try:
            found = json.loads(message)
        except ValueError:
            return True
        with self._changing:
            self._deaths = 0
            for one in found if isinstance(found, list) else [found]:
                if isinstance(one, dict) and "id" in one and "method" not in one:
                    key = json.dumps(one["id"])
                    if key == self._swallowed:
                        self._swallowed = ""
                        return False
                    self._pending.pop(key, None)
        return True

    def _connect(self, out: BinaryIO) -> bool:
        """Once there is something to ask: connect to the next daemon, and ask it. False if there is none."""
        with self._changing:
            while not self._pending and not self._ended:
                self._changing.wait()
            if self._ended:
                return False
            self._deaths += 1
            for key, (_, request) in list(self._pending.items()):
                if self._deaths > _MOST_DEATHS or self._changes_something(request):
                    out.write(json.dumps(_unknown_outcome(request)).encode() + b"\n")
                    del self._pending[key]
            out.flush()
        try:
            line = Line(self._asked, resumed=True)
        except RefusedError as error:
            with self._changing:
                for _, request in self._pending.values():
                    out.write(json.dumps(_failed(request, str(error))).encode() + b"\n")
                out.flush()
                self._pending.clear()
            return False
        with self._changing:
            known = [message for message, _ in self._pending.values()]
            again = [one for one in dict.fromkeys(known) if one not in self._introduction]
            if self._introduction:
                first = json.loads(self._introduction[0])
                key = json.dumps(first.get("id"))
                self._swallowed = "" if key in self._pending else key
            try:
                for message in (*self._introduction, *again):
                    line.send(message)
            except OSError:
                pass  # its end is seen when it is read
            self._line, self._writing = line, line.writing
        return True

    def _changes_something(self, request: Json) -> bool:
        params = request.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        return request.get("method") == "tools/call" and (name in self._writing or name is None)


def _unknown_outcome(request: Json) -> Json:
    text = (
        "lsp-mcp's daemon ended during this call, so it is not known whether it changed anything: look at the files "
        "before you ask again."
    )
    return {
        "jsonrpc": "2.0",
        "id": request["id"],
        "result": {"content": [{"type": "text", "text": text}], "isError": True},
    }


def _failed(request: Json, why: str) -> Json:
    text = f"lsp-mcp's daemon ended, and no other could be started: {why}"
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": text}}
