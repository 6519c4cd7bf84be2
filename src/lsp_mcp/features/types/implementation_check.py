"""Implementations compared with the text, for a server whose `implementation` also goes up from a method.

A type that implements an interface declares a method for each of the interface's, or embeds one that does. So each
method of that name in files that the server did not search is asked what it implements.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.evidence.check_gaps import added, unlisted, without
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.explainers.by_definition import NEVER_TRUSTED
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.occurrences import covered
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.types.implementations import Implementation, Implementations
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.symbols import Symbol

_INTERFACE = "interface"
_MOST_METHODS = 40  # of one type, whose names are looked for in interfaces
_MOST_EMBEDDED = 40  # types that others may embed
_MOST_NAMED = 3


class _Candidate(Struct, frozen=True):
    """A candidate declaration; it belongs to the answer if the server relates it to one of `wanted`."""

    place: Place
    wanted: frozenset[Site]
    found: Symbol


async def checked_implementations(
    word_check: WordCheck, backend: Backend, found: Implementations, unsearched: frozenset[Path],
    *, below: bool, above: bool,
) -> tuple[Implementations, list[Gap]]:  # fmt: skip
    """`found`, searched `below` and `above`, with further results found in the text, and its remaining gaps.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    search = _Search(backend, word_check.related, found, unsearched)
    more: list[Implementation] = []
    gaps: list[Gap] = []
    # Nothing is below a type that is not an interface, and an interface's own declaration names what is above it.
    is_interface = await search.is_interface()
    if is_interface and below:
        more, gaps = await search.below()
        found = replace(found, below=[*found.below, *more])
    elif not is_interface and above:
        more, gaps = await search.above()
        found = replace(found, above=[*found.above, *more])
    return found, [*gaps, *search.unlisted, *added(backend, [one.symbol.place for one in more])]


