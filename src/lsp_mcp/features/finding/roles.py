"""The role of each use of a symbol: textDocument/documentHighlight, callHierarchy/incomingCalls (LSP 3.17), or by the
syntax around it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.hierarchy import call_tree
from lsp_mcp.requests.call_places import is_called
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.roles import SYNTAX_ROLES, has_roles, roles_at
from lsp_mcp.text import Point

Role = Literal["all", "read", "write", "call", "test", "case", "argument", "return", "literal", "type", "embed"]
_KINDS = {"read": 2, "write": 3}  # LSP `DocumentHighlightKind`; 1 is a use of unknown kind
_AT_ONCE = 8  # requests in flight
_MOST_FILES = 200  # limit on files asked about
_MOST_CALLERS = 10_000
_FOLLOWING = 200  # characters
# A part of the symbol counts as the symbol: `x.locks[i].Lock()`, `x.size.width = 1`; what a C pointer leads to doesn't.
_INDEX = r"\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
_PARTS = rf"(?:{_INDEX}|\s*\.\s*\w+)"
_METHOD_CALL = re.compile(rf"{_PARTS}*?\s*(?:\.|->)\s*(\w+)\s*\(")
_PART_ASSIGNED = re.compile(
    rf"(?P<parts>{_PARTS}+)(?:[ \t]*,[ \t]*[*\w.]+(?:{_INDEX}|\.\w+)*)*"
    r"[ \t]*(?:=(?!=)|:=|(?:[-+*/%&|^]|<<|>>|&\^)=|\+\+|--|<-)"
)
_CHANGING = re.compile(r"(?<![\w.])(clear|close|copy|delete)\(\s*(?:\w+\s*\.\s*)*$")  # Go's own functions
_ADDRESS = re.compile(r"(\w+|\S)?\s*&\s*(?:\(\s*)*(?:\w+(?:\[[^\[\]\n]*\])*\s*(?:\.|->|::)\s*)*$")
_BEFORE_OPERANDS = frozenset({"return", "case", "else", "range", "throw", "co_return", "co_yield", "defer", "go"})


class InRole(Struct, frozen=True):
    """The places that have the role, and those whose role is unknown.

    `through` has the uses that may write without an assignment to the symbol itself, each with how: the name of a
    function that changes it or of a method that is called on it or its parts, `&` if its address is taken, `[]` or
    `.x` if a part of it is assigned. Only for role=write.
    """

    places: tuple[Place, ...]
    unknown: tuple[Place, ...] = ()
    through: tuple[tuple[Place, str], ...] = ()


async def in_role(backend: Backend, path: Path, point: Point, places: Sequence[Place], role: Role) -> InRole:
    """Those of `places`, the uses of the symbol at `point` of `path` by file, that have `role`.

    A declaration that sets a value counts as a write, if the server says so; others as neither.

    Raises:
        RefusedError: the server does not tell, or the symbol cannot be called.
        UnavailableError: see `Backend.request`.
    """
    if role == "all":
        return InRole(tuple(places))
    if role == "test":
        return InRole(tuple(place for place in places if _is_in_test(backend.plugin.adapter, place)))
    if role == "call":
        tree = await call_tree(backend, path, point, "incoming", 1, _MOST_CALLERS)
        sites = {(call.path, call.span.start) for root in tree.roots for one in root.children for call in one.sites}
        return InRole(tuple(place for place in places if (place.path, place.span.start) in sites and is_called(place)))
    if role in SYNTAX_ROLES:
        return await _by_syntax(backend, places, role)
    if not backend.capabilities.get("documentHighlightProvider"):
        raise RefusedError(f"{backend.plugin.name} does not distinguish reads from writes; ask with role=all")
    declared = set(await definition_places(backend, path, point))
    found = await _of_kind(backend, places, _KINDS[role])
    unknown = tuple(one for one in found.unknown if (one.path, one.span.start) not in declared)
    if role == "read":
        return InRole(found.places, unknown)
    certain = {(one.path, one.span.start) for one in found.places} | declared
    others = [(one, written_through(one)) for one in places if (one.path, one.span.start) not in certain]
    through = tuple((one, how) for one, how in others if how)
    named = {one for one, _ in through}
    return InRole(found.places, tuple(one for one in unknown if one not in named), through)


async def _by_syntax(backend: Backend, places: Sequence[Place], role: str) -> InRole:
    """Those of `places` whose syntax says that they have `role`; unknown where it has errors."""
    chosen: list[Place] = []
    unknown: list[Place] = []
    for path, group in groupby(places, key=lambda place: place.path):
        in_file = list(group)
        language = backend.plugin.language_of(path)
        if language is None or not has_roles(language.id):
            known = "; ask with role=all, read, write, call or test"
            raise RefusedError(f"uses as {role} are not known for {language.name if language else path.name}{known}")
        found = await asyncio.to_thread(roles_at, in_file[0].text, language.id, [place.span for place in in_file])
        chosen += [place for place in in_file if role in (found[place.span] or ())]
        unknown += [place for place in in_file if found[place.span] is None]
    return InRole(tuple(chosen), tuple(unknown))


def written_through(place: Place) -> str:
    """How the use may write without an assignment to it, as in `InRole.through`; empty if it does not.

    By the text alone, so a method that only reads counts as well: servers call all of these reads.
    """
    content = place.text.content
    end = place.text.point_offset(place.span.end)
    if called := _METHOD_CALL.match(content[end : end + _FOLLOWING]):
        return called[1]
    if part := _PART_ASSIGNED.match(content, end, end + _FOLLOWING):
        return "[]" if part["parts"].endswith("]") else part["parts"].strip()
    start = place.text.point_offset(place.span.start)
    if changing := _CHANGING.search(content[max(0, start - _FOLLOWING) : start]):
        return changing[1]
    address = _ADDRESS.search(content[max(0, start - _FOLLOWING) : start])
    before = address[1] if address else "x"
    is_binary = before in {"&", ")", "]"} or (before[-1:].isalnum() and before not in _BEFORE_OPERANDS)
    return "" if is_binary else "&"


def _is_in_test(adapter: Adapter, place: Place) -> bool:
    tests = adapter.tests
    if tests.file_pattern:
        return re.search(tests.file_pattern, place.path.name) is not None
    if not tests.name_pattern:
        raise RefusedError(f"which uses are tests is not known for {adapter.name}; pass path= for the folder of tests")
    return re.search(tests.name_pattern, place.container) is not None


async def _of_kind(backend: Backend, places: Sequence[Place], kind: int) -> InRole:
    files = [list(group) for _, group in groupby(places, key=lambda place: place.path)]
    room = asyncio.Semaphore(_AT_ONCE)

    async def kinds(uses: Sequence[Place]) -> dict[Point, int]:
        async with room:
            text = await backend.documents.open(uses[0].path)
            found: dict[Point, int] = {}
            for use in uses:
                if use.span.start in found:
                    continue  # one answer has all uses in the file
                params = position_params(use.path, text, use.span.start, backend.encoding)
                for one in await backend.request("textDocument/documentHighlight", params) or []:
                    found[text.range_span(one["range"], backend.encoding).start] = one.get("kind") or 1
                found.setdefault(use.span.start, 1)
            return found

    answers = await asyncio.gather(*map(kinds, files[:_MOST_FILES]))
    known = {(uses[0].path, at): one for uses, found in zip(files, answers, strict=False) for at, one in found.items()}
    has = {place: known.get((place.path, place.span.start), 1) for place in places}
    return InRole(
        tuple(place for place in places if has[place] == kind), tuple(place for place in places if has[place] == 1)
    )
