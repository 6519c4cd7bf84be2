"""Places for people and models: `Place`, made from LSP's `Location`s."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError
from lsp_mcp.protocol.lsp import Location, TextDocumentPositionParams
from lsp_mcp.text import Point, PositionEncoding, Span, Text
from lsp_mcp.uris import path_uri, uri_path

_ARGUMENTS = re.compile(r"(?<=\w)\s*(?:\[.*\]|<.*>)\Z", re.DOTALL)  # of a type
_CODE_LENGTH = 200  # characters shown of a source line


class Place(NamedTuple):
    """A span of a file, its text, and its surroundings."""

    path: Path
    span: Span
    text: Text
    container: str = ""  # the symbol that contains it, if the server says
    around: Span | None = None  # the declaration of that symbol, if known

    @property
    def site(self) -> tuple[Path, Point]:
        """Where it begins."""
        return self.path, self.span.start

    @property
    def code(self) -> str:
        """The source line that it starts on, trimmed, and shortened around the place if it is long."""
        return shown_line(self.text, self.span)


def position_params(path: Path, text: Text, point: Point, encoding: PositionEncoding) -> TextDocumentPositionParams:
    """LSP 3.17, `TextDocumentPositionParams`: `point` of `path`. Raises `PointError` as `Text.point_offset` does."""
    return {"textDocument": {"uri": path_uri(path)}, "position": text.point_position(point, encoding)}


def plain_name(name: str) -> str:
    """The identifier that `name` ends with; empty for names that may be written differently.

    Such are a destructor, an operator, an instance of a template.
    """
    found = re.fullmatch(r"(?:\w+(?:::|\.|/))*([^\W\d]\w*)", name)
    return found[1] if found and "operator" not in name else ""


def last_word(name: str) -> str:
    """The last word in `name` before its type arguments, empty if there is none: `Box` of `pkg.Box[int]`."""
    return next(iter(re.findall(r"\w+", _ARGUMENTS.sub("", name) or name)[::-1]), "")


def shown_line(text: Text, span: Span) -> str:
    """The line on which `span` starts, trimmed, at most 200 characters."""
    line = text.shown_line(span.start.line)
    if len(line) <= _CODE_LENGTH:
        return line.strip()
    start = max(0, span.start.character - _CODE_LENGTH // 2)
    cut = line[start : start + _CODE_LENGTH].strip()
    return f"{'…' if start else ''}{cut}{'…' if start + _CODE_LENGTH < len(line) else ''}"


def location_key(location: Location, root: Path) -> tuple[bool, str, int, int]:
    """Sorts `Location`s: the workspace first, then by file, line and character."""
    start = location["range"]["start"]
    return (*_file_key(location["uri"], root), start["line"], start["character"])


@lru_cache(4096)
def _file_key(uri: str, root: Path) -> tuple[bool, str]:
    path = uri_path(uri)
    return not path.is_relative_to(root), str(path)


def by_file(places: Iterable[Place]) -> dict[Path, list[Place]]:
    """`places` in the order in which they come, by their files."""
    found: dict[Path, list[Place]] = {}
    for place in places:
        found.setdefault(place.path, []).append(place)
    return found


def distinct_by_file(locations: Iterable[Location], root: Path) -> list[list[Location]]:
    """`locations` file by file in their stable order, each place once.

    A file can be in several of a server's packages.
    """
    by_uri: dict[str, list[Location]] = {}
    for location in locations:
        by_uri.setdefault(location["uri"], []).append(location)
    by_file: dict[tuple[bool, str], dict[tuple[int, int], Location]] = {}
    for uri, inside in by_uri.items():
        by_start = by_file.setdefault(_file_key(uri, root), {})
        for location in inside:
            start = location["range"]["start"]
            by_start[start["line"], start["character"]] = location
    return [[by_file[file][start] for start in sorted(by_file[file])] for file in sorted(by_file)]


def in_reading_order(places: Iterable[Place], root: Path) -> list[Place]:
    """`places` below `root` first, then by file and place."""
    return sorted(places, key=lambda place: (not place.path.is_relative_to(root), str(place.path), place.span))


class Locator:
    """Makes places from the `Location`s in one answer of `backend`; each file is read once."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._files: dict[str, tuple[Path, Text | None]] = {}  # by URI

    async def place(self, location: Location, name: str = "") -> Place | None:
        """The place of an LSP `Location`; None if its file is gone or no longer has that place.

        If `name` is expected there and missing, the server is mistrusted.
        """
        path, text = await self._file(location["uri"])
        place = self._place(location, path, text) if text else None
        if name and (plain := plain_name(name)) and not (text and place and plain in text.slice(place.span)):
            self._backend.coverage.mistrust(path, plain)
        return place

    async def places(self, locations: Sequence[Location], name: str = "") -> list[Place | None]:
        """The places of several LSP `Location`s in one file, each expected to be named `name`."""
        path, text = await self._file(locations[0]["uri"])
        places = [self._place(location, path, text) if text else None for location in locations]
        if name and not all(text and place and name in text.slice(place.span) for place in places):
            self._backend.coverage.mistrust(path, name)
        return places

    async def _file(self, uri: str) -> tuple[Path, Text | None]:
        if uri not in self._files:
            path = uri_path(uri)
            self._files[uri] = path, await text_or_none(self._backend, path)
        return self._files[uri]

    def _place(self, location: Location, path: Path, text: Text) -> Place | None:
        span = text.contained_range_span(location["range"], self._backend.encoding)
        mark = self._backend.plugin.symbols.qualifier_mark
        if span and mark and mark in (written := text.slice(span)):
            start = text.point_offset(span.start) + written.rindex(mark) + len(mark)
            span = text.offsets_span(start, text.point_offset(span.end))
        language = self._backend.plugin.language_of(path)
        if span and language and language.name_prefixes:
            written = text.slice(span)
            name = written.lstrip(language.name_prefixes)
            start = text.point_offset(span.start) + len(written) - len(name)
            span = text.offsets_span(start, text.point_offset(span.end)) if name else span
        return Place(path, span, text, str(location.get("containerName") or "")) if span else None


async def text_or_none(backend: Backend, path: Path) -> Text | None:
    """`backend.Documents.text`, or None for a file that is gone or not text."""
    try:
        return await backend.documents.text(path)
    except PathError:
        return None
