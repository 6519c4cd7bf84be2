"""The meanings of occurrences that an answer lacks, according to the server: `Judge`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Json, Use
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site, misread
from lsp_mcp.evidence.identity import Identity, sites_of
from lsp_mcp.evidence.macro_uses import explained_by_macros
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.evidence.unparsed import explained_by_function, kind_before
from lsp_mcp.requests.other_builds import uses_in_other_builds
from lsp_mcp.requests.places import Place
from lsp_mcp.uris import path_uri


class Verdicts(Struct, frozen=True):
    """What is known about the occurrences that an answer lacks."""

    missing: tuple[Place, ...] = ()  # the server says that they are the symbol
    others: tuple[Place, ...] = ()  # other symbols
    unknown: tuple[Place, ...] = ()  # unknown to the server
    unasked: tuple[Place, ...] = ()  # not asked about, for lack of time
    in_macros: tuple[Place, ...] = ()  # those of `missing` in definitions of macros
    by_macros: frozenset[Site] = frozenset()  # uses of these macros
    by_spelling: tuple[Place, ...] = ()  # those of `missing` that the server does not know


class Judge:
    """Gives verdicts based on the `definitions` learned from one backend."""

    def __init__(self, backend: Backend, definitions: Definitions) -> None:
        self._backend = backend
        self._definitions = definitions

    async def of(self, claim: Claim, symbol: Identity, occurrences: Iterable[Place]) -> Verdicts:
        """The meanings of `occurrences`, as far as known; other builds are asked as long as the `budget` lasts.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        sites = frozenset(claim.sites)
        missing: list[Place] = []
        others: list[Place] = []
        unknown: list[Place] = []
        unasked: list[Place] = []
        for place in occurrences:
            meaning = self._definitions.known((place.path, place.span.start))
            if meaning is None:
                unasked.append(place)
            elif not meaning:
                unknown.append(place)
            elif any(map(symbol.is_meant_by, meaning)):
                # One of several possible meanings, unless the others only forward the name.
                rest = (other for other in meaning if not symbol.is_meant_by(other))
                (missing if all(other.sites <= sites for other in rest) else unknown).append(place)
            elif (
                await self._is_grouped(sites_of(meaning) & sites)
                or self._is_alias(place, meaning, symbol)
                or not sites_of(meaning).isdisjoint(claim.family)
            ):
                missing.append(place)
            elif misread(meaning, claim.name, self._backend.plugin.word_check):
                unknown.append(place)
            elif all(path == place.path for path, _ in sites_of(meaning)) and await self._is_part(place.path):
                # The server has read a part of other code by itself, where a use may look like a declaration.
                unknown.append(place)
            else:
                others.append(place)
        same, unproven = await self._in_other_builds(claim, symbol, others)
        return Verdicts(
            (*missing, *same),
            tuple(place for place in others if place not in same and place not in unproven),
            (*unknown, *unproven),
            tuple(unasked),
        )

    async def by_function(self, claim: Claim, symbol: Identity, verdicts: Verdicts) -> Verdicts:
        """`verdicts` completed from the functions around unknown words, if the server answers in time."""
        if not verdicts.unknown:
            return verdicts
        sites = frozenset(claim.sites)
        try:
            async with asyncio.timeout(budget.left()):
                said = await explained_by_function(self._backend, self._definitions, verdicts.unknown, sites, symbol)
        except TimeoutError:
            budget.cut()
            return verdicts
        return replace(
            verdicts, missing=(*verdicts.missing, *said.theirs), others=(*verdicts.others, *said.others),
            unknown=said.unknown, by_spelling=said.theirs,
        )  # fmt: skip

    async def by_macros(
        self, claim: Claim, symbol: Identity, verdicts: Verdicts, *, is_alone: bool, thorough: bool
    ) -> Verdicts:
        """`verdicts` completed from the uses of macros; `is_alone`: no other symbol has the name."""
        try:
            async with asyncio.timeout(budget.left()):
                sure, named = await explained_by_macros(self._backend, verdicts.unknown, {*claim.sites}, symbol.sites)
        except TimeoutError:
            budget.cut()
            return verdicts
        if not claim.in_macros:
            return replace(verdicts, unknown=sure.unknown)
        # A macro may mean several symbols: changing its word would rename the others, too.
        are_joined = is_alone or not thorough
        joined = (*(sure.theirs if are_joined else ()), *(named.theirs if is_alone else ()))
        left = (*(() if are_joined else sure.theirs), *(() if is_alone else named.theirs))
        return replace(
            verdicts, missing=(*verdicts.missing, *joined), unknown=(*sure.unknown, *left), in_macros=joined,
            by_macros=sure.used if are_joined else frozenset(),
        )  # fmt: skip

    # --- inside ------------------------------------------------------------------------------------

    async def _in_other_builds(
        self, claim: Claim, symbol: Identity, others: list[Place]
    ) -> tuple[list[Place], list[Place]]:
        """Those of `others` that are the symbol in another build, and those that may be.

        Declarations for two systems are two symbols to a server, and one to a reader if they share a use. So a
        declaration in an excluded file proves nothing until its own build was asked for its uses.
        """
        left_out = await self._left_out(claim)
        doubtful = [place for place in others if self._may_be_same(claim, symbol, place, left_out)]
        if not doubtful:
            return [], []
        searched, same = claim.searched, frozenset[Site]()
        if searched is None:
            locations = [await self._location(site) for site in sorted(claim.sites)]
            other = await uses_in_other_builds(self._backend, *claim.at, locations)
            searched = frozenset(other.searched)
            same = frozenset([await self._definitions.site(location) for location in other.locations])
        ours = [place for place in doubtful if not same.isdisjoint({_site(place), *self._sites(place)})]
        left = left_out - searched
        return ours, [p for p in doubtful if p not in ours and self._may_be_same(claim, symbol, p, left)]

    async def _left_out(self, claim: Claim) -> frozenset[Path]:
        """The files with the name that the server loads for another build than its own."""
        if not self._backend.plugin.left_out_refusal:
            return frozenset()
        return frozenset(await self._backend.coverage.left_out(claim.at[0], Use(claim.name)))

    def _may_be_same(self, claim: Claim, symbol: Identity, place: Place, left_out: Collection[Path]) -> bool:
        """Whether the declaration of `place` may be the symbol in another build, if it is in `left_out` files."""
        if claim.at[0] in left_out:
            return place.path not in left_out
        sites = self._sites(place)
        if not all(path in left_out for path, _ in sites):
            return False
        # Only a member has the same name in another package.
        homes = {path.parent for path, _ in symbol.sites}
        return symbol.role not in ("value", "type") or any(path.parent in homes for path, _ in sites)

    async def _is_part(self, path: Path) -> bool:
        """Whether the server reads `path` by itself although it is a part of other code."""
        return await self._backend.coverage.part_of(path) is not None

    def _sites(self, place: Place) -> frozenset[Site]:
        return sites_of(self._definitions.known(_site(place)) or frozenset())

    async def _location(self, site: Site) -> Json:
        path, point = site
        text = await self._backend.documents.text(path)
        start = text.point_position(point, self._backend.encoding)
        return {"uri": path_uri(path), "range": {"start": start, "end": start}}

    async def _is_grouped(self, declared: Iterable[Site]) -> bool:
        """Whether one of `declared`, which the answer contains, is the declaration of the server's meaning."""
        if self._backend.plugin.word_check.grouped:
            for one in declared:
                if sites_of(await self._definitions.of(one)) == {one}:
                    return True
        return False

    def _is_alias(self, place: Place, meaning: Meaning, symbol: Identity) -> bool:
        """Whether the symbol, an alias, is at `place`, where the server reports only the alias's target.

        clangd 22 does that for base classes. After a keyword (`struct S`), the word is not an alias.
        """
        is_aliased = all(one.id in symbol.aliased for one in meaning)
        return is_aliased and not kind_before(place.text, place.span, self._backend.plugin.word_check)


def _site(place: Place) -> Site:
    return place.path, place.span.start
