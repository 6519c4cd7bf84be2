"""What is declared by types that no search by name finds, as those inside functions: `declared_locally`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from lsp_mcp.syntax.grammars import grammar_of
from lsp_mcp.syntax.trees import Parsed, parsed
from lsp_mcp.text import Span, Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

Kind = Literal["class", "struct", "interface", "method", "field", "type"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
_MEMBERS: frozenset[Kind] = frozenset({"method", "field"})
_EMBEDDED = "embedded"
_QUERY = "local_types"


class Declared(Struct, frozen=True):
    """A name that such a type declares, or that is this type's; `around` are the names it is in.

    An `embedded` field has the name of its type. A name has all `kinds` if errors in the syntax leave open what it is.
    """

    name: str
    span: Span
    kinds: tuple[Kind, ...]
    around: tuple[str, ...]  # of functions and types, the innermost last
    embedded: bool = False


class _Scope(Struct, frozen=True):
    """The body of a function, or the members of a type; `name` is "" if it has none."""

    start: int
    end: int
    name: str
    is_body: bool


def declared_locally(text: Text, language_id: str) -> list[Declared]:
    """What such types in `text` declare, or may declare, in order; nothing for a language without such a query.

    Takes about 200 ms for a megabyte: call it in a thread.
    """
    grammar = grammar_of(language_id)
    query = grammar.query(_QUERY) if grammar else None
    if grammar is None or query is None:
        return []
    tree = parsed(text, grammar)
    said, scopes = _read(tree, query)
    found: list[Declared] = []
    around: list[_Scope] = []
    for start, end in sorted(said):
        while scopes and scopes[-1].start <= start:
            around.append(scopes.pop())
        around = [scope for scope in around if start < scope.end]
        if one := _declared(tree, start, end, said[start, end], around):
            found.append(one)
    return found


def _declared(tree: Parsed, start: int, end: int, said: set[str], around: list[_Scope]) -> Declared | None:
    """What the name from one byte to another declares, in the scopes `around` it."""
    kinds = tuple(kind for kind in _KINDS if kind in said or (kind == "field" and _EMBEDDED in said))[:1]
    if not kinds:
        kinds = _KINDS
    elif not any(scope.is_body or (kinds[0] in _MEMBERS and not scope.name) for scope in around):
        return None
    span = tree.text.offsets_span(tree.offset(start), tree.offset(end))
    names = tuple(scope.name for scope in around if scope.name)
    return Declared(tree.text.slice(span), span, kinds, names, _EMBEDDED in said)


def _read(tree: Parsed, query: Query) -> tuple[dict[tuple[int, int], set[str]], list[_Scope]]:
    """What the query says that each name is, by its bytes; and the scopes, the last and innermost first."""
    from tree_sitter import QueryCursor

    said: dict[tuple[int, int], set[str]] = {}
    scopes: dict[tuple[int, int], _Scope] = {}
    for _, captures in QueryCursor(query).matches(tree.root):
        named = captures.pop("name", None)
        for capture, (node, *_) in captures.items():
            if capture not in ("body", "members"):
                said.setdefault(node.byte_range, set()).add(capture)
            elif named or node.byte_range not in scopes:
                name = _last_word(tree, named[0]) if named else ""
                scopes[node.byte_range] = _Scope(node.start_byte, node.end_byte, name, capture == "body")
    return said, sorted(scopes.values(), key=lambda scope: (-scope.start, scope.end))


def _last_word(tree: Parsed, name: Node) -> str:
    """The symbol's own word in its name, which may be qualified."""
    while inner := name.child_by_field_name("name"):
        name = inner
    return tree.data[name.start_byte : name.end_byte].decode("utf-8", "replace")
