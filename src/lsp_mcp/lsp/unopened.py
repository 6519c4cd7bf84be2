"""What a server says of files that are not open: `see_closed`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from time import monotonic

from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.pulling import requested
from lsp_mcp.waiting import ungrouped

log = logging.getLogger(__name__)

_AT_ONCE = 4  # requests: a change, or another question, waits for those that the server has begun


async def see_closed(
    connection: Connection, files: Sequence[Path], seconds: float, begun: set[Path]
) -> tuple[frozenset[Path], list[Path]]:
    """Request the diagnostics of `files`, in that order, for at most that long.

    Returns those that the server has checked, and those that it has not in time. It never checks the rest. `begun` are
    those that it is asked about at present.

    Raises:
        UnavailableError: the server is gone.
    """
    until = monotonic() + seconds
    left = dict.fromkeys(files)
    coming = iter(files)
    covers: set[Path] = set()

    async def some() -> None:
        for path in coming:
            if (rest := until - monotonic()) <= 0:
                return
            begun.add(path)
            try:
                report = await requested(connection, path, rest)
            except SilentError:
                return
            except RefusedError as error:
                begun.remove(path)
                log.debug("%s: %s", path, error)
                continue
            begun.remove(path)
            del left[path]
            if report.get("kind") == "full":
                connection.notifications.diagnostics.requested(path, report["items"])
                covers.add(path)

    with ungrouped():
        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(some())
    return frozenset(covers), list(left)


def nearest_first(files: Collection[Path], to: Collection[Path]) -> list[Path]:
    """`files`, those in the folders of `to` and next to them first."""
    folders = {path.parent for path in to}

    def distance(path: Path) -> tuple[int, Path]:
        parts = path.parent.parts
        return min((len(parts) + len(one.parts) - 2 * _common(parts, one.parts) for one in folders), default=0), path

    return sorted(files, key=distance)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
