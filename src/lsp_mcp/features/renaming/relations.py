"""What implements what, before and after a rename: `relations` of its methods, for a server that goes by their names.

In Go a method belongs to each interface that has its name, in other modules too: with another name it is called through
others, or through none. No use says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import position_params, text_or_none
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import locations
from lsp_mcp.requests.symbols import flat
from lsp_mcp.text import Point, PositionEncoding, Text
from lsp_mcp.uris import uri_path

_MOST = 100  # methods asked about

Request = Callable[[str, Mapping[str, Any]], Awaitable[object]]
TextOf = Callable[[Path], Text | None]
Relations = Mapping[Site, frozenset[Site]]
"""For each method, the methods of interfaces that it implements, or that implement it."""


async def methods(backend: Backend, places: Mapping[Path, Collection[Point]]) -> list[Site]:
    """The declarations of methods among `places`, in the present texts."""
    found: list[Site] = []
    if backend.plugin.trial_arguments or not backend.capabilities.get("implementationProvider"):
        return found  # its uses of a method include those of what it overrides
    for path, points in places.items():
        try:
            outline = await document_symbols(backend, path, opened=False)
        except (RefusedError, PathError) as error:
            note(path, error)
            continue
        starts = {one.place.span.start for one in flat(outline) if one.kind == "method"}
        found += [(path, point) for point in points if point in starts]
    return found[:_MOST]


async def relations(
    backend: Backend, request: Request, text_of: TextOf, encoding: PositionEncoding, sites: Collection[Site]
) -> Relations:
    """What the methods at `sites` implement and what implements them, as `request` says about the texts of `text_of`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    found: dict[Site, frozenset[Site]] = {}
    for path, point in sites:
        text = text_of(path)
        if text is None:
            continue
        try:
            result = await request("textDocument/implementation", position_params(path, text, point, encoding))
        except RefusedError:
            continue
        related: set[Site] = set()
        for one in locations(result):
            there = uri_path(one["uri"])
            if other := text_of(there) or await text_or_none(backend, there):
                related.add((there, other.position_point(one["range"]["start"], encoding)))
        found[path, point] = frozenset(related)
    return found
