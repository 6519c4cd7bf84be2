"""The role of each use of a symbol: textDocument/documentHighlight, callHierarchy/incomingCalls (LSP 3.17), or by the
syntax around it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.hierarchy import call_tree
from lsp_mcp.requests.attributes import in_tests
from lsp_mcp.requests.call_places import is_called
from lsp_mcp.requests.places import Place, position_params, text_or_none
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.roles import GIVEN, MEMBER, SYNTAX_ROLES, TAKEN, has_roles, has_writes, roles_at, written_through
from lsp_mcp.text import Point

Role = Literal["all", "read", "write", "call", "test", "case", "argument", "return", "literal", "type", "embed"]
_KINDS = {"read": 2, "write": 3}  # LSP `DocumentHighlightKind`; 1 is a use of unknown kind
_AT_ONCE = 8  # requests in flight
_MOST_FILES = 200  # limit on files asked about
_MOST_CALLERS = 10_000
# What follows a use, or is before it, of something that may be written without an assignment to it.
_MAY_WRITE = re.compile(r"\s*(?:\.|->|::|\[)")


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
        return InRole(tuple(await in_tests(backend, places)))
    if role == "call":
        tree = await call_tree(backend, path, point, "incoming", 1, _MOST_CALLERS)
        sites = {(call.path, call.span.start) for root in tree.roots for one in root.children for call in one.sites}
        return InRole(tuple(place for place in places if (place.path, place.span.start) in sites and is_called(place)))
    if role in SYNTAX_ROLES:
        return await _by_syntax(backend, places, role)
    if not backend.capabilities.get("documentHighlightProvider"):
        raise RefusedError(f"{backend.plugin.name} does not distinguish reads from writes; ask with role=all")
    declared = set(await definition_places(backend, path, point))
    found = await _of_kind(backend, places, declared, _KINDS[role])
    unknown = tuple(one for one in found.unknown if (one.path, one.span.start) not in declared)
    if role == "read":  # TypeScript 7.0 says it of declarations without a value, too
        return InRole(tuple(one for one in found.places if (one.path, one.span.start) not in declared), unknown)
    certain = {(one.path, one.span.start) for one in found.places} | declared
    others = [one for one in places if (one.path, one.span.start) not in certain]
    written = await _written_through(backend, others)
    through = tuple((one, how) for one in others if (how := written[one]))
    named = {one for one, _ in through}
    open_ = [one for one in others if written[one] is None]
    return InRole(found.places, tuple(one for one in dict.fromkeys((*unknown, *open_)) if one not in named), through)


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


async def _written_through(backend: Backend, places: Sequence[Place]) -> dict[Place, str | None]:
    """How each use may write without an assignment to it, as in `InRole.through`; None if that is not known.

    A method that only reads counts as well: servers call all of these reads.
    """
    found: dict[Place, str | None] = {}
    for path, group in groupby(places, key=lambda place: place.path):
        in_file, language = list(group), backend.plugin.language_of(path)
        text, spans = in_file[0].text, [place.span for place in in_file]
        if language and has_writes(language.id):
            said = await asyncio.to_thread(written_through, text, language.id, spans)
            found |= {place: said[place.span] for place in in_file}
        else:
            found |= {place: None if _may_write(place) else "" for place in in_file}
    return found


def _may_write(place: Place) -> bool:
    """Whether something is done with what is in the value, or with its address, in a language without such a query."""
    content, start = place.text.content, place.text.point_offset(place.span.start)
    return content[:start].endswith("&") or bool(_MAY_WRITE.match(content, place.text.point_offset(place.span.end)))


async def _read(backend: Backend, places: Sequence[Place], declared: Collection[tuple[Path, Point]]) -> set[Place]:
    """Those of `places` that read the symbol `declared` there and write another of its name: `const { name } = x` reads
    the property, `{ name }` the variable.
    """
    names: list[Place] = []
    for path, point in declared:
        text = await text_or_none(backend, path)
        if text and (span := text.identifier_at(point)):
            names.append(Place(path, span, text))
    of_names = await _roles(backend, names)
    is_member = not names or any({MEMBER, GIVEN} & (of_names[name] or set()) for name in names)
    roles = await _roles(backend, places)
    return {place for place in places if (TAKEN if is_member else GIVEN) in (roles[place] or ())}


async def _roles(backend: Backend, places: Sequence[Place]) -> dict[Place, frozenset[str] | None]:
    """What syntax says about `places`, by file."""
    found: dict[Place, frozenset[str] | None] = dict.fromkeys(places)
    for path, group in groupby(places, key=lambda place: place.path):
        in_file, language = list(group), backend.plugin.language_of(path)
        if language and has_roles(language.id):
            spans = [place.span for place in in_file]
            said = await asyncio.to_thread(roles_at, in_file[0].text, language.id, spans)
            found |= {place: said[place.span] for place in in_file}
    return found


async def _of_kind(
    backend: Backend, places: Sequence[Place], declared: Collection[tuple[Path, Point]], kind: int
) -> InRole:
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
    written = [one for one in places if has[one] == _KINDS["write"] and (one.path, one.span.start) not in declared]
    has |= dict.fromkeys(await _read(backend, written, declared), _KINDS["read"])
    return InRole(
        tuple(place for place in places if has[place] == kind), tuple(place for place in places if has[place] == 1)
    )
