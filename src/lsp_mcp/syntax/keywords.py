"""Which words of a text are keywords where they stand, though they may be names elsewhere: `keywords_at`."""

from __future__ import annotations

from collections.abc import Collection

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES, captured_at, is_in_error
from lsp_mcp.text import Span, Text


def keywords_at(text: Text, language_id: str, spans: Collection[Span]) -> frozenset[Span]:
    """Those of `spans` that are part of the syntax, as `of` and `type` may be in TypeScript: no symbol is meant there.

    Empty for a language without a query `keywords`; without places near an error in the syntax. Takes about 100 ms for
    a megabyte: call it in a thread for large texts.
    """
    grammar = grammar_of(language_id)
    query = grammar.query("keywords") if grammar else None
    if grammar is None or query is None:
        return frozenset()
    tree = TREES.tree_of(text, grammar)
    return frozenset(
        span for span in spans if any(not is_in_error(node) for node in captured_at(tree, query, "keyword", span))
    )
