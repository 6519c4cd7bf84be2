"""Attributes of the declarations around a place: `attributes_around`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES
from lsp_mcp.text import Point, Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "attributes"


def attributes_around(path: Path, text: Text, point: Point, language_id: str) -> list[str]:
    """The attributes of all that is around `point`, as they are written, those of outer declarations first.

    Empty for a language without a query for them. Takes about 100 ms for a megabyte that was not parsed before.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    if grammar is None or (query := grammar.query(_QUERY)) is None:
        return []
    tree = TREES.tree_of(text, grammar, path)
    kinds = {said: {node.id for node in nodes} for said, nodes in QueryCursor(query).captures(tree.root).items()}
    at = tree.byte(text.point_offset(point))
    found: list[str] = []
    node: Node | None = tree.root.descendant_for_byte_range(at, at)
    while node is not None:
        own = [
            *_before(node, kinds.get("before", ()), kinds.get("comment", ())),
            *_inside(node, kinds.get("inside", ())),
        ]
        found = [*(text.content[slice(*tree.offsets(one))] for one in own), *found]
        node = node.parent
    return found


def _before(node: Node, attributes: Collection[int], comments: Collection[int]) -> Iterator[Node]:
    before = node.prev_named_sibling
    while before is not None and (before.id in attributes or before.id in comments):
        if before.id in attributes:
            yield before
        before = before.prev_named_sibling


def _inside(node: Node, attributes: Collection[int]) -> list[Node]:
    return [one for one in node.named_children if one.id in attributes] if attributes else []
