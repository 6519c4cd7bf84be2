"""Symbols of outlines and name searches: `Symbol`, and the names of LSP's symbol kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp.requests.places import Place
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.text import Span

# LSP 3.17, `SymbolKind`, as its enumeration names them.
_KINDS = [
    *("file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum"),
    *("interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key"),
    *("null", "enum_member", "struct", "event", "operator", "type_parameter"),
]
KINDS = (*_KINDS, "type", "macro")
TYPES = ("class", "struct", "interface", "enum", "type")
FUNCTIONS = ("function", "method", "constructor", "operator")
SCOPES = ("namespace", "package", "module", "file")
MEMBERS = ("field", "method", "property", "constructor", "enum_member")


class Symbol(Struct, frozen=True):
    """A named thing at a place; `place.span` is the name itself, `extent` its declaration according to its server."""

    name: str
    kind: str
    place: Place
    detail: str = ""
    hover: str = ""
    children: tuple[Symbol, ...] = field(default=())
    extent: Span | None = None  # known only in the outline of its file

    def count(self) -> int:
        """The number of symbols in this subtree, itself included."""
        return 1 + sum(child.count() for child in self.children)


def last_line(symbol: Symbol) -> int | None:
    """The line on which its declaration ends; None if unknown."""
    return symbol.extent.end.line if symbol.extent else None


def kind_name(kind: int, plugin: Plugin) -> str:
    """The name of an LSP `SymbolKind`, in the server's meaning; unknown ones keep their number."""
    name = _KINDS[kind - 1] if 1 <= kind <= len(_KINDS) else f"kind {kind}"
    return plugin.symbols.kinds.get(name, name)


def cut(symbols: tuple[Symbol, ...], offset: int, limit: int) -> tuple[Symbol, ...]:
    """`limit` symbols after the first `offset` in reading order, with their containers."""
    numbers = count()

    def kept(symbols: tuple[Symbol, ...]) -> Iterator[Symbol]:
        for symbol in symbols:
            number = next(numbers)
            children = tuple(kept(symbol.children))
            if children or offset <= number < offset + limit:
                yield replace(symbol, children=children)

    return tuple(kept(symbols))


def flat(symbols: Sequence[Symbol]) -> list[Symbol]:
    """All symbols of a tree in reading order."""
    return [one for symbol in symbols for one in (symbol, *flat(symbol.children))]
