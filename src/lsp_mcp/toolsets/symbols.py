"""Which symbol a caller means: an anchor or a name becomes a `SymbolTarget`, or an error that lists candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path

from lsp_mcp.anchors import Anchor, encode_file, looks_like_anchor, parse_anchor
from lsp_mcp.backend import Backend, Scope, Use
from lsp_mcp.errors import AnchorError, PathError, PointError
from lsp_mcp.features.anchor_memory import LostError, Other
from lsp_mcp.features.asking import settled
from lsp_mcp.features.overloads import with_parameters
from lsp_mcp.features.places import Place
from lsp_mcp.features.scope import definition_places
from lsp_mcp.features.signatures import split_signature
from lsp_mcp.features.symbols import Symbol
from lsp_mcp.features.workspace_symbol import Found, is_named, workspace_symbols
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.visible import quoted

_SEARCHED = 100  # definitions looked at for one name
_LISTED = 10  # candidates listed in an error
_LONGEST_NAME = 1_000  # characters; templates of C++ have long ones
_CODE = 80  # characters of code shown with each
_TYPES = ("class", "struct", "interface", "enum")


@dataclass(frozen=True)
class Handle:
    """The place that a caller named, not yet looked at; `resolved` says how it was found."""

    backend: Backend
    path: Path
    point: Point
    resolved: tuple[Gap, ...] = ()
    by_name: bool = False  # not by a position, which may be of another text than the caller thinks


@dataclass(frozen=True)
class SymbolTarget:
    """The identifier at a handle, in the text that its server has now."""

    backend: Backend
    path: Path
    text: Text
    identifier: Span
    resolved: tuple[Gap, ...] = ()
    unsearched: frozenset[Path] = frozenset()  # see `Backend.load`

    @property
    def name(self) -> str:
        """The identifier itself."""
        return self.text.slice(self.identifier)

    async def loaded(self) -> SymbolTarget:
        """The same when its server has loaded what may have its name, as far as that is quick."""
        return replace(self, unsearched=await self.backend.load(self.path, self.name)) if self.name else self


class Targets:
    """Finds targets, and spells anchors."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self._workspace = sessions.workspace
        self._beginning = lru_cache(4096)(self._beginning_of)

    def anchor(self, path: Path, point: Point | None) -> str:
        """The anchor of `point` in `path`; without a point its beginning up to `#`."""
        beginning = self._beginning(path)
        return beginning if point is None else f"{beginning}{point.line}:{point.character}"

    def _beginning_of(self, path: Path) -> str:
        found = (backend.adapter.language_of(path) for backend in self.sessions.backends)
        # A header of the C++ library has no extension, and so no language.
        scheme = next((language.scheme for language in found if language), "file")
        return f"{scheme}://{encode_file(self._workspace.display_path(path))}#"

    async def handle(self, call: Call, symbol_anchor: str) -> Handle:
        """The place that `symbol_anchor`, an anchor or an unambiguous name, stands for; its backend is ready.

        Raises:
            AnchorError: it is malformed, or the name is unknown or ambiguous; the message lists candidates.
            PathError: the anchor's file is missing, outside the workspace, or nobody answers for it.
        """
        if not looks_like_anchor(symbol_anchor):
            return await self._named(call, symbol_anchor)
        anchor = parse_anchor(symbol_anchor)
        path = await self._file(anchor, symbol_anchor)
        backend = self.sessions.for_path(path)
        await backend.ready(call.report)
        return Handle(backend, path, anchor.point)

    async def target(self, handle: Handle) -> SymbolTarget:
        """The identifier at `handle` in the present text, followed there through edits since it was handed out.

        Raises:
            AnchorError: there is no identifier, or the symbol is gone; the message lists what is near.
            PathError: the file is gone or cannot be read as text.
        """
        path, point = handle.path, handle.point
        text = await handle.backend.open(path)
        resolved = handle.resolved
        try:
            followed = self.sessions.memory.follow(path, point, text)
        except LostError as lost:
            near = "".join(f"\n{self.anchor(path, p)}| {text.line(p.line).strip()[:_CODE]}" for p in lost.nearest)
            raise AnchorError(
                f"{self.anchor(path, point)} stood on {lost.identifier}, which is no longer there since "
                f"{self._workspace.display_path(path)} changed. "
                + (f"Candidates:{near}" if near else "The file no longer has that name; find it by name.")
            ) from None
        now = followed.point
        identifier = self._identifier(handle.backend, path, text, now)
        others = [] if handle.by_name else await self._other_symbols(handle, text, identifier, followed.others)
        if others:
            resolved = (*resolved, self._two_meanings(path, point, text, identifier, others))
        elif now != point:
            moved = f"anchor moved: {self.anchor(path, point)} → {self.anchor(path, now)}"
            resolved = (*resolved, news("resolved", moved))
        return await SymbolTarget(handle.backend, path, text, identifier, resolved).loaded()

    # --- inside ------------------------------------------------------------------------------------

    async def _file(self, anchor: Anchor, spelled: str) -> Path:
        try:
            return await self.sessions.file(anchor.file)
        except PathError as error:
            missing = error
        # Where we moved it ourselves; or its name really has a percent sign, and the anchor was written by hand.
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
        """Those of `others` that are not the symbol at `identifier`; a use of it is no other symbol."""
        backend, path = handle.backend, handle.path
        language = backend.adapter.language_of(path)
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
            f"{' or '.join(listed)}; to name one surely, pass its name, or FILE:LINE:NAME, for example {way_out}",
            (path,),
            about=self.anchor(path, point),
        )

    def _identifier(self, backend: Backend, path: Path, text: Text, point: Point) -> Span:
        shown = self._workspace.display_path(path)
        language = backend.adapter.language_of(path)
        try:
            span = text.identifier_at(point, language.name_prefixes if language else "")
        except PointError as error:
            raise AnchorError(f"{self.anchor(path, point)}: {error}. Anchors count from 1, in characters.") from None
        keywords = language.keywords if language else frozenset()
        if span and text.slice(span) not in keywords:
            return span
        if span is None and self.sessions.memory.knows(path, point, text):
            return Span(point, point)  # a server's own place that is no word, as an import's path
        what = f"the keyword {text.slice(span)}" if span else "no identifier"
        others = [s for s in text.identifiers(point.line) if text.slice(s) not in keywords][:_LISTED]
        listed = ", ".join(f"{text.slice(s)} at {self.anchor(path, s.start)}" for s in others)
        on_line = f"On line {point.line}: {listed}." if listed else f"Line {point.line} of {shown} has none."
        raise AnchorError(f"{self.anchor(path, point)} stands on {what}. {on_line}")

    async def _named(self, call: Call, name: str) -> Handle:
        """The one symbol that is called `name`."""
        check_name(name)
        if not name.strip():
            raise AnchorError("symbol_anchor is empty; pass go://FILE#LINE:CHAR, or a name such as Type.Method.")
        found: list[tuple[Backend, Symbol]] = []
        similar: list[Symbol] = []
        capped = False
        for backend in await self.sessions.asked():
            await backend.ready(call.report)
            search = await self._search(backend, name.strip())
            capped |= search.capped
            similar += search.symbols
            unsigned, parameters = split_signature(name)
            plain = unsigned.strip().rpartition("/")[2]
            named = [symbol for symbol in search.symbols if is_named(symbol.name, plain)]
            if parameters is not None and (parameters or len(named) > 1):
                named = await with_parameters(backend, named, parameters)
            found += [(backend, symbol) for symbol in named]
        found = _without_constructors(found)
        if len(found) > 1:
            raise self._several(name, [symbol for _, symbol in found], capped)
        if not found:
            raise await self._unknown(name, similar)
        backend, symbol = found[0]
        place = symbol.place
        self.hand_out_readable([place])
        anchor = self.anchor(place.path, place.span.start)
        return Handle(
            backend, place.path, place.span.start, (news("resolved", f"{name.strip()} is {anchor}"),), by_name=True
        )

    async def _search(self, backend: Backend, name: str) -> Found:
        return (await settled(backend, partial(workspace_symbols, backend, name, _SEARCHED))).value

    def _several(self, name: str, found: list[Symbol], capped: bool) -> AnchorError:
        count = f"at least {len(found)}" if capped else f"{len(found)}"
        return AnchorError(f"{quoted(name)} names {count} symbols; pass the anchor of one:{self._listed(found)}")

    async def _unknown(self, name: str, similar: list[Symbol]) -> AnchorError:
        """Nothing is called `name`: what is like it or like a part of it, and what may hide it."""
        for part in () if similar else [word for word in re.findall(r"\w+", name)[::-1] if word != name]:
            for backend in self.sessions.backends:
                similar += (await self._search(backend, part)).symbols
            if similar:
                break
        word = Use(words[-1]) if (words := re.findall(r"\w+", name)) else None
        gaps = [gap for backend in self.sessions.backends for gap in hiding(await backend.gaps(Scope(use=word)))]
        why = "".join(f" ({gap.text})" for gap in gaps)
        if similar:
            return AnchorError(
                f"no symbol of the workspace is called {quoted(name)}{why}. Similar:{self._listed(similar)}"
            )
        return AnchorError(f"no symbol of the workspace is called {quoted(name)}, or anything like it{why}.")

    def _listed(self, symbols: list[Symbol]) -> str:
        shown = symbols[:_LISTED]
        self.hand_out_readable(symbol.place for symbol in shown)
        listed = (
            f"{self.anchor(s.place.path, s.place.span.start)} {s.kind} {s.name}| {s.place.code[:_CODE]}" for s in shown
        )
        more = [f"and {len(symbols) - _LISTED} more"] if len(symbols) > _LISTED else []
        return "".join(f"\n{line}" for line in [*listed, *more])

    def hand_out_readable(self, places: Iterable[Place]) -> None:
        """These places are handed out as anchors: follow them if their files change, and let their files be read."""
        for (path, _), group in groupby(places, key=lambda place: (place.path, id(place.text))):
            in_file = list(group)
            self._workspace.allow(path)
            self.sessions.memory.remember(path, in_file[0].text, (place.span.start for place in in_file))


def check_name(name: str) -> None:
    """Refuse to look for what no symbol is called: each word of it might be searched.

    Raises:
        AnchorError: it is too long.
    """
    if len(name) > _LONGEST_NAME:
        raise AnchorError(f"{quoted(name)} is longer than the name of any symbol; pass {_LONGEST_NAME} at most.")


def _without_constructors(found: list[tuple[Backend, Symbol]]) -> list[tuple[Backend, Symbol]]:
    """`found` without what is only called as a type in it: its constructors, and what brings those into another."""
    types = [symbol.name for _, symbol in found if symbol.kind in _TYPES]
    inside = tuple(f"{name}{separator}" for name in types for separator in ("::", "."))
    return [
        (backend, symbol)
        for backend, symbol in found
        if symbol.kind in _TYPES or not (types and (symbol.name.startswith(inside) or symbol.kind == "namespace"))
    ]
