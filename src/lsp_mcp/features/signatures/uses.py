"""Where a function is declared, defined and used, with the methods that must keep its parameters: `uses_of`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.features.renaming.shared_calls import home_of, shared_calls
from lsp_mcp.features.types.overrides import overrides
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.scope import definition_places, locations, refuse_foreign
from lsp_mcp.text import Point, Span
from lsp_mcp.uris import uri_path

_MOST_METHODS = 200  # of one family


class Uses(Struct, frozen=True):
    """The `places` of a function and its `family`: methods with the same parameters, by their declarations.

    `own` are its own definitions; `outside` are methods of the family that do not change with it, such as those of
    libraries. `unclear` places may mean another function of the name.
    """

    name: str
    places: tuple[Place, ...]
    own: frozenset[Site]
    family: frozenset[Site] = frozenset()
    outside: tuple[Site, ...] = ()
    unclear: tuple[Place, ...] = ()
    gaps: tuple[Gap, ...] = ()
    searched: frozenset[Path] = frozenset()
    pending: frozenset[Path] = frozenset()
    by_macros: frozenset[Site] = frozenset()
    apart: frozenset[Site] = frozenset()  # declarations of other symbols, see `evidence.namesakes`

    @property
    def sites(self) -> frozenset[Site]:
        """The starts of its places."""
        return frozenset((place.path, place.span.start) for place in self.places)

    def joined_by(self, more: Iterable[Place], by_macros: Collection[Site]) -> Uses:
        """The uses with `more` places, and with the places where macros use the symbol."""
        return replace(self, places=(*self.places, *more), by_macros=self.by_macros | frozenset(by_macros))


async def uses_of(backend: Backend, path: Path, identifier: Span, *, alone: bool = False) -> Uses:
    """The uses of the function named at `identifier`, and of its family unless `alone`.

    Raises:
        RefusedError: it is defined outside of the workspace.
        PathError, UnavailableError: see `references`.
    """
    text = await backend.documents.open(path)
    point, name = identifier.start, text.slice(identifier)
    definitions = Definitions(backend)
    found = await own_references(backend, definitions, path, point)
    places = await definition_places(backend, path, point)
    refuse_foreign(backend, places)
    own = frozenset(site for site in places if site[0] not in found.strange) or frozenset({(path, point)})
    if strange := [one for one in sorted(own) if not one[0].is_relative_to(backend.root)]:
        raise RefusedError(f"it is defined outside of the workspace, at {strange[0][0]}:{strange[0][1].line}")
    family, gaps = await _family(backend, path, point, own)
    outside = sorted(one for one in family if not one[0].is_relative_to(backend.root))
    inside = frozenset(family) - frozenset(outside)
    uses = {(place.path, place.span.start): place for place in found.places}
    searched, pending, apart = found.searched, found.pending, found.apart
    gaps = (*gaps, *found.gaps)
    for site in sorted(inside - own) if not alone else ():
        more = await own_references(backend, definitions, *site)
        uses |= {(place.path, place.span.start): place for place in more.places}
        searched, pending, apart = searched | more.searched, pending | more.pending, apart | more.apart
        gaps = (*gaps, *more.gaps)
    kept = [place for place in uses.values() if place.path.is_relative_to(backend.root)]
    if alone and backend.plugin.word_check.grouped:
        kept = [one for one in kept if await _means(backend, one, own)]
    home = (await home_of(backend, path, identifier, name)).outside(found.strange)
    shared = await shared_calls(backend, definitions, home, kept, kept)
    return Uses(
        name,
        tuple(sorted(kept, key=lambda one: (str(one.path), one.span))),
        own,
        frozenset() if alone else inside,
        (*(sorted(inside - own) if alone else ()), *outside),
        (*shared.shared, *shared.unknown),
        gaps,
        searched,
        pending,
        apart=apart,
    )


async def _means(backend: Backend, place: Place, own: frozenset[Site]) -> bool:
    site = place.path, place.span.start
    return site in own or not own.isdisjoint(await definition_places(backend, *site))


async def _family(
    backend: Backend, path: Path, point: Point, own: frozenset[Site]
) -> tuple[frozenset[Site], tuple[Gap, ...]]:
    """The declarations of the methods that it implements or overrides, and of those that do that with these."""
    if backend.plugin.hierarchy is not None:
        related = await overrides(backend, path, point)
        sites = {(one.place.path, one.place.span.start) for one in related.methods}
        return frozenset(sites | own), related.gaps
    found, left = set(own), sorted(own)
    while left:
        file, start = left.pop()
        if not file.is_relative_to(backend.root):
            continue
        if len(found) > _MOST_METHODS:
            raise RefusedError(f"more than {_MOST_METHODS} methods implement the same as it")
        new = [one for one in await _implementations(backend, file, start) if one not in found]
        found.update(new)
        left += new
    return frozenset(found), ()


async def _implementations(backend: Backend, path: Path, point: Point) -> list[Site]:
    """What the method at `point` implements, or what implements it."""
    if not backend.capabilities.get("implementationProvider"):
        return []
    text = await backend.documents.open(path)
    try:
        result = await backend.request(
            "textDocument/implementation", position_params(path, text, point, backend.encoding)
        )
    except RefusedError:  # a function
        return []
    found = []
    for one in locations(result):
        there = uri_path(one["uri"])
        other = await backend.documents.text(there)
        found.append((there, other.position_point(one["range"]["start"], backend.encoding)))
    return found
