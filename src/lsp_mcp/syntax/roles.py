"""What the uses of a name are for, by the syntax around them: `roles_at`, `written_through`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, get_args

from lsp_mcp.syntax.grammars import grammar_of, has_query
from lsp_mcp.syntax.trees import TREES, Parsed, is_in_error
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

SyntaxRole = Literal["case", "argument", "return", "literal", "type", "embed"]
"""A value that a switch or match compares with; an argument of a call; what a function returns; a value made of a type,
or of a field there; a type; a type that another one is made of or based on.
"""
SYNTAX_ROLES: frozenset[str] = frozenset(get_args(SyntaxRole))
TAKEN = "taken"
"""The role of a property where it is read into a variable of its name, which is written there."""
GIVEN = "given"
"""The role of a variable where it is read for the value of a property of its name, which is written there."""
MEMBER = "member"
"""The role of a name that only a property can have."""


def has_roles(language_id: str) -> bool:
    """Whether `roles_at` knows the roles of this language."""
    return has_query(language_id, "roles")


def has_writes(language_id: str) -> bool:
    """Whether `written_through` knows this language."""
    return has_query(language_id, "writes")


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


def written_through(text: Text, language_id: str, spans: Iterable[Span]) -> dict[Span, str | None]:
    """How each of the uses at `spans` may write without an assignment to it; empty if it does not.

    The name of the method that is called on it or a part of it, or of a function that changes it; `&` if its address is
    taken, `[]` or `.x` if such a part is assigned. None where an error in the syntax leaves that open, or without a
    grammar. Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    grammar = grammar_of(language_id)
    query = grammar.query("writes") if grammar else None
    if grammar is None or query is None:
        return dict.fromkeys(spans)
    tree = TREES.tree_of(text, grammar)
    return {span: _written(tree, query, span) for span in spans}


def _roles(tree: Parsed, query: Query, span: Span) -> frozenset[str] | None:
    node, found_ = _around(tree, query, span)
    if node is None:
        return None
    outer: dict[int, Node] = {}
    named: dict[int, set[str]] = {}
    for captures in found_:
        if "outer" in captures:
            outer[captures["inner"].id] = captures["outer"]
            continue
        for role, one in captures.items():
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
    return frozenset(found) if found or not is_in_error(node) else None


def _written(tree: Parsed, query: Query, span: Span) -> str | None:
    node, found = _around(tree, query, span)
    if node is None or tree.offsets(node) != tuple(tree.text.point_offset(one) for one in (span.start, span.end)):
        return None  # in what the grammar does not divide, as the text of a macro
    said: dict[tuple[str, int], dict[str, Node]] = {}
    for captures in found:
        for name in ("inner", "whole", "receiver", "assigned", "changed", "address"):
            if name in captures:
                said[name, captures[name].id] = captures
    at, is_part = node, False
    while True:
        if call := said.get(("receiver", at.id)):
            return _word(tree, call["method"])
        if is_part and ("assigned", at.id) in said:
            part = tree.text.content[tree.offset(node.end_byte) : tree.offset(at.end_byte)]
            return "[]" if part.endswith("]") else part.lstrip(")").strip()
        if call := said.get(("changed", at.id)):
            return _word(tree, call["function"])
        if ("address", at.id) in said:
            return "&"
        if step := said.get(("inner", at.id)):
            at = step["outer"]
        elif step := said.get(("whole", at.id)):
            at, is_part = step["part"], True
        else:
            return None if is_in_error(node) else ""


def _around(tree: Parsed, query: Query, span: Span) -> tuple[Node | None, list[dict[str, Node]]]:
    """The node at `span`, and what the query captures around it."""
    from tree_sitter import QueryCursor

    start, end = tree.bytes_of(span)
    cursor = QueryCursor(query)
    cursor.set_byte_range(start, end)
    found = [{name: nodes[0] for name, nodes in captures.items()} for _, captures in cursor.matches(tree.root)]
    return tree.root.named_descendant_for_byte_range(start, end), found


def _word(tree: Parsed, node: Node) -> str:
    return tree.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
