"""An answer about a symbol compared with the text: `WordCheck` explains every occurrence of the symbol's name.

Each one that the answer does not have is asked about: what the server says is defined there is another symbol, or this
one, or nothing that it knows. See ARCHITECTURE.md, "What `complete` proves".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.features.definitions import Definitions, Site
from lsp_mcp.features.identity import Identity, identity, sites_of
from lsp_mcp.features.places import Place, text_or_none
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.text import Point

log = logging.getLogger(__name__)

_MOST_ASKED = 3_000  # occurrences of one word; of more, those in the likeliest files
LEFT_OUT_SECONDS = 10.0  # for files that the build leaves out: a server may have to load another system's build
_MOST_NAMED = 3  # places or files of a gap that are told


@dataclass(frozen=True)
class Claim:
    """What a server has answered about the symbol called `name`, asked at `at`: that it stands in `sites`.

    `counts` says of which places at all it should have said so.
    """

    name: str
    at: Site
    sites: Collection[Site]
    unsearched: frozenset[Path] = frozenset()  # files that were not searched for the answer, see `Backend.load`
    searched: frozenset[Path] = frozenset()  # files that the build leaves out, and that it takes in all the same
    counts: Callable[[Place], bool] = lambda place: True


@dataclass(frozen=True)
class Verdicts:
    """What is known of occurrences that an answer lacks."""

    missing: tuple[Place, ...] = ()  # they are the symbol, says the server itself
    unknown: tuple[Place, ...] = ()  # it doesn't know what they are
    unasked: tuple[Place, ...] = ()  # there was no time to ask


@dataclass(frozen=True)
class Checked:
    """What the text adds to an answer: the places that are `missing` in it, and what it lacks with them, too."""

    missing: tuple[Place, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass
class _Learning:
    """Questions that are being asked, and how many wait for them."""

    task: asyncio.Task[None]
    waiting: int = 0


class WordChecks:
    """The checks of several backends."""

    def __init__(self) -> None:
        self._checks: dict[int, WordCheck] = {}  # by the backend's id; it is kept alive by its check

    def of(self, backend: Backend) -> WordCheck:
        """That of `backend`."""
        return self._checks.setdefault(id(backend), WordCheck(backend))

    async def close(self) -> None:
        """Ask nothing any more."""
        await asyncio.gather(*(check.close() for check in self._checks.values()))


class WordCheck:
    """Checks the answers of one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._definitions = Definitions(backend)
        self.related = Definitions(backend, "textDocument/implementation")  # for `features.implementation_check`
        self._learning: dict[object, _Learning] = {}  # by what is asked about

    async def check(self, claim: Claim, seconds: float, *, thorough: bool = False) -> Checked:
        """What the text says of `claim`, after at most `seconds` of asking, which goes on after that.

        Of a server that is exact in what it has read, only some occurrences need be asked about unless `thorough`.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        backend = self._backend
        words = await backend.words.files_with(claim.name, seconds=seconds)
        left = await _leftover(backend, claim, words.files)
        gaps = [Gap("unverified", f"not all files are known yet: {words.unknown}")] if words.unknown else []
        symbol = await identity(backend, self._definitions, claim.name, claim.at) if left else None
        if symbol is None:
            return Checked(gaps=(*await self._gaps(claim, ()), *gaps))
        occurrences = await self._occurrences(claim, symbol, left)
        doubts = hiding(await self._gaps(claim, {place.path for place in occurrences}))
        doubted = {place.path for place in occurrences if _covering(doubts, place.path)}
        occurrences = _in_order(occurrences, symbol, claim, doubted)
        if backend.adapter.projects and backend.adapter.projects.left_out_refusal:
            left_out = [place for place in occurrences if place.path in doubted]
            await self._learn(claim, left_out[:_MOST_ASKED], max(seconds, LEFT_OUT_SECONDS))
        await self._learn(claim, occurrences[:_MOST_ASKED], seconds)
        verdicts = await self._verdicts(claim, symbol, occurrences)
        is_exact = backend.adapter.word_check.exact and not thorough
        unproven = [place for place in verdicts.unasked if not is_exact or place.path in doubted]
        open_files = {place.path for place in (*verdicts.unknown, *unproven)}
        gaps += await self._gaps(claim, open_files)
        # A reason that was there before is one still, though the server may not say it again.
        gaps += [gap for gap in without(gaps, doubts) if any(_covering([gap], path) for path in open_files)]
        gaps += self._unknown(claim.name, [p for p in verdicts.unknown if not _covering(hiding(gaps), p.path)])
        gaps += self._unasked(claim.name, [p for p in unproven if not _covering(hiding(gaps), p.path)])
        if len(verdicts.unasked) > len(unproven):
            asked = len(occurrences) - len(verdicts.unasked)
            text = f"of {count(len(occurrences), 'other occurrence')} of {claim.name} {asked:,} were looked at"
            gaps.append(news("unverified", text))
        return Checked(verdicts.missing, tuple(gaps))

    async def possible(self, claim: Claim) -> list[Gap]:
        """What could hide uses of the symbol of `claim` from the server, which is not asked about any.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        backend = self._backend
        words = await backend.words.files_with(claim.name, seconds=backend.check_seconds)
        symbol = await identity(backend, self._definitions, claim.name, claim.at)
        occurrences = await self._occurrences(claim, symbol, words.files) if symbol else []
        return await self._gaps(claim, {place.path for place in occurrences})

    async def close(self) -> None:
        """Ask nothing any more."""
        tasks = [one.task for one in self._learning.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # --- inside ------------------------------------------------------------------------------------

    async def _occurrences(self, claim: Claim, symbol: Identity, left: Sequence[Path]) -> list[Place]:
        """Where the name stands in code that could mean the symbol, and the answer does not have it."""
        backend, local = self._backend, symbol.local
        if local and all(file == local[0] and local[1].start <= at < local[1].end for file, at in claim.sites):
            left = [path for path in left if path == local[0]]
        else:
            local = None
            visible = await backend.words.that_can_see(left, symbol.seen_as)
            left = [path for path in left if path in visible]
        has = set(claim.sites)
        projects = backend.adapter.projects
        found: list[Place] = []
        for path in left:
            if projects and projects.ignores(path, backend.root):
                continue
            if text := await text_or_none(backend, path):
                spans = [
                    span for span in backend.words.occurrences(path, text, claim.name) if (path, span.start) not in has
                ]
                spans = await backend.words.that_can_mean(spans, text, path, symbol.seen_as)
                found += filter(claim.counts, [Place(path, span, text) for span in spans])
        if local:
            found = [place for place in found if local[1].start <= place.span.start < local[1].end]
        return found

    async def _gaps(self, claim: Claim, files: Collection[Path]) -> list[Gap]:
        use = Use(claim.name, files=frozenset(files))
        return await self._backend.gaps(
            Scope(path=claim.at[0], use=use, unsearched=claim.unsearched, searched=claim.searched)
        )

    async def _learn(self, claim: Claim, occurrences: Sequence[Place], seconds: float) -> None:
        """Ask about what is not known yet."""
        sites = [(place.path, place.span.start) for place in occurrences]
        by_folder = self._backend.adapter.word_check.by_folder
        groups: dict[Path, list[Site]] = {}
        for site in sites:
            if self._definitions.known(site) is None:
                groups.setdefault(site[0].parent if by_folder else site[0], []).append(site)
        if not groups:
            return
        for other in [one for one in self._learning.values() if not one.waiting]:
            other.task.cancel()  # who wanted to know has gone on
        about = frozenset(sites), self._backend.generation
        learning = self._learning.get(about)
        if learning is None or learning.task.done() or not learning.waiting:
            # In a context of its own: it goes on when the call is over.
            task = asyncio.create_task(self._definitions.learn(groups.values()), context=Context())
            learning = self._learning[about] = _Learning(task)
            task.add_done_callback(partial(self._learned, about))
        learning.waiting += 1
        try:
            done, _ = await asyncio.wait([learning.task], timeout=seconds)
        finally:
            learning.waiting -= 1
        if done and not learning.task.cancelled():
            learning.task.result()

    def _learned(self, about: object, task: asyncio.Task[None]) -> None:
        if (known := self._learning.get(about)) and known.task is task:
            del self._learning[about]
        if not task.cancelled() and (error := task.exception()):
            log.info("%s was not asked to the end: %s", self._backend.name, error)

    async def _verdicts(self, claim: Claim, symbol: Identity, occurrences: Iterable[Place]) -> Verdicts:
        sites = frozenset(claim.sites)
        missing: list[Place] = []
        unknown: list[Place] = []
        unasked: list[Place] = []
        for place in occurrences:
            meaning = self._definitions.known((place.path, place.span.start))
            if meaning is None:
                unasked.append(place)
            elif not meaning:
                unknown.append(place)
            elif any(map(symbol.is_meant_by, meaning)):
                # One of several that it may be, unless the others only hand the name on.
                others = (other for other in meaning if not symbol.is_meant_by(other))
                (missing if all(other.sites <= sites for other in others) else unknown).append(place)
            elif await self._is_grouped(sites_of(meaning) & sites):
                missing.append(place)
        return Verdicts(tuple(missing), tuple(unknown), tuple(unasked))

    async def _is_grouped(self, declared: Iterable[Site]) -> bool:
        """Whether one of `declared`, which the answer has, is the declaration of what the server takes for the same."""
        if self._backend.adapter.word_check.grouped:
            for one in declared:
                if sites_of(await self._definitions.of(one)) == {one}:
                    return True
        return False

    def _unknown(self, name: str, places: Sequence[Place]) -> list[Gap]:
        if not places:
            return []
        shown = first_few([_shown(place, self._backend.root) for place in places], _MOST_NAMED)
        text = f"unverified: {_number(name, places)} that {self._backend.name} does not explain: {shown}"
        return [Gap("unverified", text, _files(places), about="unknown")]

    def _unasked(self, name: str, places: Sequence[Place]) -> list[Gap]:
        if not places:
            return []
        text = f"unverified: {_number(name, places)}; they are being looked at, ask again"
        return [Gap("unverified", text, _files(places), about="unasked")]


def added(backend: Backend, places: Sequence[Place]) -> list[Gap]:
    """What is said of an answer that `places` were joined to."""
    if not places:
        return []
    shown = first_few([_shown(place, backend.root) for place in places], _MOST_NAMED)
    text = f"added {count(len(places), 'place')} that {backend.name} itself left out: {shown}"
    return [news("added", text, files=_files(places))]


async def _leftover(backend: Backend, claim: Claim, files: Sequence[Path]) -> list[Path]:
    """Those of `files` in which the name stands somewhere, be it in a comment, where the answer does not have it."""
    has: dict[Path, set[Point]] = {}
    for path, point in claim.sites:
        has.setdefault(path, set()).add(point)
    left = []
    for path in files:
        there = has.get(path)
        text = await text_or_none(backend, path) if there else None
        if there is None or (text and any(span.start not in there for span in text.words(claim.name))):
            left.append(path)
    return left


def _in_order(places: Sequence[Place], symbol: Identity, claim: Claim, doubted: Collection[Path]) -> list[Place]:
    """The likeliest first: in doubted files, then near where the symbol is defined, then near where it is used."""
    home = {path.parent for path, _ in symbol.sites}
    near = {path.parent for path, _ in claim.sites}

    def distance(place: Place) -> tuple[bool, bool, bool, Path, Point]:
        folder = place.path.parent
        return place.path not in doubted, folder not in home, folder not in near, place.path, place.span.start

    return sorted(places, key=distance)


def _covering(gaps: Iterable[Gap], path: Path) -> list[Gap]:
    """Those of `gaps` that are about `path`, or a folder that it lies in."""
    return [gap for gap in gaps if path in gap.files or not set(gap.files).isdisjoint(path.parents)]


def without(known: Sequence[Gap], gaps: Iterable[Gap]) -> list[Gap]:
    """Those of `gaps` whose files none of those `known` is about."""
    files = {file for gap in known for file in gap.files}
    return [gap for gap in gaps if files.isdisjoint(gap.files)]


def _files(places: Iterable[Place]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(place.path for place in places))


def _shown(place: Place, root: Path) -> str:
    path = place.path.relative_to(root) if place.path.is_relative_to(root) else place.path
    return f"{path} {place.span.start.line}:{place.span.start.character}"


def _number(name: str, places: Sequence[Place]) -> str:
    files = _files(places)
    where = f" in {count(len(files), 'file')}" if len(files) > 1 else ""
    return f"{count(len(places), 'occurrence')} of {name}{where}"
