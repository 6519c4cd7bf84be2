"""Files that a server reads while questions are answered without them: `BackgroundReading`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Collection
from contextvars import Context
from pathlib import Path

from lsp_mcp import budget
from lsp_mcp.errors import LspMcpError, UnavailableError

log = logging.getLogger(__name__)

_AT_ONCE = min(4, os.cpu_count() or 1)  # while a question waits for them
_PATIENCE = 5.0  # seconds, in which no other question is answered
_BESIDE = max(1, _AT_ONCE // 2)  # later: the next question needs a processor, too


class BackgroundReading:
    """Makes a server read files, the latest requests first; `read` makes it read one, with a time limit."""

    def __init__(self, read: Callable[[Path], Awaitable[None]]) -> None:
        self._read = read
        self._waiting: dict[Path, asyncio.Event] = {}  # files to read, the next one last
        self._reading: dict[Path, asyncio.Event] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._waited_for = 0  # by how many questions

    @property
    def pending(self) -> Collection[Path]:
        """The files that are not read yet."""
        return {*self._waiting, *self._reading}

    async def read(self, paths: Collection[Path]) -> set[Path]:
        """Read `paths`, as far as the present `budget` allows; returns those that are not read then.

        For an answer that has to be proven, reading continues then. Otherwise it stops: the server is asked next.
        """
        present = budget.present()
        seconds = present.left() if present.is_background else min(present.left(), _PATIENCE)
        if not seconds:
            budget.cut()
            return set(paths)
        done: dict[Path, asyncio.Event] = {}
        for path in sorted(paths, reverse=True):
            event = self._reading.get(path) or self._waiting.pop(path, None) or asyncio.Event()
            done[path] = event
            if path not in self._reading:
                self._waiting[path] = event
        most = _AT_ONCE if present.is_whole else _BESIDE
        for _ in range(min(most - len(self._workers), len(self._waiting))):
            # In its own context: it is not a part of the call that starts it.
            worker = asyncio.create_task(self._work(), context=Context())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)
        self._waited_for += 1
        goes_on = False
        try:
            async with asyncio.timeout(seconds):
                for event in done.values():
                    await event.wait()
        except TimeoutError:
            budget.cut()
            goes_on = present.is_whole
            log.info("%d files are still to be read", len(self.pending))
        finally:
            self._waited_for -= 1
            unread = {path for path, event in done.items() if not event.is_set()}
            if unread and not (goes_on or self._waited_for):
                self.forget()
        return unread

    def forget(self) -> None:
        """Forget all pending files."""
        for event in self._waiting.values():
            event.set()
        self._waiting.clear()

    async def _work(self) -> None:
        while self._waiting:
            if not self._waited_for and len(self._workers) > _BESIDE:
                worker = asyncio.current_task()
                assert worker
                self._workers.discard(worker)  # now: the others count those that go on
                return
            path, event = self._waiting.popitem()
            self._reading[path] = event
            try:
                await self._read(path)
            except UnavailableError as error:
                log.info("%d files are not read: %s", len(self.pending), error)
                self.forget()
            except LspMcpError as error:
                log.warning("%s is not read: %s", path, error)
            finally:
                del self._reading[path]
                event.set()
