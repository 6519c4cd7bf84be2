"""Asks an index store from the event loop: `asked`. A database that does not answer costs one short wait, then none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import TypeVar

from lsp_mcp.errors import UnavailableError

Result = TypeVar("Result")

FIRST = 3.0
"""Seconds that a question waits for a database of another process or machine."""
_AGAIN = 0.05  # seconds, as long as it was silent the last time
_LOCAL = "sqlite"


async def asked(url: str, question: Callable[[], Result]) -> Result:
    """The result of the blocking `question` to the store at `url`.

    A file is waited for. A database on the network has `FIRST` seconds; once it was silent, later questions learn
    at once that it is, until what was asked last has an answer: then it is back.

    Raises:
        UnavailableError: it does not answer.
        LspMcpError, ModuleNotFoundError: those of `question`.
    """
    return await _store(url).ask(question)


class _Patience:
    """What is known of one store."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_local = url.startswith(_LOCAL)
        self._was_silent = False
        self._late: Future[object] | None = None  # what did not answer in time

    async def ask(self, question: Callable[[], Result]) -> Result:
        if self._late:
            if not self._late.done():
                raise self._silent()
            self._was_silent = self._late.exception() is not None
            self._late = None
        answer, ended = _in_thread(question)
        wait = None if self._is_local else _AGAIN if self._was_silent else FIRST
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await ended.wait()
        if not answer.done():
            self._late, self._was_silent = answer, True  # type: ignore[assignment]
            raise self._silent()
        self._was_silent = self._was_silent and answer.exception() is not None
        return answer.result()

    def _silent(self) -> UnavailableError:
        from lsp_mcp.database.words import shown_url

        return UnavailableError(f"the index store {shown_url(self._url)} does not answer")


@cache
def _store(url: str) -> _Patience:
    return _Patience(url)


def _in_thread(question: Callable[[], Result]) -> tuple[Future[Result], asyncio.Event]:
    """`question` in a thread that does not keep the process alive, since it may wait for a dead network; its end."""
    answer: Future[Result] = Future()
    answer.set_running_or_notify_cancel()
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            answer.set_result(question())
        except BaseException as error:  # noqa: BLE001 (the asker gets it)
            answer.set_exception(error)
        with suppress(RuntimeError):  # nobody waits any more, and the loop is closed
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name="index store", daemon=True).start()
    return answer, ended
