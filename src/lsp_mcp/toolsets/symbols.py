"""The symbol that a caller means: an anchor or a name becomes a `SymbolTarget`, or an error that lists candidates."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.anchors import Anchor, encode_file, is_anchor, parse_anchor
from lsp_mcp.backend import Backend
from lsp_mcp.errors import AnchorError, CallerError, PathError, PointError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site, is_misread_alone, misread
from lsp_mcp.evidence.explainers.as_expanded import declared_by_macros
from lsp_mcp.features.finding.anchor_memory import Followed, LostError, Other
from lsp_mcp.features.finding.given_name import given_by
from lsp_mcp.gaps import Gap, news
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import flat
from lsp_mcp.requests.workspace_symbol import is_called, workspace_symbols
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.syntax.exports import bound_for_exports
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.toolsets.addresses import Address, parse_address, point_in
from lsp_mcp.toolsets.by_name import Names, Prefer, check_name
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.words.lexing import identifiers_in_code

_LISTED = 10  # candidates listed in an error
_CODE = 80  # characters of code shown with each
_MOST_FILES = 20  # in which a use is looked for
_MOST_USES = 3  # in each
_MOST_CALLED = 100  # symbols that are called like a file that is not there
_MEMBER = re.compile(r"(?:[\w-]+/)*\w+(?:\.\w+)+")  # `Type.Method`, `path/of/pkg.Func`


async def _silent(_done: float, _total: float | None, _message: str) -> None:
    """Reports nothing: what is done is short."""


class Handle(Struct, frozen=True):
    """The place that a caller named, not examined yet; `resolved` says how it was found.

    A `point` may be of an older text; an `address` is about the present one.
    """

    backend: Backend
    path: Path
    point: Point | None = None
    resolved: tuple[Gap, ...] = ()
    by_name: bool = False  # not by a position, which may be of another text than the caller thinks
    address: Address | None = None
    anywhere: bool = False  # a place without a symbol will do


class SymbolTarget(Struct, frozen=True):
    """The identifier at a handle, in its server's present text."""

    backend: Backend
    path: Path
    text: Text
    identifier: Span
    resolved: tuple[Gap, ...] = ()
    unsearched: frozenset[Path] = frozenset()  # see `backend.Coverage.load`

    @property
    def name(self) -> str:
        """The identifier itself."""
        return self.text.slice(self.identifier)

    async def loaded(self) -> SymbolTarget:
        """The target after its server has loaded the files that may have its name, as far as that is quick."""
        return replace(self, unsearched=await self.backend.coverage.load(self.path, self.name)) if self.name else self


