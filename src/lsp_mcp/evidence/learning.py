"""Requests about many places, which continue after their caller has stopped waiting: `Learning`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextvars import Context
from functools import partial
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.requests.places import Place

log = logging.getLogger(__name__)


class _Asking(Struct):
    """Requests in progress, and the number of waiting callers."""

    task: asyncio.Task[None]
    waiting: int = 0


class Learning:
    """Fills the cache of `definitions` of one backend."""

    def __init__(self, backend: Backend, definitions: Definitions) -> None:
        self._backend = backend
        self._definitions = definitions
        self._asking: dict[object, _Asking] = {}  # by place

    async def of(self, places: Sequence[Place], seconds: float) -> None:
        """Ask about unknown `places`, and wait at most `seconds` for the answers.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        sites = [(place.path, place.span.start) for place in places]
        by_folder = self._backend.adapter.word_check.by_folder
        groups: dict[Path, list[Site]] = {}
        for site in sites:
            if self._definitions.known(site) is None:
                groups.setdefault(site[0].parent if by_folder else site[0], []).append(site)
        if not groups:
            return
        for other in [one for one in self._asking.values() if not one.waiting]:
            other.task.cancel()  # the caller has stopped waiting
        about = frozenset(sites), self._backend.generation
        asking = self._asking.get(about)
        if asking is None or asking.task.done() or not asking.waiting:
            # In its own context: it continues after the call.
            task = asyncio.create_task(self._definitions.learn(groups.values()), context=Context())
            asking = self._asking[about] = _Asking(task)
            task.add_done_callback(partial(self._ended, about))
        asking.waiting += 1
        try:
            done, _ = await asyncio.wait([asking.task], timeout=seconds)
        finally:
            asking.waiting -= 1
        if done and not asking.task.cancelled():
            asking.task.result()

    async def close(self) -> None:
        """Stop asking."""
        tasks = [one.task for one in self._asking.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, about: object, task: asyncio.Task[None]) -> None:
        if (known := self._asking.get(about)) and known.task is task:
            del self._asking[about]
        if not task.cancelled() and (error := task.exception()):
            log.info("not all questions to %s were answered: %s", self._backend.name, error)
