"""What many places mean, as a server says: `Definitions`, which remembers the answers while nothing changes.

By textDocument/definition (LSP 3.17), or what the adapter names in its place; or by another request that answers with
places.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from lsp_mcp.adapters import WordCheck
from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import PathError, PointError, RefusedError
from lsp_mcp.features.places import position_params
from lsp_mcp.features.scope import locations
from lsp_mcp.text import Point, Text
from lsp_mcp.uris import uri_path

Site = tuple[Path, Point]
"""Where an identifier begins."""


class Symbol(Struct, frozen=True):
    """One symbol that a place may mean: where it is declared and defined.

    `id` is what the server knows it by, `name` its name, each "" if the server does not say. If it is `internal`, only
    what includes its declaration can mean it. An alias of what has the same name and scope has its ids as `aliased`.
    """

    sites: frozenset[Site]
    id: str = ""
    name: str = ""
    internal: bool = False
    aliased: frozenset[str] = frozenset()


Meaning = frozenset[Symbol]
"""What a place means; several symbols if one hands on the name of another, or it is not sure; none if nobody knows."""

_AT_ONCE = 4  # requests in flight


def misread(meaning: Meaning, word: str, rules: WordCheck) -> str:
    """What the server takes `word` for, which has another name; "" if it may be right."""
    names = sorted({symbol.name for symbol in meaning})
    is_right = not all(names) or word in rules.standing_for or any(word in re.findall(r"\w+", name) for name in names)
    return "" if is_right or not names else names[0]


def spelled(elements: Sequence[Json], rules: WordCheck) -> Sequence[Json]:
    """Those of `elements`, what a server says of one place, that its word names: not what an alias stands for."""
    if not rules.alias_field:
        return elements
    aliases = [one for one in elements if re.search(rules.alias_pattern, str(one.get(rules.alias_field) or ""))]
    return aliases or elements


class Definitions:
    """Where one server says that things are defined; or, by another `request`, what it relates them to.

    What it said is forgotten when anything changes that it could depend on: a file that is not the place's own can
    make its word mean something else.
    """

    def __init__(self, backend: Backend, request: str = "") -> None:
        self._backend = backend
        self._other_request = request
        self._generation = -1
        self._known: dict[Site, Meaning] = {}
        self._texts: dict[Path, Text | None] = {}
        self._opened: dict[Path, Path] = {}  # one open file, by folder

    def known(self, site: Site) -> Meaning | None:
        """What the server has said of `site`, empty if it knows nothing there; None if it was not asked."""
        self._forget_if_changed()
        return self._known.get(site)

    async def of(self, site: Site) -> Meaning:
        """The symbols that the identifier at `site` means.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        self._forget_if_changed()
        if (known := self._known.get(site)) is not None:
            return known
        generation = self._generation
        found = await self._ask(site)
        if generation == self._backend.generation == self._generation:
            self._known[site] = found
        return found

    async def learn(self, groups: Iterable[Sequence[Site]]) -> None:
        """Ask about all sites, a few groups at once and the groups in this order. Raises the errors of `of`."""
        left = iter(groups)

        async def ask() -> None:
            for group in left:
                for site in group:
                    await self.of(site)

        asking = [asyncio.ensure_future(ask()) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*asking)
        finally:
            for one in asking:
                one.cancel()

    # --- inside ------------------------------------------------------------------------------------

    async def _ask(self, site: Site) -> Meaning:
        path, point = site
        try:
            if (self._backend.adapter.word_check.by_folder and self._is_open_beside(path)) and (
                found := await self._request(path, await self._backend.text(path), point)
            ):
                return found
            text = await self._backend.open(path)
            self._opened[path.parent] = path
            return await self._request(path, text, point)
        except (PathError, PointError):
            return frozenset()

    def _is_open_beside(self, path: Path) -> bool:
        other = self._opened.get(path.parent)
        return other is not None and self._backend.version(other) is not None

    async def _request(self, path: Path, text: Text, point: Point) -> Meaning:
        rules = self._backend.adapter.word_check
        params = position_params(path, text, point, self._backend.encoding)
        try:
            result = await self._backend.request(self._other_request or rules.request, params)
        except RefusedError:
            return frozenset()
        if self._other_request:  # to be related to nothing is an answer
            return frozenset([Symbol(frozenset([await self.site(one) for one in locations(result)]))])
        if not rules.location_fields:
            return frozenset([Symbol(frozenset([await self.site(one)])) for one in locations(result)])
        aliases = spelled(result or [], rules)
        scopes = [one.get("containerName") for one in aliases]
        others = [one for one in result or [] if one not in aliases and one.get("containerName") in scopes]
        aliased = frozenset(str(one.get(rules.id_field) or "") for one in others)
        return frozenset([await self._symbol(one, aliased) for one in aliases])

    async def _symbol(self, element: Any, aliased: frozenset[str]) -> Symbol:
        rules = self._backend.adapter.word_check
        there = [element[field] for field in rules.location_fields if element.get(field)]
        name = str(element.get(rules.name_field) or "")
        sites = frozenset([await self.site(one) for one in there])
        internal = bool(rules.internal_pattern) and bool(
            re.search(rules.internal_pattern, str(element.get(rules.alias_field) or ""))
        )
        return Symbol(sites, str(element.get(rules.id_field) or ""), name, internal, aliased)

    async def site(self, location: Json) -> Site:
        """Where a `Location` begins, in the text that the server has."""
        path, start = uri_path(location["uri"]), location["range"]["start"]
        text = await self._text(path)
        # Of a file that cannot be read any place is as good as another: nobody has an answer there.
        return path, text.position_point(start, self._backend.encoding) if text else Point(1, 1)

    async def _text(self, path: Path) -> Text | None:
        if path not in self._texts:
            try:
                self._texts[path] = await self._backend.text(path)
            except PathError:
                self._texts[path] = None
        return self._texts[path]

    def _forget_if_changed(self) -> None:
        if self._generation != self._backend.generation:
            self._generation = self._backend.generation
            self._known.clear()
            self._texts.clear()
