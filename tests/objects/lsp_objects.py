"""Objects of every type of LSP, made from lsprotocol's own types, and where each of their positions stands.

`converted` is an oracle for the walker: it goes by the types of the specification and not by structure.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from types import UnionType
from typing import Any, Literal, Union

import attrs
from hypothesis import strategies as st
from lsprotocol import converters
from lsprotocol import types as lsp

from lsp_mcp.text import BOM, Base, Json, PositionEncoding, Text

HOME, OTHER, THIRD, UNREAD = "file:///home", "file:///other", "file:///third", "file:///unread"
ALPHABET = "ab é名\u0301\u2028😀𝔸\r\n"
CONTENTS = st.text(ALPHABET, max_size=16) | st.text(ALPHABET, max_size=8).map(lambda text: BOM + text)
ENCODINGS = st.builds(PositionEncoding, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.booleans())
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
PLACE_LIKE = [{"line": 1, "character": 2}, [{"uri": OTHER, "range": {"start": {"line": 0, "character": 9}}}], 3, None]

_CONVERTER = converters.get_converter()
_NUMBERS = [0, 0, 1, 1, 2, 3, 4, 6, 9, 2**31 - 1]


def plain(value: Any) -> Any:
    """A typed object as JSON."""
    return json.loads(json.dumps(_CONVERTER.unstructure(value)))


# --- the world in which the objects are ------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """The documents, and how both sides count."""

    contents: dict[str, str]
    encoding: PositionEncoding
    base: Base

    @property
    def texts(self) -> dict[str, Text | None]:
        return {uri: Text(content) for uri, content in self.contents.items()} | {UNREAD: None}

    def sendable(self, position: Json, document: str | None, *, inside: bool) -> Json:
        """`position` moved to where a server can mean it: not into a character; into the document if `inside`."""
        content = self.contents.get(document or "")
        if content is None:
            return position
        lines = re.split("\r\n|\n|\r" if self.encoding.lone_cr_ends_line else "\n", content)
        line, character = position["line"], position["character"]
        line = min(line, len(lines) - 1) if inside else line
        if line >= len(lines):
            return position
        codec, width = CODECS[self.encoding.unit]
        edges = [0, *accumulate(len(letter.encode(codec)) // width for letter in lines[line])]
        first = edges[1] if line == 0 and content.startswith(BOM) else 0
        if inside and lines[line].endswith("\r"):
            edges.pop()  # where only LF ends a line; no place for a person
        if character < edges[-1] or inside:
            character = max(edge for edge in edges if edge <= character)
        return {"line": line, "character": max(character, first)}

    def ours(self, position: Json, document: str | None) -> Json:
        """The position as a caller sees it."""
        text = self.texts.get(document or "") or Text("")
        line, character = text.unclamped_position_point(
            {"line": position["line"], "character": position["character"]}, self.encoding
        )
        return {"line": line - 1 + self.base, "character": character - 1 + self.base}


WORLDS = st.builds(
    World, st.fixed_dictionaries(dict.fromkeys((HOME, OTHER, THIRD), CONTENTS)), ENCODINGS, st.sampled_from([0, 1])
)

# --- making objects --------------------------------------------------------------------------------


@st.composite
def typed(draw: st.DrawFn, kind: Any, depth: int = 4) -> Any:
    """An object of a type; what can be left out is, below `depth`."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or Any in arguments:
        return draw(st.sampled_from(PLACE_LIKE))
    if origin in (Union, UnionType):
        if type(None) in arguments and (depth <= 0 or draw(st.integers(0, 3)) == 3):
            return None
        return draw(typed(draw(st.sampled_from([part for part in arguments if part is not type(None)])), depth))
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return tuple(draw(typed(part, depth)) for part in arguments)
    if origin and issubclass(origin, Sequence):
        return [draw(typed(arguments[0], depth)) for _ in range(draw(st.sampled_from([1, 2, 0])) if depth > 0 else 0)]
    if origin and issubclass(origin, Mapping):
        uris = draw(st.sampled_from([[OTHER], [OTHER, THIRD], [HOME, UNREAD], []])) if depth > 0 else []
        return {uri: draw(typed(arguments[1], depth)) for uri in uris}
    if kind is str:
        return draw(st.sampled_from([OTHER, HOME, THIRD, UNREAD]))
    if kind is int:
        return draw(st.sampled_from(_NUMBERS))
    if kind in (float, bool):
        return draw(st.sampled_from([0.5, 1.0] if kind is float else [False, True]))
    if issubclass(kind, Enum):
        return draw(st.sampled_from(list(kind)))
    if kind is lsp.Position:
        return lsp.Position(draw(st.sampled_from(_NUMBERS)), draw(st.sampled_from(_NUMBERS)))
    return kind(**{field.name: draw(_field(kind, field, depth)) for field in attrs.fields(kind)})


