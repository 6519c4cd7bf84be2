"""textDocument/documentSymbol: the declaration that contains a place, with its full name (LSP 3.17)."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Json
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.document_symbol import outline_stamp, own_span
from lsp_mcp.requests.places import Place, last_word
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.symbols import FUNCTIONS, MEMBERS, SCOPES, Symbol, kind_name
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.syntax.definitions import definitions
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import dispensable

# A member is used through its type; a declaration inside one of these is named after it.
TYPES = frozenset({"class", "struct", "interface", "enum", "type", "object"})
_NOT_AROUND = frozenset({"field", "property", "enum_member", *SCOPES})
_MOST_KEPT = 20_000  # declarations of outlined files; one takes about 500 bytes


class Container(Struct, frozen=True):
    """A declaration in a file: its full name, the place of the name, and its extent."""

    name: str
    kind: str
    place: Place
    extent: Span
    owner: str = ""  # the full name of its type
    is_member: bool = False  # directly in the code of a type, and not in a function of it

    def holds(self, point: Point) -> bool:
        """Whether it contains `point`."""
        return self.extent.start <= point < self.extent.end

    def meets(self, span: Span) -> bool:
        """Whether it overlaps `span`."""
        return self.extent.start <= span.end and span.start < self.extent.end


class _Outline(Struct, frozen=True):
    """All declarations of a file, and those that can be `around` a place, in the order in which they start."""

    all: list[Container]
    around: list[Container]
    starts: list[Point]  # of those

    def around_point(self, point: Point) -> Container | None:
        """The innermost of those that contain `point`: it starts last."""
        before = range(bisect_right(self.starts, point) - 1, -1, -1)
        return next((self.around[number] for number in before if self.around[number].holds(point)), None)


def without_locals(declared: Sequence[Container]) -> list[Container]:
    """`declared` in the order in which they start; of what is in a function, only functions and types.

    Some servers list a function's variables, too.
    """
    found: list[Container] = []
    functions: list[Span] = []  # around the present one, the innermost last
    for one in sorted(declared, key=lambda one: one.extent.start):
        while functions and functions[-1].end <= one.extent.start:
            functions.pop()
        if not functions or one.kind in FUNCTIONS or one.kind in TYPES:
            found.append(one)
        if one.kind in FUNCTIONS:
            functions.append(one.extent)
    return found


def _outline(declared: list[Container]) -> _Outline:
    around = [one for one in without_locals(declared) if one.kind not in _NOT_AROUND]
    return _Outline(declared, around, [one.extent.start for one in around])


async def enclosed(backend: Backend, places: Sequence[Place]) -> list[Place]:
    """`places` with their containers, as far as that is known in time.

    Of servers that outline only open files, the containers are told by syntax.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    containers, found = Containers(backend), list(places)
    parsed: dict[Path, _Outline] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(budget.present().rest()):
            for number, place in enumerate(places):
                if backend.plugin.documents.outlines_closed:
                    found[number] = await containers.enclosed(place)
                elif not place.container:
                    if place.path not in parsed:
                        parsed[place.path] = await asyncio.to_thread(_parsed_outline, backend.plugin, place)
                    found[number] = _with_container(place, parsed[place.path].around_point(place.span.start))
    return found


def _parsed_outline(plugin: Plugin, place: Place) -> _Outline:
    return _outline(_parsed(plugin, place.path, place.text))


def _with_container(place: Place, around: Container | None) -> Place:
    if around is None or around.place.span.start == place.span.start:
        return place
    return place._replace(container=around.name, around=around.extent)


async def with_owners(backends: Sequence[Backend], symbols: Sequence[Symbol]) -> list[Symbol]:
    """`symbols` with members called after their types: some servers give the bare names, such as `get`.

    By syntax, and as far as there is time.
    """
    bare = {one.place.path: one.place for one in symbols if _is_bare(one)}
    names: dict[tuple[Path, Point], str] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(budget.present().rest()):
            for backend in backends if bare else ():
                own = {path: place for path, place in bare.items() if backend.plugin.language_of(path)}
                names |= await asyncio.to_thread(_names_by_syntax, backend.plugin, own)
    return [
        replace(one, name=names.get((one.place.path, one.place.span.start), one.name)) if _is_bare(one) else one
        for one in symbols
    ]


def _is_bare(symbol: Symbol) -> bool:
    return symbol.kind in MEMBERS and symbol.name.isidentifier()


def _names_by_syntax(plugin: Plugin, places: Mapping[Path, Place]) -> dict[tuple[Path, Point], str]:
    """The full name of each declaration in the files of `places`, by where its name begins."""
    return {
        (path, one.place.span.start): one.name
        for path, place in places.items()
        for one in _parsed(plugin, path, place.text)
    }


def _parsed(plugin: Plugin, path: Path, text: Text) -> list[Container]:
    """The declarations in `path` by its syntax."""
    grammar = plugin.grammar_of(path)
    found = definitions(TREES.tree_of(text, grammar), grammar) if grammar else None
    separator = plugin.symbols.scope_separator or "."
    declared: list[Container] = []
    for one in found or ():
        above = declared[one.above] if one.above >= 0 else None
        is_scope = above and (above.kind in TYPES or (above.kind in SCOPES and plugin.symbols.scope_separator))
        owner = one.owner or (above.name if above and is_scope else "")
        name = f"{owner}{separator}{one.name}" if owner else one.name
        place = Place(path, text.offsets_span(one.name_start, one.name_end), text)
        declared.append(Container(name, one.kind, place, text.offsets_span(one.start, one.end)))
    return declared


