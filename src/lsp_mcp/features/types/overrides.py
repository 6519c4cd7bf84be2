"""Overridden and overriding methods: `overrides`, for a server whose references cover one method at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.features.types.implementations import Implementations, implementations
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.references import References
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import declaration_places, definition_places
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.text import Point
from lsp_mcp.waiting import dispensable, share_of_rest

_METHOD = 6  # LSP 3.17, `SymbolKind`
_SHARE = 0.25  # share of a call's remaining time: each override may be in a file that must be read
_NOT_IN_TIME = "methods that it overrides, or that override it, were not determined in time; use find_implementations"


class Overrides(Struct, frozen=True):
    """The methods `above`, which a method overrides, and those `below`, which override it, on all levels.

    Those `beside` share its name for another method: one that overrides both, or that both override.
    """

    above: tuple[Symbol, ...] = ()
    below: tuple[Symbol, ...] = ()
    beside: tuple[Symbol, ...] = ()
    gaps: tuple[Gap, ...] = ()  # why there may be more
    twins: tuple[Place, ...] = ()  # of those that share an identity with a method of another program, if it overrides

    @property
    def methods(self) -> tuple[Symbol, ...]:
        """All of them."""
        return *self.above, *self.below, *self.beside

    @property
    def twin_sites(self) -> frozenset[Site]:
        """The starts of the `twins`."""
        return frozenset((place.path, place.span.start) for place in self.twins)

    def with_twins(self, found: References) -> Sequence[Place]:
        """The places of `found` with all twins, if the server listed one of those with their identity: of any program,
        maybe of one in which it overrides nothing."""
        known = {(place.path, place.span.start) for place in found.places}
        more = [place for place in self.twins if (place.path, place.span.start) not in known]
        return [*found.places, *more] if found.apart or len(more) < len(self.twins) else found.places


async def overrides(backend: Backend, path: Path, point: Point) -> Overrides:
    """The overrides of the method at `point`; none for anything else, or if the server's references include them all.

    Raises:
        PathError, PointError, UnavailableError: see `references`.
    """
    if backend.plugin.hierarchy is None or not backend.capabilities.get("callHierarchyProvider"):
        return Overrides()
    text = await backend.documents.open(path)
    at = position_params(path, text, point, backend.encoding)
    try:
        with dispensable():
            items = await backend.request("textDocument/prepareCallHierarchy", at) or []
        if not any(item["kind"] == _METHOD for item in items):
            return Overrides()
        async with asyncio.timeout(share_of_rest(_SHARE)):
            found: Implementations = await implementations(backend, path, point, beside=True)
    except NO_ANSWER as error:
        note(path, error)
        return Overrides()
    except TimeoutError:
        return Overrides(gaps=(Gap("not_searched", _NOT_IN_TIME),))
    gaps = found.gaps
    if found.unasked:
        gaps = (*gaps, Gap("capped", f"overrides of {found.unasked:,} methods not asked for"))
    return Overrides(
        tuple(one.symbol for one in found.above if one.symbol.kind == "method"),
        tuple(one.symbol for one in found.below),
        found.beside,
        gaps,
        found.twins,
    )


async def related(backend: Backend, path: Path, point: Point) -> Overrides:
    """The `overrides` of the method at `point`, or what it implements, if the server calls that its declaration.

    Raises:
        PathError, PointError, UnavailableError: see `references`.
    """
    if not backend.plugin.word_check.lists_implementations:
        return await overrides(backend, path, point)
    try:
        with dispensable():
            defined = await definition_places(backend, path, point)
            declared = await declaration_places(backend, path, point) if defined else []
            containers = Containers(backend)
            found = [await containers.named_at(*site) for site in declared if site not in defined]
    except NO_ANSWER as error:
        note(path, error)
        return Overrides(gaps=(Gap("not_searched", _NOT_IN_TIME),))
    return Overrides(tuple(Symbol(one.name, one.kind, one.place) for one in found if one and one.kind in FUNCTIONS))
