"""textDocument/documentSymbol: the outline of one file (LSP 3.17)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lsp_mcp.backend import Backend, Json
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.hover import hovers
from lsp_mcp.requests.places import Place, last_word, plain_name
from lsp_mcp.requests.symbols import Symbol, cut, flat, kind_name
from lsp_mcp.text import Point, PositionEncoding, Span, Text
from lsp_mcp.uris import path_uri

_MOST_KEPT = 10_000  # symbols of outlines; one takes about 700 bytes
_OUTLINES: RememberedOf[Backend, Path, tuple[str, int], tuple[Symbol, ...]] = RememberedOf(_MOST_KEPT)


async def document_symbols(backend: Backend, path: Path, *, opened: bool = True) -> tuple[Symbol, ...]:
    """The symbols of `path` in reading order, members below their types.

    If not `opened` (for many files), the file need not become a document for the server.

    Raises:
        PathError: the file cannot be read, or is in no language of this server.
        RefusedError, UnavailableError: see `Backend.request`.
    """
    text = await (backend.documents.open(path) if opened else backend.documents.text(path))
    kept, stamp = _OUTLINES.for_owner(backend), outline_stamp(backend, text)
    if (known := kept.get(path, stamp)) is not None:
        return known
    result = await backend.request("textDocument/documentSymbol", {"textDocument": {"uri": path_uri(path)}})
    symbols = tuple(_symbol(item, path, text, backend) for item in result or [])
    if any("location" in item for item in result or []):
        symbols = _nested(symbols)
    symbols = _in_order(_with_members(symbols, backend.plugin.symbols.member_pattern))
    # There may be thousands of files that nobody works on.
    if opened and stamp == outline_stamp(backend, text) and backend.state() == "running":
        kept.put(path, stamp, symbols, 1 + sum(symbol.count() for symbol in symbols))
    return symbols


def outline_stamp(backend: Backend, text: Text) -> tuple[str, int]:
    """The state an outline depends on: the text, or all files if the server reads more than that."""
    return text.content, 0 if backend.plugin.documents.outlines_closed else backend.generation


async def with_hovers(backend: Backend, symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """The tree `symbols` with the hover text of each symbol."""
    texts = iter(await hovers(backend, [symbol.place for symbol in flat(symbols)]))

    def filled(symbol: Symbol) -> Symbol:
        return replace(symbol, hover=next(texts), children=tuple(map(filled, symbol.children)))

    return tuple(map(filled, symbols))


def page(symbols: tuple[Symbol, ...], offset: int, limit: int) -> tuple[tuple[Symbol, ...], int]:
    """`limit` symbols in reading order after the first `offset`, and the total number.

    Includes their containers if those come first.
    """
    total = sum(symbol.count() for symbol in symbols)
    return (symbols if not offset and total <= limit else cut(symbols, offset, limit)), total


def name_span(text: Text, span: Span, name: str) -> Span:
    """The last identifier of `name` inside `span`, searched from its start; else the start of `span`.

    For servers that return the whole declaration instead of the name.
    """
    if word := last_word(name):
        start, end = text.point_offset(span.start), text.point_offset(span.end)
        if text.content[start:end] == word:
            return span
        if found := re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(text.content, start, end):
            return text.offsets_span(found.start(), found.end())
    return span


def _symbol(item: Json, path: Path, text: Text, backend: Backend) -> Symbol:
    """A `DocumentSymbol`, or a `SymbolInformation` from a server without hierarchy."""
    name, kind = str(item["name"]), kind_name(item["kind"], backend.plugin)
    place = Place(path, own_span(item, name, text, backend.encoding), text, str(item.get("containerName") or ""))
    children: Any = item.get("children") or ()
    return Symbol(
        name, kind, place, str(item.get("detail") or ""), "",
        tuple(_symbol(child, path, text, backend) for child in children),
        text.range_span(item["range"] if "range" in item else item["location"]["range"], backend.encoding),
    )  # fmt: skip


def own_span(item: Json, name: str, text: Text, encoding: PositionEncoding) -> Span:
    """The place of the name of `item`, a symbol in the outline of `text`."""
    if "selectionRange" not in item:
        return name_span(text, text.range_span(item["location"]["range"], encoding), name)
    selected = text.range_span(item["selectionRange"], encoding)
    if text.slice(selected) == last_word(name):
        return selected
    # A name made by a macro is not there; below its line it would be another symbol's.
    span = name_span(text, text.clip_to_line(selected), name)
    if plain_name(name) not in text.slice(span):
        # clangd 22 may even give a place in the macro's own file; the start of the whole symbol is right.
        start = text.range_span(item["range"], encoding).start
        span = name_span(text, text.clip_to_line(Span(start, text.offset_point(len(text.content)))), name)
    return span


def _nested(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """A flat outline as the tree that its extents form."""
    top: list[Symbol] = []
    for symbol in sorted(symbols, key=_outer_first, reverse=True):  # each before what it is in
        inside = [one for one in top if _is_in(one, symbol)]
        top = [one for one in top if not _is_in(one, symbol)]
        top.append(replace(symbol, children=(*symbol.children, *inside[::-1])))
    return tuple(top[::-1])


def _outer_first(symbol: Symbol) -> tuple[Point, int, int]:
    extent = symbol.extent or symbol.place.span
    return extent.start, -extent.end.line, -extent.end.character


def _is_in(inner: Symbol, outer: Symbol) -> bool:
    one, other = inner.extent, outer.extent
    return bool(one and other and one != other and other.start <= one.start and one.end <= other.end)


def _with_members(symbols: tuple[Symbol, ...], pattern: str) -> tuple[Symbol, ...]:
    """`symbols` with those named as members of a sibling moved below it (Go's methods)."""
    if not pattern:
        return symbols
    owners = {symbol.name for symbol in symbols}
    members: dict[str, list[Symbol]] = {}
    top = []
    for symbol in symbols:
        match = re.match(pattern, symbol.name)
        if match and match["owner"] in owners:
            members.setdefault(match["owner"], []).append(symbol)
        else:
            top.append(symbol)
    return tuple(
        replace(symbol, children=(*symbol.children, *members.pop(symbol.name))) if symbol.name in members else symbol
        for symbol in top
    )


def _in_order(symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    ordered = sorted(symbols, key=lambda symbol: symbol.place.span)
    return tuple(_with_children_in_order(symbol) if symbol.children else symbol for symbol in ordered)


def _with_children_in_order(symbol: Symbol) -> Symbol:
    children = _in_order(symbol.children)
    return symbol if children == symbol.children else replace(symbol, children=children)
