"""The names that imports give to what they import: `imported_as`, `imported`."""

from __future__ import annotations

from collections.abc import Iterable

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text


def has_aliases(language_id: str) -> bool:
    """Whether imports of this language can give another name, as far as its queries know."""
    grammar = grammar_of(language_id)
    return bool(grammar and grammar.query("imports"))


def imported_as(text: Text, language_id: str) -> dict[int, int]:
    """The offset of each alias in an import or export of `text`, by the offset behind the name it stands for.

    Empty for a language without such a query. Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("imports") if grammar else None
    if grammar is None or query is None:
        return {}
    tree = TREES.tree_of(text, grammar)
    found = {}
    for _, captures in QueryCursor(query).matches(tree.root):
        _, end = tree.offsets(captures["name"][0])
        start, _ = tree.offsets(captures["alias"][0])
        found[end] = start
    return found


def imported(text: Text, language_id: str, offsets: Iterable[int]) -> set[int]:
    """Those of `offsets` in `text` that are in an import, which declares nothing; none without such a query.

    Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("imported") if grammar else None
    if grammar is None or query is None:
        return set()
    tree = TREES.tree_of(text, grammar)
    ranges = [tree.offsets(node) for node in QueryCursor(query).captures(tree.root).get("import", ())]
    return {offset for offset in offsets if any(start <= offset < end for start, end in ranges)}
