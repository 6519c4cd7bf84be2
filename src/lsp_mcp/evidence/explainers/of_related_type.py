"""Attributes that the code of related types sets without a declaration of their own: `OfRelatedType`."""

from __future__ import annotations

import re

from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.heads import Heads, site_of
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.servers.traits import Overriding

_MOST = 20  # definitions asked about
_BEFORE = 40  # characters examined before a word


class OfRelatedType:
    """What `self.a = 1` sets in a type below one that sets `self.a`, too, is one attribute; servers may see two."""

    keeps_time = False

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
        heads, own = Heads(question.backend), set[Site]()
        for site in question.symbol.sites:
            if await _is_set(question, rules, site) and (type_ := await heads.around(*site)):
                related = (type_, *(await heads.all_above(type_)).types, *await heads.all_below(type_))
                own |= {site_of(one) for one in related}
        if not own:
            return so_far
        known: dict[Site, bool] = {}
        same = []
        for place in so_far.others:
            meant = sites_of(question.definitions.known((place.path, place.span.start)) or frozenset())
            for site in list(meant - known.keys())[: _MOST - len(known)]:
                around = await heads.around(*site) if await _is_set(question, rules, site) else None
                known[site] = around is not None and site_of(around) in own
            if meant and all(known.get(site) for site in meant):
                same.append(place)
        return so_far.explained(same=same)


async def _is_set(question: Question, rules: Overriding, site: Site) -> bool:
    """Whether the declaration at a place is one of an attribute of the type whose code it is in."""
    path, point = site
    text = await text_or_none(question.backend, path)
    if text is None or not question.backend.plugin.adapter.owns(path, question.backend.root):
        return False
    at = text.point_offset(point)
    return re.search(rules.through, text.content[max(0, at - _BEFORE) : at]) is not None
