"""One Debug Adapter Protocol connection over a byte stream: `Connection`.

It uses LSP's framing and its own envelope (DAP 1.68, "Base Protocol"): `seq`, `type`, and answers by `request_seq`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable
from typing import Any

import msgspec

from lsp_mcp.errors import LspMcpError, RefusedError, SilentError, UnavailableError
from lsp_mcp.wire.framing import BrokenStreamError, Framer, frame

log = logging.getLogger(__name__)

Json = dict[str, Any]
OnEvent = Callable[[str, Json], None]
Reply = Callable[[Json | None, str | None], None]
"""Answers a reverse request: with its body, or with an error."""
OnRequest = Callable[[str, Json, Reply], None]

_CHUNK = 256 * 1024  # bytes per read
_ANSWER_TIMEOUT = 20.0  # seconds for a request without its own limit


class Connection:
    """A debug adapter at the other end of a stream; `closed` is done when nothing more will come.

    `on_event(event, body)` and `on_request(command, arguments, reply)` are plain functions that must not block.
    """

    def __init__(
        self,
        name: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_event: OnEvent,
        on_request: OnRequest,
    ) -> None:
        self.name = name
        self.closed = asyncio.Event()
        self._reader = reader
        self._writer = writer
        self._on_event = on_event
        self._on_request = on_request
        self._numbers = itertools.count(1)
        self._waiters: dict[int, asyncio.Future[Json]] = {}
        self._end: LspMcpError | None = None
        self._reading = asyncio.create_task(self._read())

    def send(self, command: str, arguments: Json | None = None) -> asyncio.Future[Json]:
        """Send a request without waiting; the result is the body of the answer, or raises as `request`."""
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        if self._end:
            future.set_exception(self._end)
            return future
        number = next(self._numbers)
        self._waiters[number] = future
        self._write({"seq": number, "type": "request", "command": command, "arguments": arguments or {}})
        return future

    async def request(self, command: str, arguments: Json | None = None, *, timeout: float = _ANSWER_TIMEOUT) -> Json:
        """The body of the answer.

        Raises:
            RefusedError: the adapter says no, in its own words.
            SilentError: no answer within `timeout` seconds.
            UnavailableError: the connection is closed.
        """
        future = self.send(command, arguments)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            raise SilentError(f"{self.name} did not answer {command} within {timeout:.3g} s.") from None

    def close(self, error: LspMcpError | None = None) -> None:
        """Close the stream; waiting requests get `error`."""
        self._reading.cancel()
        self._finish(error or UnavailableError(f"the connection to {self.name} is closed."))
        self._writer.close()

    # --- inside ------------------------------------------------------------------------------------

    async def _read(self) -> None:
        framer = Framer()
        try:
            while data := await self._reader.read(_CHUNK):
                for body in framer.feed(data):
                    self._receive(body)
                await asyncio.sleep(0)  # a flood of output must not starve who waits
        except (BrokenStreamError, OSError) as error:
            log.info("%s: reading ended: %s", self.name, error)
        self._finish(UnavailableError(f"{self.name} closed the connection."))

    def _finish(self, error: LspMcpError) -> None:
        if self._end:
            return
        self._end = error
        for waiter in self._waiters.values():
            if not waiter.done():
                waiter.set_exception(error)
                waiter.exception()  # seen: not every answer is waited for
        self._waiters.clear()
        self.closed.set()

    def _write(self, message: Json) -> None:
        log.debug("%s → %.2000s", self.name, message)
        self._writer.write(frame(json.dumps(message, separators=(",", ":")).encode("ascii")))

    def _receive(self, body: bytes) -> None:
        log.debug("%s ← %.2000s", self.name, body)
        try:
            message = _decoded(body)
        except (ValueError, RecursionError) as error:
            log.error("%s sent a malformed message (%s): %.200r", self.name, error, body)
            return
        match message.get("type"):
            case "response":
                self._answered(message)
            case "event":
                self._guarded(message, lambda: self._on_event(str(message.get("event")), _body(message)))
            case "request":
                self._answer_request(message)

    def _answered(self, message: Json) -> None:
        waiter = self._waiters.pop(message.get("request_seq", 0), None)
        if waiter is None or waiter.done():
            return
        if message.get("success"):
            waiter.set_result(_body(message))
        else:
            waiter.set_exception(RefusedError(_reason(message)))
            waiter.exception()

    def _answer_request(self, message: Json) -> None:
        head = {"type": "response", "request_seq": message.get("seq"), "command": message.get("command")}

        def reply(body: Json | None, problem: str | None = None) -> None:
            if self._end:
                return
            said = {"success": True, "body": body or {}} if problem is None else {"success": False, "message": problem}
            self._write({"seq": next(self._numbers), **head, **said})

        command = str(message.get("command"))
        self._guarded(message, lambda: self._on_request(command, message.get("arguments") or {}, reply))

    def _guarded(self, message: Json, handle: Callable[[], None]) -> None:
        """A message that this program cannot read must not end the reading of others."""
        try:
            handle()
        except Exception:
            log.exception("%s: %.200r failed here", self.name, message)


def _decoded(body: bytes) -> Json:
    try:
        message = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        message = json.loads(body)  # takes what is not quite JSON: half a surrogate pair
    if not isinstance(message, dict):
        raise ValueError("a message must be an object")
    return message


def _body(message: Json) -> Json:
    body = message.get("body")
    return body if isinstance(body, dict) else {}


def _reason(message: Json) -> str:
    """The longer of the two texts that a refusal may have is the one with the reason."""
    short = str(message.get("message") or "it gives no reason")
    detail = _body(message).get("error")
    if not isinstance(detail, dict) or not isinstance(detail.get("format"), str):
        return short
    values = detail.get("variables")
    long: str = detail["format"]
    for name, value in (values if isinstance(values, dict) else {}).items():
        long = long.replace("{" + str(name) + "}", str(value))
    return long if len(long) > len(short) else short
