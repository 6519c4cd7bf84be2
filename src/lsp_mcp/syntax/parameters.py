"""Where a call may pass an argument by the name of a parameter: `is_named_in_calls`, `names_of_arguments`."""

from __future__ import annotations

from collections.abc import Iterable

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES, captured_at, is_in_error
from lsp_mcp.text import Point, Span, Text

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
    grammar = grammar_of(language_id)
    query = grammar.query(PARAMETERS) if grammar else None
    if grammar is None or query is None:
        return frozenset()
    tree = TREES.tree_of(text, grammar)
    return frozenset(
        span
        for span in spans
        if captured_at(tree, query, capture, span)
        or is_in_error(tree.root.named_descendant_for_byte_range(*tree.bytes_of(span)))
    )
