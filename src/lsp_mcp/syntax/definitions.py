"""The definitions in a text by its syntax tree alone: `definitions`; and where it cannot be parsed: `errors`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.syntax.trees import Parsed

if TYPE_CHECKING:
    from tree_sitter import Node

Kind = Literal[
    "class", "struct", "interface", "enum", "enum_member", "module", "constructor", "method", "function", "macro",
    "field", "constant", "variable", "type",
]  # fmt: skip
# What is in a kind's name, the first one that is; the word `definition` itself says nothing.
_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"enum(?:_member|_variant|_constant|_entry|_case|erator)|variant", "enum_member"),
    (r"constructor|init_decl(?:aration)?$", "constructor"),
    (r"method", "method"),
    (r"macro", "macro"),
    (r"func|proc|subroutine|getter|setter|lambda|rule|let_binding", "function"),
    (r"struct|union|record", "struct"),
    (r"interface|protocol|trait|mixin", "interface"),
    (r"enum", "enum"),
    (r"class|object|actor|contract|message", "class"),
    (r"module|namespace|mod_item|package|library", "module"),
    (r"field|property|column|attribute|accessor", "field"),
    (r"const", "constant"),
    (r"type|alias", "type"),
)
_FIELDS = ("name", "field", "method", "declarator")
_NAME = re.compile(r"(?:^|_)(?:identifier|constant|name|id)$")
_WORD = re.compile(r"\w[\w!?'-]*")
_DEEPEST = 20  # levels of a declarator
_MOST_ERRORS = 20
_INSIDE_NOTHING: frozenset[Kind] = frozenset({"function", "method", "constructor", "macro"})
_LOCAL: frozenset[Kind] = frozenset({"variable", "constant", "field"})
_MEMBERS: dict[Kind, Kind] = {"function": "method", "variable": "field"}  # of a type
_TYPES: frozenset[Kind] = frozenset({"class", "struct", "interface", "enum"})


class Definition(Struct, frozen=True):
    """A definition: offsets of all of it and of its name; `above` is the number of the one around it, -1 for none.

    `owner` is the type of which it is a member, if it is not inside of that.
    """

    name: str
    kind: Kind
    start: int
    end: int
    name_start: int
    name_end: int
    above: int = -1
    owner: str = ""


def definitions(text: Parsed, grammar: Grammar) -> list[Definition] | None:
    """The definitions of a parsed text, in order, without local variables; None if its grammar has none that we know.

    The names of node kinds say what they are: see `kinds`.
    """
    from tree_sitter import QueryCursor

    query = grammar.query("definitions")
    if query is None:
        return None
    found: dict[tuple[int, int], tuple[int, int, str, Kind]] = {}
    owners: dict[tuple[int, int], str] = {}
    for _, captures in QueryCursor(query).matches(text.root):
        said = next(key for key in captures if key.startswith("definition"))
        whole, (name, is_function) = captures[said][0], _named(captures["name"][0])
        _, _, told = said.partition(".")
        spelled = text.data[name.start_byte : name.end_byte].decode("utf-8", "replace")
        if not _WORD.fullmatch(spelled) or whole.is_missing:
            continue
        kind = cast("Kind", told) if told else "function" if is_function else _kind(whole.type)
        place = (name.start_byte, name.end_byte)
        if "owner" in captures:
            owner = captures["owner"][0]
            owners[place] = text.data[owner.start_byte : owner.end_byte].decode("utf-8", "replace")
        if place not in found or whole.start_byte < found[place][0]:  # of `variable_declarator`, its declaration
            found[place] = whole.start_byte, whole.end_byte, spelled, kind
    return _nested(text, found, owners)


def errors(text: Parsed) -> list[tuple[int, int, str]]:
    """The first places that cannot be parsed, in order: where each begins and ends, and what is wrong."""
    found: list[tuple[int, int, str]] = []
    pending = [text.root]
    while pending and len(found) < _MOST_ERRORS:
        node = pending.pop()
        if node.is_missing:
            found.append((*text.offsets(node), f"syntax error: {node.type} is missing"))
        elif node.is_error:
            found.append((*text.offsets(node), "syntax error"))
        elif node.has_error:
            pending += reversed(node.children)
    return found


def _nested(
    text: Parsed,
    found: dict[tuple[int, int], tuple[int, int, str, Kind]],
    owners: dict[tuple[int, int], str],
) -> list[Definition]:
    result: list[Definition] = []
    open_: list[int] = []
    places_of: dict[int, tuple[int, int]] = {}
    for place, (start, end, name, kind) in sorted(
        found.items(), key=lambda item: (item[1][0], -item[1][1], item[0][0])
    ):
        while open_ and (places_of[open_[-1]][1] < end or places_of[open_[-1]] == (start, end)):
            open_.pop()
        above = open_[-1] if open_ else -1
        around = result[above].kind if open_ else None
        if around in _INSIDE_NOTHING and kind in _LOCAL:
            continue
        owner = owners.get(place, "")
        shown = _MEMBERS.get(kind, kind) if owner or around in _TYPES else kind
        first, last = map(text.offset, place)
        result.append(Definition(name, shown, text.offset(start), text.offset(end), first, last, above, owner))
        open_.append(len(result) - 1)
        places_of[open_[-1]] = start, end
    return result


def _kind(node_kind: str) -> Kind:
    return next((kind for pattern, kind in _KINDS if re.search(pattern, node_kind)), "variable")


def _named(node: Node) -> tuple[Node, bool]:
    """The identifier in what a definition calls its name, and whether that declares a function: C's `*name(void)`."""
    is_function = False
    for _ in range(_DEEPEST):
        is_function = is_function or "function_declarator" in node.type
        inner = next((child for field in _FIELDS if (child := node.child_by_field_name(field))), None)
        inner = inner or next(_identifiers(node), None)
        if inner is None:
            break
        node = inner
    return node, is_function


def _identifiers(node: Node) -> Iterator[Node]:
    return (child for child in node.named_children if _NAME.search(child.type) or child.type.endswith("declarator"))
