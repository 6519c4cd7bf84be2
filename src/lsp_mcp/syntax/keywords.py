"""Which words of a text are keywords where they stand, though they may be names elsewhere: `keywords_at`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node


def keywords_at(text: Text, language_id: str, spans: Collection[Span]) -> frozenset[Span]:
    """Those of `spans` that are part of the syntax, as `of` and `type` may be in TypeScript: no symbol is meant there.

    Empty for a language without a query `keywords`; without places near an error in the syntax. Takes about 100 ms for
    a megabyte: call it in a thread for large texts.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("keywords") if grammar else None
    if grammar is None or query is None:
        return frozenset()
    tree = TREES.tree_of(text, grammar)
    found: set[Span] = set()
    for span in spans:
        start, end = (tree.byte(text.point_offset(point)) for point in (span.start, span.end))
        cursor = QueryCursor(query)
        cursor.set_byte_range(start, end)
        for node in cursor.captures(tree.root).get("keyword", ()):
            if (node.start_byte, node.end_byte) == (start, end) and not _is_in_error(node):
                found.add(span)
    return frozenset(found)


def _is_in_error(node: Node) -> bool:
    above: Node | None = node
    while above and not above.is_error:
        above = above.parent
    return above is not None
