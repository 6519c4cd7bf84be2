"""The uses of members of generic types, which a server may list per instance only: `generic_member_uses`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError, RefusedError
from lsp_mcp.gaps import Gap
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.edit_plans import asked_rename
from lsp_mcp.requests.other_builds import edited
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path


class MoreUses(Struct, frozen=True):
    """`Location`s missing from the server's answer for the caller's place, and the gaps."""

    locations: tuple[Location, ...] = ()
    gaps: tuple[Gap, ...] = ()


async def generic_member_uses(backend: Backend, path: Path, point: Point) -> MoreUses:
    """The uses of the member of a generic type at `point` of `path`; none for anything else.

    Methods: the references of their definition. Fields: the places that a rename would change.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    pattern = backend.plugin.symbols.generic_pattern
    member = await _member(backend, path, point, pattern) if pattern else None
    if member is None:
        return MoreUses()
    file, start = member.place.path, member.place.span.start
    at = position_params(file, member.place.text, start, backend.encoding)
    found: list[Location] = []
    if (file, start) != (path, point):
        params = {**at, "context": {"includeDeclaration": True}}
        found += await backend.request("textDocument/references", params) or []
    if member.kind != "field":
        return MoreUses(tuple(found))
    name = member.place.text.slice(member.place.span)
    try:
        # Any unused name will do: nothing is renamed.
        edit = await asked_rename(backend, at, f"{name}_")
    except RefusedError as error:
        text = (
            f"{backend.plugin.name} may miss uses of {name}, a field of a generic type, and cannot rename it: {error}"
        )
        return MoreUses(tuple(found), (Gap("unverified", text),))
    uses = [place for place in edited(edit) if await _is_use(backend, place, member.place)]
    return MoreUses((*found, *uses))


async def _is_use(backend: Backend, location: Location, definition: Place) -> bool:
    """Whether `location`, which a rename changes, is a use: it may be in the comment above the definition."""
    if uri_path(location["uri"]) != definition.path:
        return True
    start = definition.text.position_point(location["range"]["start"], backend.encoding)
    if start.line >= definition.span.start.line:
        return True
    try:
        return (definition.path, definition.span.start) in await definition_places(backend, definition.path, start)
    except RefusedError:
        return False


async def _member(backend: Backend, path: Path, point: Point, pattern: str) -> Symbol | None:
    """The member of a generic type of the workspace that is defined where `point` leads."""
    try:
        places = await definition_places(backend, path, point)
        if len(places) != 1 or not places[0][0].is_relative_to(backend.root):
            return None
        file, start = places[0]
        outline = await document_symbols(backend, file)
    except LspMcpError:
        return None  # then references are refused, too, or the symbol is not in the workspace
    return next(
        (
            symbol
            for symbol, owners in _with_owners(outline)
            if symbol.place.span.start == start and _is_of_generic(backend, symbol, owners, pattern)
        ),
        None,
    )


def _is_of_generic(backend: Backend, symbol: Symbol, owners: tuple[Symbol, ...], pattern: str) -> bool:
    member = re.match(backend.plugin.symbols.member_pattern or "(?!)", symbol.name)
    if member and re.search(pattern, symbol.name[: member.start("member")]):
        return True
    places = [owner.place for owner in owners]
    return any(
        re.match(pattern, place.text.content[place.text.point_offset(place.span.end) :][:80]) for place in places
    )


def _with_owners(
    symbols: tuple[Symbol, ...], owners: tuple[Symbol, ...] = ()
) -> Iterator[tuple[Symbol, tuple[Symbol, ...]]]:
    for symbol in symbols:
        yield symbol, owners
        yield from _with_owners(symbol.children, (*owners, symbol))
