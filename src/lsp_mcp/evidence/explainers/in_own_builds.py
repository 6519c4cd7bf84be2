"""Words in code that the server's build leaves out, asked about in builds that have it: `InOwnBuilds`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from msgspec import Struct, field

from lsp_mcp import budget
from lsp_mcp.backend import Backend, no_report
from lsp_mcp.errors import LspMcpError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.explainers.by_definition import says
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.evidence.inactive import is_inactive
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.containers import Container, Containers
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import references
from lsp_mcp.waiting import phase, share_of_rest

_MOST_BUILDS = 2  # servers started for one question
_SHARE = 0.7  # of the time of a call


class InOwnBuilds:
    """What a word under conditions means, the server of a build says in which they hold.

    Two declarations for different builds are one symbol to a reader if a use means the one or the other, or if they
    stand in the same scope. A server is started for a build only if the question is thorough.
    """

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        backend = question.backend
        if not (backend.plugin.word_check.inactive_code and so_far.unknown):
            return so_far
        if not (question.thorough or backend.coverage.other_builds()):
            return so_far
        said: dict[Place, bool] = {}
        builds = _Builds(backend, question.thorough)
        left_out = frozenset(place.site for place in so_far.unknown)
        try:
            async with asyncio.timeout(share_of_rest(_SHARE) if question.thorough else budget.left()):
                at = [(place.path, place.text, place.span.start) for place in so_far.unknown]
                every = await asyncio.to_thread(backend.plugin.builds_at, at)
                for place, variables in zip(so_far.unknown, every, strict=True):
                    if not variables:
                        continue
                    meant = await _said(question, builds, place, variables, left_out)
                    if meant is not None:
                        said[place] = meant
        except TimeoutError:
            budget.cut()  # what is left stays unknown
        return so_far.explained(
            same=[place for place, is_same in said.items() if is_same],
            other=[place for place, is_same in said.items() if not is_same],
        )


# --- inside ------------------------------------------------------------------------------------


class _Build(Struct):
    server: Backend
    definitions: Definitions
    uses: frozenset[Site] | None = None  # of the symbol, see `_uses_in`


class _Builds(Struct):
    """The servers of other builds that were asked."""

    backend: Backend
    may_start: bool
    asked: dict[int, _Build] = field(default_factory=dict)  # by the id of the server
    started: set[str] = field(default_factory=set)

    async def with_code(self, place: Place, variables: Mapping[str, str]) -> AsyncIterator[_Build]:
        """Those that have the code at `place`: what runs, and a build with these `variables`."""
        for server in self.backend.coverage.other_builds():
            if (build := await self._having(server, place)) is not None:
                yield build
        key = str(sorted(variables.items()))
        if not self.may_start or key in self.started or len(self.started) >= _MOST_BUILDS:
            return
        self.started.add(key)
        own = await self.backend.coverage.in_build(variables)
        if own and (build := await self._having(own, place)) is not None:
            yield build

    async def _having(self, server: Backend, place: Place) -> _Build | None:
        if id(server) not in self.asked:
            with phase(lambda: f"{server.plugin.name}: reading another build"):
                await server.ready(no_report)
                await server.sync()
            self.asked[id(server)] = _Build(server, Definitions(server))
        build = self.asked[id(server)]
        if await server.documents.open(place.path) != place.text or await is_inactive(server, place):
            return None
        return build if await build.definitions.meaning(place.site) else None


async def _said(
    question: Question, builds: _Builds, place: Place, variables: Mapping[str, str], left_out: frozenset[Site]
) -> bool | None:
    """Whether the word at `place`, one of those `left_out`, is the symbol; None if no build tells.

    `variables` are those of a build that has it.
    """
    try:
        async for build in builds.with_code(place, variables):
            if (found := await _says_in(question, build, place, left_out)) is not None:
                return found
    except LspMcpError:
        pass
    return None


async def _says_in(question: Question, build: _Build, place: Place, left_out: frozenset[Site]) -> bool | None:
    """What the server of `build` says of `place`."""
    meaning = await build.definitions.meaning(place.site)
    said = await says(question, place, meaning)
    if said is not False:
        return said
    try:
        listed = (await references(build.server, place.path, place.span.start)).sites
    except RefusedError:
        return None
    if place.site not in listed:
        return None
    shared = listed & frozenset(question.claim.sites)
    # A word may be two symbols at once, as the name of a field that is also that of a variable.
    proofs = [site for site in sorted(shared) if await _is_one(question, build, site)]
    if proofs or (not shared and await _is_alternative(question, build, sites_of(meaning))):
        # What else is that symbol must be renamed with this one.
        return True if listed <= shared | left_out else None
    if shared:
        return None
    uses = await _uses_in(question, build)  # such as what implements it, which has uses of its own
    if place.site in uses:
        return True if uses <= left_out.union(question.claim.sites) else None
    return False


async def _uses_in(question: Question, build: _Build) -> frozenset[Site]:
    """What the server of `build` lists as uses of the symbol, if that is declared there.

    Raises:
        PathError, PointError, RefusedError, UnavailableError: see `Backend.request`.
    """
    if build.uses is None:
        found = frozenset[Site]()
        for path, point in sorted(question.symbol.sites):
            text = await build.server.documents.open(path)
            span = text.identifier_at(point)
            if span and not await is_inactive(build.server, Place(path, span, text)):
                found |= (await references(build.server, path, point)).sites
        build.uses = found
    return build.uses


async def _is_one(question: Question, build: _Build, site: Site) -> bool:
    """Whether the word at `site` is one symbol in this build, and one in the server's own."""
    return len(await build.definitions.meaning(site)) == 1 == len(await question.definitions.meaning(site))


async def _is_alternative(question: Question, build: _Build, sites: frozenset[Site]) -> bool:
    """Whether what is declared at `sites` is declared in the same scope as the symbol, and never together with it."""
    others = [await Containers(build.server).named_at(*site) for site in sorted(sites)]
    for site in sorted(question.symbol.sites):
        one = await Containers(question.backend).named_at(*site)
        if one and any(other and _is_like(one, other) for other in others):
            return await is_inactive(build.server, one.place)
    return False


def _is_like(one: Container, other: Container) -> bool:
    return one.place.path == other.place.path and (one.name, one.kind) == (other.name, other.kind)
