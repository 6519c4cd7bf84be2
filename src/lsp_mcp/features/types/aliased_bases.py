"""References without the bases that name an alias of the symbol instead: `without_aliased_bases`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site
from lsp_mcp.features.types.base_clauses import BaseClauses
from lsp_mcp.requests.places import Place
from lsp_mcp.text import Point


class Named(Struct, frozen=True):
    """The `places` that name a symbol; those of them that are `unknown` may name an alias of it."""

    places: list[Place]
    unknown: tuple[Place, ...] = ()


async def without_aliased_bases(backend: Backend, definitions: Definitions, places: Sequence[Place], at: Site) -> Named:
    """Those of `places`, the references of the symbol at `at`, that name it and not an alias of it.

    clangd 22 lists a base by an alias as a use of the class, too, though no other use of the alias. A use by a macro
    stays, and so does a base about which it says nothing, or not in time.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    kept = list(places)
    if not backend.plugin.hierarchy or len({_word(place) for place in places}) < 2:
        return Named(kept)
    own = await definitions.meaning(at)
    names = {word for symbol in own for word in re.findall(r"\w+", symbol.name)[-1:]}
    names |= {_word(place) for place in places if (place.path, place.span.start) == at}
    clauses = BaseClauses(backend)
    bases: dict[Path, frozenset[Point]] = {}
    asked: list[Place] = []
    for place in places:
        if (word := _word(place)) in names or not word.isidentifier():
            continue
        if place.path not in bases:
            stated = await clauses.statements(place.path, place.text)
            bases[place.path] = frozenset(base.at for listed in stated.bases.values() for base in listed)
        if place.span.start in bases[place.path]:
            asked.append(place)
    await definitions.learn(asked)
    sites = {(place.path, place.span.start) for place in asked}
    unknown = {site for site in sites if not own or not definitions.known(site)}
    aliased = {site for site in sites - unknown if _is_alias(definitions.known(site), own)}
    return Named(
        [place for place in kept if (place.path, place.span.start) not in aliased],
        tuple(place for place in kept if (place.path, place.span.start) in unknown),
    )


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
