"""The names that imports give to what they import: `imported_as`, `given_names`, `imported`, `brings`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsp_mcp.syntax.grammars import grammar_of, has_query
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Span, Text

_AS = re.compile(r"\s+as\s+\w")


def has_aliases(language_id: str) -> bool:
    """Whether imports of this language can give another name, as far as its queries know."""
    return has_query(language_id, "imports")


def may_be_imported_as(text: Text, language_id: str, end: int) -> bool:
    """Whether the name that ends at the offset `end` may have an alias in `imported_as`, without parsing `text`."""
    return _AS.match(text.content, end) is not None and has_aliases(language_id)


def imported_as(text: Text, language_id: str) -> dict[int, int]:
    """The offset of each alias in an import or export of `text`, by the offset behind the name it stands for.

    Empty for a language without such a query. Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    found = {}
    for name, alias in _aliases(text, language_id):
        if name is not None:
            found[name[1]] = alias[0]
    return found


def given_names(text: Text, language_id: str) -> set[str]:
    """The names that imports and exports in `text` give, also to what has no name of its own, as a default export.

    Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    return {text.content[start:end] for _, (start, end) in _aliases(text, language_id)}


def brings(text: Text, language_id: str, name: str) -> bool:
    """Whether an import or export in `text` brings `name` from another file."""
    if name not in text.content:
        return False
    captured = _captured(text, language_id, ("import", "passed"))
    return any(re.search(rf"\b{re.escape(name)}\b", text.content[start:end]) for start, end in captured)


def is_imported_at(text: Text, language_id: str, span: Span) -> bool:
    """Whether the word at `span` is in an import, and not a name that this gives. Call it in a thread."""
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    if any(name == (start, end) for _, name in _aliases(text, language_id)):
        return False
    return any(first <= start < last for first, last in _captured(text, language_id, ("import",)))


def names_module(text: Text, language_id: str, name: str) -> bool:
    """Whether an import in `text` gives a whole module this name."""
    return any(text.content[start:end] == name for start, end in _captured(text, language_id, ("module",)))


def _captured(text: Text, language_id: str, kinds: Iterable[str]) -> list[tuple[int, int]]:
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("imported") if grammar else None
    if grammar is None or query is None:
        return []
    tree = TREES.tree_of(text, grammar)
    captures = QueryCursor(query).captures(tree.root)
    return [tree.offsets(node) for kind in kinds for node in captures.get(kind, ())]


def _aliases(text: Text, language_id: str) -> Iterator[tuple[tuple[int, int] | None, tuple[int, int]]]:
    """The offsets of what is imported, if it has a name, and of the name that it gets."""
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query("imports") if grammar else None
    if grammar is None or query is None:
        return
    tree = TREES.tree_of(text, grammar)
    for _, captures in QueryCursor(query).matches(tree.root):
        name = captures.get("name")
        yield tree.offsets(name[0]) if name else None, tree.offsets(captures["alias"][0])


def imported(text: Text, language_id: str, offsets: Iterable[int]) -> set[int]:
    """Those of `offsets` in `text` that are in an import, which declares nothing; none without such a query.

    Takes about 100 ms for a megabyte: call it in a thread for large texts.
    """
    ranges = _captured(text, language_id, ("import", "loaded"))
    return {offset for offset in offsets if any(start <= offset < end for start, end in ranges)}
