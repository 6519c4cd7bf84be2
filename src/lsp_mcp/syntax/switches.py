"""Switches and the constants that they compare with, by the syntax: `siblings_of`, `switches_around`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node


class Switch(Struct, frozen=True):
    """A switch or match, from its keyword to its end, and whether it has a branch for all other values."""

    span: Span
    has_default: bool


def siblings_of(text: Text, language_id: str, span: Span) -> list[Span]:
    """The names of the constants declared beside the one at `span`: of its enumeration, or of its type in its group.

    Empty if no constant is declared there, or this is not known for the language.
    """
    found = _captured(text, language_id)
    if found is None:
        return []
    tree, captures = found
    at = tree.byte(text.point_offset(span.start))
    group = _innermost(captures.get("members", ()), at)
    members = [one for one in captures.get("member", ()) if group and _holds(group, one.start_byte)]
    types = _types(members, captures)
    own = next((one for one in members if one.start_byte == at), None)
    if own is None:
        return []
    return [_span(tree, one) for one in members if one.id != own.id and types[one.id] == types[own.id]]


def switches_around(text: Text, language_id: str, spans: Iterable[Span]) -> dict[Span, Switch]:
    """The innermost switch around each of `spans`, without those that have none."""
    found = _captured(text, language_id)
    if found is None:
        return {}
    tree, captures = found
    around: dict[Span, Switch] = {}
    switches = captures.get("switch", [])
    defaults = [_innermost(switches, one.start_byte) for one in captures.get("default", ())]
    with_default = {one.id for one in defaults if one}
    for span in spans:
        if node := _innermost(switches, tree.byte(text.point_offset(span.start))):
            around[span] = Switch(_span(tree, node), node.id in with_default)
    return around


def _captured(text: Text, language_id: str) -> tuple[Parsed, dict[str, list[Node]]] | None:
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("switches") if grammar else None
    if grammar is None or query is None:
        return None
    tree = TREES.tree_of(text, grammar)
    return tree, QueryCursor(query).captures(tree.root)


def _types(members: list[Node], captures: dict[str, list[Node]]) -> dict[int, bytes]:
    """The type that each of `members` is declared with, by the node's id; one without type and value repeats both."""
    typed = {one.parent.id: one.text or b"" for one in captures.get("type", ()) if one.parent}
    valued = {one.parent.id for one in captures.get("value", ()) if one.parent}
    types: dict[int, bytes] = {}
    last = b""
    for one in sorted(members, key=lambda node: node.start_byte):
        declaration = one.parent.id if one.parent else 0
        if declaration in typed or declaration in valued:
            last = typed.get(declaration, b"")
        types[one.id] = last
    return types


def _innermost(nodes: Iterable[Node], byte: int) -> Node | None:
    around = [one for one in nodes if _holds(one, byte)]
    return min(around, key=lambda one: one.end_byte - one.start_byte, default=None)


def _holds(node: Node, byte: int) -> bool:
    return node.start_byte <= byte < node.end_byte


def _span(tree: Parsed, node: Node) -> Span:
    return tree.text.offsets_span(*tree.offsets(node))
