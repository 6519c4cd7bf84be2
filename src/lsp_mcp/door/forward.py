"""Messages between a client and its daemon, also across the end of one daemon and the start of the next."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from lsp_mcp.door.greetings import Greetings
from lsp_mcp.door.line import Line, RefusedError, expect
from lsp_mcp.door.request import DaemonRequest

_MOST_DEATHS = 5  # consecutive daemons that may end during the same calls
_END_TIMEOUT = 3.0  # seconds after the client's end for the remaining answers; then nobody reads them
_LIST_CHANGED = "notifications/tools/list_changed"
_CHANGED = json.dumps({"jsonrpc": "2.0", "method": _LIST_CHANGED}).encode() + b"\n"
Json = dict[str, Any]


class Client(Protocol):
    """The client being served. Called from two threads; `write` from both, one at a time."""

    def read(self) -> bytes:
        """Its next message, a line; empty at the end."""

    def write(self, message: bytes) -> None:
        """Raises BrokenPipeError: it stopped reading."""

    def over(self) -> None:
        """It sends and receives nothing more; the last call."""


class Stdio:
    """The client on this process's stdin and stdout; the process ends with it."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "wb")

    def read(self) -> bytes:
        """See `Client.read`."""
        return sys.stdin.buffer.readline()

    def write(self, message: bytes) -> None:
        """See `Client.write`."""
        self._out.write(message)
        self._out.flush()

    def over(self) -> None:
        """See `Client.over`."""
        os._exit(0)  # the other thread may be waiting for a daemon


