"""The source text of a symbol: `SymbolText`, one for each whole declaration, from documentSymbol and definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.requests.declaration import Declaration, declaration
from lsp_mcp.requests.document_symbol import document_symbols
from lsp_mcp.requests.scope import declaration_places, definition_places
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point, Span

_Outlines = dict[Path, tuple[Symbol, ...]]


class SymbolText(Struct, frozen=True):
    """One declaration of a symbol in one file.

    `owners` are the symbols that contain it, the outermost first. `shared_with` are other symbols of the same
    declaration (`a` of `int a, b;`), which share its text. `symbol` is None without an outline entry (a local variable,
    a parameter, a macro's product); `declared` is then its line.
    """

    path: Path
    name: Span
    declared: Declaration
    symbol: Symbol | None = None
    owners: tuple[Symbol, ...] = ()
    shared_with: tuple[Symbol, ...] = ()


async def symbol_texts(backend: Backend, path: Path, point: Point) -> list[SymbolText]:
    """The declarations of the symbol named at `point` of `path`: its definition first.

    A C++ method has two: one in its class, and the definition elsewhere. Empty if the server knows of none.

    Raises:
        PathError, PointError, RefusedError, UnavailableError: see `Backend.request`.
    """
    places = await definition_places(backend, path, point)
    if "declarationProvider" in backend.capabilities:
        try:
            places += await declaration_places(backend, path, point)
        except RefusedError:
            pass  # it named the definition's place
    outlines: _Outlines = {}
    own = await text_at(backend, path, point, outlines)
    if own.symbol and own.name.start == point:
        places.append((path, point))  # asked at one declaration, a server may return only the others
    found = [await text_at(backend, *place, outlines) for place in dict.fromkeys(places)]
    return sorted(found, key=lambda one: one.declared.body is None)


async def text_at(backend: Backend, path: Path, point: Point, outlines: _Outlines | None = None) -> SymbolText:
    """The declaration whose name is at `point`; the line of `point` if the file's outline has none there.

    `outlines` caches outlines and is extended. Raises: as `symbol_texts`.
    """
    text = await backend.documents.text(path)
    outlines = {} if outlines is None else outlines
    if path not in outlines:
        try:
            outlines[path] = await document_symbols(backend, path)
        except PathError:  # in no language of this server, such as C++ library headers without an extension
            outlines[path] = ()
    for symbol, owners, siblings in _walk(outlines[path]):
        if symbol.place.span.start <= point < symbol.place.span.end or symbol.place.span.start == point:
            return _of(backend, symbol, owners, siblings)
    name = text.identifier_at(point) or Span(point, point)
    line = text.clip_to_line(Span(text.first_point(point.line), text.offset_point(len(text.content))))
    owners = tuple(symbol for symbol, _, _ in _walk(outlines[path]) if holds(symbol, name))
    return SymbolText(path, name, Declaration(text, line, None, line), owners=owners)


async def enclosing_text(backend: Backend, path: Path, span: Span, *, opened: bool = True) -> SymbolText | None:
    """The innermost declaration that contains all of `span`; None outside declarations. Raises: see `symbol_texts`.

    If not `opened`, the file does not become a document, which some servers refuse.
    """
    outline = await document_symbols(backend, path, opened=opened)
    inside = [one for one in _walk(outline) if holds(one[0], span)]
    return _of(backend, *inside[-1]) if inside else None


def holds(symbol: Symbol, span: Span) -> bool:
    """Whether `span` is in the declaration of `symbol`."""
    return symbol.extent is not None and symbol.extent.start <= span.start and span.end <= symbol.extent.end


def _of(backend: Backend, symbol: Symbol, owners: tuple[Symbol, ...], siblings: Sequence[Symbol]) -> SymbolText:
    text, path = symbol.place.text, symbol.place.path
    extent = symbol.extent or symbol.place.span
    shared = tuple(one for one in siblings if one is not symbol and one.extent and _overlap(one.extent, extent))
    spans = [extent, *(one.extent for one in shared if one.extent)]
    whole = Span(min(span.start for span in spans), max(span.end for span in spans))
    declared = declaration(text, whole, backend.plugin.language_of(path))
    return SymbolText(path, symbol.place.span, declared, symbol, owners, shared)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _walk(
    symbols: Iterable[Symbol], owners: tuple[Symbol, ...] = ()
) -> Iterator[tuple[Symbol, tuple[Symbol, ...], Sequence[Symbol]]]:
    """Each symbol with its owners and its siblings, outer ones first."""
    beside = list(symbols)
    for symbol in beside:
        yield symbol, owners, beside
        yield from _walk(symbol.children, (*owners, symbol))
