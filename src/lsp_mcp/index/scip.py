"""Reads SCIP files, a document at a time: `read_index`. Lines and columns count from 0, in the document's units."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from msgspec import Struct

from lsp_mcp.errors import CallerError
from lsp_mcp.index.protobuf import BYTES, BrokenError, fields, message, number, numbers, text
from lsp_mcp.text import CodeUnit

_MOST_BYTES = 8 << 30  # of a file
_MOST_MESSAGE = 256 << 20  # bytes of one document: only this much is in memory
_MOST_SYMBOL = 16 << 10  # characters of a symbol's name
_MOST_LINE = 1 << 31
DEFINITION, _IMPORT, _WRITE, _READ = 1, 2, 4, 8
_UNITS: dict[int, CodeUnit] = {1: "utf-8", 2: "utf-16", 3: "utf-32"}
_MOST_VARINT = 10  # bytes


class IndexFileError(CallerError):
    """A file is not an index, or one that cannot be stored; nothing was stored."""


class Occurrence(NamedTuple):
    """One place of a symbol. `length` in the document's units, 0 if it spans lines; `extent`: first and last line of
    the whole definition."""

    symbol: str
    line: int
    start: int
    length: int
    roles: int
    extent: tuple[int, int] | None


class Information(NamedTuple):
    """What is said of a symbol: its kind and the symbols that it implements."""

    symbol: str
    implements: tuple[str, ...]


class Outside(Struct, frozen=True):
    """A file outside the repository. scip-go 0.2.9 lists what cgo and `go test` generate in the build cache."""

    path: str


class Document(Struct, frozen=True):
    """One source file; `unit` is how columns count; `text` is empty if the index has none."""

    path: str
    language: str
    unit: CodeUnit | None
    text: str
    occurrences: list[Occurrence]
    symbols: list[Information]


class Tool(Struct, frozen=True):
    """The indexer that made the file."""

    name: str
    version: str


def read_index(file: Path, progress: Callable[[int, int], None]) -> Iterator[Tool | Document | Outside | Information]:
    """What the SCIP `file` has, in its order; `progress` is told the bytes read and their number.

    Raises:
        IndexFileError: it is truncated, not SCIP, too large, or has paths that are none.
    """
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise IndexFileError(f"{file} is not a regular file.")
        if size > _MOST_BYTES:
            raise IndexFileError(f"{file} has {size >> 30:,} GiB; at most {_MOST_BYTES >> 30} GiB are read.")
        if not size:
            raise IndexFileError(f"{file} is empty.")
        with file.open("rb") as opened:
            for kind, content in _messages(opened, size):
                progress(opened.tell(), size)
                match kind:
                    case 1:
                        yield _tool(content)
                    case 2:
                        yield _document(content)
                    case 3:
                        yield _information(content)
    except BrokenError as error:
        raise IndexFileError(f"{file} is not a SCIP index: {error}. Nothing was stored.") from None
    except OSError as error:
        raise IndexFileError(f"{file} cannot be read: {error.strerror}.") from None


def _messages(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    while tag := _file_varint(file):
        if tag & 7 != BYTES:
            raise BrokenError(f"byte {file.tell()} begins no message")
        length = _file_varint(file)
        if length is None or file.tell() + length > size:
            raise BrokenError("it is truncated")
        if length > _MOST_MESSAGE:
            raise BrokenError(f"a document of {length >> 20:,} MiB is larger than {_MOST_MESSAGE >> 20} MiB")
        yield tag >> 3, file.read(length)
    if tag == 0:
        raise BrokenError(f"there are zeros at byte {file.tell()}")


def _file_varint(file: BinaryIO) -> int | None:
    """The next number; None at the end of the file."""
    result = 0
    for shift in range(0, _MOST_VARINT * 7, 7):
        byte = file.read(1)
        if not byte:
            if shift:
                raise BrokenError("it is truncated")
            return None
        result |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return result
    raise BrokenError("a number has more than 64 bits")


def _tool(content: bytes) -> Tool:
    name = version = ""
    for field, value in fields(content):
        if field == 2:
            for part, inner in fields(message(value)):
                if part == 1:
                    name = text(inner)
                elif part == 2:
                    version = text(inner)
    return Tool(name[:80], version[:80])


def _document(content: bytes) -> Document | Outside:
    path = language = source = ""
    unit: CodeUnit | None = None
    occurrences: list[Occurrence] = []
    symbols: list[Information] = []
    names: dict[bytes, str] = {}
    for field, value in fields(content):
        match field:
            case 1:
                path = text(value)
            case 2:
                if one := _occurrence(message(value), names):
                    occurrences.append(one)
            case 3:
                symbols.append(_information(message(value)))
            case 4:
                language = text(value)[:40]
            case 5:
                source = text(value)
            case 6:
                unit = _UNITS.get(number(value))
    if _checked(path).startswith("../"):
        return Outside(path)
    return Document(path, language, unit, source, occurrences, symbols)


def _checked(path: str) -> str:
    """`path`, which is relative and normal; it may lead outside by `../`. Raises BrokenError."""
    if not path:
        raise BrokenError("a document has no path")
    outside = path.startswith("/") or path == ".." or posixpath.normpath(path) != path
    if outside or any(ord(one) < 32 or one == "\\" for one in path) or len(path) > 4096 or path[1:2] == ":":
        raise BrokenError(f"the document {path[:120]!r} is not a file inside the repository")
    return path


def _occurrence(content: bytes, names: dict[bytes, str]) -> Occurrence | None:
    """One place; None if it is of no symbol, or of one that is local to its document."""
    symbol, roles = "", 0
    place: tuple[int, int, int, int] | None = None
    extent: tuple[int, int] | None = None
    for field, value in fields(content):
        match field:
            case 2:
                spelled = message(value)
                if not spelled or spelled.startswith(b"local "):
                    return None
                symbol = names.get(spelled) or names.setdefault(spelled, _symbol(value))
            case 3:
                roles = number(value)
            case 1 | 8 | 9:
                place = _range(field, value, (1, 8))
            case 7 | 10 | 11:
                first, _, last, _ = _range(field, value, (7, 10))
                extent = first, last
    if not symbol:
        return None
    if place is None:
        raise BrokenError(f"a use of {symbol[:120]!r} has no place")
    line, start, last, end = place
    return Occurrence(symbol, line, start, end - start if last == line and end > start else 0, roles & 15, extent)


def _range(field: int, value: int | bytes, plain: tuple[int, int]) -> tuple[int, int, int, int]:
    """First line and column, last line and column; `plain` are the packed field and the one of a single line."""
    packed, single = plain
    if field == packed:
        parts = numbers(value)
        if len(parts) == 3:
            parts = [parts[0], parts[1], parts[0], parts[2]]
    else:
        by_field = {part: number(inner) for part, inner in fields(message(value))}
        order = (1, 2, 1, 3) if field == single else (1, 2, 3, 4)
        parts = [by_field.get(part, 0) for part in order]
    if len(parts) != 4 or max(parts) >= _MOST_LINE:
        raise BrokenError("a place has not the form of one")
    return parts[0], parts[1], parts[2], parts[3]


def _information(content: bytes) -> Information:
    symbol, implements = "", []
    for field, value in fields(content):
        if field == 1:
            symbol = _symbol(value)
        elif field == 4:
            target, is_implementation = "", 0
            for part, inner in fields(message(value)):
                if part == 1:
                    target = _symbol(inner)
                elif part == 3:
                    is_implementation = number(inner)
            if is_implementation and target:
                implements.append(target)
    return Information(symbol, tuple(implements))


def _symbol(value: int | bytes) -> str:
    spelled = text(value)
    if len(spelled) > _MOST_SYMBOL:
        raise BrokenError(f"a symbol's name has {len(spelled):,} characters")
    return spelled