class Forwarding:
    """One client's session: requests are kept until they are answered, and repeated with the next daemon.

    A call that changes something is never repeated: the client is told that its outcome is unknown. Requests that
    `greetings` can answer are answered before the daemon serves, and compared with its answer later.
    """

    def __init__(self, request: DaemonRequest, line: Line | None, greetings: Greetings | None, client: Client) -> None:
        """`line` may not have agreed yet; without one, a daemon is found once there is something to ask.

        Without `greetings` the daemon answers everything.
        """
        self._daemon_request = request
        self._client = client
        self._first = line
        self._line: Line | None = None  # has agreed
        self._greetings = greetings
        self._writing: frozenset[str] = line.writing if line else frozenset()
        self._pending: dict[str, tuple[bytes, Json]] = {}  # by id, as JSON
        self._sent: set[str] = set()  # ids of those that a daemon may have started
        self._unsent: list[bytes] = []  # requests that the next daemon must refuse
        self._introduction: list[bytes] = []  # `initialize`, and that it was received
        self._answered: dict[str, Json] = {}  # requests by id that the client already has an answer to
        self._kept: Json = {}  # what the last daemon passes on to the next for this session
        self._was_served = False
        self._has_list = False  # the client has the present list of tools
        self._deaths = 0
        self._changing = threading.Condition()  # guards all of the above
        self._ended = False
        self._over = threading.Event()
        self._telling = threading.Lock()

    def run(self) -> int:
        """Forward until the client ends; the exit status."""
        threading.Thread(target=self._from_client, daemon=True).start()
        try:
            self._to_client()
        except (BrokenPipeError, KeyboardInterrupt):
            pass  # the client stopped reading
        self._over.set()
        return 0

    # --- from the client ---------------------------------------------------------------------------

    def _from_client(self) -> None:
        try:
            while message := self._client.read():
                if not message.isspace():
                    self._forward(message if message.endswith(b"\n") else message + b"\n")
            self._end()
        except BrokenPipeError:
            pass  # it stopped reading
        self._client.over()

    def _end(self) -> None:
        with self._changing:
            self._ended = True
            line = self._line
            self._changing.notify_all()
            if line is None:
                for key, (_, request) in self._pending.items():
                    if key not in self._answered:
                        self._tell(_error(request, "Connection closed"))
                return
        line.end_input()
        if not self._over.wait(_END_TIMEOUT):  # the other thread ends, unless the output is blocked
            line.abort()

    def _forward(self, message: bytes) -> None:
        with self._changing:
            line = self._line
            if line and line.has_ended:
                line = None  # the other thread has not seen it yet
            known = self._note(message, is_sent=line is not None)
            is_first = line is None and not self._was_served
            if line is None and not known:
                self._unsent.append(message)
            self._changing.notify_all()  # without a daemon the other thread connects, and sends pending requests
        if is_first:
            expect(self._daemon_request, message)
        if line is None:
            return
        try:
            line.send(message)  # not under the lock: it may wait until answers are read
        except OSError:
            # The other thread notices the end and asks the next one. An incomplete message was never started.
            with self._changing:
                if self._line in (None, line):  # else it was just sent to the next one
                    self._sent -= {key for key, (pending, _) in self._pending.items() if pending == message}

    def _note(self, message: bytes, *, is_sent: bool) -> bool:
        """Record the requests of `message`; False if it must reach a daemon and contains no request to record."""
        try:
            found = json.loads(message)
        except (ValueError, RecursionError):
            return False
        known = False
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, dict) or "method" not in one:
                continue
            known = True
            if one["method"] == "notifications/cancelled":
                params = one.get("params")
                key = json.dumps(params.get("requestId")) if isinstance(params, dict) else ""
                self._pending.pop(key, None)  # it may or may not be answered
            if one["method"] == "initialize":
                self._introduction = [message]
                if self._greetings:
                    self._greetings.begun(one)
            elif one["method"] == "notifications/initialized" and self._introduction:
                self._introduction.append(message)
            if "id" in one:
                key = json.dumps(one["id"])
                self._has_list |= one["method"] == "tools/list"
                self._pending[key] = (message, one)
                self._sent.discard(key)
                if is_sent:
                    self._sent.add(key)
        if isinstance(found, dict) and "id" in found:
            self._greet(found)
        return known

    def _greet(self, request: Json) -> None:
        if self._line is None and self._greetings and (result := self._greetings.answer(request)):
            self._answered[json.dumps(request["id"])] = request
            self._tell({"jsonrpc": "2.0", "id": request["id"], "result": result})

    # --- to the client -----------------------------------------------------------------------------

    def _to_client(self) -> None:
        while line := self._connected():
            while message := line.read():
                for one in self._for_client(message):
                    self._tell(one)
            with self._changing:
                line.close()
                self._line = None
                if self._ended:
                    return
                # A daemon ends with its Neovim, maybe before it has told; the next one may have other tools.
                tells = self._daemon_request.is_of_neovim and self._has_list
                self._has_list = False
            if tells:
                self._tell(_CHANGED)

    def _tell(self, message: bytes | Json) -> None:
        with self._telling:
            self._client.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def _for_client(self, message: bytes) -> Iterator[bytes]:
        """The part of it to forward; an answer completes its request."""
        try:
            found = json.loads(message)
        except ValueError:
            yield message
            return
        if isinstance(found, dict) and "keep" in found and "jsonrpc" not in found:
            self._kept = found["keep"]
            return
        with self._changing:
            self._deaths = 0
            for one in found if isinstance(found, list) else [found]:
                if isinstance(one, dict) and one.get("method") == _LIST_CHANGED:
                    self._has_list = False
                if isinstance(one, dict) and "id" in one and "method" not in one:
                    key = json.dumps(one["id"])
                    _, request = self._pending.pop(key, (b"", {}))
                    self._sent.discard(key)
                    answered = self._answered.pop(key, None)
                    is_other = self._greetings and self._greetings.learn(answered or request, one.get("result"))
                    if answered:
                        if is_other and answered["method"] == "tools/list":
                            yield _CHANGED
                        return
        yield message

    def _connected(self) -> Line | None:
        """A daemon that serves and has all pending requests; None when the client has ended.

        The first exists already. Another is found once there is something to ask.
        """
        while True:
            line, self._first = self._first, None
            try:
                if line is None:
                    if not self._is_wanted():
                        return None
                    line = Line(self._daemon_request, resumed=self._was_served, kept=self._kept)
                line.agree()
            except RefusedError as error:
                self._refuse(str(error))
                continue
            if self._ask(line):
                return line
            line.close()
            return None

    def _is_wanted(self) -> bool:
        """Wait until there is something to ask; False when the client has ended."""
        with self._changing:
            while not self._pending and not self._unsent and not self._ended:
                self._changing.wait()
            if self._ended:
                return False
            self._deaths += 1
            gives_up = self._deaths > _MOST_DEATHS
            for key, (_, request) in list(self._pending.items()):
                if gives_up or (key in self._sent and self._changes_something(request)):
                    self._tell(_unknown_outcome(request))
                    del self._pending[key]
            if gives_up:
                self._deaths = 0
            self._sent &= self._pending.keys()
        return True

    def _ask(self, line: Line) -> bool:
        """Send all pending requests; False if the client has ended."""
        with self._changing:
            if self._ended:
                return False
            again = dict.fromkeys(message for message, _ in self._pending.values())
            if self._introduction:
                first = json.loads(self._introduction[0])
                key = json.dumps(first.get("id"))
                if key not in self._pending:
                    self._answered[key] = first
            try:
                for message in (*self._introduction, *(one for one in again if one not in self._introduction)):
                    line.send(message)
                    self._sent |= {key for key, (pending, _) in self._pending.items() if pending == message}
                for message in self._unsent:
                    line.send(message)
            except OSError:
                pass  # its end is noticed when reading
            self._unsent.clear()
            line.await_while(lambda: bool(self._pending))
            self._line, self._writing, self._was_served = line, line.writing, True
            return True

    def _refuse(self, why: str) -> None:
        """Answer all pending requests with an error: no daemon will."""
        what = "lsp-mcp's daemon ended, and no other could be started" if self._was_served else "lsp-mcp cannot answer"
        with self._changing:
            for key, (_, request) in self._pending.items():
                if key not in self._answered:
                    self._tell(_failed(request, f"{what}: {why}"))
            self._pending.clear()
            self._unsent.clear()
            self._deaths = 0
            if self._greetings:
                self._greetings.forget()

    def _changes_something(self, request: Json) -> bool:
        params = request.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        if request.get("method") != "tools/call":
            return False
        if not isinstance(name, str) or name in self._writing:
            return True
        return any(one.endswith("*") and name.startswith(one[:-1]) for one in self._writing)


def _unknown_outcome(request: Json) -> Json:
    return _failed(
        request,
        "lsp-mcp's daemon ended during this call, so it is not known whether it changed anything. The next call undoes "
        "an unfinished edit. Look at the files after that call, before you repeat this one.",
    )


def _failed(request: Json, text: str) -> Json:
    """The answer to `request` for a model, if it is a call."""
    if request.get("method") != "tools/call":
        return _error(request, text)
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def _error(request: Json, text: str) -> Json:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": text}}
