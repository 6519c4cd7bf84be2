"""What the uses of a name are for, by the syntax around them: `roles_at`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from lsp_mcp.syntax.grammars import grammar_of, has_query
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

SyntaxRole = Literal["case", "argument", "return", "literal", "type", "embed"]
"""A value that a switch or match compares with; an argument of a call; what a function returns; a value made of a type,
or of a field there; a type; a type that another one is made of or based on.
"""
SYNTAX_ROLES: frozenset[str] = frozenset(get_args(SyntaxRole))


def has_roles(language_id: str) -> bool:
    """Whether `roles_at` knows the roles of this language."""
    return has_query(language_id, "roles")


def roles_at(text: Text, language_id: str, spans: Iterable[Span]) -> dict[Span, frozenset[str] | None]:
    """The roles of the names at `spans`; None where an error in the syntax leaves that open, or without a grammar.

    Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    grammar = grammar_of(language_id)
    query = grammar.query("roles") if grammar else None
    if grammar is None or query is None:
        return dict.fromkeys(spans)
    tree = TREES.tree_of(text, grammar)
    return {span: _roles(tree, query, span) for span in spans}


def _roles(tree: Parsed, query: Query, span: Span) -> frozenset[str] | None:
    from tree_sitter import QueryCursor

    start, end = (tree.byte(tree.text.point_offset(point)) for point in (span.start, span.end))
    node = tree.root.named_descendant_for_byte_range(start, end)
    if node is None:
        return None
    cursor = QueryCursor(query)
    cursor.set_byte_range(start, end)
    outer: dict[int, Node] = {}
    named: dict[int, set[str]] = {}
    for _, captures in cursor.matches(tree.root):
        if "outer" in captures:
            outer[captures["inner"][0].id] = captures["outer"][0]
            continue
        for role, nodes in captures.items():
            for one in nodes:
                named.setdefault(one.id, set()).add(role)
    found = set(named.get(node.id, ()))
    at = node
    while (above := outer.get(at.id)) is not None:
        at = above
        found |= named.get(at.id, set())
    if "declaration" in found:
        return frozenset()
    if len(found) > 1:
        found.discard("type")  # it is one in each of the other roles
    return frozenset(found) if found or not _is_in_error(node) else None


def _is_in_error(node: Node) -> bool:
    above: Node | None = node
    while above and not above.is_error:
        above = above.parent
    return above is not None
