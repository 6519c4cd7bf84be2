"""msgpack-RPC to one Neovim: `Channel`, the only user of pynvim.

pynvim 0.6 runs an event loop of its own, is not safe to call from two threads, has no time limits, and never
answers requests that are under way when the connection ends. So it gets a thread, each call is handed to that
thread, and waiting happens here. Nor does it close its socket (`nvim/hanging_up.py`).
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsp_mcp.errors import DiedError, RefusedError, SilentError, UnavailableError

if TYPE_CHECKING:
    from pynvim.msgpack_rpc.session import Session

    from lsp_mcp.nvim.address import Address

log = logging.getLogger(__name__)

OnNotification = Callable[[str, list[Any]], None]
"""Called in the event loop with the name and the arguments of each notification from Neovim."""


class Channel:
    """One connection. `ended` completes with the reason when either side ends it."""

    def __init__(self, address: Address, on_message: OnNotification) -> None:
        self.address = address
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self.ended: asyncio.Future[str] = self._loop.create_future()
        self._waiting: set[asyncio.Future[Any]] = set()
        self._session: Session | None = None

    async def connect(self, *, timeout: float) -> None:
        """Connect, within `timeout` seconds.

        Raises:
            UnavailableError: nobody listens there, this user may not, or the time is up.
        """
        # Not in the thread below: pynvim takes the thread that imports it for the main one, whose signals are its.
        await asyncio.to_thread(importlib.import_module, "pynvim.msgpack_rpc")
        threading.Thread(target=self._run, name=f"nvim {self.address.text}", daemon=True).start()
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(self._connected)
        except TimeoutError:
            self.close()
            raise SilentError(f"{self.address.text} did not take a connection within {timeout:g} s") from None

    async def request(self, method: str, *args: Any, timeout: float) -> Any:
        """The answer of one API function of Neovim's; `timeout` in seconds.

        Raises:
            RefusedError: Neovim reports an error; its message.
            SilentError: no answer in time; it may still be carried out.
            DiedError: the connection ended before the answer came.
        """
        if self.ended.done():
            raise DiedError(self.ended.result())
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.add(answer)
        self._in_thread(lambda session: self._ask(session, answer, method, args))
        try:
            async with asyncio.timeout(timeout):
                return await answer
        except TimeoutError:
            raise SilentError(f"Neovim at {self.address.text} did not answer within {timeout:g} s") from None
        finally:
            self._waiting.discard(answer)

    def notify(self, method: str, *args: Any) -> None:
        """Call an API function without waiting; calls are carried out in the order in which they were made."""
        if not self.ended.done():
            self._in_thread(lambda session: session.request(method, *args, async_=True))

    def close(self, *last: Any, within: float = 0.0) -> None:
        """End the connection, after the answer to the request `last` if one is named; idempotent.

        The answer has `within` seconds. It is waited for because Neovim (0.12) drops what it has read, but not yet
        carried out, when it reads the end of the connection.
        """
        if self._session and not self.ended.done():
            if last:
                self._loop.call_later(within, self.close)
                self._in_thread(lambda session: _stop(session, last))
            else:
                self._in_thread(_stop)

    # --- in the event loop -------------------------------------------------------------------------

    def _settle(self, answer: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
        if answer.done():
            return  # nobody waits any more
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(result)

    def _end(self, error: Exception | None, reason: str) -> None:
        if not self._connected.done():
            self._connected.set_exception(error or DiedError(reason))
        self.ended.set_result(reason)
        for answer in self._waiting:
            self._settle(answer, None, DiedError(reason))

    # --- in pynvim's thread ------------------------------------------------------------------------

    def _in_thread(self, run: Callable[[Session], Any]) -> None:
        session = self._session
        if session is not None:
            try:
                session.threadsafe_call(run, session)
            except RuntimeError as error:  # its loop is closed: `_end` is on its way
                log.debug("%s: %s", self.address.text, error)

    def _call(self, function: Callable[..., Any], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError as error:  # our loop is closed: the program ends
            log.debug("%s: %s", self.address.text, error)

    def _run(self) -> None:
        from lsp_mcp.nvim.hanging_up import session

        address = self.address
        try:
            self._session = session("tcp", *address.tcp) if address.tcp else session("socket", str(address.path))
        except Exception as error:  # noqa: BLE001 (asyncio's and the system's, of all kinds)
            self._call(self._end, UnavailableError(f"{address.text} takes no connection: {_describe_error(error)}"), "")
            return
        reason = f"the connection to Neovim at {address.text} was closed"
        try:
            self._session.run(self._on_request, self._on_notification, lambda: self._call(self._is_connected))
        except Exception as error:  # noqa: BLE001 (how pynvim says that the connection is over)
            log.debug("%s: %r", address.text, error)
            reason = f"Neovim at {address.text} is gone"
        finally:
            self._call(self._end, None, reason)
            self._session.close()

    def _is_connected(self) -> None:
        if not self._connected.done():
            self._connected.set_result(None)

    def _ask(self, session: Session, answer: asyncio.Future[Any], method: str, args: tuple[Any, ...]) -> None:
        try:
            result = session.request(method, *args)
        except Exception as error:  # noqa: BLE001 (pynvim raises bare exceptions for Neovim's own)
            self._call(self._settle, answer, None, RefusedError(_describe_error(error)))
        else:
            self._call(self._settle, answer, result, None)

    def _on_request(self, name: str, args: list[Any]) -> None:
        raise RefusedError(f"lsp-mcp answers no requests ({name})")

    def _on_notification(self, name: str, args: list[Any]) -> None:
        self._call(self._on_message, name, args)


def _stop(session: Session, last: tuple[Any, ...] = ()) -> None:
    try:
        if last:
            session.request(*last)
    finally:
        session.stop()


def _describe_error(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # asyncio's own message is not readable
    return str(error) or type(error).__name__
