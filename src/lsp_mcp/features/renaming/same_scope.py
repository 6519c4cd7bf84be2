"""Symbols of a name that a renamed symbol gets, where that matters: `in_its_scope`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point

_MOST_FILES = 24  # outlined; in more, every member counts


async def in_its_scope(backend: Backend, own: Collection[Site], others: Sequence[Symbol]) -> list[Symbol]:
    """Those of `others` that are declared in the same scope as the symbol at `own`; of a member of a type, all members.

    Types may be related. Elsewhere, a name that another one hides is found when the rename is tried (`tried`).

    Raises:
        UnavailableError: see `Backend.request`.
    """
    containers = Containers(backend)
    own = [site for site in own if await _declares(containers, *site)] or own  # not a use of it that was asked about
    scopes = [(path, await _scope(containers, path, point)) for path, point in own]
    is_member = any(scope and scope.kind in TYPES for _, scope in scopes)
    files = {path for path, _ in scopes}
    elsewhere = {one.place.path for one in others} - files
    if is_member and len(elsewhere) > _MOST_FILES:
        return list(others)
    found: list[Symbol] = []
    for one in others:
        if one.place.path not in files and not is_member:
            continue
        scope = await _scope(containers, one.place.path, one.place.span.start)
        same = (one.place.path, scope) in scopes
        if same or (is_member and scope and scope.kind in TYPES):
            found.append(one)
    return found


async def _declares(containers: Containers, path: Path, point: Point) -> bool:
    return await containers.named_at(path, point) is not None


async def _scope(containers: Containers, path: Path, point: Point) -> Container | None:
    """The innermost declaration around the one at a place; None if that is at the top of its file."""
    around = [one for one in await containers.known(path) if one.holds(point) and one.place.span.start != point]
    return max(around, key=lambda one: one.extent.start, default=None)
