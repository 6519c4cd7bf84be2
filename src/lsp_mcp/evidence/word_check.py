"""An answer about a symbol compared with the text: `WordCheck` explains every occurrence of the symbol's name.

The server is asked about each one that is not in the answer: it is defined as another symbol, as this one, or unknown.
See ARCHITECTURE.md, "What `complete` proves".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.background import Background
from lsp_mcp.evidence.check_gaps import (
    compared_without_grammar,
    lines_of,
    meaningless,
    named_elsewhere,
    not_text,
    unexplained,
    unlisted,
    unproven,
    without,
)
from lsp_mcp.evidence.definitions import Definitions, Site, misread
from lsp_mcp.evidence.explainers.as_argument import AsArgument
from lsp_mcp.evidence.explainers.as_expanded import AsExpanded
from lsp_mcp.evidence.explainers.as_exported import AsExported
from lsp_mcp.evidence.explainers.as_keyword import AsKeyword, AsListedKeyword
from lsp_mcp.evidence.explainers.by_definition import MOST_ASKED, ByDefinition
from lsp_mcp.evidence.explainers.declared_apart import DeclaredApart
from lsp_mcp.evidence.explainers.in_directive import InDirective
from lsp_mcp.evidence.explainers.in_function import InFunction, OfParameter
from lsp_mcp.evidence.explainers.in_index import InIndex
from lsp_mcp.evidence.explainers.in_macro import InMacro
from lsp_mcp.evidence.explainers.in_other_builds import InOtherBuilds
from lsp_mcp.evidence.explainers.in_own_builds import InOwnBuilds
from lsp_mcp.evidence.explainers.of_related_type import OfRelatedType
from lsp_mcp.evidence.identity import Identity, identity
from lsp_mcp.evidence.occurrences import (
    Claim,
    Occurring,
    covered,
    in_order,
    in_thread_if_many,
    leftover,
    occurrences,
    seeing,
)
from lsp_mcp.evidence.verdicts import Explainer, Question, Verdicts, verdicts
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count
from lsp_mcp.remembered import Remembered
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.text import Span
from lsp_mcp.words.workspace_words import FilesWith

EXPLAINERS: tuple[Explainer, ...] = (
    AsListedKeyword(),
    OfParameter(),
    InIndex(),
    ByDefinition(),
    OfRelatedType(),
    InOtherBuilds(),
    InOwnBuilds(),
    AsKeyword(),
    AsExported(),
    AsArgument(),
    InDirective(),
    DeclaredApart(),
    InFunction(),
    AsExpanded(),
    InMacro(),
)
"""In the order in which they are asked: the later ones explain what the server's definitions leave unknown."""

_MOST_OF_EXACT = 500  # occurrences of one word, of a server that misses nothing in files it has read
_MOST_PREPARED = 50  # files
_MOST_KEPT = 20_000  # files and places of cached searches


class Checked(Struct, frozen=True):
    """What the text adds to an answer: the places that are `missing` in it, and the remaining gaps.

    `in_code` are the places outside definitions of macros, `by_macros` the uses of macros whose definitions contain the
    others: there code has the symbol under another word. The server itself does not know those `by_spelling`.
    """

    missing: tuple[Place, ...] = ()
    gaps: tuple[Gap, ...] = ()
    in_code: tuple[Place, ...] = ()
    by_macros: frozenset[Site] = frozenset()
    by_spelling: tuple[Place, ...] = ()


class _Search(Struct):
    """Where a symbol can be meant by its name: in `files`, in one of which only the range `within` counts.

    `found` is the previous search's result, and its rules.
    """

    symbol: Identity | None  # None: no search
    files: list[Path]
    within: tuple[Path, Span] | None
    found: Occurring | None = None
    found_of: object = None


class _Open(Struct, frozen=True):
    """What the proof of an answer has left open.

    `unknown` places are unknown to the server, `unasked` ones were not asked about yet; `unread` and
    `unreadable` files have the name.
    """

    unknown: tuple[Place, ...]
    unasked: tuple[Place, ...]
    unread: tuple[Path, ...]
    unreadable: tuple[Path, ...]


class WordChecks:
    """The checks of several backends."""

    def __init__(self) -> None:
        self.background = Background()
        self._checks: dict[int, WordCheck] = {}  # by the backend's id; it is kept alive by its check

    def for_backend(self, backend: Backend) -> WordCheck:
        """The check of `backend`."""
        return self._checks.setdefault(id(backend), WordCheck(backend))

    async def close(self) -> None:
        """Stop proving."""
        await self.background.close()


