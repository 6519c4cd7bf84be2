"""The meanings of occurrences that an answer lacks: `verdicts`, from a list of explainers, and what each is told."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Definitions, Site
from lsp_mcp.evidence.identity import Identity
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.requests.places import Place


class Question(Struct, frozen=True):
    """What an explainer may ask, and about what: occurrences of the name of `symbol` that the answer `claim` lacks.

    `doubted` files may hide something from the server, `unread` ones were not searched. `thorough`: nothing is trusted,
    since code will be changed.
    """

    backend: Backend
    definitions: Definitions
    claim: Claim
    symbol: Identity
    doubted: frozenset[Path]
    unread: Collection[Path]
    thorough: bool


class Verdicts(Struct, frozen=True):
    """What is known about the occurrences that an answer lacks. Each is in one of the first six."""

    missing: tuple[Place, ...] = ()  # they are the symbol
    others: tuple[Place, ...] = ()  # other symbols
    unknown: tuple[Place, ...] = ()  # not explained yet
    inexplicable: tuple[Place, ...] = ()  # nothing explains them
    unasked: tuple[Place, ...] = ()  # the server was not asked about them yet
    trusted: tuple[Place, ...] = ()  # nor about these: it misses nothing in their files
    in_macros: tuple[Place, ...] = ()  # those of `missing` in definitions of macros
    by_macros: frozenset[Site] = frozenset()  # uses of these macros
    by_spelling: tuple[Place, ...] = ()  # those of `missing` that the server does not know

    def explained(
        self,
        *,
        same: Collection[Place] = (),
        other: Collection[Place] = (),
        unknown: Collection[Place] = (),
        inexplicable: Collection[Place] = (),
    ) -> Verdicts:
        """With these places moved, from wherever they are, to `missing`, `others`, `unknown` and `inexplicable`."""
        moved = frozenset((*same, *other, *unknown, *inexplicable))
        if not moved:
            return self

        def rest(places: Iterable[Place]) -> tuple[Place, ...]:
            return tuple(place for place in places if place not in moved)

        return replace(
            self, missing=(*rest(self.missing), *same), others=(*rest(self.others), *other),
            unknown=(*rest(self.unknown), *unknown), inexplicable=(*rest(self.inexplicable), *inexplicable),
            unasked=rest(self.unasked),
        )  # fmt: skip


class Explainer(Protocol):
    """One way to tell what an occurrence of a name means."""

    keeps_time: bool
    """Whether it ends by itself when the `budget` is used up, with what it knows by then."""

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """`so_far` with more of it explained. What it cannot tell stays where it is.

        Raises:
            UnavailableError: see `Backend.request`.
        """


async def verdicts(explainers: Iterable[Explainer], question: Question, places: Sequence[Place]) -> Verdicts:
    """What `places` mean, by the `explainers` in their order, within the present `budget`.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    found = Verdicts(unasked=tuple(places))
    for explainer in explainers:
        try:
            async with asyncio.timeout(None if explainer.keeps_time else budget.left()):
                found = await explainer.explain(question, found)
        except TimeoutError:
            budget.cut()
    return found
