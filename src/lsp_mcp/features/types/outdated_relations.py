"""Implementations that no longer exist but are still in a server's index: `mistrust_outdated`.

clangd keeps the relation of a class to its base, and of a method to the one it overrides, after the file was read again
without it. The server's own parse of the file shows this; then a new server is asked, whose index is read from disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.features.types.supertypes import Supertypes
from lsp_mcp.protocol.lsp import HierarchyItem, Location
from lsp_mcp.requests.containers import TYPES, Containers
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import declaration_places, definition_places, locations
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import dispensable

_IMPLEMENTATION = "textDocument/implementation"


async def mistrust_related(backend: Backend, path: Path, point: Point, files: Collection[Path]) -> None:
    """Mistrust the server if one of `files`, where it found places of the symbol at `point`, contains an outdated
    override of it.

    Raises:
        PathError, PointError, UnavailableError: see `references`.
    """
    if backend.plugin.hierarchy and any(map(backend.coverage.has_reread, files)):
        text = await backend.documents.open(path)
        params = position_params(path, text, point, backend.encoding)
        try:
            with dispensable():
                found = locations(await backend.request(_IMPLEMENTATION, params))
        except NO_ANSWER as error:
            note(path, error)
            return
        await mistrust_outdated(backend, path, point, found)


async def mistrust_outdated(backend: Backend, path: Path, point: Point, found: Iterable[Location]) -> None:
    """Mistrust the server if one of `found`, its implementations of the symbol at `point`, is not one.

    Only those are examined whose file the server has read again after a change. Raises: see `mistrust_related`.
    """
    if not backend.plugin.hierarchy:
        return
    doubtful = [one for one in found if backend.coverage.has_reread(uri_path(one["uri"]))]
    if not doubtful:
        return
    relations = Relations(backend)
    above = await relations.types_of([(path, point)])
    if not above:
        above = await relations.types_of(
            [*await declaration_places(backend, path, point), *await definition_places(backend, path, point)]
        )
    for one in doubtful:
        file = uri_path(one["uri"])
        start = (await backend.documents.text(file)).position_point(one["range"]["start"], backend.encoding)
        below = await relations.types_of([(file, start)])
        if above and below and not await relations.is_below(above, below):
            # Not an identifier: the type's name may rightly be in the file.
            backend.coverage.mistrust(file, f"below {above[0]['name']}")


class Relations:
    """Which types are below which, as the server reads their files now."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._containers = Containers(backend)
        self._supertypes = Supertypes(backend)

    async def types_of(self, declared: Iterable[tuple[Path, Point]]) -> list[HierarchyItem]:
        """The type hierarchy items of the types declared there, or of the types of members declared there."""
        for path, point in declared:
            known = await self._containers.known(path)
            one = next((one for one in known if one.place.span.start == point), None)
            place = one.place.span.start if one else None
            if one and one.kind not in TYPES:
                type_ = next((type_ for type_ in known if type_.kind in TYPES and type_.name == one.owner), None)
                # Defined outside of its type: asked where it is declared, the server may give another program's.
                place = type_.place.span.start if type_ else self._qualifier(one.place)
            if place:
                try:
                    with dispensable():
                        text = await self._backend.documents.open(path)
                        at = position_params(path, text, place, self._backend.encoding)
                        return await self._backend.request("textDocument/prepareTypeHierarchy", at) or []
                except NO_ANSWER as error:
                    note(path, error)
        return []

    def _qualifier(self, place: Place) -> Point | None:
        """Where the code names the type before the name at `place`, as in `Type<Argument>::name`."""
        before = place.text.content[: place.text.point_offset(place.span.start)].rstrip()
        separator = self._backend.plugin.symbols.scope_separator
        if not separator or not before.endswith(separator):
            return None
        before = _without_arguments(before.removesuffix(separator).rstrip())
        word = place.text.identifier_at(place.text.offset_point(len(before)))
        return word.start if word else None

    async def is_below(self, above: list[HierarchyItem], below: list[HierarchyItem]) -> bool:
        """Whether one of the types `below` is based on one of those `above`, or is one of them."""
        wanted = {self._supertypes.identity(item) for item in above}
        names = {str(item["name"]).partition("<")[0] for item in above}
        seen: set[object] = set()
        while below:
            beyond: list[HierarchyItem] = []
            for item in below:
                name, _, instance = str(item["name"]).partition("<")
                # An instance of a template is another symbol than the template.
                if (identity := self._supertypes.identity(item)) in wanted or (instance and name in names):
                    return True
                if identity not in seen:
                    seen.add(identity)
                    beyond += await self._supertypes.directly_above(item)
            below = beyond
        return False


def _without_arguments(code: str) -> str:
    """`code` up to the arguments `<…>` of a template with which it ends, if it does."""
    depth = 0
    for end in range(len(code), 0, -1):
        depth += {">": 1, "<": -1}.get(code[end - 1], 0)
        if depth == 0:
            return code[: end - 1].rstrip() if code[end - 1] == "<" else code
    return code
