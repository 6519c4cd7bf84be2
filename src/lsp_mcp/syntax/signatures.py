"""The functions and calls of a text, with their parameters and arguments: `signatures_of`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.edits.listing import Listing, listing
from lsp_mcp.syntax.code import Code, code_without
from lsp_mcp.syntax.codes import code_of
from lsp_mcp.syntax.grammars import Grammar, grammar_of, has_query
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "signatures"
_Stretch = tuple[int, int]


class Parameter(Struct, frozen=True):
    """One parameter, at `span`; its `name` is None if it has none.

    Parameters of one `group`, above 0, share their type, which the last of them has. `is_rest`: it takes any number of
    arguments.
    """

    span: _Stretch
    name: _Stretch | None = None
    type: _Stretch | None = None
    default: _Stretch | None = None
    group: int = 0
    is_rest: bool = False


class Function(Struct, frozen=True):
    """A function: what declares it, or a literal. `whole` is all of it; `name` is None for a literal.

    `result` is what it returns, with `leads` before its name and up to that.
    """

    whole: _Stretch
    name: _Stretch | None
    parameters: tuple[Parameter, ...]
    listing: Listing | None  # None: it is not understood
    result: _Stretch | None = None
    body: _Stretch | None = None
    leads: bool = False


class Called(Struct, frozen=True):
    """A call: what is called begins at `start` and is named at `name`.

    `has_spread`: an argument may stand for several ones.
    """

    start: int
    name: _Stretch
    listing: Listing | None  # None: it is not understood
    has_spread: bool = False
    only_call: bool = False  # its only argument is a call, which may return several values


class Signatures(Struct, frozen=True):
    """The functions and calls of one text, by the offsets of their names; `literals` have no name."""

    text: Text
    functions: Mapping[int, Function]
    calls: Mapping[int, Called]  # also by where what is called begins, as `pkg.f`
    literals: tuple[Function, ...]
    mentions: frozenset[int]  # where a function is only named, whatever its parameters
    identifiers: tuple[_Stretch, ...]  # names of values
    form: str  # how a parameter is written, of {name} and {type}
    unnamed: str  # the name of a parameter that nobody uses; empty: none is needed
    empty: str  # the parameters of a function without any
    must_return: bool  # whether each function has a result written, if only that there is none

    def slice(self, stretch: _Stretch) -> str:
        """The text there."""
        return self.text.content[stretch[0] : stretch[1]]

    def around(self, offset: int) -> Iterator[Function]:
        """The functions whose bodies contain `offset`, the innermost first."""
        every = [*self.functions.values(), *self.literals]
        inside = [one for one in every if one.body and one.body[0] <= offset < one.body[1]]
        yield from sorted(inside, key=lambda one: one.body or (0, 0), reverse=True)


def has_signatures(language_id: str) -> bool:
    """Whether the parameters of functions in this language are known."""
    return has_query(language_id, _QUERY)


async def signatures_of(text: Text, language_id: str) -> Signatures | None:
    """The functions and calls of `text`; None for a language without such a query."""
    grammar = grammar_of(language_id)
    if grammar is None or grammar.query(_QUERY) is None:
        return None
    return await asyncio.to_thread(_signatures, text, grammar, language_id)


def _signatures(text: Text, grammar: Grammar, language_id: str) -> Signatures:
    from tree_sitter import QueryCursor

    query = grammar.query(_QUERY)
    assert query
    tree = TREES.tree_of(text, grammar)
    captured = QueryCursor(query).captures(tree.root)
    found = _Found(tree, code_of(text, language_id) or code_without(()), captured)
    functions: dict[int, Function] = {}
    literals: list[Function] = []
    for one in found.functions():
        if one.name:
            functions[one.name[0]] = one
        else:
            literals.append(one)
    settings: dict[str, str | None] = {}
    for number in range(query.pattern_count):  # those of a language after those that it inherits
        settings |= query.pattern_settings(number)
    return Signatures(
        text,
        functions,
        {offset: one for one in found.calls() for offset in (one.start, one.name[0])},
        tuple(literals),
        frozenset(tree.offset(found.last_name(node).start_byte) for node in captured.get("mention", ())),
        tuple(tree.offsets(node) for node in captured.get("identifier", ())),
        settings.get("parameter") or "{name} {type}",
        settings.get("unnamed") or "",
        settings.get("empty") or "",
        "result.type" in {query.capture_name(number) for number in range(query.capture_count)},
    )


class _Found:
    """What a query captured in a text."""

    def __init__(self, tree: Parsed, code: Code, captured: Mapping[str, Sequence[Node]]) -> None:
        self._tree, self._code, self._captured = tree, code, captured
        self._naming = self._inside("name", "named")
        self._result_types = {node.id for node in captured.get("result.type", ())}
        self._result_owners = {node.id for node in captured.get("result.owner", ())}
        self._results = self._inside("result", "function")
        self._bodies = self._inside("body", "function")
        self._around = self._inside("body", "definition")
        self._definitions = {node.id: node for node in captured.get("definition", ())}
        self._none = {node.id for node in captured.get("parameter.none", ())}
        self._parameters = self._grouped("parameter", "parameters")
        self._names = self._grouped("parameter.name", "parameter")
        self._types = self._grouped("parameter.type", "parameter")
        self._defaults = self._grouped("parameter.default", "parameter")
        self._rest = {node.id for node in captured.get("parameter.rest", ())}
        self._spread = {node.id for node in captured.get("spread", ())}
        self._call_nodes = {node.id for node in captured.get("call", ())}

    def functions(self) -> Iterator[Function]:
        """Everything that declares parameters."""
        declared = self._inside("declared", "function")
        parameters = self._inside("parameters", "function")
        for node in self._captured.get("function", ()):
            if (list_ := parameters.get(node.id)) is None:
                continue
            name = declared.get(node.id)
            result, body = self._results.get(node.id), self._bodies.get(node.id)
            definition = self._definition(node)
            nodes = [one for one in self._parameters.get(list_.id, ()) if one.parent == list_ and not one.is_extra]
            listed = list(self._listed(one for one in nodes if one.id not in self._none))
            if definition:
                body = self._around.get(definition.id)
            yield Function(
                self._tree.offsets(definition or node),
                self._tree.offsets(self.last_name(name)) if name else None,
                tuple(listed),
                self._listing(list_, [one.span for one in listed], is_empty=bool(nodes) and not listed),
                self._tree.offsets(result) if result else self._leading(node),
                self._tree.offsets(body) if body else None,
                result is None,
            )

    def calls(self) -> Iterator[Called]:
        """Everything that passes arguments to something with a name."""
        called = {node.parent.id: node for node in self._captured.get("called", ()) if node.parent}
        for node in self._captured.get("arguments", ()):
            if node.parent is None or (what := called.get(node.parent.id)) is None:
                continue
            arguments = [one for one in node.named_children if not one.is_extra]
            spans = [self._tree.offsets(one) for one in arguments]
            yield Called(
                self._tree.offset(what.start_byte),
                self._tree.offsets(self.last_name(what)),
                self._listing(node, spans),
                any(one.id in self._spread for one in arguments),
                len(arguments) == 1 and arguments[0].id in self._call_nodes,
            )

    def last_name(self, node: Node) -> Node:
        """The identifier that a longer expression ends with: `f` of `pkg.f[int]`."""
        while inner := self._naming.get(node.id):
            node = inner
        return node

    def _leading(self, node: Node) -> _Stretch | None:
        """The result that is written before what declares a function; None if there is more than that, or nothing."""
        inner, above = node, node.parent
        before: list[Node] = []
        while above:
            before = [*(one for one in above.children if one.end_byte <= inner.start_byte), *before]
            if above.id in self._result_owners:
                break
            if any(one.start_byte >= inner.end_byte for one in above.children):
                return None  # brackets: a pointer to a function is returned
            inner, above = above, above.parent
        if above is None or len(above.children_by_field_name("declarator")) != 1:
            return None
        first = next((n for n, one in enumerate(before) if one.id in self._result_types), len(before))
        types = before[first:]
        if not types or any(one.is_named and one.id not in self._result_types for one in types):
            return None
        return self._tree.offset(types[0].start_byte), self._tree.offset(node.start_byte)

    def _listed(self, nodes: Iterable[Node]) -> Iterator[Parameter]:
        for group, node in enumerate(nodes, 1):
            names = [self._tree.offsets(one) for one in self._names.get(node.id, ())]
            type_ = next((self._tree.offsets(one) for one in self._types.get(node.id, ())), None)
            default = next((self._tree.offsets(one) for one in self._defaults.get(node.id, ())), None)
            start, end = self._tree.offsets(node)
            is_rest = node.id in self._rest
            if len(names) <= 1:
                name = names[0] if names else None
                yield Parameter((start, end), name, type_, default, 0, is_rest)
                continue
            for name in names[:-1]:
                yield Parameter(name, name, type_, None, group)
            yield Parameter((names[-1][0], end), names[-1], type_, None, group)

    def _definition(self, node: Node) -> Node | None:
        """The definition around what declares a function; None if that has no body there."""
        above = node.parent
        while above and above.id not in self._definitions:
            above = above.parent
        body = self._around.get(above.id) if above else None
        return above if body and body.start_byte >= node.end_byte else None

    def _listing(self, node: Node, spans: Sequence[_Stretch], *, is_empty: bool = False) -> Listing | None:
        """The list of a node with brackets; None if it has errors, or is divided by other things than commas.

        `is_empty`: it has no items, whatever is written there.
        """
        children = node.children
        if node.has_error or len(children) < 2 or children[0].is_named or children[-1].is_named:
            return None
        start, end = self._tree.offset(children[0].end_byte), self._tree.offset(children[-1].start_byte)
        if is_empty:
            return Listing(start, end)
        try:
            return listing(
                self._tree.text.content, start, end, spans, lambda offset: self._code.part(offset) != "comment"
            )
        except ValueError:
            return None

    def _inside(self, inner: str, outer: str) -> dict[int, Node]:
        """The first node `inner` for each `outer` directly around it, by the id of that."""
        return {owner: nodes[0] for owner, nodes in self._grouped(inner, outer).items()}

    def _grouped(self, inner: str, outer: str) -> dict[int, list[Node]]:
        """The nodes `inner` by the id of the nearest `outer` around each, in order."""
        outers = {node.id for node in self._captured.get(outer, ())}
        found: dict[int, list[Node]] = {}
        for node in sorted(self._captured.get(inner, ()), key=lambda one: one.start_byte):
            above = node.parent
            while above and above.id not in outers:
                above = above.parent
            if above:
                found.setdefault(above.id, []).append(node)
        return found
