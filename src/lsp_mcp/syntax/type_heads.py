"""What declarations of types begin with, and the words there that name types above them: `type_heads`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "type_heads"


class TypeHead(Struct, frozen=True):
    """A type up to its body, from `start` to `end`, and of each name of a type `above` it the last word; offsets."""

    start: int
    end: int
    above: tuple[tuple[int, int], ...] = ()


def type_heads(text: Text, language_id: str) -> dict[int, TypeHead]:
    """The heads of the types in `text` by the offsets of their names.

    Empty for a language without such a query. Takes about 100 ms for a megabyte: call it in a thread.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    if grammar is None or (query := grammar.query(_QUERY)) is None:
        return {}
    tree = TREES.tree_of(text, grammar)
    matches = [captures for _, captures in QueryCursor(query).matches(tree.root)]
    apart = {node.id for one in matches for node in one.get("apart", ())}
    found: dict[int, TypeHead] = {}
    for one in matches:
        if "name" not in one:
            continue
        name, start, end = (tree.offset(one[key][0].start_byte) for key in ("name", "whole", "body"))
        words = {tree.offsets(word) for node in one.get("above", ()) for word in _words(node, apart)}
        if known := found.get(name):  # a pattern for its decorators, or one without what is above it
            start, words = min(start, known.start), words.union(known.above)
        found[name] = TypeHead(start, end, tuple(sorted(words)))
    return found


def _words(node: Node, apart: Collection[int]) -> Iterator[Node]:
    """The words in `node`, but not in those that are `apart`."""
    if node.id in apart:
        return
    if node.type.endswith("identifier") and not node.named_children:
        yield node
    for one in node.named_children:
        yield from _words(one, apart)
