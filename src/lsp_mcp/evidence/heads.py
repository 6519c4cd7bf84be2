"""Types above and below others by how their declarations begin, for a server without a type hierarchy: `Heads`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Place, last_word, text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.imports import given_names
from lsp_mcp.text import Point

_ARGUMENTS = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")  # of generic types
_NAMED_ARGUMENT = re.compile(r"\b\w+\s*=(?!=)[^,()]*")
_WORD = re.compile(r"[^\W\d]\w*\b(?!\s*\.)")


class Above(Struct, frozen=True):
    """The types directly above one: those of the workspace, and where others are declared."""

    types: tuple[Container, ...] = ()
    outside: tuple[Place, ...] = ()


class Heads:
    """Reads the heads of types (`Renaming.type_head_pattern`) for one answer of `backend`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._head = re.compile(backend.plugin.renaming.type_head_pattern)
        self._above: dict[Site, Above] = {}
        self._below: dict[Site, list[Container]] = {}
        self.containers = Containers(backend)

    async def around(self, path: Path, point: Point) -> Container | None:
        """The innermost type that contains the declaration or use at a place, other than that of the place itself."""
        types = [one for one in await self.containers.known(path) if one.kind in TYPES and one.holds(point)]
        return next((one for one in reversed(types) if one.place.span.start != point), None)

    def head(self, type_: Container) -> str:
        """What the declaration of a type begins with; empty if that is not known."""
        found = self._found(type_)
        return found[0] if found else ""

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
        """The types above one, on all levels, the nearest first."""
        types = await _reached(type_, self._types_above)
        outside = [place for one in (type_, *types) for place in (await self.above(one)).outside]
        return Above(tuple(types), tuple(outside))

    async def all_below(self, type_: Container) -> list[Container]:
        """The types of the workspace below one, on all levels."""
        return await _reached(type_, self.below)

    # --- inside

    async def _types_above(self, type_: Container) -> list[Container]:
        return list((await self.above(type_)).types)

    def _found(self, type_: Container) -> re.Match[str] | None:
        text = type_.place.text
        return self._head.match(text.content, text.point_offset(type_.extent.start))

    def _bases(self, type_: Container) -> list[tuple[str, Point]]:
        """The words that name the types above one, and where."""
        found, text = self._found(type_), type_.place.text
        if found is None or found["above"] is None:
            return []
        above = found["above"]
        while (rest := _ARGUMENTS.sub(lambda one: " " * len(one[0]), above)) != above:
            above = rest
        above = _NAMED_ARGUMENT.sub(lambda one: " " * len(one[0]), above)
        return [(one[0], text.offset_point(found.start("above") + one.start())) for one in _WORD.finditer(above)]

    async def _directly_above(self, type_: Container) -> Above:
        types: dict[Site, Container] = {}
        outside: list[Place] = []
        for _, point in self._bases(type_):
            for path, start in await self._defined(type_.place.path, point):
                if path.is_relative_to(self._backend.root) and self._backend.plugin.adapter.owns(
                    path, self._backend.root
                ):
                    known = await self.containers.known(path)
                    if found := next((one for one in known if one.place.span.start == start), None):
                        types[site_of(found)] = found
                        continue
                text = await text_or_none(self._backend, path)
                if text is not None and (span := text.identifier_at(start)):
                    outside.append(Place(path, span, text))
        return Above(tuple(one for one in types.values() if one.kind in TYPES), tuple(outside))

    async def _directly_below(self, type_: Container) -> list[Container]:
        name, site, found = last_word(type_.name), site_of(type_), []
        for path in sorted((await self._backend.words.files_with(name)).files):
            text, language = await text_or_none(self._backend, path), self._backend.plugin.language_of(path)
            if text is None or language is None:
                continue
            names = {name, *given_names(text, language.id)}
            for one in await self.containers.known(path):
                if one.kind not in TYPES or names.isdisjoint(word for word, _ in self._bases(one)):
                    continue
                if site in {site_of(above) for above in (await self.above(one)).types}:
                    found.append(one)
        return found

    async def _defined(self, path: Path, point: Point) -> list[tuple[Path, Point]]:
        try:
            return await definition_places(self._backend, path, point)
        except NO_ANSWER as error:
            note(path, error)
            return []


def site_of(type_: Container) -> Site:
    """Where its name is."""
    return type_.place.path, type_.place.span.start


async def _reached(start: Container, step: Callable[[Container], Awaitable[list[Container]]]) -> list[Container]:
    found: dict[Site, Container] = {}
    todo = [start]
    while todo:
        for one in await step(todo.pop(0)):
            if site_of(one) not in found and site_of(one) != site_of(start):
                found[site_of(one)] = one
                todo.append(one)
    return list(found.values())
