"""Places in other repositories, as short text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct


class OtherRepository(Struct, frozen=True):
    """Places in one repository, as its index of `commit` has them; `more` are not listed.

    `version` is the one that it depends on; empty if unknown. Without `is_exact`, characters may count bytes or UTF-16
    units where the line has letters beyond ASCII.
    """

    repository: str
    commit: str
    indexed: str
    version: str
    name: str
    number: str
    anchors: Sequence[str]
    more: int
    is_exact: bool


class OtherPlaces(Struct, frozen=True):
    """What other repositories have: a sentence, and the places by repository."""

    summary: str
    repositories: Sequence[OtherRepository]


def together(found: Sequence[OtherPlaces]) -> OtherPlaces | None:
    """The places of several symbols; None if there are none at all."""
    if not found:
        return None
    summary = found[0].summary if len(found) == 1 else "; ".join(dict.fromkeys(one.summary for one in found))
    return OtherPlaces(summary, [there for one in found for there in one.repositories])


def elsewhere_lines(found: OtherPlaces) -> Iterator[str]:
    """The lines of compact text."""
    yield f"elsewhere: {found.summary}"
    for one in found.repositories:
        version = f", of version {one.version}" if one.version else ""
        inexact = "" if one.is_exact else ", columns may be off"
        source = f"index of {one.indexed}, commit {one.commit}{version}{inexact}"
        yield f"{one.repository}: {one.number} of {one.name} ({source})"
        yield from (f" {anchor}" for anchor in one.anchors)
        if one.more:
            yield f" and {one.more:,} more"


def elsewhere_fields(found: OtherPlaces) -> dict[str, Any]:
    """The field of JSON."""
    return {
        "elsewhere": {
            "summary": found.summary,
            "repositories": [
                {
                    "repository": one.repository,
                    "commit": one.commit,
                    "indexed": one.indexed,
                    **({"version": one.version} if one.version else {}),
                    "name": one.name,
                    "number": one.number,
                    "anchors": list(one.anchors),
                    **({"more": one.more} if one.more else {}),
                    **({} if one.is_exact else {"columns": "may be off after letters beyond ASCII"}),
                }
                for one in found.repositories
            ],
        }
    }
