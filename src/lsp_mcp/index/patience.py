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
_MOST = 16  # questions at a time, each with one of the store's connections; others wait


async def asked(url: str, question: Callable[[], Result], *, alone: bool = False) -> Result:
    """The result of the blocking `question` to the store at `url`.

    A file is waited for. A database on the network has `FIRST` seconds; once it was silent, later questions learn
    at once that it is, until what was asked last has an answer: then it is back. `alone`: nothing else can answer, so
    it is waited for as long as the caller does.

    Raises:
        UnavailableError: it does not answer.
        LspMcpError, ModuleNotFoundError: those of `question`.
    """
    store = _store(url)
    return await (store.wait(question) if alone else store.ask(question))


class _Patience:
    """What is known of one store."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_local = url.startswith(_LOCAL)
        self._was_silent = False
        self._late: Future[object] | None = None  # what did not answer in time
        self._places = threading.Semaphore(_MOST)

    async def ask(self, question: Callable[[], Result]) -> Result:
        if self._late:
            if not self._late.done():
                raise self._silent()
            self._was_silent = self._late.exception() is not None
            self._late = None
        answer, ended = _in_thread(question, self._places)
        wait = None if self._is_local else _AGAIN if self._was_silent else FIRST
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await ended.wait()
        if not answer.done():
            self._late, self._was_silent = answer, True  # type: ignore[assignment]
            raise self._silent()
        self._was_silent = self._was_silent and answer.exception() is not None
        return answer.result()

    async def wait(self, question: Callable[[], Result]) -> Result:
        answer, ended = _in_thread(question, self._places)
        await ended.wait()
        return answer.result()

    def _silent(self) -> UnavailableError:
        from lsp_mcp.database.words import shown_url

        return UnavailableError(f"the index store {shown_url(self._url)} does not answer")


@cache
def _store(url: str) -> _Patience:
    return _Patience(url)


def _in_thread(question: Callable[[], Result], places: threading.Semaphore) -> tuple[Future[Result], asyncio.Event]:
    """`question` in a thread that does not keep the process alive, since it may wait for a dead network; its end."""
    answer: Future[Result] = Future()
    answer.set_running_or_notify_cancel()
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            with places:
                answer.set_result(question())
        except BaseException as error:  # noqa: BLE001 (the asker gets it)
            answer.set_exception(error)
        with suppress(RuntimeError):  # nobody waits any more, and the loop is closed
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name="index store", daemon=True).start()
    return answer, ended
