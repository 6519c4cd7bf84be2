"""Names that only the code of what they name can use, as in `f = function name() {}`: `own_scope`."""

from __future__ import annotations

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Span, Text

OWN_NAMES = "own_names"
"""The query."""


def own_scope(text: Text, language_id: str, point: Point) -> Span | None:
    """The code that can use the name which begins at `point`; None if it is not such a name.

    None for a language without a query `own_names`. Call it in a thread.
    """
    from tree_sitter import QueryCursor

    grammar, at = grammar_of(language_id), text.identifier_at(point)
    query = grammar.query(OWN_NAMES) if grammar else None
    if grammar is None or query is None or at is None:
        return None
    tree = TREES.tree_of(text, grammar)
    cursor = QueryCursor(query)
    cursor.set_byte_range(*tree.bytes_of(at))
    for _, captures in cursor.matches(tree.root):
        if tree.offsets(captures["name"][0])[0] == text.point_offset(at.start):
            return text.offsets_span(*tree.offsets(captures["scope"][0]))
    return None
