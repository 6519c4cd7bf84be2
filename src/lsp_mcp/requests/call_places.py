"""Places of calls: `is_called`, and corrections of a server's callers.

clangd 22 reports a function made by a macro in the macro's file, without the place of any call (`with_places`), and
reports a namespace as the caller if a using-declaration in it names the function (`really_calling`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.protocol.lsp import CallHierarchyIncomingCall, CallHierarchyItem, HierarchyItem, Position, Range
from lsp_mcp.requests.document_symbol import own_span
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.symbols import SCOPES, kind_name
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import dispensable

# A server may give every use of a function as its call (gopls 0.24 does); type arguments may stand in between.
_CALLED = re.compile(r"\s*(?:\[[^\]]*\]|<[^;{}()]*>)?\s*[({]")
_FOLLOWING = 500  # characters
_MOST_OUTLINES = 8  # files opened to find where functions begin
PLACED = "placedByUses"  # a key of an item: its calls are there, maybe without its name


def is_called(place: Place) -> bool:
    """Whether the text after the place looks like a call; so does a function's declaration."""
    start = place.text.point_offset(place.span.end)
    return _CALLED.match(place.text.content[start : start + _FOLLOWING]) is not None


async def really_calling(backend: Backend, calls: list[CallHierarchyIncomingCall]) -> list[CallHierarchyIncomingCall]:
    """The incoming `calls` without scopes, such as namespaces, that only name the callee."""
    found = []
    for call in calls:
        if kind_name(call["from"]["kind"], backend.plugin) not in SCOPES or not call.get("fromRanges"):
            found.append(call)
        elif text := await text_or_none(backend, path := uri_path(call["from"]["uri"])):
            places = [(one, Place(path, text.range_span(one, backend.encoding), text)) for one in call["fromRanges"]]
            if ranges := [one for one, place in places if is_called(place)]:
                found.append({**call, "fromRanges": ranges})
    return found


async def with_places(
    backend: Backend, callee: HierarchyItem, calls: list[CallHierarchyIncomingCall]
) -> list[CallHierarchyIncomingCall]:
    """The incoming `calls` of `callee`; those without a place get the places of its uses in them.

    A use belongs to the function that the server names (`containerName`). Calls with unknown uses stay as they are.
    Raises the errors of `Backend.request`.
    """
    lost = [call for call in calls if not call.get("fromRanges")]
    separator = backend.plugin.symbols.scope_separator
    if not lost or not separator:
        return calls
    await backend.documents.open(uri_path(callee["uri"]))
    params = {
        "textDocument": {"uri": callee["uri"]},
        "position": callee["selectionRange"]["start"],
        "context": {"includeDeclaration": False},
    }
    uses: defaultdict[str, defaultdict[str, list[Range]]] = defaultdict(lambda: defaultdict(list))
    for use in await backend.request("textDocument/references", params) or []:
        uses[str(use.get("containerName") or "")][use["uri"]].append(use["range"])
    outlines: dict[str, list[_Outlined]] = {}
    for uri in sorted({uri for call in lost for uri in uses[_whole_name(call["from"], separator)]})[:_MOST_OUTLINES]:
        outlines[uri] = await _outline(backend, uri)
    placed: list[CallHierarchyIncomingCall] = []
    for call in calls:
        found = {} if call.get("fromRanges") else uses[_whole_name(call["from"], separator)]
        placed += [] if found else [call]
        for uri, ranges in found.items():
            begin = _around(outlines.get(uri, []), str(call["from"]["name"]), ranges[0]) or ranges[0]
            caller: Any = {**call["from"], "uri": uri, "range": begin, "selectionRange": begin, PLACED: True}
            placed.append({"from": caller, "fromRanges": ranges})
    return placed


def _whole_name(item: CallHierarchyItem, separator: str) -> str:
    name, detail = str(item["name"]), str(item.get("detail") or "")
    return detail if detail.endswith(f"{separator}{name}") else name


class _Outlined(Struct, frozen=True):
    """A symbol of an outline: the ranges of its `name`, as far as that is in the document, and of the `whole`."""

    name: str
    begin: Range
    whole: Range


async def _outline(backend: Backend, uri: str) -> list[_Outlined]:
    """All symbols of a document including members, the innermost last."""
    try:
        with dispensable():
            text = await backend.documents.open(uri_path(uri))
            top = await backend.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) or []
    except NO_ANSWER as error:
        note(uri_path(uri), error)
        return []  # the use itself is a place, too
    found: list[_Outlined] = []
    level = [symbol for symbol in top if "selectionRange" in symbol]
    while level:
        for symbol in level:
            name = str(symbol["name"])
            begin = text.span_range(own_span(symbol, name, text, backend.encoding), backend.encoding)
            found.append(_Outlined(name, begin, symbol["range"]))
        level = [child for symbol in level for child in symbol.get("children") or []]
    return found


def _around(outline: list[_Outlined], name: str, use: Range) -> Range | None:
    """The place of the innermost function named `name` in `outline` that contains `use`."""
    around = [one.begin for one in outline if one.name.endswith(name) and _begins_in(use, one.whole)]
    return around[-1] if around else None


def _begins_in(inner: Range, outer: Range) -> bool:
    start = _key(inner["start"])
    return _key(outer["start"]) <= start < _key(outer["end"])


def _key(position: Position) -> tuple[int, int]:
    return position["line"], position["character"]
