"""References without the bases that name an alias of the symbol instead: `without_aliased_bases`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.class_heads import ClassHeads
from lsp_mcp.features.definitions import Definitions, Meaning, Site
from lsp_mcp.features.places import Place
from lsp_mcp.text import Point

_SECONDS = 2.0  # for asking about bases


async def without_aliased_bases(backend: Backend, places: Sequence[Place], at: Site) -> list[Place]:
    """Those of `places`, the references of the symbol at `at`, that name it and not an alias of it.

    clangd 22 lists a base by an alias as a use of the class, too, though no other use of the alias. A use by a macro
    stays, and so does a base about which it says nothing in time.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    rules = backend.adapter.hierarchy
    kept = list(places)
    if not rules or not rules.class_pattern or len({_word(place) for place in places}) < 2:
        return kept
    definitions = Definitions(backend)
    own = await definitions.of(at)
    names = {word for symbol in own for word in re.findall(r"\w+", symbol.name)[-1:]}
    heads = ClassHeads(rules)
    bases: dict[Path, frozenset[Point]] = {}
    asked: dict[Path, list[Site]] = {}
    for place in places if names else ():
        if (word := _word(place)) in names or not word.isidentifier():
            continue
        if place.path not in bases:
            stated = heads.statements(place.text, backend.adapter.language_of(place.path))
            bases[place.path] = frozenset(base.at for listed in stated.bases.values() for base in listed)
        if place.span.start in bases[place.path]:
            asked.setdefault(place.path, []).append((place.path, place.span.start))
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS):
            await definitions.learn(asked.values())
    aliased = {site for sites in asked.values() for site in sites if _is_alias(definitions.known(site), own)}
    return [place for place in kept if (place.path, place.span.start) not in aliased]


def _is_alias(meaning: Meaning | None, own: Meaning) -> bool:
    """Whether a base under another word is an alias: clangd says the alias, or only what that stands for.

    Of a macro it says the symbols in it, too, or a symbol without a place.
    """
    if not meaning or not all(symbol.sites for symbol in meaning):
        return False
    ids = {symbol.id for symbol in own}
    return len({symbol.id in ids for symbol in meaning}) == 1


def _word(place: Place) -> str:
    return place.text.slice(place.span)
