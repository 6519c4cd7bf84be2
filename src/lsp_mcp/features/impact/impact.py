"""What depends on a symbol: its uses, the functions that reach it, the exported ones of those, and tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.namesakes import own_references
from lsp_mcp.features.calls.calls import Named
from lsp_mcp.features.hierarchy import Node, Tree, call_tree, callers_of, dropped_gap
from lsp_mcp.features.renaming.named_after import declared_beside
from lsp_mcp.features.types.implementations import implementations
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.requests.attributes import attributes
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.import_aliases import with_aliases
from lsp_mcp.requests.places import Place, last_word
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import declaration_places, definition_places
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.text import Point, Span
from lsp_mcp.waiting import dispensable

NO_CALLS = "no call hierarchy"
"""The gap of a server without this request."""

_MOST_USES = 10_000
_DECLARED = 2  # the usual number of declarations and definitions of a symbol
_MOST_OPENED = 12  # files opened to find the functions around uses, for a server that needs them open


class Reached(Struct, frozen=True):
    """A function that uses the symbol indirectly: `way` leads from it to the first direct user."""

    symbol: Symbol
    way: tuple[str, ...] = ()


class Impact(Struct):
    """What depends on `symbol`.

    `uses` are the places that name it, without its declaration, each with its container; `functions` and `tests` reach
    it, the nearest first; `through` are methods by which it may be called; `seen` as `Tree.kept`.
    """

    symbol: Symbol
    uses: list[Place] = field(default_factory=list)
    functions: list[Reached] = field(default_factory=list)
    tests: list[Reached] = field(default_factory=list)
    exported: list[Symbol] = field(default_factory=list)
    through: list[Symbol] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    declared: frozenset[Site] = frozenset()  # where the symbol is declared and defined
    searched: frozenset[Path] = frozenset()  # as in `References`
    apart: frozenset[Site] = frozenset()  # declarations of other symbols, see `evidence.namesakes`

    @property
    def sites(self) -> frozenset[Site]:
        """The places of the symbol's declarations and definitions known to the server."""
        return self.declared.union((use.path, use.span.start) for use in self.uses)

    def joined_by(self, places: Sequence[Place], in_code: Sequence[Place]) -> Impact:
        """The impact with the uses at `places` added; a gap says that callers of those `in_code` were not followed."""
        text = f"callers not followed from {count(len(in_code), 'use')} that the server left out"
        gap = Gap("not_searched", text, tuple(dict.fromkeys(place.path for place in in_code)))
        return replace(self, uses=[*self.uses, *places], gaps=[*self.gaps, *([gap] if in_code else [])])


async def impact(backend: Backend, path: Path, point: Point, depth: int, most: int) -> Impact:
    """What depends on the symbol at `point` of `path`, up to `depth` calls away, with at most `most` functions.

    Raises:
        RefusedError: the server knows no symbol there.
        PathError, PointError, UnavailableError: see `references`.
    """
    return await _Impact(backend, depth, most).run(path, point)


def is_called_test(backend: Backend, path: Path, name: str) -> bool:
    """Whether the function `name` (as in a call hierarchy) of `path` is run as a test because of that name."""
    tests = backend.plugin.adapter.tests
    is_called = tests.function_pattern and re.search(tests.function_pattern, name)
    return bool(is_called and (not tests.file_pattern or tests.has(path, backend.root)))


def is_exported(backend: Backend, name: str, place: Place) -> bool:
    """Whether code outside the workspace can use what is declared at `place`; `name` is its full name."""
    start = place.span.start
    before = place.text.slice(Span(Point(start.line, 1), start))
    return backend.plugin.is_exported(name, place.path) and backend.plugin.declares_exported(name, before)


def is_test(backend: Backend, place: Place, name: str) -> bool:
    """Whether the function `name` that is declared at `place` is run as a test: by that name or an attribute."""
    pattern = backend.plugin.adapter.tests.attribute_pattern
    is_marked = bool(pattern) and any(re.search(pattern, line) for line in attributes(place))
    return is_marked or is_called_test(backend, place.path, name)


