"""One JSON-RPC peer over a byte stream: ids, waiters, cancelling, closing.

`Peer` is the other side. It knows only the two names of LSP that the base protocol itself defines, `$/cancelRequest`
and its error code (LSP 3.17, "Base Protocol").
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
from collections.abc import Callable, Collection
from typing import Any

import msgspec

from lsp_mcp.errors import METHOD_NOT_FOUND, LspMcpError, RefusedError, SilentError
from lsp_mcp.wire.framing import BrokenStreamError, Framer, frame

log = logging.getLogger(__name__)

INTERNAL_ERROR = -32603
PARSE_ERROR = -32700
_CHUNK = 256 * 1024  # bytes per read
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18})')

OnRequest = Callable[[str, Any], Any]
OnNotification = Callable[[str, Any], None]


class Peer:
    """The program at the other end of a byte stream.

    `on_request(method, params)` returns the result or raises `RefusedError`; `on_notification(method, params)` returns
    nothing. Both are plain functions that must not block. Requests of the methods `uncancelled` are never cancelled.
    """

    def __init__(
        self,
        name: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_request: OnRequest,
        on_notification: OnNotification,
        uncancelled: Collection[str] = (),
    ) -> None:
        self.name = name
        self._uncancelled = uncancelled
        self._reader = reader
        self._writer = writer
        self._on_request = on_request
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._waiters: dict[int, asyncio.Future[Any]] = {}
        self._closed: LspMcpError | None = None
        self.received = 0  # messages received
        self.deaf = asyncio.Event()  # set when reading ends: no request will be answered from then on

    async def run(self) -> str:
        """Read messages until the stream ends or breaks; returns how it broke, empty at its end. Call `close`
        afterwards.
        """
        framer = Framer()
        try:
            while data := await self._reader.read(_CHUNK):
                for body in framer.feed(data):
                    self.received += 1
                    self._receive(body)
                # A flood of notifications must not starve the waiters.
                await asyncio.sleep(0)
        except BrokenStreamError as error:
            log.error("%s: %s", self.name, error)
            return f"sent what is not a message ({error})"
        except OSError as error:
            log.debug("%s: reading ended: %s", self.name, error)
        return ""

    async def request(self, method: str, params: Any, *, timeout: float) -> Any:
        """The result of `method`; None for a null result.

        When the caller is cancelled or `timeout` (seconds) runs out, the other side gets `$/cancelRequest`, except for
        methods that it must not cancel, and a later answer is dropped.

        Raises:
            RefusedError: the other side answered with an error, or with something that is not an answer.
            SilentError: no answer within `timeout`.
            UnavailableError: the peer is closed, before or during the wait.
        """
        if self._closed:
            raise self._closed
        request_id = next(self._ids)
        waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiters[request_id] = waiter
        answered = False
        try:
            self._send({"jsonrpc": "2.0", "id": request_id, "method": method, **_params(params)})
            async with asyncio.timeout(timeout):
                await self._drain()
                result = await waiter
            answered = True
            return result
        except TimeoutError:
            raise SilentError(
                f"{self.name} did not answer {method} within {timeout:.3g} s; the request was cancelled."
            ) from None
        except RefusedError as error:
            answered = True
            raise error.to(method) from None
        except LspMcpError:
            answered = True
            raise
        finally:
            del self._waiters[request_id]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # marked as handled: the caller may have gone for another reason at the same moment
            if not answered and not self._closed and method not in self._uncancelled:
                self.notify("$/cancelRequest", {"id": request_id})

    def notify(self, method: str, params: Any) -> None:
        """Send a notification; does nothing if the peer is closed, as nobody would read it."""
        if not self._closed:
            self._send({"jsonrpc": "2.0", "method": method, **_params(params)})

    def close(self, error: LspMcpError) -> None:
        """Fail every waiter with `error`, and every later request too."""
        if self._closed:
            return
        self._closed = error
        for waiter in self._waiters.values():
            if not waiter.done():
                waiter.set_exception(error)

    # --- inside ------------------------------------------------------------------------------------

    def _send(self, message: dict[str, Any]) -> None:
        log.debug("%s → %.2000s", self.name, message)
        # ASCII escapes: a lone surrogate in a caller's string must not break the stream.
        self._writer.write(frame(json.dumps(message, separators=(",", ":")).encode("ascii")))

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            # Not the caller's end: the answer may have arrived already, and the code that closes us reports how it
            # died.
            log.debug("%s: writing ended: %s", self.name, error)
            self.deaf.set()

    def _receive(self, body: bytes) -> None:
        log.debug("%s ← %.2000s", self.name, body)
        try:
            message = _decoded(body)
            if not isinstance(message, dict):
                raise ValueError("a message must be an object")
        except (ValueError, RecursionError) as error:
            self._malformed(body, error)
            return
        if "method" not in message:
            self._answer(message)
        elif "id" in message:
            self._answer_request(message)
        else:
            self._guard(self._on_notification, message)

    def _answer(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        waiter = self._waiters.get(request_id) if isinstance(request_id, int) else None
        if waiter is None or waiter.done():
            log.debug("%s: late or unexpected answer %r dropped", self.name, request_id)
        elif error := message.get("error"):
            error = error if isinstance(error, dict) else {"message": str(error)}
            code = error.get("code")
            waiter.set_exception(
                RefusedError(str(error.get("message", "no reason given")), code if isinstance(code, int) else 0)
            )
        else:
            waiter.set_result(message.get("result"))

    def _answer_request(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = self._on_request(str(message["method"]), message.get("params"))
        except RefusedError as error:
            reply["error"] = {"code": error.code or METHOD_NOT_FOUND, "message": str(error)}
        except Exception as error:
            log.exception("%s: its request %s failed here", self.name, message["method"])
            reply["error"] = {"code": INTERNAL_ERROR, "message": str(error)}
        if not self._closed:
            self._send(reply)

    def _guard(self, handler: OnNotification, message: dict[str, Any]) -> None:
        """A notification that this program cannot process must not end the reading of others."""
        try:
            handler(str(message["method"]), message.get("params"))
        except Exception:
            log.exception("%s: its notification %s failed here", self.name, message["method"])

    def _malformed(self, body: bytes, error: Exception) -> None:
        log.error("%s sent a malformed message (%s): %.200r", self.name, error, body)
        found = _ID.search(body)
        waiter = self._waiters.get(int(found[1])) if found else None
        if waiter and not waiter.done():
            waiter.set_exception(RefusedError(f"{self.name} sent an answer that is not JSON: {error}", PARSE_ERROR))


def _decoded(body: bytes) -> Any:
    """Raises ValueError, RecursionError."""
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return json.loads(body)  # five times as slow, and accepts invalid JSON: NaN, half a surrogate pair


def _params(params: Any) -> dict[str, Any]:
    """None is left out: JSON-RPC 2.0 knows no null parameters, and typescript-go 7 refuses them."""
    return {} if params is None else {"params": params}
