"""textDocument/references: every use of a symbol, its declaration included (LSP 3.17)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend, Json
from lsp_mcp.features.generic_members import MoreUses, generic_member_uses
from lsp_mcp.features.other_builds import uses_in_other_builds
from lsp_mcp.features.places import Locator, Place, distinct_by_file
from lsp_mcp.gaps import Gap
from lsp_mcp.text import Point
from lsp_mcp.uris import path_uri


@dataclass(frozen=True)
class References:
    """The first `places` in order of file and line, how many there are, and how many were dropped as gone."""

    places: list[Place]
    total: int
    dropped: int
    gaps: tuple[Gap, ...] = ()
    searched: frozenset[Path] = frozenset()  # files that the build leaves out, and that were looked at all the same


async def references(backend: Backend, path: Path, point: Point, limit: int) -> References:
    """The uses of the symbol at `point` of `path`, the first `limit` of them as places.

    Raises:
        PathError: the file cannot be read, or is of no language of this server.
        PointError: the point is outside the file.
        RefusedError, UnavailableError: as `Backend.request`.
    """
    text = await backend.open(path)
    params = {
        "textDocument": {"uri": path_uri(path)},
        "position": text.point_position(point, backend.encoding),
        "context": {"includeDeclaration": True},
    }
    more_uses = generic_member_uses(backend, path, point)
    asked, more = await _both(backend.request("textDocument/references", params), more_uses)
    result: list[Json] = [*(asked or []), *more.locations]
    other = await uses_in_other_builds(backend, path, point, result)
    result += other.locations
    found: list[Place] = []
    dropped = 0
    files = distinct_by_file(result, backend.root)
    locator = Locator(backend)
    identifier = text.identifier_at(point) if backend.adapter.changes.goes_by_mtime else None
    name = text.slice(identifier) if identifier else ""
    for locations in files:
        for place in await locator.places(locations, name) if len(found) < limit else ():
            if len(found) == limit:
                break
            if place:
                found.append(place)
            else:
                dropped += 1
    return References(found, sum(map(len, files)) - dropped, dropped, more.gaps, frozenset(other.searched))


async def _both(one: Coroutine[Any, Any, Any], other: Coroutine[Any, Any, MoreUses]) -> tuple[Any, MoreUses]:
    """What both give, asked for at once; neither goes on when the other has failed."""
    tasks = asyncio.ensure_future(one), asyncio.ensure_future(other)
    await asyncio.gather(*tasks, return_exceptions=True)
    return tasks[0].result(), tasks[1].result()
