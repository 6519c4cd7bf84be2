"""What one file says of itself as a part of a program: `depends_on`, `passed_whole`, `entries_in`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import grammar_of, has_query
from lsp_mcp.syntax.trees import TREES, Parsed, parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node

ENTRY_WORDS = ("main", "__name__")
"""A file with an entry point has one of these words."""
_IMPORT_LINES = 400  # in which imports are looked for


def depends_on(text: Text, language_id: str) -> list[str]:
    """The files, modules or packages that a file imports in its first 400 lines, as spelled, without quotes.

    Empty for a language without such a query.
    """
    head = text
    if text.line_count > _IMPORT_LINES:
        head = Text("\n".join(text.line(number) for number in range(1, _IMPORT_LINES + 1)))
    found = _captured(head, language_id, "dependencies", "path", keep=False)
    return [head.content[slice(*tree.offsets(node))].strip("\"'<>`") for tree, node in found]


def passed_whole(text: Text, language_id: str) -> list[str]:
    """The modules of which a file exports everything, as spelled, without quotes."""
    found = _captured(text, language_id, "dependencies", "whole", keep=False)
    return [text.content[slice(*tree.offsets(node))].strip("\"'") for tree, node in found]


def knows_imports(language_id: str) -> bool:
    """Whether `depends_on` knows the imports of this language."""
    return has_query(language_id, "dependencies")


def entries_in(text: Text, language_id: str) -> list[Span]:
    """The names of the functions by which a program in this file begins."""
    return [text.offsets_span(*tree.offsets(node)) for tree, node in _captured(text, language_id, "entries", "entry")]


def _captured(
    text: Text, language_id: str, query_name: str, capture: str, *, keep: bool = True
) -> list[tuple[Parsed, Node]]:
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(query_name) if grammar else None
    if grammar is None or query is None:
        return []
    tree = TREES.tree_of(text, grammar) if keep else parsed(text, grammar)
    return [(tree, node) for node in QueryCursor(query).captures(tree.root).get(capture, ())]
