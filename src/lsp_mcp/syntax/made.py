"""Whether a word is in a macro's call that declares items, so that it may name several: `is_made`."""

from __future__ import annotations

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Text

MADE = "made"
"""The query."""


def is_made(text: Text, language_id: str, point: Point) -> bool:
    """Whether `point` is in such a call; False for a language without a query `made`. Call it in a thread."""
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(MADE) if grammar else None
    if grammar is None or query is None:
        return False
    tree = TREES.tree_of(text, grammar)
    at = tree.byte(text.point_offset(point))
    cursor = QueryCursor(query)
    cursor.set_byte_range(at, at + 1)
    return any(node.start_byte <= at < node.end_byte for node in cursor.captures(tree.root).get("made", ()))