class WordCheck:
    """Checks the answers of one backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.definitions = Definitions(backend)
        self.related = Definitions(backend, "textDocument/implementation")  # for `features.types.implementation_check`
        self._searches: Remembered[tuple[str, Site], object, _Search] = Remembered(_MOST_KEPT)

    async def prepare(self, name: str) -> None:
        """Read what `check` will compare with, if the server compiles a file before it answers; it may be cancelled.

        Nothing follows from it: `check` finds in memory what has not changed by then.
        """
        backend = self._backend
        if not backend.plugin.compiles_files or not name.isidentifier():
            return
        files = (await backend.words.files_with(name)).files
        if len(files) > _MOST_PREPARED:
            return
        for path in files:
            await asyncio.sleep(0)
            if text := await text_or_none(backend, path):
                await backend.words.occurrences(path, text, name)
        await backend.coverage.indexed(files)

    async def refuse_misread(self, name: str, at: Site) -> None:
        """Ask about the symbol `at` a place, where the text has `name`.

        Raises:
            RefusedError: the server takes it for a symbol of another name.
            UnavailableError: see `Backend.request`.
        """
        rules = self._backend.plugin.word_check
        is_word = bool(rules.name_field or rules.named_by_text) and name.isidentifier()
        if is_word and (other := misread(await self.definitions.meaning(at), name, rules)):
            raise RefusedError(f"it takes that place for {other}; ask at another use of {name}")

    async def check(self, claim: Claim, *, thorough: bool = False) -> Checked:
        """The text's evidence for `claim`, as far as the present `budget` allows.

        If a server is exact in files it has read, only the likeliest places are asked about unless `thorough`; the
        others when nobody asks.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        try:
            return await self._checked(claim, thorough=thorough)
        finally:
            # The next question does not wait for builds that only this proof needs, unless they load at once.
            if self._backend.coverage.load_seconds() > budget.LEAST:
                self._backend.documents.leave()

    async def _checked(self, claim: Claim, *, thorough: bool) -> Checked:
        backend = self._backend
        if backend.plugin.word_check.by_word:
            return Checked(gaps=tuple(await self._gaps(claim, ())))
        words = await backend.words.files_with(claim.name, seconds=budget.left())
        gaps = [*unlisted(words), *await self._meaningless(claim)]
        try:
            async with asyncio.timeout(budget.left()):
                search = await self._searched(claim, words)
        except TimeoutError:
            budget.cut()
            text = f"unverified: {backend.plugin.name} did not say in time what {claim.name} is; ask again"
            return Checked(gaps=(*await self._gaps(claim, words.files), *gaps, Gap("unverified", text, words.files)))
        symbol = search.symbol
        if symbol is None:
            more = await self._named_elsewhere(claim, words.files)
            return Checked(gaps=(*await self._gaps(claim, ()), *gaps, *more))
        doubts = hiding(await self._gaps(claim, search.files))
        doubted = await in_thread_if_many(partial(covered, doubts, search.files), search.files)
        is_exact = backend.plugin.word_check.exact and not thorough
        most = None if thorough else _MOST_OF_EXACT if is_exact else MOST_ASKED
        found, unread, unreadable = await self._found(claim, search, doubted, most)
        question = Question(backend, self.definitions, claim, symbol, doubted, [*unread, *unreadable], thorough)
        judged = await verdicts(EXPLAINERS, question, found)
        left = _Open(
            (*judged.unknown, *judged.inexplicable),
            judged.unasked,
            tuple(path for path in unread if not is_exact or path in doubted),
            tuple(path for path in unreadable if not is_exact or path in doubted),
        )
        gaps += await self._open_gaps(claim, left, gaps, doubts)
        gaps += _trusted(claim.name, found, judged, len(unread) - len(left.unread))
        in_code = tuple(place for place in judged.missing if place not in judged.in_macros)
        return Checked(judged.missing, tuple(gaps), in_code, judged.by_macros, judged.by_spelling)

    async def _open_gaps(self, claim: Claim, left: _Open, known: Sequence[Gap], doubts: Sequence[Gap]) -> list[Gap]:
        """The gaps for what is `left`; `known` are found already, `doubts` were before anything was asked."""
        open_files = {place.path for place in (*left.unknown, *left.unasked)} | {*left.unread, *left.unreadable}
        lines = lines_of((*left.unknown, *left.unasked), except_in=left.unread)
        gaps = await self._gaps(claim, open_files, lines)
        gaps += not_text(self._backend, claim.name, left.unreadable)
        # An earlier reason still holds, even if the server does not repeat it.
        every = [*known, *gaps]
        gaps += [gap for gap in without(every, doubts) if not gap.lines and covered([gap], open_files)]
        every = hiding([*known, *gaps])
        reported = covered((gap for gap in every if not gap.lines), open_files)
        told_lines = {(file, line) for gap in every for file in gap.files for line in gap.lines}

        def uncovered(places: Sequence[Place]) -> list[Place]:
            rest = [place for place in places if place.path not in reported]
            return [place for place in rest if (place.path, place.span.start.line) not in told_lines]

        gaps += await unexplained(self._backend, claim.name, uncovered(left.unknown))
        gaps += compared_without_grammar(self._backend, (*left.unknown, *left.unasked))
        gaps += unproven(
            claim.name, uncovered(left.unasked), [path for path in left.unread if path not in reported], claim.pending
        )
        return gaps

    async def possible(self, claim: Claim) -> list[Gap]:
        """Gaps that could hide uses of the symbol of `claim`; the server is not asked.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        backend = self._backend
        words = await backend.words.files_with(claim.name, seconds=budget.left())
        gaps = unlisted(words)
        symbol = await identity(backend, self.definitions, claim.name, claim.at, claim.sites)
        if symbol is None:
            return [*await self._gaps(claim, ()), *gaps]
        files, within = await seeing(backend, claim, symbol, words.files)
        doubted = covered(hiding(await self._gaps(claim, files)), files)
        found = (await occurrences(backend, claim, symbol, sorted(doubted), within, doubted, None)).places
        return [*await self._gaps(claim, {place.path for place in found}, lines_of(found)), *gaps]

    # --- inside ------------------------------------------------------------------------------------

    async def _named_elsewhere(self, claim: Claim, files: Collection[Path]) -> list[Gap]:
        """The gap for other files with a name that is not the one of the declaration, if it is from elsewhere."""
        pattern, own = self._backend.plugin.word_check.own_alias_pattern, claim.at[0]
        language = self._backend.plugin.language_of(own)
        is_name = claim.name.isidentifier() and not (language and claim.name in language.keywords)
        text = await text_or_none(self._backend, own) if pattern and claim.sites and is_name else None
        if text is None or re.search(pattern.replace("{name}", re.escape(claim.name)), text.content):
            return []
        others = await leftover(self._backend, claim, [path for path in files if path != own])
        return named_elsewhere(self._backend, claim.name, others) if others else []

    async def _meaningless(self, claim: Claim) -> list[Gap]:
        """The gap for an answer without any place, if the server knows nothing about the place asked about."""
        is_unknown = not claim.sites and not await self.definitions.meaning(claim.at)
        if not is_unknown:
            return []
        text = await text_or_none(self._backend, claim.at[0])
        return await meaningless(self._backend, claim.name, claim.at, text)

    async def _searched(self, claim: Claim, words: FilesWith) -> _Search:
        """The files with its name that can mean the symbol of `claim`, cached until something changes."""
        backend, generation = self._backend, self._backend.generation
        stamp = generation, words, claim.sites, claim.searched, claim.apart
        if (known := self._searches.get((claim.name, claim.at), stamp)) is not None:
            return known
        # In files that were searched in their own build, every word is known to be the symbol or another one.
        searched = (claim.searched or frozenset()) - {claim.at[0]}
        left = await leftover(backend, claim, [path for path in words.files if path not in searched])
        symbol = await identity(backend, self.definitions, claim.name, claim.at, claim.sites) if left else None
        symbol = replace(symbol, apart=claim.apart) if symbol else None
        files, within = await seeing(backend, claim, symbol, left) if symbol else ([], None)
        search = _Search(symbol, files, within)
        if generation == backend.generation and backend.state() == "running" and not words.unknown:
            self._searches.put((claim.name, claim.at), stamp, search, 1 + len(words.files) + len(claim.sites))
        return search

    async def _found(self, claim: Claim, search: _Search, doubted: frozenset[Path], most: int | None) -> Occurring:
        """`occurrences` in the files of `search`, `doubted` ones first, cached."""
        assert search.symbol
        about = claim.counts, doubted, most
        if search.found is None or search.found_of != about:
            work = partial(in_order, search.files, search.symbol, claim, doubted)
            files = await in_thread_if_many(work, search.files)
            found = await occurrences(self._backend, claim, search.symbol, files, search.within, doubted, most)
            if budget.present().is_cut:
                return found
            search.found, search.found_of = found, about
        return search.found

    async def _gaps(
        self, claim: Claim, files: Collection[Path], lines: Mapping[Path, frozenset[int]] | None = None
    ) -> list[Gap]:
        use = Use(claim.name, files=frozenset(files), lines=lines or {})
        searched = (claim.searched or frozenset()) | claim.pending
        return await self._backend.gaps(
            Scope(path=claim.at[0], use=use, unsearched=claim.unsearched, searched=searched)
        )


def _trusted(name: str, found: Sequence[Place], judged: Verdicts, more_files: int) -> list[Gap]:
    """The news about occurrences that an exact server was not asked about: it has read their files.

    There are others in `more_files`, which were not searched.
    """
    if not (judged.trusted or more_files):
        return []
    more = f" and {count(more_files, 'more file')} with it" if more_files else ""
    asked = len(found) - len(judged.unasked) - len(judged.trusted)
    text = f"of {count(len(found), 'other occurrence')} of {name}{more} {asked:,} were looked at"
    return [news("unverified", text)]
