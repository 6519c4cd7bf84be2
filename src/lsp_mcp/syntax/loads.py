"""What modules are as a whole for those who load them at run time: `whole`, `loads`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_NEAR = re.compile(r"""['"`](\.{1,2}(?:/[^'"`\n]*)?)['"`]""")


Kind = Literal["alias", "passed", "part", "used"]
_KINDS: tuple[Kind, ...] = ("alias", "passed", "part", "used")


class Load(Struct, frozen=True):
    """A module that a text loads: its `path` as spelled, and where, as offsets.

    It gets a name (`alias`, which is `at`), is `passed` on as what the loading module is, only parts of it are wanted
    (`part`), or it is `used` at once.
    """

    path: str
    kind: Kind
    at: int


def near_paths(content: str) -> set[str]:
    """The strings in a text that are paths relative to its file."""
    return set(_NEAR.findall(content))


def whole(text: Text, grammar: Grammar) -> set[int]:
    """The offsets of the names of what this module is as a whole: `f` in `module.exports = f`.

    Empty for a grammar without a query `loads`. Takes about 100 ms for a megabyte: call it in a thread.
    """
    return {tree.offsets(node)[0] for tree, captures in _matches(text, grammar) for node in captures.get("whole", ())}


def loads(text: Text, grammar: Grammar) -> list[Load]:
    """The modules that a text loads, in order. As `whole`."""
    found: dict[int, Load] = {}
    for tree, captures in _matches(text, grammar):
        kind = next((kind for kind in _KINDS if kind in captures), None)
        if kind is None:
            continue
        start, end = tree.offsets(captures["path"][0])
        at = tree.offsets(captures[kind][0])[0]
        if start not in found or found[start].kind == "used":
            found[start] = Load(text.content[start + 1 : end - 1], kind, at)
    return [found[start] for start in sorted(found)]


def _matches(text: Text, grammar: Grammar) -> Iterator[tuple[Parsed, dict[str, list[Node]]]]:
    from tree_sitter import QueryCursor

    if query := grammar.query("loads"):
        tree = TREES.tree_of(text, grammar)
        for _, captures in QueryCursor(query).matches(tree.root):
            yield tree, captures