_OUTLINES: RememberedOf[Backend, Path, tuple[str, int], _Outline] = RememberedOf(_MOST_KEPT)


class Containers:
    """The declarations in the files of one answer of `backend`; a file is asked about again after a change."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._files: dict[Path, _Outline] = {}
        self._kept = _OUTLINES.for_owner(backend)

    async def declarations(self, path: Path) -> list[Container]:
        """All declarations in `path`, each before the ones inside it.

        Raises:
            PathError: the file cannot be read, or is in no language of this server.
            RefusedError, UnavailableError: see `Backend.request`.
        """
        return (await self._outline(path)).all

    async def _outline(self, path: Path) -> _Outline:
        if path not in self._files:
            text = await self._text(path)
            stamp = outline_stamp(self._backend, text)
            found = self._kept.get(path, stamp)
            if found is None:
                items = await self._backend.request(
                    "textDocument/documentSymbol", {"textDocument": {"uri": path_uri(path)}}
                )
                found = _outline([one for item in items or [] for one in self._read(item, path, text, "", "")])
                if stamp == outline_stamp(self._backend, text):
                    self._kept.put(path, stamp, found, len(found.all) + 1)
            self._files[path] = found
        return self._files[path]

    def has(self, path: Path) -> bool:
        """Whether `path` was asked about."""
        return path in self._files

    @property
    def files(self) -> int:
        """How many files were asked about."""
        return len(self._files)

    async def around(self, path: Path, point: Point) -> Container | None:
        """The innermost declaration that contains `point`: a function, type or variable; not a field or scope."""
        return (await self._known(path)).around_point(point)

    async def enclosed(self, place: Place) -> Place:
        """`place` with its container, unless it has one or is the container's name; nothing if its text has changed."""
        found = None if place.container else await self.around(place.path, place.span.start)
        return _with_container(place, found) if found and found.place.text == place.text else place

    async def at(self, place: Place) -> Container | None:
        """The declaration whose name is at `place`."""
        return await self.named_at(place.path, place.span.start)

    async def named_at(self, path: Path, point: Point) -> Container | None:
        """The declaration whose name begins at `point` of `path`."""
        return next((one for one in await self.known(path) if one.place.span.start == point), None)

    async def known(self, path: Path) -> list[Container]:
        """As `of`; nothing for a file without an outline, such as one that a build generates."""
        return (await self._known(path)).all

    async def _known(self, path: Path) -> _Outline:
        try:
            with dispensable():
                return await self._outline(path)
        except NO_ANSWER as error:
            note(path, error)
            self._files[path] = _outline([])
            return self._files[path]

    async def _text(self, path: Path) -> Text:
        if self._backend.plugin.documents.outlines_closed:
            return await self._backend.documents.text(path)
        return await self._backend.documents.open(path)

    def _read(
        self, item: Json, path: Path, text: Text, scope: str, owner: str, *, is_member: bool = False
    ) -> Iterator[Container]:
        plugin, encoding = self._backend.plugin, self._backend.encoding
        kind, own = kind_name(item["kind"], plugin), str(item["name"])
        extent = text.range_span(item.get("range") or item["location"]["range"], encoding)
        member = re.match(plugin.symbols.member_pattern, own) if plugin.symbols.member_pattern else None
        separator = plugin.symbols.scope_separator or "."
        if "location" in item:  # of a flat outline
            scope = str(item.get("containerName") or "")
        name = f"{scope}{separator}{own}" if scope else own
        place = Place(path, own_span(item, own, text, encoding), text)
        yield Container(name, kind, place, extent, member["owner"] if member else owner, is_member)
        is_scope = kind in TYPES or (kind in SCOPES and plugin.symbols.scope_separator)
        inner = name if is_scope else scope if kind == "macro" else ""
        for child in item.get("children") or ():
            yield from self._read(child, path, text, inner, inner if kind in TYPES else owner, is_member=kind in TYPES)


async def inside(backend: Backend, declared: Place, places: Sequence[Place]) -> list[Place] | None:
    """Those of `places` inside the function or type that is `declared` there, or inside a method of that type.

    None if nothing is declared there, or what is declared contains nothing.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    containers = Containers(backend)
    own = await containers.at(declared)
    if own is None or own.kind in _NOT_AROUND:
        return None
    is_type, separator = own.kind in TYPES, backend.plugin.symbols.scope_separator
    word = last_word(own.name)

    async def is_inside(place: Place) -> bool:
        if place.path == declared.path and own.holds(place.span.start):
            return True
        # A method elsewhere is in the same folder, or its file spells the type before the method's name.
        is_near = (
            re.search(rf"\b{word}\b[^;{{}}]*{separator}", place.text.content)
            if separator
            else (place.path.parent == declared.path.parent)
        )
        if not (is_type and is_near):
            return False
        around = await containers.around(place.path, place.span.start)
        return around is not None and (
            around.owner == own.name or (bool(separator) and around.name.startswith(f"{own.name}{separator}"))
        )

    return [place for place in places if await is_inside(place)]


async def function_around(containers: Containers, place: Place) -> Span | None:
    """The innermost function that contains `place`."""
    found = [one for one in await containers.known(place.path) if one.kind in FUNCTIONS and one.holds(place.span.start)]
    return found[-1].extent if found else None
