"""Places of words that are part of the syntax: `keywords_of`, and `without_keywords`, which a server takes for uses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import Place, by_file
from lsp_mcp.syntax.keywords import keywords_at


async def keywords_of(backend: Backend, places: Iterable[Place]) -> list[Place]:
    """Those of `places` that are keywords of their language."""
    found: list[Place] = []
    for path, there in by_file(places).items():
        if language := backend.plugin.language_of(path):
            spans = [place.span for place in there]
            keywords = await asyncio.to_thread(keywords_at, there[0].text, language.id, spans)
            found += [place for place in there if place.span in keywords]
    return found


async def without_keywords(backend: Backend, places: Sequence[Place]) -> list[Place]:
    """`places` without keywords of the language, such as `_` in `case _`, which a server may list as uses."""
    listed = backend.plugin.word_check.listed_keywords
    doubtful = [place for place in places if listed and place.text.slice(place.span) in listed]
    keywords = {(place.path, place.span) for place in await keywords_of(backend, doubtful)} if doubtful else set()
    return [place for place in places if (place.path, place.span) not in keywords] if keywords else [*places]
