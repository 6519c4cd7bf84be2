"""The memory limit for the language servers of all of a user's daemons: `Memory`."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsp_mcp.door.place import daemons
from lsp_mcp.sessions.use import Use

log = logging.getLogger(__name__)

_EACH = 30.0  # minimum seconds between two checks, which follow calls, since servers grow while they are asked
_PART = 2  # default: half of the memory
_CGROUP = Path("/sys/fs/cgroup/memory.max")
_RESET = "5"  # written to clear_refs: the peak is counted from scratch (Linux)
PEAK = "peak"
"""What a daemon is told by one that compares its servers' memory with the limit: it counts their peaks from scratch."""
Json = dict[str, Any]


def default_limit() -> int:
    """Bytes: half of the machine's memory, or of the container's limit."""
    import psutil

    there = int(psutil.virtual_memory().total)
    try:
        there = min(there, int(_CGROUP.read_text()))
    except (OSError, ValueError):
        pass  # no container, or one without a limit
    return there // _PART


class Memory:
    """After calls, rests the servers of workspaces while all of them take more than `limit` bytes, or have in between.

    The least recently used come first; this daemon's, which were just used, last.
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
        found = await asyncio.to_thread(self._ask_daemon, PEAK)
        taken = sum(taken_by(about) for about in found.values())
        for name, about in sorted(found.items(), key=lambda item: -item[1].get("unused", 0.0)):
            if taken <= self._limit:
                return
            if not about["servers"]:
                continue
            is_ours = about["pid"] == os.getpid()
            rested = await self._rest() if is_ours else await asyncio.to_thread(self._ask_daemon, "rest", name)
            if rested:
                log.info("language servers take %d MiB, too much; ending those of %s", taken >> 20, about["root"])
                taken -= taken_by(about)

    def _ask_daemon(self, what: str, name: str | None = None) -> dict[str, Json]:
        return {
            found: about
            for found, about in daemons(self._home, {"tell": what}, name)
            if about.get("pid") and about.get("rested", True)
        }


def taken_by(about: Json) -> int:
    """Bytes used by the language servers of a daemon, as reported by it: the most since the last look, if known."""
    return sum(max(server["rss"], server.get("peak", 0)) for server in about["servers"])


def peak(pid: int) -> int:
    """Bytes of RAM that a process took at most since the last call, or its start; 0 where the system does not say."""
    process = Path("/proc") / str(pid)
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", (process / "status").read_text(), re.MULTILINE)
        (process / "clear_refs").write_text(_RESET)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
