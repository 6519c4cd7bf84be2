"""Members of related types that share a name, for a server that renames each alone: `shared_members`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.heads import Heads, site_of
from lsp_mcp.features.types.overrides import Overrides
from lsp_mcp.gaps import Gap
from lsp_mcp.requests.containers import Container
from lsp_mcp.requests.places import Place, last_word
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.servers.traits import Overriding
from lsp_mcp.text import Point, Text
from lsp_mcp.waiting import dispensable, share_of_rest

_MOST_TYPES = 300  # looked at
_SHARE = 0.25  # of a call's remaining time
_BEFORE = 40  # characters examined before a word
_NOT_FOUND_OUT = "what overrides it, or what it overrides, was not found out in time"


class SharedMembers(Struct, frozen=True):
    """The members that must share the name of a member (`family`).

    `taken` are members of related types that have its new name, `outside` is what it overrides of other code, for
    people.
    """

    family: Overrides = Overrides()
    taken: tuple[Place, ...] = ()
    outside: str = ""
    is_member: bool = False


async def shared_members(backend: Backend, path: Path, point: Point, name: str, new_name: str) -> SharedMembers:
    """What shares the member called `name` at a place with related types, and what has `new_name` there.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    rules = backend.plugin.renaming.overriding
    if rules is None or re.fullmatch(rules.never, name):
        return SharedMembers()
    text = await backend.documents.open(path)
    if _is_private(rules, text, text.point_offset(point)):
        return SharedMembers(is_member=True)  # two of a type with one name are an error
    search = _Search(backend, rules, name)
    try:
        async with asyncio.timeout(share_of_rest(_SHARE)):
            with dispensable():
                return await search.run(path, point, new_name)
    except NO_ANSWER as error:
        note(path, error)
        return SharedMembers()
    except TimeoutError:
        return SharedMembers(Overrides(gaps=(Gap("not_searched", _NOT_FOUND_OUT),)), is_member=True)


class _Search:
    def __init__(self, backend: Backend, rules: Overriding, name: str) -> None:
        self._backend, self._rules, self._name = backend, rules, name
        self._heads = Heads(backend)
        self._members: dict[tuple[Site, str], list[Place]] = {}

    async def run(self, path: Path, point: Point, new_name: str) -> SharedMembers:
        sites = await definition_places(self._backend, path, point)
        own = [type_ for site in sites if (type_ := await self._owner(*site))]
        if not own:
            return SharedMembers()
        family = {site_of(type_): type_ for type_ in own}
        related = dict(family)
        todo = list(family.values())
        while todo:
            if len(related) > _MOST_TYPES:
                return SharedMembers(Overrides(gaps=(Gap("not_searched", _NOT_FOUND_OUT),)), is_member=True)
            type_ = todo.pop()
            for other in await self._related(type_):
                related[site_of(other)] = other
                if site_of(other) not in family and await self._in(other, self._name):
                    family[site_of(other)] = other
                    todo.append(other)
        start = {*sites, (path, point)}
        found = [one for type_ in family.values() for one in (await self._in(type_, self._name))[:1]]
        beside = [Symbol(self._shown(one, family.values()), "method", one) for one in found if one.site not in start]
        taken = [one for type_ in related.values() for one in (await self._in(type_, new_name))[:1]]
        return SharedMembers(Overrides(beside=tuple(beside)), tuple(taken), await self._outside(family.values()), True)

    async def _owner(self, path: Path, point: Point) -> Container | None:
        """The type that has the member declared at a place; None if it is not a member, or of other code."""
        if not self._backend.plugin.adapter.owns(path, self._backend.root):
            return None
        type_ = await self._heads.around(path, point)
        if type_ is None:
            return None
        return type_ if any(one.span.start == point for one in await self._in(type_, self._name)) else None

    async def _related(self, type_: Container) -> list[Container]:
        """The types above and below one, and those above these."""
        below = await self._heads.all_below(type_)
        found = list((await self._heads.all_above(type_)).types)
        for one in below:
            found += [one, *(await self._heads.all_above(one)).types]
        return list({site_of(one): one for one in found if site_of(one) != site_of(type_)}.values())

    async def _in(self, type_: Container, name: str) -> list[Place]:
        """Where the code of a type has its own member called `name`: declarations first."""
        key = site_of(type_), name
        if key not in self._members:
            self._members[key] = await self._found_in(type_, name)
        return self._members[key]

    async def _found_in(self, type_: Container, name: str) -> list[Place]:
        path, text = type_.place.path, type_.place.text
        declared, used = [], []
        known = {one.place.span.end: one for one in await self._heads.containers.known(path)}
        for span in await self._backend.words.occurrences(path, text, name):
            if not type_.holds(span.start) or span.start == type_.place.span.start:
                continue
            around = await self._heads.around(path, span.start)
            if around is None or site_of(around) != site_of(type_):
                continue
            at = text.point_offset(span.start)
            if _is_private(self._rules, text, at):
                continue
            one = known.get(span.end)
            if one is not None and one.is_member and one.owner == type_.name:
                declared.append(Place(path, span, text))
            elif re.search(self._rules.through, text.content[max(0, at - _BEFORE) : at]):
                used.append(Place(path, span, text))
        return [*declared, *used]

    def _shown(self, place: Place, types: Collection[Container]) -> str:
        owner = next(
            one for one in reversed(list(types)) if one.place.path == place.path and one.holds(place.span.start)
        )
        return f"{last_word(owner.name)}.{self._name}"

    async def _outside(self, types: Collection[Container]) -> str:
        """Where a type of other code above one of `types` has the member; empty if none is known to."""
        pattern = re.compile(self._rules.declared.replace("{name}", re.escape(self._name)))
        for type_ in types:
            for place in (await self._heads.all_above(type_)).outside:
                if not place.path.is_relative_to(self._backend.root) and pattern.search(_block(place)):
                    return f"{last_word(type_.name)}.{self._name} overrides that of {place.text.slice(place.span)}"
        return ""


def _is_private(rules: Overriding, text: Text, start: int) -> bool:
    """Whether the name at `start` is one that no other type can have."""
    return bool(rules.private_mark) and text.content.endswith(rules.private_mark, 0, start)


def _block(place: Place) -> str:
    """The declaration at a place, as far as it is indented."""
    start = place.text.point_offset(Point(place.span.start.line, 1))
    lines = place.text.content[start:].split("\n")
    depth = len(lines[0]) - len(lines[0].lstrip())
    inside = [lines[0]]
    for line in lines[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith(")"):
            break
        inside.append(line)
    return "\n".join(inside)
