"""The types that a text declares, and what their values have in them: `declared_types`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "type_parts"


class DeclaredType(Struct, frozen=True):
    """A type, and the names of the types that a value of it has in it, without those that functions take.

    `holds_any`: a value of any type may be in it. A value of an interface is itself one of another type.
    """

    name: str
    parts: frozenset[str] = frozenset()
    holds_any: bool = False
    is_interface: bool = False


def declared_types(text: Text, language_id: str) -> dict[int, DeclaredType]:
    """The types that `text` declares, inside functions too, by the offsets of their names.

    Nothing for a language without such a query. Takes about 200 ms for a megabyte: call it in a thread.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(_QUERY) if grammar else None
    if grammar is None or query is None:
        return {}
    tree = TREES.tree_of(text, grammar)
    captured = QueryCursor(query).captures(tree.root)
    sorted_ = {said: sorted(nodes, key=_start) for said, nodes in captured.items()}
    names, interfaces = sorted_.get("name", ()), {_start(node) for node in captured.get("interface", ())}

    def inside(said: str, whole: Node) -> list[Node]:
        found = _inside(sorted_.get(said, ()), whole)
        apart = _inside(sorted_.get("apart", ()), whole)
        return [one for one in found if not any(_start(part) <= _start(one) < part.end_byte for part in apart)]

    def word(node: Node) -> str:
        return tree.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    found: dict[int, DeclaredType] = {}
    for whole in captured.get("declaration", ()):
        name = _inside(names, whole)[0]
        parts = frozenset(word(one) for one in inside("part", whole) if one.start_byte != name.start_byte)
        holds_any = bool(inside("any", whole))
        found[tree.offset(name.start_byte)] = DeclaredType(word(name), parts, holds_any, _start(name) in interfaces)
    return found


def _inside(nodes: Sequence[Node], whole: Node) -> Sequence[Node]:
    """Those of `nodes`, which are in order, that begin in `whole`."""
    return nodes[bisect_left(nodes, whole.start_byte, key=_start) : bisect_left(nodes, whole.end_byte, key=_start)]


def _start(node: Node) -> int:
    return node.start_byte