class Targets:
    """Finds targets, and writes anchors."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self._workspace = sessions.workspace
        self._beginning = lru_cache(4096)(self._beginning_of)
        self._names = Names(sessions, self.anchor, self.hand_out_readable)

    def anchor(self, path: Path, point: Point | None) -> str:
        """The anchor of `point` in `path`; without a point its beginning up to `#`."""
        beginning = self._beginning(path)
        return beginning if point is None else f"{beginning}{point.line}:{point.character}"

    def scheme(self, path: Path) -> str:
        """The scheme of anchors in `path`."""
        found = (backend.plugin.language_of(path) for backend in self.sessions.backends)
        # A header of the C++ library has no extension, and so no language.
        return next((language.scheme for language in found if language), "file")

    def _beginning_of(self, path: Path) -> str:
        return f"{self.scheme(path)}://{encode_file(self._workspace.display_path(path))}#"

    async def handle(self, call: Call, symbol_anchor: str, prefer: Prefer = "any") -> Handle:
        """The place that `symbol_anchor` stands for: an anchor, another address, or a name; its backend is ready.

        Among several symbols with a name, the kinds that the tool is about are preferred: `prefer`.

        Raises:
            AnchorError: it is malformed, or the name is unknown or ambiguous; the message lists candidates.
            PathError: its file is missing, outside the workspace, or in no language of a running server.
        """
        check_name(symbol_anchor)
        if is_anchor(symbol_anchor):
            anchor = parse_anchor(symbol_anchor)
            path = await self._file(anchor, symbol_anchor)
            backend = self.sessions.for_path(path)
            await backend.ready(call.report, path)
            return await self._in_its_build(call, Handle(backend, path, anchor.point))
        if addressed := await self.addressed(symbol_anchor):
            handle = replace(await self._of_address(call, *addressed), anywhere=prefer == "places")
            return await self._in_its_build(call, handle)
        if "://" in symbol_anchor:
            parse_anchor(symbol_anchor)  # explains the problem
        named = await self._names.one(call, symbol_anchor, prefer)
        place = named.symbol.place
        handle = Handle(named.backend, place.path, place.span.start, named.remarks, by_name=True)
        return await self._in_its_build(call, handle)

    async def _in_its_build(self, call: Call, handle: Handle) -> Handle:
        """`handle`, for the server of a build that has its file, if its own server's build excludes it."""
        point = handle.point
        if point is None and handle.backend.plugin.word_check.inactive_code:
            with suppress(CallerError, RefusedError):  # the question says so
                point = await self._present_point(handle, await handle.backend.documents.text(handle.path))
        backend, variables = await self.sessions.in_own_build(handle.backend, handle.path, point)
        if not variables:
            return handle
        await backend.ready(call.report, handle.path)
        shown = self._workspace.display_path(handle.path)
        said = news("resolved", f"{shown} is not in the usual build: answered for that with {variables}")
        return replace(handle, backend=backend, resolved=(*handle.resolved, said))

    @property
    def names(self) -> Names:
        """Finds symbols by name."""
        return self._names

    async def addressed(self, spelled: str) -> tuple[Path, Address] | None:
        """The file that `spelled` names, and the place in it; None if it is an anchor or a name, as `Group.Go` may be.

        Raises:
            PathError: the file is missing or outside the workspace.
        """
        addresses = [] if is_anchor(spelled) else parse_address(spelled, self._is_source)
        if not addresses:
            return None
        await self.sessions.require_backends()
        missing: PathError | None = None
        for address in addresses:
            try:
                return await self.sessions.file(address.file), address
            except PathError as error:
                missing = missing or error
        assert missing
        if await self._is_symbol(spelled.strip()):
            return None
        raise missing

    async def target(self, handle: Handle) -> SymbolTarget:
        """The identifier at `handle` in the present text, followed there through edits since it was handed out.

        Raises:
            AnchorError: there is no identifier, or the symbol is gone; the message lists what is near.
            PathError: the file is gone or cannot be read as text.
        """
        path = handle.path
        # Shown a part of other code alone, a server may forget what that means.
        is_part = await handle.backend.coverage.part_of(path) is not None
        text = await (handle.backend.documents.text if is_part else handle.backend.documents.open)(path)
        resolved = handle.resolved
        point = handle.point or await self._present_point(handle, text)
        try:
            language = handle.backend.plugin.language_of(path)
            followed = self.sessions.memory.follow(path, point, text, language) if handle.point else Followed(point)
        except LostError as lost:
            near = "".join(f"\n{self.anchor(path, p)}| {text.line(p.line).strip()[:_CODE]}" for p in lost.nearest)
            raise AnchorError(
                f"{self.anchor(path, point)} stood on {lost.identifier}, which is no longer there since "
                f"{self._workspace.display_path(path)} changed. "
                + (f"Candidates:{near}" if near else "The file no longer has that name; find it by name.")
            ) from None
        now = followed.point
        identifier = Span(now, now) if handle.anywhere else self._identifier(handle.backend, path, text, now)
        others = [] if handle.by_name else await self._other_symbols(handle, text, identifier, followed.others)
        if others:
            resolved = (*resolved, self._two_meanings(path, point, text, identifier, others))
        elif now != point:
            moved = f"anchor moved: {self.anchor(path, point)} → {self.anchor(path, now)}"
            resolved = (*resolved, news("resolved", moved))
        target = SymbolTarget(
            handle.backend, path, text, await _bound(handle.backend, path, text, identifier), resolved
        )
        target = await self._named_by_macro(await self._named_by_import(target))
        return await (await self._declared(target)).loaded()

    async def _named_by_import(self, target: SymbolTarget) -> SymbolTarget:
        """Where an import of another file gives its name to `target`, if the server takes it for what is imported."""
        backend, name, at = target.backend, target.name, target.identifier.start
        rules = backend.plugin.word_check
        if not rules.named_by_text or not name.isidentifier():
            return target
        definitions = self.sessions.word_checks.for_backend(backend).definitions
        if not misread(await definitions.meaning((target.path, at)), name, rules):
            return target
        if (found := await given_by(backend, target.path, at, name)) is None:
            return target
        said = f"{self.anchor(target.path, at)} means {self.anchor(found[0], found[1].start)}"
        resolved = (*target.resolved, news("resolved", said))
        return SymbolTarget(backend, found[0], await backend.documents.open(found[0]), found[1], resolved)

    async def _named_by_macro(self, target: SymbolTarget) -> SymbolTarget:
        """Where the word that is `target` is declared, if it is in the code of a macro, of which the server knows
        nothing.
        """
        if not target.name.isidentifier():
            return target
        backend, place = target.backend, Place(target.path, target.identifier, target.text)
        try:
            found = await declared_by_macros(backend, place)
        except RefusedError:
            return target
        if found is None or not found.path.is_relative_to(backend.root):
            return target
        said = f"{self.anchor(*place.site)} means {self.anchor(*found.site)}"
        return SymbolTarget(backend, found.path, found.text, found.span, (*target.resolved, news("resolved", said)))

    async def _declared(self, target: SymbolTarget) -> SymbolTarget:
        """The declaration of `target`, if that is in a file whose names have their meaning only where it is included.

        If it is declared in such a file, too: a use of it in another, else that declaration.
        """
        backend, name = target.backend, target.name
        if not name or not backend.plugin.compiles_files:
            return target
        definitions = self.sessions.word_checks.for_backend(backend).definitions
        meaning = await definitions.meaning((target.path, target.identifier.start))  # then its errors are known
        if not await is_misread_alone(backend, target.path):
            return target
        sites = {site for symbol in meaning if len(meaning) == 1 for site in symbol.sites}
        uses = await self._used(backend, definitions, name, sites) if sites else []
        declared = sorted(site for site in sites if site[0] != target.path)
        well = [site for site in (*declared, *uses) if not await is_misread_alone(backend, site[0])]
        if not well and len(declared) == len(sites):  # the server knows at least what is declared where it reads that
            well = [site for site in declared if not await backend.coverage.part_of(site[0])]
        for path, point in well:
            text = await text_or_none(backend, path)
            if text and (span := text.identifier_at(point)) and text.slice(span) == name:
                resolved = target.resolved
                if part := await backend.coverage.part_of(target.path):
                    here, there = self.anchor(target.path, target.identifier.start), self.anchor(path, point)
                    where = f"{self._workspace.display_path(part[0])}:{part[1]}"
                    said = f"{here}, included inside other code at {where}, means {there}"
                    resolved = (*resolved, news("resolved", said))
                return SymbolTarget(backend, path, await backend.documents.open(path), span, resolved)
        return target

    # --- inside ------------------------------------------------------------------------------------

    async def _used(self, backend: Backend, definitions: Definitions, name: str, sites: set[Site]) -> list[Site]:
        """A use of `name` in a file that is read by itself, if the symbol at `sites` is declared in none of these."""
        if not all([await is_misread_alone(backend, path) for path, _ in sites]):
            return []
        for path in (await backend.words.files_with(name)).files[:_MOST_FILES]:
            if (text := await text_or_none(backend, path)) and not await is_misread_alone(backend, path):
                for span in (await backend.words.occurrences(path, text, name)).spans[:_MOST_USES]:
                    meaning = await definitions.meaning((path, span.start))
                    if any(not sites.isdisjoint(symbol.sites) for symbol in meaning):
                        return [(path, span.start)]
        return []

    def _is_source(self, name: str) -> bool:
        path = self._workspace.root / name
        if any(backend.plugin.language_of(path) for backend in self.sessions.backends):
            return True
        return bool(path.suffix) and path.is_file()  # its server may not run yet

    async def _is_symbol(self, spelled: str) -> bool:
        """Whether what looks like the name of a file that is not there is the name of a symbol."""
        if not _MEMBER.fullmatch(spelled):
            return False
        backends, _ = await self.sessions.ready(_silent)
        for backend in backends:
            if any(
                is_called(one, spelled) for one in (await workspace_symbols(backend, spelled, _MOST_CALLED)).symbols
            ):
                return True
        return False

    async def _of_address(self, call: Call, path: Path, address: Address) -> Handle:
        """The place in `path` that `address` stands for."""
        if not address.line and not address.name:
            shown = self._workspace.display_path(path)
            raise AnchorError(
                f"{shown} names a file, not a symbol: list_symbols_in_file file_path={shown} lists what is in it; "
                f"{shown}:LINE, {shown}:LINE:COL and {shown}:Symbol name a symbol."
            )
        backend = self.sessions.for_path(path)
        await backend.ready(call.report, path)
        if address.line and address.column and not address.in_bytes:
            # Like an anchor, it may be of an older text: `FILE` and `LINE:CHAR` of an answer, put together.
            return Handle(backend, path, Point(address.line, address.column))
        return Handle(backend, path, by_name=True, address=address)

    async def _present_point(self, handle: Handle, text: Text) -> Point:
        """The place of the address of `handle` in `text`.

        Raises:
            AnchorError: there is none, or several; the message lists them.
        """
        assert handle.address
        shown = self._workspace.display_path(handle.path)
        language = handle.backend.plugin.language_of(handle.path)
        outline = flat(await document_symbols(handle.backend, handle.path))
        found = point_in(handle.address, text, outline, language)
        if isinstance(found, Point):
            return found
        if handle.anywhere and handle.address.line and handle.address.line <= text.line_count:
            return text.first_point(handle.address.line)
        self.sessions.memory.remember(handle.path, text, (span.start for span in found.spans))
        listed = ", ".join(
            f"{shown}:{span.start.line}:{span.start.character} {text.slice(span)}" for span in found.spans
        )
        raise AnchorError(f"{shown}{found.why}" + (f": {listed}." if listed else "."))

    async def _file(self, anchor: Anchor, spelled: str) -> Path:
        try:
            return await self.sessions.file(anchor.file)
        except PathError as error:
            missing = error
        # The new place of a file that we moved; or its name really has a percent sign, and the anchor was written by
        # hand.
        moved = self.sessions.memory.place_of(self._workspace.root / anchor.file)
        raw = spelled.strip().partition("://")[2].rpartition("#")[0]
        for other in (self._workspace.display_path(moved), raw):
            if other != anchor.file:
                try:
                    return await self.sessions.file(other)
                except PathError:
                    continue
        raise missing

    async def _other_symbols(
        self, handle: Handle, text: Text, identifier: Span, others: Iterable[Other]
    ) -> list[Other]:
        """Those of `others` that are not the symbol at `identifier`; a use of it is not another symbol."""
        backend, path = handle.backend, handle.path
        language = backend.plugin.language_of(path)
        found: list[Other] = []
        for other in others:
            if not other.identifier or (language and other.identifier in language.keywords):
                continue
            if other.identifier == text.slice(identifier):
                if other.point is None:
                    continue
                here, there = [await definition_places(backend, path, p) for p in (identifier.start, other.point)]
                if here == there:
                    continue
            found.append(other)
        return found

    def _two_meanings(self, path: Path, point: Point, text: Text, identifier: Span, others: list[Other]) -> Gap:
        """The anchor at `point` may be of an older or a newer text than the caller thinks: it hides which is meant."""
        this = f"{text.slice(identifier)} at {self.anchor(path, identifier.start)}"
        listed = [
            f"{other.identifier} {f'at {self.anchor(path, other.point)}' if other.point else '(no longer there)'}"
            for other in others
        ]
        shown = self._workspace.display_path(path)
        way_out = f"{shown}:{identifier.start.line}:{text.slice(identifier)}"
        return Gap(
            "doubt",
            f"{self.anchor(path, point)} has stood for two symbols since {shown} changed: this is about {this}, not "
            f"{' or '.join(listed)}; to name one exactly, pass its name, or FILE:LINE:NAME, for example {way_out}",
            (path,),
            about=self.anchor(path, point),
        )

    def _identifier(self, backend: Backend, path: Path, text: Text, point: Point) -> Span:
        shown = self._workspace.display_path(path)
        language = backend.plugin.language_of(path)
        try:
            span = text.identifier_at(point, language.name_prefixes if language else "")
        except PointError as error:
            raise AnchorError(f"{self.anchor(path, point)}: {error}. Anchors count from 1, in characters.") from None
        keywords = language.keywords if language else frozenset()
        if span and text.slice(span) not in keywords:
            return span
        if span is None and self.sessions.memory.knows(path, point, text):
            return Span(point, point)  # a server's own place that is not a word, such as an import's path
        what = f"is on the keyword {text.slice(span)}" if span else "is not on an identifier"
        others = identifiers_in_code(text, point.line, language)[:_LISTED]
        listed = ", ".join(f"{text.slice(s)} at {self.anchor(path, s.start)}" for s in others)
        on_line = f"On line {point.line}: {listed}." if listed else f"Line {point.line} of {shown} has none."
        raise AnchorError(f"{self.anchor(path, point)} {what}. {on_line}")

    def hand_out_readable(self, places: Iterable[Place]) -> None:
        """These places are handed out as anchors: follow them when their files change, and allow reading
        their files.
        """
        for (path, _), group in groupby(places, key=lambda place: (place.path, id(place.text))):
            in_file = list(group)
            self._workspace.allow(path)
            self.sessions.memory.remember(path, in_file[0].text, (place.span.start for place in in_file))


async def _bound(backend: Backend, path: Path, text: Text, identifier: Span) -> Span:
    """`identifier`; of a string that says what a module exports, or what a class has, the place of that."""
    language, start = backend.plugin.language_of(path), text.point_offset(identifier.start)
    if language is None or text.content[max(0, start - 1) : start] not in ("'", '"'):
        return identifier
    return (await asyncio.to_thread(bound_for_exports, text, language.id, [identifier])).get(identifier, identifier)
