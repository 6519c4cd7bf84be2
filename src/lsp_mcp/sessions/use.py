"""Calls in progress: `Use`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Use:
    """Counts the running calls of all clients."""

    def __init__(self) -> None:
        self.calls = 0
        self._changed = asyncio.Event()

    @contextmanager
    def call(self) -> Iterator[None]:
        """For the time of one call."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self.calls += more
        if self.calls in (0, more):  # the first, or the last
            self._changed.set()
            self._changed = asyncio.Event()

    async def begun(self) -> None:
        """Return when a call runs."""
        while not self.calls:
            await self._changed.wait()

    async def over(self) -> None:
        """Return when none does."""
        while self.calls:
            await self._changed.wait()
