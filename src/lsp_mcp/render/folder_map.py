"""The declarations of a folder's files as short text, in as much detail as fits.

A level is a number: the higher, the less is shown. Declarations in tests are omitted first, types and functions last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from lsp_mcp.features.finding.outlines import FileOutline
from lsp_mcp.prose import count
from lsp_mcp.render.answers import AnchorTo
from lsp_mcp.requests.symbols import FUNCTIONS, TYPES, Symbol, last_line
from lsp_mcp.visible import visible

Shown = Callable[[Path], str]

_SCOPES = ("namespace", "package", "module")  # their contents count as top-level declarations
_LEVELS = [  # omitted from the list of names
    "",
    "; fields are counted",
    "; fields and what tests declare are counted",
    "; members and what tests declare are counted",
    "; of files only types are named",
    "; what files declare is counted",
    *["; what folders declare is counted"] * 4,
]
_ALL, _NO_FIELDS, _NO_TESTS, _NO_MEMBERS, _TYPES, _FILES, *_FOLDERS = range(len(_LEVELS))
_DEPTHS = dict(zip(_FOLDERS, (None, 3, 2, 1), strict=True))  # limit on folders listed separately


Size = Callable[[Sequence[FileOutline], int], int]
"""Of the files at a level, in bytes."""


def fitting(files: Sequence[FileOutline], most: int, size: Size) -> tuple[int, int]:
    """The lowest level at which `files` take at most `most` bytes, and the number of files that fit at the highest."""
    for level in range(len(_LEVELS)):
        if size(files, level) <= most:
            return level, len(files)
    fits = len(files)
    while fits > 1 and size(files[:fits], level) > most:
        fits //= 2
    return level, fits


def size_as_text(shown: Shown, anchor: AnchorTo) -> Size:
    """The size of `map_lines`."""
    return lambda files, level: _size(map_lines(files, level, shown, anchor))


def folder_totals(files: Sequence[FileOutline], level: int, shown: Shown) -> list[dict[str, Any]]:
    """The folders of `files` as data, at a level at which nothing else is listed; empty at a lower one."""
    if level not in _DEPTHS:
        return []
    found = []
    for folder, group in groupby(files, key=lambda file: _parts(shown(file.path))[: _DEPTHS[level]]):
        inside = list(group)
        symbols = sum(file.total for file in inside) if all(file.symbols is not None for file in inside) else None
        lines = sum(file.lines for file in inside)
        name = "/".join(folder) or "."
        found.append({"folder": name, "files": len(inside), "lines": lines, "symbol_count": symbols})
    return found


def told_of(level: int) -> str:
    """The text for what is counted but not named at `level`, for the end of the heading."""
    return f"{_LEVELS[level]} (for more: a smaller folder, or max_bytes)" if _LEVELS[level] else ""


def at_level(file: FileOutline, level: int) -> tuple[Symbol, ...]:
    """The symbols of `file` named at `level`."""
    if level >= _FILES or (file.is_test and level >= _NO_TESTS):
        return ()
    top = _top(file.symbols or ())
    if level >= _TYPES:
        top = [one for one in top if one.kind in TYPES]
    return tuple(_shortened(one, level) for one in top)


def map_lines(files: Sequence[FileOutline], level: int, shown: Shown, anchor: AnchorTo) -> Iterator[str]:
    """A line for each file and for each type in it, and one for its other declarations of each kind."""
    if level in _DEPTHS:
        for folder, inside in groupby(files, key=lambda file: _parts(shown(file.path))[: _DEPTHS[level]]):
            yield f"{'/'.join(folder) or '.'}/ {_totals(list(inside))}"
        return
    for file in files:
        yield f"{anchor(file.path, None)} {_totals([file])}"
        symbols = at_level(file, level)
        whole = {one.place: one for one in _top(file.symbols or ())}
        others = [one for one in symbols if not (one.kind in TYPES and whole[one.place].children)]
        for symbol in (one for one in symbols if one not in others):
            yield f"{symbol.kind} {_named(symbol)}{_members(whole[symbol.place], symbol)}"
        for kind in dict.fromkeys(one.kind for one in others):
            yield f"{kind} {', '.join(_at(one.name, one) for one in others if one.kind == kind)}"


def _parts(shown: str) -> tuple[str, ...]:
    return PurePosixPath(shown).parent.parts


def _top(symbols: Sequence[Symbol]) -> list[Symbol]:
    return [one for symbol in symbols for one in (_top(symbol.children) if symbol.kind in _SCOPES else [symbol])]


def _shortened(symbol: Symbol, level: int) -> Symbol:
    if level >= _NO_MEMBERS:
        return replace(symbol, children=())
    if level >= _NO_FIELDS:
        children = (one for one in symbol.children if one.kind in (*FUNCTIONS, *TYPES))
        return replace(symbol, children=tuple(_shortened(one, level) for one in children))
    return symbol


def _members(whole: Symbol, shown: Symbol) -> str:
    """`: Read 12-14, close 20; 3 fields`."""
    named = ", ".join(_named(one) for one in shown.children)
    gone = len(whole.children) - len(shown.children)
    kinds = Counter(one.kind for one in whole.children)
    kinds.subtract(one.kind for one in shown.children)
    counted = ", ".join(count(number, _word(kind)) for kind, number in kinds.items() if number)
    return "".join([f": {named}" if named else "", f"; {counted}" if gone else ""])


def _word(kind: str) -> str:
    return kind.replace("_", " ")


def _named(symbol: Symbol) -> str:
    """`Read 12-14`, without the names of its containers."""
    return _at(symbol.name.rpartition(").")[2], symbol)  # Go's methods have their receiver before them


def _at(name: str, symbol: Symbol) -> str:
    first, last = symbol.place.span.start.line, last_line(symbol)
    return f"{name} {first}-{last}" if last and last > first else f"{name} {first}"


def _totals(files: Sequence[FileOutline]) -> str:
    lines = count(sum(file.lines for file in files), "line")
    known = [file for file in files if file.symbols is not None]
    some = f", {count(sum(file.total for file in known), 'symbol')}" if known else ""
    some += f" in {len(known):,} of them" if 0 < len(known) < len(files) else ""
    return f"{count(len(files), 'file')}, {lines}{some}" if len(files) > 1 else f"{lines}{some}"


def _size(lines: Iterator[str]) -> int:
    return sum(len(f"{visible(line)}\n".encode("utf-8", "surrogatepass")) for line in lines)
