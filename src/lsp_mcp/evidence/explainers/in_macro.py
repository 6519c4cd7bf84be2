"""The meaning of a word in the definition of a macro, by the uses of the macro: `InMacro`.

A server knows nothing about such a word, since the preprocessor replaces macros before parsing; it reports the word's
meaning as a use where the macro is used.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import LspMcpError
from lsp_mcp.evidence.definitions import Site, is_misread_alone
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.text import Span
from lsp_mcp.words.lexing import is_macro_parameter, macro_at
from lsp_mcp.words.visibility import is_member

_MOST = 60  # macros per question
_DEEPEST = 8  # macros used by macros
_BESIDE = 20  # characters examined beside a word
_BLANK = " \t\\\r\n"


class MacroUses:
    """The uses of macros; each macro is asked about once."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._known: dict[Site, frozenset[Site] | None] = {}

    async def name_around(self, place: Place) -> Place | None:
        """The name of the macro whose definition contains `place`; None if there is none."""
        span = macro_at(place.text, place.span, self.backend.plugin.language_of(place.path))
        return place._replace(span=span) if span else None

    def is_parameter(self, place: Place) -> bool:
        """Whether the macro whose definition contains `place` has a parameter of that name."""
        return is_macro_parameter(place.text, place.span, self.backend.plugin.language_of(place.path))

    async def places(self, macro: Place) -> frozenset[Site] | None:
        """The places in code that use `macro`, also through other macros; None if unknown.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        return await self._of(macro.path, macro.span, macro.text.slice(macro.span), _DEEPEST)

    async def may_be_lost(self, macro: Place) -> bool:
        """Whether the text has uses of `macro` that the server does not list, in a file that it may have read alone.

        A macro that comes from what is included before a header is not a macro to a server that was shown the header.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        name = macro.text.slice(macro.span)
        listed: frozenset[Site] | None = None
        for path in (await self.backend.coverage.built_files_with(name)).files:
            if path == macro.path or not await is_misread_alone(self.backend, path):
                continue
            if text := await text_or_none(self.backend, path):
                if listed is None:
                    listed = await self._listed(macro)
                there = await self.backend.words.occurrences(path, text, name)
                if any((path, span.start) not in listed for span in there if span not in there.in_macros):
                    return True
        return False

    # --- inside ------------------------------------------------------------------------------------

    async def _listed(self, macro: Place) -> frozenset[Site]:
        try:
            return (await references(self.backend, macro.path, macro.span.start)).sites
        except LspMcpError:
            return frozenset()

    async def _of(self, path: Path, span: Span, name: str, depth: int) -> frozenset[Site] | None:
        site = path, span.start
        if site in self._known:
            return self._known[site]
        if not depth or len(self._known) >= _MOST:
            return None
        self._known[site] = frozenset()  # for a macro that uses itself through another
        self._known[site] = found = await self._find_uses(path, span, name, depth)
        return found

    async def _find_uses(self, path: Path, span: Span, name: str, depth: int) -> frozenset[Site] | None:
        try:
            places = (await references(self.backend, path, span.start)).places
        except LspMcpError:
            return None
        if (path, span) not in {(place.path, place.span) for place in places}:
            return None  # the server does not know this definition, for example because the preprocessor excludes it
        found: set[Site] = set()
        for place in places:
            if place.text.slice(place.span) != name:
                continue
            around = await self.name_around(place)
            if around is None:
                found.add((place.path, place.span.start))
            elif around.span != place.span:
                above = await self._of(place.path, around.span, around.text.slice(around.span), depth - 1)
                if above is None:
                    return None
                found |= above
        for around in await self._unresolved((path, span.start), name, places):
            found |= await self._of(around.path, around.span, around.text.slice(around.span), depth - 1) or frozenset()
        return frozenset(found)

    async def _unresolved(self, site: Site, name: str, known: Collection[Place]) -> list[Place]:
        """The names of macros that use the macro `name`, defined at `site`, and are not in `known`, its references.

        clangd 22 resolves the words of a definition where it stands: a macro that is defined below it is unknown there.
        Its index lacks the words of definitions in files that are not open.
        """
        files = (await self.backend.coverage.built_files_with(name)).files
        resolved = {(place.path, place.span) for place in known}
        found = []
        for path in sorted({site[0], *files}):
            text = await text_or_none(self.backend, path)
            there = await self.backend.words.occurrences(path, text, name) if text else None
            spans = there.in_macros if there else frozenset[Span]()
            for place in [Place(path, span, text) for span in sorted(spans) if text and (path, span) not in resolved]:
                macro = await self.name_around(place)
                if macro is None or macro.span == place.span or self.is_parameter(place) or _is_pasted(place):
                    continue
                if path == site[0] or await self._is_meant(site, place):
                    found.append(macro)
        return found

    async def _is_meant(self, site: Site, place: Place) -> bool:
        try:
            return site in await definition_places(self.backend, place.path, place.span.start)
        except LspMcpError:
            return False


