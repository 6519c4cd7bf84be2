"""What declares a word in code that no server has parsed, by the scopes around it: `declared_around`.

Only what no other configuration can change counts: a directive of the preprocessor between a declaration and the
word, or in a class, leaves it open. Where it could not be parsed, nothing is sure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.preprocessor import DIRECTIVE
from lsp_mcp.syntax.trees import Parsed, parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node

_QUERY = "scopes"
# The grammar takes the macro in `class EXPORTED Name` for the name.
_MACRO = re.compile(r"(?<=class )[A-Z_][A-Z\d_]+(?=\s+\w+\s*(?:final\s*)?[:{])")
_Stretch = tuple[int, int]
"""Where it starts and ends."""
_Captures = Mapping[str, Sequence["Node"]]


class Declared(Struct, frozen=True):
    """Where a word is declared: in the class of that name, or, if that is "", in a function.

    `has_bases`: the class may inherit from others.
    """

    owner: str = ""
    has_bases: bool = False


class _Scope(Struct, frozen=True):
    """A part of a text that names are known in; `name`, `has_bases`: of a class."""

    start: int
    end: int
    kind: str  # "block", "function", "class"; "apart" is one that nothing is known about
    name: str = ""
    has_bases: bool = False


class _Scopes(Struct, frozen=True):
    """The scopes of a text, outer ones first, and what its words are."""

    scopes: tuple[_Scope, ...]
    members: frozenset[int]  # where a class declares or uses its own member
    others: frozenset[int]  # where a word is neither that nor stands by itself
    declared: Mapping[str, Sequence[int]]  # where each word is declared
    directives: Sequence[_Stretch]
    errors: Mapping[_Stretch, bool]  # where it could not be parsed, and whether a brace is there

    def around(self, at: int) -> Iterator[_Scope]:
        """The scopes around a place, the innermost first."""
        before = bisect_right(self.scopes, at, key=lambda scope: scope.start)
        return (one for number in range(before - 1, -1, -1) if at < (one := self.scopes[number]).end)

    def is_doubtful(self, scope: _Scope, at: int) -> bool:
        """Whether errors in `scope` leave open what is in it, or there is one around a place in it."""
        return any(
            scope.start <= start and end <= scope.end and (has_brace or start <= at < end)
            for (start, end), has_brace in self.errors.items()
        )

    def declares(self, scope: _Scope, word: str, first: int, last: int) -> bool:
        """Whether `word` is declared from one place to another, in `scope` and in no other inside."""
        return any(first <= at <= last and next(self.around(at), None) == scope for at in self.declared.get(word, ()))

    def declaring(self, word: str, at: int) -> Declared | None:
        """What surely declares the `word` that stands at a place."""
        first = max((to for _, to in self.directives if to <= at), default=0)
        in_function = is_member = at in self.members
        is_local = False
        for scope in () if at in self.others else self.around(at):
            if scope.kind == "apart" or self.is_doubtful(scope, at):
                return None
            if scope.kind == "class":
                has_directives = any(scope.start <= start < scope.end for start, _ in self.directives)
                if has_directives or scope.start < first or is_local or not (in_function and scope.name):
                    return None
                is_declared = self.declares(scope, word, scope.start, scope.end)
                return Declared(scope.name, scope.has_bases) if is_declared else None
            is_local = is_local or (not is_member and self.declares(scope, word, max(scope.start, first), at))
            if scope.kind == "function":
                if is_local:
                    return Declared()
                in_function = True
        return None


def declared_around(text: Text, span: Span, language_id: str) -> Declared | None:
    """What declares the word at `span` for its place, if that is surely a function or a class around it.

    The word stands by itself there, or behind `this->`. Takes about 300 ms for a megabyte: call it in a thread.
    """
    grammar = grammar_of(language_id)
    if grammar is None or grammar.query(_QUERY) is None:
        return None
    return _scopes(text, grammar).declaring(text.slice(span), text.point_offset(span.start))


@lru_cache(maxsize=4)
def _scopes(text: Text, grammar: Grammar) -> _Scopes:
    from tree_sitter import QueryCursor

    query, content = grammar.query(_QUERY), text.content
    assert query
    tree = parsed(Text(_MACRO.sub(lambda macro: " " * len(macro[0]), content)), grammar)
    scopes: dict[_Stretch, _Scope] = {}
    at: dict[str, set[_Stretch]] = {}
    errors: dict[_Stretch, bool] = {}
    for _, captures in QueryCursor(query).matches(tree.root):
        for said, (node, *_) in captures.items():
            start, end = tree.offsets(node)
            if said in ("block", "function", "apart"):
                if "parameters" in captures:  # a function's own name is known outside
                    start = tree.offset(captures["parameters"][0].start_byte)
                scopes.setdefault((start, end), _Scope(start, end, said))
            elif said == "class":
                _add_class(scopes, tree, captures)
            elif said == "error":
                errors[start, end] = not {*"{}"}.isdisjoint(content[start:end] or node.type)
            elif said != "declaration" or _is_unsure(node, captures):
                at.setdefault(said, set()).add((start, end))
    unsure = {
        place for start, end in at.get("unsure", set()) | at.get("declaration", set()) for place in range(start, end)
    }
    declared: dict[str, list[int]] = {}
    for start, end in at.get("variable", set()) | at.get("member", set()):
        if start not in unsure:
            word = content[start:end] if content[start:end].isidentifier() else "operator"
            declared.setdefault(word, []).append(start)
    for own in at.get("parameters", ()):
        if own in scopes and scopes[own].kind == "apart":
            del scopes[own]
    members = frozenset(start for said in ("member", "own") for start, _ in at.get(said, ()))
    return _Scopes(
        tuple(sorted(scopes.values(), key=lambda scope: (scope.start, -scope.end))),
        members,
        frozenset(start for start, _ in at.get("other", ())) - members,
        declared,
        [match.span() for match in DIRECTIVE.finditer(content)],
        errors,
    )


def _add_class(scopes: dict[_Stretch, _Scope], tree: Parsed, captures: _Captures) -> None:
    """Add a class by its body; one without a name is one that nothing is known about."""
    start, end = tree.offsets(captures["class"][0])
    known, has_bases = scopes.get((start, end)), "bases" in captures
    if known is None or ("name" in captures and not known.has_bases):
        name = tree.text.content[slice(*tree.offsets(captures["name"][0]))] if "name" in captures else ""
        scopes[start, end] = _Scope(start, end, "class", name, has_bases)


def _is_unsure(declaration: Node, captures: _Captures) -> bool:
    """Whether what looks like a declaration may be something else.

    There is an error in or before it, or its type is on another line, as a macro may be.
    """
    if "first" in captures:
        return captures["type"][0].end_point.row != captures["first"][0].start_point.row
    before = declaration.prev_sibling
    return declaration.has_error or bool(before and before.is_error)
