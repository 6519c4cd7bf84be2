"""What a module passes to those who load it at run time: `exposed`."""

from __future__ import annotations

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Text

EXPOSED = "exposed"
"""The query."""


def exposed(text: Text, language_id: str) -> dict[Point, Point]:
    """Where `exports.a = a` and the like name what is exported, each with the place of what it stands for.

    Empty for a language without a query `exposed`. Takes about 100 ms for a megabyte: call it in a thread.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(EXPOSED) if grammar else None
    if grammar is None or query is None:
        return {}
    tree = TREES.tree_of(text, grammar)
    found = {}
    for _, captures in QueryCursor(query).matches(tree.root):
        if names := captures.get("exposed"):
            points = [text.offsets_span(*tree.offsets(one)).start for one in (*names, *captures.get("value", ()))]
            found[points[0]] = points[-1]
    return found
