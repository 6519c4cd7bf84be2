"""What modules export at run time, by which name: `exposed_in`, `exposed_under`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from functools import partial
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.remembered import RememberedOf, kept_in_thread
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.syntax.exposed import EXPOSED, exposed
from lsp_mcp.syntax.grammars import has_query
from lsp_mcp.text import Point, Text

_MOST_KEPT = 20_000  # names that modules export
_EXPOSED_IN: RememberedOf[Backend, Path, str, dict[Point, Point]] = RememberedOf(_MOST_KEPT)  # the stamp is the text


async def exposed_in(backend: Backend, path: Path, text: Text) -> Mapping[Point, Point]:
    """See `exposed`; nothing for a file in another language than those with such a query."""
    language = backend.plugin.language_of(path)
    if language is None or not has_query(language.id, EXPOSED):
        return {}
    kept = _EXPOSED_IN.for_owner(backend)
    return await kept_in_thread(kept, path, text.content, partial(exposed, text, language.id))


async def exposed_under(
    backend: Backend, definitions: Definitions, name: str, sites: Collection[Site], listed: Collection[Site]
) -> frozenset[Site]:
    """Those of the `listed` places where what is declared at `sites` is exported as `name`: `exports.name = other`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    found: set[Site] = set()
    async for text, at, value in _exports_at(backend, listed):
        word = text.identifier_at(at[1])
        if word and text.slice(word) == name and not (await _meant(definitions, value)).isdisjoint(sites):
            found.add(at)
    return frozenset(found)


async def values_of(backend: Backend, definitions: Definitions, names: Collection[Site]) -> frozenset[Site]:
    """Where that is declared which a module exports by the `names` at these places.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    found: set[Site] = set()
    async for _, _, value in _exports_at(backend, names):
        found |= await _meant(definitions, value)
    return frozenset(found)


async def _exports_at(backend: Backend, names: Collection[Site]) -> AsyncIterator[tuple[Text, Site, Site]]:
    """The `names` by which modules export something called otherwise, or declared elsewhere: text, name and value."""
    for path in {path for path, _ in names}:
        if (text := await text_or_none(backend, path)) is None:
            continue
        for at, value in (await exposed_in(backend, path, text)).items():
            if (path, at) in names and at != value:
                yield text, (path, at), (path, value)


async def _meant(definitions: Definitions, site: Site) -> frozenset[Site]:
    return frozenset(place for symbol in await definitions.meaning(site) for place in symbol.sites)