class _Said(Struct, frozen=True):
    """Which words the uses of macros explain: `same` symbol, or `other`. Macros that no code uses have the `unused`."""

    same: tuple[Place, ...] = ()
    other: tuple[Place, ...] = ()
    unused: tuple[Place, ...] = ()
    used: frozenset[Site] = frozenset()  # where the macros of `same` are used


class InMacro:
    """A word in the definition of a macro means the symbol if the symbol is used where the macro is.

    Otherwise it does not. For an unused macro only the name is evidence, if no other symbol has it. A macro may mean
    several symbols: changing its word would rename the others, too.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if not so_far.unknown:
            return so_far
        said = await _explained(question.backend, so_far.unknown, {*question.claim.sites}, question.symbol.sites)
        found = so_far.explained(other=said.other)
        if not question.claim.in_macros:
            return found.explained(other=(*said.same, *said.unused))  # of what counts
        rest = so_far.others or so_far.unasked or so_far.trusted or question.unread
        is_alone = not rest and question.symbol.role != "local"
        are_joined = is_alone or not question.thorough
        joined = (*(said.same if are_joined else ()), *(said.unused if is_alone else ()))
        return replace(
            found.explained(same=joined), in_macros=joined, by_macros=said.used if are_joined else frozenset()
        )


async def _explained(
    backend: Backend, places: Sequence[Place], sites: Collection[Site], declared: Collection[Site]
) -> _Said:
    """What the uses of macros say about `places`; the symbol is in `sites` and is declared at `declared`.

    A word outside of definitions stays unknown.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    uses = MacroUses(backend)
    if await _is_macro(uses, declared):
        return _Said()
    same: list[Place] = []
    other: list[Place] = []
    unused: list[Place] = []
    everywhere: set[Site] = set()
    for place in places:
        macro = await uses.name_around(place)
        if macro and (macro.span == place.span or uses.is_parameter(place)):
            other.append(place)
            continue
        used = await uses.places(macro) if macro and not _is_pasted(place) else None
        if used is None:
            continue
        if used.isdisjoint(sites) and macro and await uses.may_be_lost(macro):
            continue
        if not used:
            # A member may belong to a library's type.
            if not is_member(place.text, place.span):
                unused.append(place)
        elif used.isdisjoint(sites):
            other.append(place)
        else:
            same.append(place)
            everywhere |= used
    return _Said(tuple(same), tuple(other), tuple(unused), frozenset(everywhere))


async def _is_macro(uses: MacroUses, declared: Collection[Site]) -> bool:
    for path, point in declared:
        text = await text_or_none(uses.backend, path)
        span = text.identifier_at(point) if text else None
        if text and span and (macro := await uses.name_around(Place(path, span, text))) and macro.span == span:
            return True
    return False


def _is_pasted(place: Place) -> bool:
    """Whether `#` or `##` turns it into another word or a string."""
    content, offset = place.text.content, place.text.point_offset
    before, after = content[: offset(place.span.start)][-_BESIDE:], content[offset(place.span.end) :][:_BESIDE]
    return before.rstrip(_BLANK).endswith("#") or after.lstrip(_BLANK).startswith("##")
