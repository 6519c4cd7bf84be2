"""Answers that come later than the call that asks for them returns: `Replies`."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable
from typing import Any

from lsp_mcp.errors import DiedError, RefusedError, SilentError
from lsp_mcp.nvim.lua_module import LuaModule

_LATE = 0.5  # seconds that what was asked for in time may still take


class Replies:
    """Waits for what our Lua sends as `answer`, by the number of the question."""

    def __init__(self, lua: LuaModule) -> None:
        self._lua = lua
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    def number(self) -> int:
        """One that no question has yet."""
        return next(self._numbers)

    async def reply(
        self, number: int, sent: Awaitable[Any], *, cancel: str, what: str, timeout: float | None = None
    ) -> Any:
        """The answer to request `number`, which `sent` sends; after the timeout the Lua function `cancel` cancels it.

        Without `timeout`, `sent` returns the timeout in seconds, 0 for none. If it returns None or False, no answer
        will come, and that value is returned. Error messages call the request `what`.

        Raises:
            RefusedError: the error that came.
            DiedError: Neovim is gone.
            SilentError: nothing came in time.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(timeout) as bound:
                begun = await sent
                if timeout is None:
                    if begun is None or begun is False:
                        answer.set_result(begun)
                    elif begun:
                        timeout = float(begun) + _LATE
                        bound.reschedule(asyncio.get_running_loop().time() + timeout)
                return await answer
        except TimeoutError:
            silent = SilentError(f"no answer to {what} within {timeout:g} s")
            raise SilentError(await self._lua.held_up(silent, "")) from None
        finally:
            del self._waiting[number]
            if not answer.done() or answer.cancelled():
                self._lua.tell(cancel, number)
            else:
                answer.exception()  # if sending failed as well, nobody else looks at it

    def on_answer(self, number: int, error: Any, result: Any) -> None:
        """What Neovim sends as the answer to `number`."""
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(result)
        elif isinstance(error, dict) and error.get("gone"):
            answer.set_exception(DiedError("the language server is gone"))
        elif isinstance(error, dict):
            answer.set_exception(RefusedError(str(error.get("message")), int(error.get("code") or 0)))
        else:
            answer.set_exception(RefusedError(str(error)))

    def fail(self, number: int, error: Exception) -> None:
        """No answer to `number` will come; does nothing if one came, or nobody waits."""
        answer = self._waiting.get(number)
        if answer and not answer.done():
            answer.set_exception(error)

    def fail_all(self, reason: str) -> None:
        """No answer will come any more."""
        for number in list(self._waiting):
            self.fail(number, DiedError(reason))