def has_test(backend: Backend, place: Place, name: str) -> bool:
    """Whether what is declared at `place` is a test; where neither names nor attributes tell, all in a test file is."""
    tests = backend.plugin.adapter.tests
    by_file = not (tests.function_pattern or tests.attribute_pattern) and tests.has(place.path, backend.root)
    return by_file or is_test(backend, place, name)


def ranked(tests: Iterable[Reached], about: Sequence[Path]) -> list[Reached]:
    """`tests`, first those named after the files `about`, then by distance."""
    stems = {path.stem for path in about}
    folders = {path.parent for path in about}

    def rank(test: Reached) -> tuple[bool, bool, int, str, Point]:
        place = test.symbol.place
        stem = re.sub(r"(?:^test_|_test$|_tests?$|[-.]test$)", "", place.path.stem)
        away = place.path.parent not in folders
        return stem not in stems, away, len(test.way), str(place.path), place.span.start

    return sorted(tests, key=rank)


class _Impact:
    def __init__(self, backend: Backend, depth: int, most: int) -> None:
        self._backend = backend
        self._depth, self._most = depth, most
        self._containers = Containers(backend)
        self._named = Named(backend, self._containers)

    async def run(self, path: Path, point: Point) -> Impact:
        definitions = Definitions(self._backend)
        listed = await own_references(self._backend, definitions, path, point)
        found = await with_aliases(self._backend, listed)
        if not found.places:
            raise RefusedError("it sees no symbol there")
        declared = {site for site in await self._declared(path, point) if site[0] not in found.strange}
        is_mixed = bool(found.strange)
        if self._backend.plugin.word_check.namesakes:
            own = sites_of(await definitions.meaning((path, point)))
            if own and declared.isdisjoint(own):  # the server has gone to another symbol with its id
                declared, is_mixed = set(own), True
        symbol = await self._symbol(path, point, declared)
        if len(declared) > _DECLARED:  # for a method without a body, some servers also return its overrides
            declared = {place for place in declared if await self._is_called(symbol.name, *place)}
        impact = Impact(symbol, declared=frozenset(declared), searched=found.searched, apart=found.apart)
        impact.gaps += found.gaps
        if len(found.places) > _MOST_USES:
            impact.gaps.append(Gap("capped", f"capped at {_MOST_USES:,} of {len(found.places):,} uses"))
        uses = [use for use in found.places[:_MOST_USES] if (use.path, use.span.start) not in declared]
        impact.uses = await self._with_containers(uses)
        # Of functions with one id, the server mixes the callers.
        is_asked = symbol.kind in FUNCTIONS and not is_mixed
        tree = await self._callers(symbol, impact, is_asked=is_asked)
        await self._sort(tree.found if is_asked else tree.roots, impact)
        if symbol.kind == "method":
            impact.through = await self._through(path, point)
        return impact

    async def _declared(self, path: Path, point: Point) -> set[tuple[Path, Point]]:
        if not self._backend.capabilities.get("definitionProvider"):
            return {(path, point)}
        places = set(await definition_places(self._backend, path, point))
        if self._backend.capabilities.get("declarationProvider"):
            places |= set(await declaration_places(self._backend, path, point))
            for other in list(places):  # asked at one of the two, a server may return the other
                places |= set(await definition_places(self._backend, *other))
        for file, start in [one for one in places if not self._backend.plugin.language_of(one[0])]:
            if declared := await declared_beside(self._backend, file, start):  # the other one is a body in assembler
                places.add((declared.symbol.place.path, declared.symbol.place.span.start))
        return places or {(path, point)}

    async def _symbol(self, path: Path, point: Point, declared: set[tuple[Path, Point]]) -> Symbol:
        for file, start in [(path, point), *sorted(declared)]:
            for one in await self._containers.known(file):
                if one.place.span.start == start:
                    return Symbol(one.name, one.kind, one.place)
        text = await self._backend.documents.open(path)
        span = text.identifier_at(point)
        assert span, "a target is on an identifier"
        return Symbol(text.slice(span), "symbol", Place(path, span, text))

    async def _is_called(self, name: str, path: Path, point: Point) -> bool:
        """Whether the declaration at `point` is known to have the name `name`."""
        found = [one for one in await self._containers.known(path) if one.place.span.start == point]
        return not found or found[0].name == name

    async def _with_containers(self, uses: list[Place]) -> list[Place]:
        """Each use with the declaration that contains it."""
        named = []
        for use in uses:
            looked = use.container or not await self._may_look(use.path)
            named.append(use if looked else await self._containers.enclosed(use))
        return named

    async def _may_look(self, path: Path) -> bool:
        """Whether the outline of `path` may be requested: if that opens files, only for a few."""
        if self._backend.plugin.documents.outlines_closed or self._containers.has(path):
            return True
        return self._containers.files < _MOST_OPENED

    async def _callers(self, symbol: Symbol, impact: Impact, *, is_asked: bool) -> Tree:
        def ends(file: Path, name: str) -> bool:
            return is_called_test(self._backend, file, name)

        if not self._backend.capabilities.get("callHierarchyProvider"):
            name = self._backend.plugin.name
            text = f"not looked for: callers, and tests that reach it, as {name} has no call hierarchy"
            impact.gaps.append(Gap("not_searched", text, brief="callers and tests not looked for", about=NO_CALLS))
            return Tree()
        if is_asked:
            start = symbol.place.path, symbol.place.span.start
            tree = await call_tree(self._backend, *start, "incoming", self._depth, self._most, ends=ends)
        else:
            starts = await self._users(impact)
            tree = await callers_of(self._backend, starts, self._depth, self._most, ends=ends)
        if tree.left_out:
            impact.gaps.append(Gap("capped", f"capped at {self._most:,} functions that reach it"))
        if tree.unfollowed:
            text = f"callers of {tree.unfollowed:,} functions not searched for in time; pass a smaller depth"
            impact.gaps.append(Gap("capped", text))
        impact.gaps += [*tree.gaps, *dropped_gap("caller", tree.dropped)]
        return tree

    async def _users(self, impact: Impact) -> list[tuple[Path, Point]]:
        """The functions and variables that contain the uses."""
        users: dict[tuple[Path, Point], None] = {}
        unknown: set[Path] = set()
        for use in impact.uses:
            if not await self._may_look(use.path):
                unknown.add(use.path)
                continue
            around = await self._containers.around(use.path, use.span.start)
            if around and around.kind in FUNCTIONS:
                users[around.place.path, around.place.span.start] = None
        if unknown:
            text = f"functions that use it not searched for in {len(unknown)} more files"
            impact.gaps.append(Gap("not_searched", text, tuple(sorted(unknown))))
        return list(users)

    async def _sort(self, callers: Iterable[Node], impact: Impact) -> None:
        tests = self._backend.plugin.adapter.tests
        seen: set[tuple[Path, Point]] = {(impact.symbol.place.path, impact.symbol.place.span.start)}
        level: list[tuple[Node, tuple[str, ...]]] = [(node, ()) for node in callers]
        while level:
            beyond: list[tuple[Node, tuple[str, ...]]] = []
            for node, way in level:
                place = node.symbol.place
                symbol = await self._named.symbol(node.symbol)
                beyond += [(child, (symbol.name, *way)) for child in node.children]
                if (place.path, place.span.start) in seen:
                    continue
                seen.add((place.path, place.span.start))
                if has_test(self._backend, place, last_word(node.symbol.name)):
                    impact.tests.append(Reached(symbol, way))
                else:
                    impact.functions.append(Reached(symbol, way))
            level = beyond
        impact.exported = [
            one.symbol
            for one in impact.functions
            if one.symbol.kind != "module"  # the code of a file outside of functions
            and is_exported(self._backend, one.symbol.name, one.symbol.place)
            and not tests.has(one.symbol.place.path, self._backend.root)
        ]

    async def _through(self, path: Path, point: Point) -> list[Symbol]:
        """The methods through which this one may be called."""
        try:
            with dispensable():
                found = await implementations(self._backend, path, point, below=False)
        except NO_ANSWER as error:
            note(path, error)
            return []
        return [one.symbol for one in found.above]
