"""Where a call may pass an argument by the name of a parameter: `is_named_in_calls`, `names_of_arguments`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node

PARAMETERS = "parameters"
"""The query."""


def is_named_in_calls(text: Text, language_id: str, point: Point) -> bool:
    """Whether a parameter begins at `point` that calls may name; False for a language without a query `parameters`.

    Call it in a thread.
    """
    at = text.identifier_at(point)
    return at is not None and at in _captured(text, language_id, "parameter", [at])


def names_of_arguments(text: Text, language_id: str, spans: Iterable[Span]) -> frozenset[Span]:
    """Those of `spans` where a call names an argument, and those where the syntax has an error. Call it in a thread."""
    return _captured(text, language_id, "argument", spans)


def _captured(text: Text, language_id: str, capture: str, spans: Iterable[Span]) -> frozenset[Span]:
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(PARAMETERS) if grammar else None
    if grammar is None or query is None:
        return frozenset()
    tree = TREES.tree_of(text, grammar)
    found: set[Span] = set()
    for span in spans:
        start, end = (tree.byte(text.point_offset(point)) for point in (span.start, span.end))
        cursor = QueryCursor(query)
        cursor.set_byte_range(start, end)
        there = cursor.captures(tree.root).get(capture, ())
        node = tree.root.named_descendant_for_byte_range(start, end)
        if any((one.start_byte, one.end_byte) == (start, end) for one in there) or _is_in_error(node):
            found.add(span)
    return frozenset(found)


def _is_in_error(node: Node | None) -> bool:
    while node and not node.is_error:
        node = node.parent
    return node is not None