def _field(kind: type, field: Any, depth: int) -> st.SearchStrategy[Any]:
    if field.name in ("work_done_token", "partial_result_token"):
        return st.none()
    if isinstance(field.default, str):  # a constant
        return st.just(field.default)
    return typed(hints(kind)[field.name], depth - 1)


def hints(kind: type) -> dict[str, Any]:
    """The types of the fields of a class."""
    return typing.get_type_hints(kind, {**vars(lsp), **globals()})


# --- types that clangd adds (clangd 22, https://clangd.llvm.org/extensions) ------------------------


@attrs.define
class AstNode:
    role: str
    kind: str
    range: lsp.Range | None
    children: Sequence[AstNode] | None


@attrs.define
class SymbolDetails:
    name: str
    declarationRange: lsp.Location | None  # noqa: N815 the name in JSON, as below
    definitionRange: lsp.Location | None  # noqa: N815


@attrs.define
class OldTypeHierarchyItem:
    name: str
    uri: str
    range: lsp.Range
    selectionRange: lsp.Range  # noqa: N815
    parents: Sequence[OldTypeHierarchyItem] | None
    children: Sequence[OldTypeHierarchyItem] | None
    data: Any | None


@attrs.define
class InactiveRegions:
    textDocument: lsp.TextDocumentIdentifier  # noqa: N815
    regions: Sequence[lsp.Range]


EXTENSIONS = (AstNode, SymbolDetails, OldTypeHierarchyItem, InactiveRegions)

# --- where positions are ---------------------------------------------------------------------------

Convert = Callable[[Json, str | None, tuple[str, ...]], Json]
"""Called with a position, its document and the names of the fields that lead to it."""

_NAMED_BY_URI = (
    lsp.Location,
    lsp.CallHierarchyItem,
    lsp.TypeHierarchyItem,
    lsp.PublishDiagnosticsParams,
    lsp.ShowDocumentParams,
    lsp.WorkspaceFullDocumentDiagnosticReport,
    OldTypeHierarchyItem,
)


def converted(value: Any, raw: Any, document: str | None, convert: Convert, path: tuple[str, ...] = ()) -> Any:
    """`raw`, the JSON of the typed `value`, with each position of the type as `convert` returns it."""
    if isinstance(value, lsp.Position):
        return {**raw, **convert(raw, document, path)}
    if isinstance(value, lsp.FoldingRange):
        return {**raw, **_folding_range(raw, document, convert, path)}
    if isinstance(value, list | tuple):
        return [converted(*pair, document, convert, path) for pair in zip(value, raw, strict=True)]
    if isinstance(value, dict):  # of LSP's, only those by URI have positions
        return {uri: converted(value[uri], raw[uri], uri, convert, path) for uri in raw}
    if not attrs.has(type(value)):
        return raw
    document = _own_document(value) or document
    return {**raw, **dict(_converted_fields(value, raw, document, convert, path))}


def _converted_fields(
    value: Any, raw: Json, document: str | None, convert: Convert, path: tuple[str, ...]
) -> typing.Iterator[tuple[str, Any]]:
    kinds = hints(type(value))
    for field in attrs.fields(type(value)):
        first, *others = field.name.rstrip("_").split("_")
        name = first + "".join(map(str.title, others))
        if name in raw and Any not in typing.get_args(kinds[field.name]):
            where = _field_document(value, field.name) or document
            yield name, converted(getattr(value, field.name), raw[name], where, convert, (*path, name))


def _own_document(value: Any) -> str | None:
    if isinstance(value, _NAMED_BY_URI):
        return value.uri
    if isinstance(value, lsp.NotebookDocumentCellContentChanges):
        return value.document.uri
    identifier = getattr(value, "textDocument", None) or getattr(value, "text_document", None)
    return getattr(identifier, "uri", None)


def _field_document(value: Any, field: str) -> str | None:
    match value, field:
        case lsp.LocationLink(), "target_range" | "target_selection_range":
            return value.target_uri
        case lsp.CallHierarchyIncomingCall(), "from_ranges":
            return value.from_.uri
    return None


def _folding_range(raw: Json, document: str | None, convert: Convert, path: tuple[str, ...]) -> Json:
    out = {}
    for edge in ("start", "end"):
        place = {"line": raw[f"{edge}Line"], "character": raw.get(f"{edge}Character", 0)}
        for key, number in convert(place, document, path).items():
            if f"{edge}{key.title()}" in raw:
                out[f"{edge}{key.title()}"] = number
    return out
