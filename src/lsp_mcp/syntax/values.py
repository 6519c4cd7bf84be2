"""Where the values in a text come from: what variables are assigned and functions return, by its tree: `values_of`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "values"
_Stretch = tuple[int, int]


class Assigned(Struct, frozen=True):
    """Where a variable, at the offset `at`, or an element or field of it, gets one of `values`.

    `is_new`: it is declared there.
    """

    at: int
    name: str
    values: tuple[_Stretch, ...]
    is_new: bool = False
    is_collection: bool = False


class Passed(Struct, frozen=True):
    """Where something gets a variable, at the offset `at`, or its address; `called` is the last name of what is called
    with that, empty if nothing is.
    """

    at: int
    name: str
    called: str
    is_address: bool = False


class Values(Struct, frozen=True):
    """The values of one text, in order."""

    names: tuple[_Stretch, ...]  # what values come from: of `a.b` that is `b`
    returned: tuple[_Stretch, ...]
    assigned: tuple[Assigned, ...]
    passed: tuple[Passed, ...]

    def named(self, start: int, end: int) -> list[_Stretch]:
        """The names that an expression gets its value from."""
        return [one for one in self.names if start <= one[0] < end]

    def returns(self, body: _Stretch) -> list[_Stretch]:
        """The expressions that a function with this `body` returns; those of functions in it, too."""
        return [one for one in self.returned if body[0] <= one[0] < body[1]]

    def assigns(
        self, body: _Stretch, name: str, *, reading: re.Pattern[str], harmless: re.Pattern[str]
    ) -> list[_Stretch] | None:
        """The expressions whose values `name` gets in the function with this `body`, also as elements.

        None if that is not known: it is not declared there, or something else may change it. Calls whose names match
        `reading` write new values into what they get, those whose names match `harmless` none.
        """
        gets = [one for one in self.assigned if one.name == name and body[0] <= one.at < body[1]]
        uses = [one for one in self.passed if one.name == name and body[0] <= one.at < body[1]]
        is_collection = any(one.is_collection for one in gets)
        is_filled = any(
            (one.is_address or (is_collection and one.called and not harmless.search(one.called)))
            and not reading.search(one.called)
            for one in uses
        )
        if is_filled or not any(one.is_new for one in gets):
            return None
        return sorted({value for one in gets for value in one.values})


async def values_of(text: Text, language_id: str) -> Values | None:
    """The values of `text`; None for a language without such a query."""
    grammar = grammar_of(language_id)
    if grammar is None or grammar.query(_QUERY) is None:
        return None
    return await asyncio.to_thread(_values, text, grammar)


def _values(text: Text, grammar: Grammar) -> Values:
    from tree_sitter import QueryCursor

    query = grammar.query(_QUERY)
    assert query
    tree = TREES.tree_of(text, grammar)
    captured = QueryCursor(query).captures(tree.root)
    several = {node.id for node in captured.get("list", ())}
    collections = {node.id for node in captured.get("collection", ())}
    assigned: list[Assigned] = []
    passed: dict[int, Passed] = {}
    for _, one in QueryCursor(query).matches(tree.root):
        said = {name: nodes[0] for name, nodes in one.items()}
        if targets := said.get("new") or said.get("old"):
            values = _each(said.get("values"), several)
            for number, target in enumerate(names := _each(targets, several)):
                own = values[number : number + 1] if len(names) == len(values) else values
                base = _base(target)
                is_collection = any(value.id in collections for value in (*own, target))
                places = tuple(map(tree.offsets, own))
                assigned.append(
                    Assigned(tree.offset(base.start_byte), _word(tree, base), places, "new" in said, is_collection)
                )
        elif variable := said.get("passed") or said.get("address"):
            called = _called(tree, said["called"]) if "called" in said else ""
            at = tree.offset(variable.start_byte)
            if called or at not in passed:
                passed[at] = Passed(at, _word(tree, variable), called, "address" in said)
    names_ = {tree.offsets(node) for node in captured.get("name", ())}
    qualifiers = {tree.offsets(node) for node in captured.get("qualifier", ())}
    return Values(
        tuple(sorted(names_ - qualifiers)),
        tuple(sorted(map(tree.offsets, captured.get("return", ())))),
        tuple(sorted(assigned, key=lambda one: one.at)),
        tuple(passed[at] for at in sorted(passed)),
    )


def _each(node: Node | None, several: Collection[int]) -> list[Node]:
    """What is in a list of expressions, or the one that stands alone."""
    if node is None or node.id not in several:
        return [node] if node else []
    return [one for one in node.named_children if not one.is_extra]


def _base(target: Node) -> Node:
    """The variable that an element or field belongs to: `v` of `v[key].x`."""
    while inner := target.child_by_field_name("operand"):
        target = inner
    return target


def _called(tree: Parsed, function: Node) -> str:
    """The last name of what is called: `f` of `pkg.f[int]`."""
    words = re.findall(r"\w+", _word(tree, function).partition("[")[0])
    return words[-1] if words else "?"


def _word(tree: Parsed, node: Node) -> str:
    return tree.data[node.start_byte : node.end_byte].decode("utf-8", "replace")