class _Search:
    def __init__(
        self, backend: Backend, related: Definitions, found: Implementations, unsearched: frozenset[Path]
    ) -> None:
        self._backend = backend
        self._related = related
        self._found = found
        self._symbol = found.symbol
        self._unsearched = unsearched
        self._containers = Containers(backend)
        self.unlisted: list[Gap] = []  # files with the names may not be indexed yet

    async def is_interface(self) -> bool:
        if self._symbol.kind != "method":
            return self._symbol.kind == _INTERFACE
        declared = await self._containers.at(self._symbol.place)
        return declared is not None and await self._owner_kind(declared) == _INTERFACE

    async def below(self) -> tuple[list[Implementation], list[Gap]]:
        """The implementations of the interface, or of one of its methods."""
        methods = (
            [self._symbol.place] if self._symbol.kind == "method" else await self._methods([self._symbol.place.path])
        )
        if not methods:
            return [], await self._gaps(_name(self._symbol.place), None)
        rarest, files = methods[0], await self._files(_name(methods[0]))
        for method in methods[1:]:
            if len(having := await self._files(_name(method))) < len(files):
                rarest, files = method, having
        candidates = await self._declaring(rarest, files, interfaces=False)
        found, gaps = await self._explained(_name(rarest), candidates, self._found.below)
        if self._symbol.kind == "method":  # an embedding type declares none
            return found, gaps
        todo = [*self._found.below, *found]
        for one in itertools.islice(todo, _MOST_EMBEDDED):  # grows
            known = [*self._found.below, *found]
            embedded = one.symbol.place
            more, lacking = await self._explained(_name(embedded), await self._embedding(embedded), known)
            found += more
            todo += more
            gaps += lacking
        return found, gaps

    async def above(self) -> tuple[list[Implementation], list[Gap]]:
        """The interfaces that a type implements, or the interface methods that a method implements."""
        path = self._symbol.place.path
        if self._symbol.kind == "method":
            methods = [self._symbol.place]
        else:
            beside = [one for one in await self._files(_name(self._symbol.place)) if one.parent == path.parent]
            methods = await self._methods(beside)
        found: list[Implementation] = []
        gaps: list[Gap] = []
        for method in methods[:_MOST_METHODS]:
            name = _name(method)
            candidates = await self._declaring(method, await self._doubted(name), interfaces=True)
            known = [*self._found.above, *found]
            more, lacking = await self._explained(name, candidates, known)
            found += more
            gaps += lacking
        return found, gaps

    # --- inside ------------------------------------------------------------------------------------

    async def _files(self, name: str) -> Sequence[Path]:
        backend = self._backend
        having = await backend.words.files_with(name, seconds=budget.left())
        self.unlisted = unlisted(having) or self.unlisted
        return having.files

    async def _doubted(self, name: str) -> list[Path]:
        """The files with `name` that may hold results missing from the answer."""
        files = await self._files(name)
        doubted = covered(hiding(await self._gaps(name, files)), files)
        return [path for path in files if path in doubted]

    async def _methods(self, files: Iterable[Path]) -> list[Place]:
        """The places where the methods of the type are declared."""
        own = self._symbol.name
        every = [one for path in files for one in await self._containers.known(path)]
        return [one.place for one in every if one.owner == own and one.kind == "method"]

    async def _owner_kind(self, method: Container) -> str:
        """The kind of the type that declares `method`, if its file tells; for an interface it always does."""
        known = await self._containers.known(method.place.path)
        return next((one.kind for one in known if one.kind in TYPES and one.name == method.owner), "")

    async def _declaring(self, method: Place, files: Iterable[Path], *, interfaces: bool) -> list[_Candidate]:
        """The declarations named as `method` in `files`, in interfaces or in other types."""
        name, wanted = _name(method), frozenset({(method.path, method.span.start)})
        found = []
        for path in files:
            if self._backend.plugin.ignores(path.parent, self._backend.root):
                continue
            text = await text_or_none(self._backend, path)
            if not text or not await self._backend.words.occurrences(path, text, name):
                continue
            for one in await self._containers.known(path):
                if one.kind != "method" or not one.owner or _name(one.place) != name:
                    continue
                if (await self._owner_kind(one) == _INTERFACE) == interfaces:
                    found.append(_Candidate(one.place, wanted, await self._shown(one)))
        return found

    async def _embedding(self, embedded: Place) -> list[_Candidate]:
        """The types in doubted files that may embed the type named at `embedded`."""
        name, wanted = _name(embedded), frozenset({self._symbol.place.site})
        found = []
        for path in await self._doubted(name):
            if text := await text_or_none(self._backend, path):
                spans = await self._backend.words.occurrences(path, text, name)
                for one in await self._containers.known(path):
                    inside = (span for span in spans if one.holds(span.start) and span != one.place.span)
                    if one.kind in TYPES and one.kind != _INTERFACE and any(inside):
                        symbol = Symbol(one.name, one.kind, one.place)
                        found.append(_Candidate(one.place, wanted, symbol))
        return found

    async def _shown(self, method: Container) -> Symbol:
        """The answer's entry for `method`: itself, or its type."""
        if self._symbol.kind == "method":
            return Symbol(method.name, method.kind, method.place)
        beside = [method.place.path, *await self._files(method.owner)]
        for path in beside:
            if path.parent == method.place.path.parent:
                for one in await self._containers.known(path):
                    if one.kind in TYPES and one.name == method.owner:
                        return Symbol(one.name, one.kind, one.place)
        return Symbol(method.owner, "type", method.place)

    async def _explained(
        self, name: str, candidates: Sequence[_Candidate], known: Collection[Implementation]
    ) -> tuple[list[Implementation], list[Gap]]:
        """Those of `candidates` that belong to the answer, whose `known` entries they add to."""
        has = {one.symbol.place.site for one in known}
        own = self._symbol.place.site
        left = [one for one in candidates if one.found.place.site not in has and one.found.place.site != own]
        files = {one.place.path for one in left}
        doubts = hiding(await self._gaps(name, files))
        doubted = covered(doubts, files)
        left.sort(key=lambda one: one.place.path not in doubted)
        is_exact = self._backend.plugin.word_check.exact
        needed = [
            one.place for number, one in enumerate(left)
            if not is_exact or one.place.path in doubted or number < NEVER_TRUSTED
        ]  # fmt: skip
        await self._related.learn(needed)
        await self._related.learn([one.place for one in left], when=budget.present().is_whole)
        more: dict[Site, Implementation] = {}
        unknown: list[Place] = []
        unasked: list[Place] = []
        trusted = 0
        for one in left:
            meaning = self._related.known(one.place.site)
            if meaning is None and self._backend.plugin.word_check.exact and one.place.path not in doubted:
                trusted += 1
            elif not meaning:
                (unasked if meaning is None else unknown).append(one.place)
            elif sites_of(meaning) & one.wanted:
                more[one.found.place.site] = Implementation(one.found)
        gaps = await self._gaps(name, {place.path for place in (*unknown, *unasked)})
        # An earlier reason still holds, even if the server does not repeat it.
        gaps += [gap for gap in without(gaps, doubts) if covered([gap], {place.path for place in unknown})]
        told = covered(hiding(gaps), files)
        gaps += self._unverified(name, [one for one in unknown if one.path not in told], "not explained")
        gaps += self._unverified(name, [one for one in unasked if one.path not in told], "not checked yet; ask again")
        if trusted:
            text = f"of {count(len(left), 'other method')} called {name} {len(left) - trusted:,} were looked at"
            gaps.append(news("unverified", text))
        return list(more.values()), gaps

    def _unverified(self, name: str, places: Sequence[Place], why: str) -> list[Gap]:
        if not places:
            return []
        files = tuple(dict.fromkeys(place.path for place in places))
        root = self._backend.root
        shown = first_few([f"{one.path.relative_to(root)} {one.span.start.line}" for one in places], _MOST_NAMED)
        text = f"unverified: {count(len(places), 'declaration')} with {name} {why}: {shown}"
        return [Gap("unverified", text, files, about="implementations")]

    async def _gaps(self, name: str, files: Collection[Path] | None) -> list[Gap]:
        use = Use(name, files=None if files is None else frozenset(files))
        return await self._backend.gaps(Scope(path=self._symbol.place.path, use=use, unsearched=self._unsearched))


def _name(place: Place) -> str:
    return place.text.slice(place.span)
