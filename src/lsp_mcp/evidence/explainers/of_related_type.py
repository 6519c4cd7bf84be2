"""Attributes that the code of related types sets without a declaration of their own: `OfRelatedType`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence

from lsp_mcp import budget
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.heads import Heads, site_of
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.servers.traits import Overriding

_BEFORE = 40  # characters examined before a word


class OfRelatedType:
    """What `self.a = 1` sets in a type below one that sets `self.a`, too, is one attribute; servers may see two.

    What was not looked at in time is unknown: until here it counts as another symbol.
    """

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        rules = question.backend.plugin.renaming.overriding
        if (
            rules is None
            or not rules.sets_through
            or not so_far.others
            or re.fullmatch(rules.never, question.claim.name)
        ):
            return so_far
        search = _Search(question, rules)
        sites = await search.set_at(question.symbol.sites)
        left = await search.set_elsewhere(so_far.others) if sites else {}
        same = []
        try:
            async with asyncio.timeout(budget.left()):
                own = await search.related(sites) if left else set()
                for place, meant in list(left.items()):
                    if all([await search.owner(site) in own for site in meant]):
                        same.append(place)
                    del left[place]
        except TimeoutError:
            budget.cut()
        return so_far.explained(same=same, unknown=left)


class _Search:
    def __init__(self, question: Question, rules: Overriding) -> None:
        self._question, self._rules = question, rules
        self._heads = Heads(question.backend)
        self._is_set: dict[Site, bool] = {}

    async def set_at(self, sites: Collection[Site]) -> list[Site]:
        """Those of `sites` where code sets an attribute of the type that it is in."""
        for site in set(sites) - self._is_set.keys():
            self._is_set[site] = await self._sets(site)
        return sorted(site for site in sites if self._is_set[site])

    async def set_elsewhere(self, places: Sequence[Place]) -> dict[Place, list[Site]]:
        """Those of `places` that mean attributes that code sets so, with where it does."""
        found: dict[Place, list[Site]] = {}
        for place in places:
            meant = sites_of(self._question.definitions.known((place.path, place.span.start)) or frozenset())
            if meant and len(sites := await self.set_at(meant)) == len(meant):
                found[place] = sites
        return found

    async def related(self, sites: Sequence[Site]) -> set[Site]:
        """The types with the code at `sites`, those above and those below."""
        types = [type_ for site in sites if (type_ := await self._heads.around(*site))]
        return {
            site_of(one)
            for type_ in types
            for one in (type_, *(await self._heads.all_above(type_)).types, *await self._heads.all_below(type_))
        }

    async def owner(self, site: Site) -> Site | None:
        """The type with the code at a place."""
        type_ = await self._heads.around(*site)
        return site_of(type_) if type_ else None

    async def _sets(self, site: Site) -> bool:
        path, point = site
        text = await text_or_none(self._question.backend, path)
        if text is None or not self._question.backend.plugin.adapter.owns(path, self._question.backend.root):
            return False
        at = text.point_offset(point)
        return re.search(self._rules.through, text.content[max(0, at - _BEFORE) : at]) is not None
