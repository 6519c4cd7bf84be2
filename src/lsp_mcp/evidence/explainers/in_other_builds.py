"""Whether the declaration of another symbol is the same one, in another build: `InOtherBuilds`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend, Use
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.requests.other_builds import uses_in_other_builds
from lsp_mcp.requests.places import Place
from lsp_mcp.uris import path_uri


class InOtherBuilds:
    """Declarations for two systems are two symbols to a server, and one to a reader if they share a use.

    So a declaration in a file excluded from the build proves nothing until its own build was asked for its uses.
    """

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        backend, claim, definitions = question.backend, question.claim, question.definitions
        left_out = await _left_out(question) if so_far.others else frozenset()
        doubtful = [place for place in so_far.others if _may_be_same(question, place, left_out)]
        if not doubtful:
            return so_far
        searched, same = claim.searched, frozenset[Site]()
        if searched is None:
            locations = [await _location(backend, site) for site in sorted(claim.sites)]
            other = await uses_in_other_builds(backend, *claim.at, locations)
            searched = frozenset(other.searched)
            same = frozenset([await definitions.site(location) for location in other.locations])
        ours = [place for place in doubtful if not same.isdisjoint({place.site, *_sites(question, place)})]
        left = left_out - searched
        maybe = [place for place in doubtful if place not in ours and _may_be_same(question, place, left)]
        return so_far.explained(same=ours, unknown=maybe)


# --- inside ------------------------------------------------------------------------------------


async def _left_out(question: Question) -> frozenset[Path]:
    """The files with the name that the server loads for another build than its own."""
    backend, claim = question.backend, question.claim
    if not backend.plugin.left_out_refusal:
        return frozenset()
    return frozenset(await backend.coverage.left_out(claim.at[0], Use(claim.name)))


def _may_be_same(question: Question, place: Place, left_out: Collection[Path]) -> bool:
    """Whether the declaration of `place` may be the symbol in another build, if it is in `left_out` files."""
    claim, symbol = question.claim, question.symbol
    if claim.at[0] in left_out:
        return place.path not in left_out
    sites = _sites(question, place)
    if not all(path in left_out for path, _ in sites):
        return False
    # Only a member has the same name in another package.
    homes = {path.parent for path, _ in symbol.sites}
    return symbol.role not in ("value", "type") or any(path.parent in homes for path, _ in sites)


def _sites(question: Question, place: Place) -> frozenset[Site]:
    return sites_of(question.definitions.known(place.site) or frozenset())


async def _location(backend: Backend, site: Site) -> Location:
    path, point = site
    text = await backend.documents.text(path)
    start = text.point_position(point, backend.encoding)
    return {"uri": path_uri(path), "range": {"start": start, "end": start}}
