"""Switches that compare with other constants of an enumeration, but not with this one: `without_case`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Backend
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.syntax.roles import roles_at
from lsp_mcp.syntax.switches import siblings_of, switches_around
from lsp_mcp.text import Point, Span

_MOST = 100  # constants beside the one asked about
_AT_ONCE = 4  # requests in flight


class Switches(Struct, frozen=True):
    """Switches over the constants declared beside one: `number` of them, and those `lacking` a case for it."""

    number: int = 0
    lacking: tuple[Place, ...] = ()
    with_default: frozenset[Place] = frozenset()  # of those
    is_part: bool = False  # there are more constants than were asked about


async def without_case(backend: Backend, path: Path, point: Point, cases: Sequence[Place]) -> Switches | None:
    """The switches with a case for a constant that is declared beside the one at `point`, whose own `cases` are known.

    None if it is no such constant. By the server's references of the others, which are not compared with the text.

    Raises:
        RefusedError, UnavailableError: see `Backend.request`.
    """
    declared, siblings = await _declared(backend, path, point)
    if declared is None or not siblings:
        return None
    room = asyncio.Semaphore(_AT_ONCE)

    async def uses(span: Span) -> Sequence[Place]:
        async with room:
            return (await references(backend, declared, span.start)).places

    found = [place for places in await asyncio.gather(*map(uses, siblings[:_MOST])) for place in places]
    own = set(await asyncio.to_thread(_switches, backend, cases))
    others = await asyncio.to_thread(_switches, backend, found)
    lacking = sorted((place for place in others if place not in own), key=lambda one: (str(one.path), one.span))
    with_default = frozenset(place for place in lacking if others[place])
    return Switches(len({*own, *others}), tuple(lacking), with_default, is_part=len(siblings) > _MOST)


async def _declared(backend: Backend, path: Path, point: Point) -> tuple[Path | None, list[Span]]:
    """The file in which the constant at `point` is declared, and the constants beside it."""
    for file, at in await definition_places(backend, path, point):
        text, language = await text_or_none(backend, file), backend.plugin.language_of(file)
        span = text.identifier_at(at) if text else None
        if text and span and language:
            return file, await asyncio.to_thread(siblings_of, text, language.id, span)
    return None, []


def _switches(backend: Backend, places: Sequence[Place]) -> dict[Place, bool]:
    """The switches of which one of `places` is a case, and whether each has a default."""
    found: dict[Place, bool] = {}
    for path, group in groupby(sorted(places, key=lambda one: (str(one.path), one.span)), key=lambda one: one.path):
        in_file = list(group)
        language, text = backend.plugin.language_of(path), in_file[0].text
        if language is None:
            continue
        spans = [one.span for one in in_file]
        roles = roles_at(text, language.id, spans)
        cases = [span for span in spans if "case" in (roles[span] or ())]
        for switch in switches_around(text, language.id, cases).values():
            found[Place(path, switch.span, text)] = switch.has_default
    return found
