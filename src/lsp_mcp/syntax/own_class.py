"""What is named by the arguments of calls that make an object of the class they are in: `arguments_of_own_class`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node

OWN_CLASS = "own_class"
"""The query."""


class Named(Struct, frozen=True):
    """Where what an argument names is declared: a parameter of the constructor, or a field.

    `is_sure`: nothing else makes the constructor; without that it may take its parameters from a base.
    """

    declared: Span
    is_sure: bool


def arguments_of_own_class(text: Text, language_id: str, spans: Iterable[Span]) -> dict[Span, Named]:
    """Those of `spans` that name an argument of such a call, as `x` of `cls(x=1)`; without what the class inherits.

    Empty for a language without a query `own_class`. Takes about 100 ms for a megabyte: call it in a thread.
    """
    from tree_sitter import QueryCursor

    grammar = grammar_of(language_id)
    query = grammar.query(OWN_CLASS) if grammar else None
    wanted = set(spans)
    if grammar is None or query is None or not wanted:
        return {}
    tree = TREES.tree_of(text, grammar)
    matches = [captures for _, captures in QueryCursor(query).matches(tree.root)]
    known = _Known(tree, matches)
    found: dict[Span, Named] = {}
    for captures in matches:
        if "argument" not in captures:
            continue
        argument = captures["argument"][0]
        span = text.offsets_span(*tree.offsets(argument))
        if span in wanted and (named := known.named(argument, captures)):
            found[span] = named
    return found


class _Known:
    """The methods and constructors of the classes of a text."""

    def __init__(self, tree: Parsed, matches: Sequence[Mapping[str, Sequence[Node]]]) -> None:
        self._tree = tree
        self._classes = [one["class"][0] for one in matches if "class" in one]
        self._receivers = {
            kind: [(one[kind][0], one["receiver"][0].text) for one in matches if kind in one]
            for kind in ("of_class", "of_object")
        }
        self._declared = {
            kind: [node for one in matches for node in one.get(kind, ())]
            for kind in ("constructor", "parameter", "field", "made")
        }

    def named(self, argument: Node, call: Mapping[str, Sequence[Node]]) -> Named | None:
        """What `argument` of a call names."""
        by = "class" if "by_class" in call else "object"
        receiver = call[f"by_{by}"][0].text
        method = _innermost(
            node for node, first in self._receivers[f"of_{by}"] if first == receiver and _holds(node, argument)
        )
        own = self._class_of(method) if method else None
        if method is None or own is None:
            return None
        if by == "object" and any(method == node for node, _ in self._receivers["of_class"]):
            return None  # its receiver is the class
        declared = {
            kind: [node for node in nodes if self._class_of(node) == own] for kind, nodes in self._declared.items()
        }
        for kind in ("parameter",) if declared["constructor"] else ("made", "field"):
            there = [node for node in declared[kind] if node.text == argument.text]
            if len(there) == 1:
                return Named(self._tree.text.offsets_span(*self._tree.offsets(there[0])), kind != "field")
        return None

    def _class_of(self, node: Node) -> Node | None:
        return _innermost(one for one in self._classes if _holds(one, node))


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _innermost(nodes: Iterable[Node]) -> Node | None:
    return max(nodes, key=lambda node: node.start_byte, default=None)
