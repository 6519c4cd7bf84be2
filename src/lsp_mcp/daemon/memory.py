"""What the language servers of all of a user's daemons may take of the machine's memory: `Memory`."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsp_mcp.door.place import daemons
from lsp_mcp.sessions.use import Use

log = logging.getLogger(__name__)

_EACH = 30.0  # seconds between two looks, at least: servers take memory while they are asked, so calls lead to looks
_PART = 2  # by default the servers may take the half of what there is
_CGROUP = Path("/sys/fs/cgroup/memory.max")
Json = dict[str, Any]


def default_limit() -> int:
    """Bytes: half of the machine's memory, or of what its container may use."""
    import psutil

    there = int(psutil.virtual_memory().total)
    try:
        there = min(there, int(_CGROUP.read_text()))
    except (OSError, ValueError):
        pass  # no container, or one without a limit
    return there // _PART


class Memory:
    """After calls, makes the servers of workspaces rest while all of them take more than `limit` bytes.

    Those that were not asked for longest come first; those of this daemon, which were asked just now, are the last.
    """

    def __init__(self, home: str, limit: int, use: Use, rest: Callable[[], Awaitable[bool]]) -> None:
        self._home = home
        self._limit = limit
        self._use = use
        self._rest = rest

    async def run(self) -> None:
        """Go on until this is cancelled."""
        while True:
            await self._use.begun()
            await self._use.over()
            before = time.monotonic()
            await self._look()
            await asyncio.sleep(max(0.0, before + _EACH - time.monotonic()))

    async def _look(self) -> None:
        found = await asyncio.to_thread(self._told, "status")
        taken = sum(taken_by(about) for about in found.values())
        for name, about in sorted(found.items(), key=lambda item: -item[1].get("unused", 0.0)):
            if taken <= self._limit:
                return
            if not about["servers"]:
                continue
            is_ours = about["pid"] == os.getpid()
            rested = await self._rest() if is_ours else await asyncio.to_thread(self._told, "rest", name)
            if rested:
                log.info("language servers take %d MiB, too much; ending those of %s", taken >> 20, about["root"])
                taken -= taken_by(about)

    def _told(self, what: str, name: str | None = None) -> dict[str, Json]:
        return {
            found: about
            for found, about in daemons(self._home, {"tell": what}, name)
            if about.get("pid") and about.get("rested", True)
        }


def taken_by(about: Json) -> int:
    """Bytes that the language servers of a daemon take, as it tells."""
    return sum(server["rss"] for server in about["servers"])
