"""Types above and below others by how their declarations begin, for a server without a type hierarchy: `Heads`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import declaration_places, definition_places
from lsp_mcp.syntax.imports import given_names, imported_as
from lsp_mcp.syntax.type_heads import TypeHead, type_heads
from lsp_mcp.text import Point, Text

# Another name that is assigned to a type: groups `other` and `name`, the last word of its own.
_ASSIGNED = re.compile(
    r"(?m)^[ \t]*(?:[a-z]+[ \t]+){0,3}(?P<other>[\w$]+)[ \t]*(?::[^=\n]*)?=[ \t]*"
    r"(?:[\w$]+\.)*(?P<name>[\w$]+)[ \t]*(?:\[[^\]\n]*\])?[ \t]*;?[ \t]*(?:(?:#|//)[^\n]*)?$"
)
_MOST_FOLLOWED = 5  # names that are assigned one to the next
_MOST_OUTSIDE = 40  # types of other code above one


class Above(Struct, frozen=True):
    """The types above one: those of the workspace, and where others are declared."""

    types: tuple[Container, ...] = ()
    outside: tuple[Place, ...] = ()


class Heads:
    """Reads the heads of types (`syntax.type_heads`) for one answer of `backend`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._heads: dict[Path, tuple[Text, dict[int, TypeHead]]] = {}
        self._above: dict[Site, Above] = {}
        self._below: dict[Site, list[Container]] = {}
        self._outside: dict[Site, list[Place]] = {}  # directly above such a type
        self.containers = Containers(backend)

    async def around(self, path: Path, point: Point) -> Container | None:
        """The innermost type that contains the declaration or use at a place, other than that of the place itself."""
        types = [one for one in await self.containers.known(path) if one.kind in TYPES and one.holds(point)]
        return next((one for one in reversed(types) if one.place.span.start != point), None)

    async def head(self, type_: Container) -> str:
        """What the declaration of a type begins with; empty if that is not known."""
        found = await self._found(type_)
        return type_.place.text.content[found.start : found.end] if found else ""

    async def above(self, type_: Container) -> Above:
        """The types directly above one."""
        site = site_of(type_)
        if site not in self._above:
            self._above[site] = await self._directly_above(type_)
        return self._above[site]

    async def below(self, type_: Container) -> list[Container]:
        """The types of the workspace directly below one."""
        site = site_of(type_)
        if site not in self._below:
            self._below[site] = await self._directly_below(type_)
        return self._below[site]

    async def all_above(self, type_: Container) -> Above:
        """The types above one, on all levels, the nearest first; of those outside, a limited number."""
        types = await _reached(type_, self._types_above)
        outside = {place.site: place for one in (type_, *types) for place in (await self.above(one)).outside}
        todo = list(outside.values())
        while todo and len(outside) < _MOST_OUTSIDE:
            for place in await self._above_outside(todo.pop(0)):
                if place.site not in outside:
                    outside[place.site] = place
                    todo.append(place)
        return Above(tuple(types), tuple(outside.values()))

    async def all_below(self, type_: Container) -> list[Container]:
        """The types of the workspace below one, on all levels."""
        return await _reached(type_, self.below)

    # --- inside

    async def _types_above(self, type_: Container) -> list[Container]:
        return list((await self.above(type_)).types)

    async def _found(self, type_: Container) -> TypeHead | None:
        heads = await self._heads_in(type_.place.path, type_.place.text)
        return heads.get(type_.place.text.point_offset(type_.place.span.start))

    async def _heads_in(self, path: Path, text: Text) -> dict[int, TypeHead]:
        kept = self._heads.get(path)
        if kept is None or kept[0].content != text.content:
            language = self._backend.plugin.language_of(path)
            kept = text, await asyncio.to_thread(type_heads, text, language.id) if language else {}
            self._heads[path] = kept
        return kept[1]

    async def _bases(self, type_: Container) -> list[tuple[str, Point]]:
        """The words that name the types above one, and where."""
        found, text = await self._found(type_), type_.place.text
        return [(text.content[start:end], text.offset_point(start)) for start, end in found.above] if found else []

    async def _directly_above(self, type_: Container) -> Above:
        types: dict[Site, Container] = {}
        outside: list[Place] = []
        for _, point in await self._bases(type_):
            for path, start in await self._followed(type_.place.path, point):
                if found := await self._declared(path, start):
                    types[site_of(found)] = found
                    continue
                text = await text_or_none(self._backend, path)
                if text is not None and (span := text.identifier_at(start)):
                    outside.append(Place(path, span, text))
        return Above(tuple(one for one in types.values() if one.kind in TYPES), tuple(outside))

    async def _above_outside(self, type_: Place) -> list[Place]:
        """Where the types directly above one of other code are declared, as far as the server knows."""
        if type_.site not in self._outside:
            heads = await self._heads_in(type_.path, type_.text)
            head = heads.get(type_.text.point_offset(type_.span.start), TypeHead(0, 0))
            found: list[Place] = []
            for start, _ in head.above:
                for path, point in await self._stubs(type_.path, type_.text.offset_point(start)):
                    text = await text_or_none(self._backend, path)
                    if text is not None and (span := text.identifier_at(point)):
                        found.append(Place(path, span, text))
            self._outside[type_.site] = found
        return self._outside[type_.site]

    async def _declared(self, path: Path, start: Point) -> Container | None:
        """What is declared there, if that is in the workspace."""
        if not path.is_relative_to(self._backend.root) or not self._backend.plugin.adapter.owns(
            path, self._backend.root
        ):
            return None
        return next((one for one in await self.containers.known(path) if one.place.span.start == start), None)

    async def _followed(self, path: Path, point: Point) -> list[Site]:
        """The definitions of the word at a place; of a name that is assigned to a type, those of the type."""
        sites = await self._defined(path, point)
        for _ in range(_MOST_FOLLOWED):
            if len(sites) != 1:
                break
            [(file, start)] = sites
            text = await text_or_none(self._backend, file)
            line = text.point_offset(Point(start.line, 1)) if text else 0
            assigned = _ASSIGNED.match(text.content, line) if text else None
            if not text or not assigned or assigned.start("other") != text.point_offset(start):
                break
            sites = await self._defined(file, text.offset_point(assigned.start("name")))
        return sites

    async def _directly_below(self, type_: Container) -> list[Container]:
        names, site, found = [type_.place.text.slice(type_.place.span)], site_of(type_), dict[Site, Container]()
        for name in names:  # which grows by those that others give it
            for path in sorted((await self._backend.words.files_with(name)).files):
                text, language = await text_or_none(self._backend, path), self._backend.plugin.language_of(path)
                if text is None or language is None:
                    continue
                given, unnamed = await asyncio.to_thread(_names_for, text, language.id, name)
                names += sorted(given.difference(names))
                spelled = {name, *given, *unnamed}
                heads = (await self._heads_in(path, text)).values()
                if not any(text.content[slice(*word)] in spelled for one in heads for word in one.above):
                    continue
                for one in await self.containers.known(path):
                    if one.kind not in TYPES or site_of(one) in found:
                        continue
                    if spelled.isdisjoint([word for word, _ in await self._bases(one)]):
                        continue
                    if site in {site_of(above) for above in (await self.above(one)).types}:
                        found[site_of(one)] = one
        return list(found.values())

    async def _stubs(self, path: Path, point: Point) -> list[Site]:
        """The declarations of the word at a place, in stubs where the definitions are in code; else the definitions."""
        return await self._asked(declaration_places, path, point) or await self._followed(path, point)

    async def _defined(self, path: Path, point: Point) -> list[Site]:
        return await self._asked(definition_places, path, point)

    async def _asked(
        self, request: Callable[[Backend, Path, Point], Awaitable[list[Site]]], path: Path, point: Point
    ) -> list[Site]:
        try:
            return await request(self._backend, path, point)
        except NO_ANSWER as error:
            note(path, error)
            return []


def site_of(type_: Container) -> Site:
    """Where its name is."""
    return type_.place.path, type_.place.span.start


def _names_for(text: Text, language_id: str, name: str) -> tuple[set[str], set[str]]:
    """The names that `text` gives to what is called `name`, and those that its imports give to whatever it may be."""
    content = text.content
    imported = imported_as(text, language_id)
    aliases = {
        text.slice(span)
        for end, start in imported.items()
        if content.startswith(name, end - len(name)) and (span := text.identifier_at(text.offset_point(start)))
    }
    assigned = {one["other"] for one in _ASSIGNED.finditer(content) if one["name"] == name}
    return {one for one in aliases | assigned if one != name}, given_names(text, language_id)


async def _reached(start: Container, step: Callable[[Container], Awaitable[list[Container]]]) -> list[Container]:
    found: dict[Site, Container] = {}
    todo = [start]
    while todo:
        for one in await step(todo.pop(0)):
            if site_of(one) not in found and site_of(one) != site_of(start):
                found[site_of(one)] = one
                todo.append(one)
    return list(found.values())
