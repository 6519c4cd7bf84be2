"""Uses of a field without its name, which no answer counts: `unnamed_uses`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.prose import first_few
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import references
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point

_FOLLOWING = 300  # characters
_LISTED = 3  # places


async def unnamed_uses(backend: Backend, path: Path, point: Point, *, writes: bool) -> list[str]:
    """How the field declared at `point` of `path` is used without its name, for people; nothing for other symbols.

    With `writes` also where values of its type are made without the names of their fields.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    rules = backend.plugin.symbols
    if not rules.embedded_pattern:
        return []
    try:
        found = _field(await document_symbols(backend, path), point)
    except (RefusedError, PathError) as error:
        note(path, error)
        return []
    if found is None:
        return []
    field, owner = found
    place = field.place
    told = []
    pattern = rules.embedded_pattern.replace("{name}", re.escape(place.text.slice(place.span)))
    if re.match(pattern, place.text.line(place.span.start.line)):
        told.append("members that are used through it")
    if writes and (made := await _made_without(backend, owner)):
        shown = [f"{one.path.relative_to(backend.root)}:{one.span.start.line}" for one in made]
        told.append(f"values made without names of fields in {first_few(shown, _LISTED)}")
    return told


def _field(symbols: Sequence[Symbol], point: Point, owner: Symbol | None = None) -> tuple[Symbol, Symbol] | None:
    """The field whose name begins at `point`, and the type that it belongs to."""
    for one in symbols:
        if owner and one.place.span.start == point:
            return (one, owner) if one.kind == "field" else None
        if found := _field(one.children, point, one):
            return found
    return None


async def _made_without(backend: Backend, owner: Symbol) -> list[Place]:
    """Where values of the type `owner` are made without the names of its fields."""
    pattern = re.compile(backend.plugin.symbols.unkeyed_pattern or "(?!)")
    try:
        uses = await references(backend, owner.place.path, owner.place.span.start)
    except RefusedError as error:
        note(owner.place.path, error)
        return []
    ends = [(use, use.text.point_offset(use.span.end)) for use in uses.places if use.path.is_relative_to(backend.root)]
    return [use for use, end in ends if pattern.match(use.text.content, end, end + _FOLLOWING)]
