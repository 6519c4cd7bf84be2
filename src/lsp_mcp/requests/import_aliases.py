"""Uses of a symbol under the name that an import gives it: `uses_by_alias`.

For basedpyright `g` of `from m import f as g` is a symbol of its own: it lists uses of `g` only if asked about `g`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import first_few
from lsp_mcp.requests.loaded import Loaded, loaded
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import References, references
from lsp_mcp.syntax.imports import imported_as, may_be_imported_as
from lsp_mcp.text import Point

_MOST_ASKED = 200  # aliases of one symbol


async def with_aliases(backend: Backend, uses: References) -> References:
    """`uses` of a symbol with those under the names that imports give it.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    more, gaps = await uses_by_alias(backend, uses.places)
    if not (more or gaps):
        return uses
    joined = uses.joined_by(more, backend.root)
    return References(joined.places, uses.dropped, (*uses.gaps, *gaps), uses.searched, uses.pending)


async def uses_by_alias(backend: Backend, places: Sequence[Place]) -> tuple[list[Place], list[Gap]]:
    """The uses of the symbol with the uses `places` that these lack, as imports give it another name, also on the way.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    known = {(place.path, place.span.start) for place in places}
    found: list[Place] = []
    asked: set[tuple[Path, Point]] = set()
    lost: list[Place] = []
    new = list(places)
    wholes = await loaded(backend, places)
    given = [place for place in wholes.aliases if (place.path, place.span.start) not in known]
    while new:
        aliases = [*given, *[alias for place in new if (alias := await _alias(backend, place))]]
        new, given = [], []
        for alias in aliases:
            site = alias.path, alias.span.start
            if site in asked:
                continue
            asked.add(site)
            uses = (await references(backend, *site)).places if len(asked) <= _MOST_ASKED else ()
            if site not in {(use.path, use.span.start) for use in uses}:  # it lists uses of the first name again
                lost.append(alias)
                continue
            new += [use for use in uses if (use.path, use.span.start) not in known]
            known |= {(use.path, use.span.start) for use in new}
        found += new
    return found, [*_not_listed(backend, lost), *_used_at_once(backend, wholes)]


def _used_at_once(backend: Backend, wholes: Loaded) -> list[Gap]:
    if not (wholes.used or wholes.unread):
        return []
    used = [f"{place.path.relative_to(backend.root)} {place.span.start.line}" for place in wholes.used]
    unread = [str(path.relative_to(backend.root)) for path in wholes.unread]
    text = f"uses where its module is loaded are not listed: {first_few([*used, *unread])}"
    return [Gap("unverified", text, (*dict.fromkeys(place.path for place in wholes.used), *wholes.unread))]


def _not_listed(backend: Backend, lost: Sequence[Place]) -> list[Gap]:
    if not lost:
        return []
    files = tuple(dict.fromkeys(place.path for place in lost))
    root = backend.root
    at = [place.path.relative_to(root) if place.path.is_relative_to(root) else place.path for place in lost]
    named = [f"{one.text.slice(one.span)} ({path} {one.span.start.line})" for one, path in zip(lost, at, strict=True)]
    shown = first_few(named)
    return [Gap("unverified", f"uses by names that imports give are not listed: {shown}", files)]


async def _alias(backend: Backend, place: Place) -> Place | None:
    """Where the import that names the symbol at `place` gives it another name."""
    language = backend.plugin.language_of(place.path)
    end = place.text.point_offset(place.span.end)
    if language is None or not may_be_imported_as(place.text, language.id, end):
        return None
    start = (await asyncio.to_thread(imported_as, place.text, language.id)).get(end)
    span = None if start is None else place.text.identifier_at(place.text.offset_point(start))
    return Place(place.path, span, place.text) if span else None
