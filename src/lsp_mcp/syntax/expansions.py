"""Definitions and calls of macros whose code a server reads only where they are called: `macros_in`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text

EXPANSIONS = "expansions"
"""The query."""


class Macro(Struct, frozen=True):
    """A definition or a call of the macro `name`, which stands `at` an offset: where all of it begins and ends."""

    name: str
    at: int
    start: int
    end: int


class Macros(Struct, frozen=True):
    """Of one text: the definitions, the calls outside of them, and where other names are declared, as offsets.

    `patterns` are the parts of definitions that say what calls are given, and the names of that: no symbols.
    """

    definitions: tuple[Macro, ...] = ()
    calls: tuple[Macro, ...] = ()
    declared: frozenset[int] = frozenset()
    patterns: tuple[tuple[int, int], ...] = ()

    def is_pattern(self, offset: int) -> bool:
        """Whether the word at `offset` is in a pattern."""
        return any(start <= offset < end for start, end in self.patterns)

    def around(self, offset: int) -> Macro | None:
        """The definition with the code at `offset`, not its name."""
        return next((one for one in self.definitions if one.at != offset and one.start <= offset < one.end), None)


def macros_in(text: Text, language_id: str) -> Macros:
    """The macros of `text`; nothing for a language without a query `expansions`. Call it in a thread."""
    grammar = grammar_of(language_id)
    return _macros(text, grammar) if grammar and grammar.query(EXPANSIONS) else Macros()


# --- inside ------------------------------------------------------------------------------------


@lru_cache(maxsize=100)
def _macros(text: Text, grammar: Grammar) -> Macros:
    from tree_sitter import QueryCursor

    query = grammar.query(EXPANSIONS)
    assert query
    tree = TREES.tree_of(text, grammar)
    found: dict[str, dict[int, Macro]] = {"definition": {}, "call": {}}
    declared: set[int] = set()
    patterns: set[tuple[int, int]] = set()
    for _, captures in QueryCursor(query).matches(tree.root):
        for kind, known in found.items():
            if kind in captures:
                whole, name = captures[kind][0], captures["name"][0]
                start, end = tree.offsets(whole)
                spelled = tree.data[name.start_byte : name.end_byte].decode("utf-8", "replace")
                known[start] = Macro(spelled, tree.offset(name.start_byte), start, end)
        patterns |= {tree.offsets(node) for node in captures.get("pattern", ())}
        declared |= {tree.offset(node.start_byte) for node in captures.get("declared", ())}
    calls = tuple(_outermost(found["call"].values()))
    return Macros(tuple(found["definition"].values()), calls, frozenset(declared), tuple(sorted(patterns)))


def _outermost(calls: Iterable[Macro]) -> Iterator[Macro]:
    """Those that are not in another call, whose expansion has them, as they follow each other."""
    end = -1
    for call in sorted(calls, key=lambda one: one.start):
        if call.end > end:
            end = call.end
            yield call
