"""The effects of a change, as short text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from lsp_mcp.features.impact.impact import Reached
from lsp_mcp.prose import first_few
from lsp_mcp.render.answers import AnchorTo, ImpactReport, UnusedList
from lsp_mcp.render.uses import bare_places, places_with_code

_NEAREST = 6  # tests shown with their ways
_NAMED = 12  # exported symbols, folders, files

Shown = Callable[[Path], str]


def impact_lines(answer: ImpactReport | UnusedList, shown: Shown, anchor: AnchorTo) -> Iterator[str]:
    """The lines of compact text."""
    if isinstance(answer, UnusedList):
        yield from _unused_lines(answer, anchor)
        return
    if answer.uses:
        yield from (places_with_code if answer.with_code else bare_places)(answer.uses, anchor)
    if answer.through:
        names = first_few([one.name for one in answer.through], _NAMED)
        yield f"through: {names} (calls of these may be calls of it)"
    if answer.functions:
        yield f"reached from: {_by(Counter(_folder(one, shown) for one in answer.functions))}"
    if answer.exported:
        yield f"exported: {first_few([one.name for one in answer.exported], _NAMED)}"
    known: dict[str, tuple[str, ...]] = {}
    for test in answer.tests[:_NEAREST]:
        place = test.symbol.place
        yield f"test {anchor(place.path, place.span.start)} {test.symbol.name}{_way(test.way, known)}"
    if more := answer.tests[_NEAREST:]:
        yield f"more tests: {_by(Counter(shown(one.symbol.place.path) for one in more))}"
    yield from (f"run: {command}" for command in answer.commands[:1])
    yield from (f"run all: {command}" for command in answer.commands[1:])


def _way(way: Sequence[str], known: dict[str, tuple[str, ...]]) -> str:
    """` < F < G` for `way`; `…` for the rest after a function whose continuation is `known` from an earlier way."""
    rests = {name: tuple(way[number:]) for number, name in enumerate(way, 1)}
    end = next((number for number, name in enumerate(way, 1) if rests[name] and known.get(name) == rests[name]), None)
    for name, rest in rests.items():
        known.setdefault(name, rest)
    return "".join(f" < {name}" for name in way[:end]) + (" …" if end else "")


def _unused_lines(answer: UnusedList, anchor: AnchorTo) -> Iterator[str]:
    for field, found in answer.lists.items():
        yield f"{field}:"
        for path, in_file in groupby(found, key=lambda one: one.place.path):
            yield anchor(path, None)
            for one in in_file:
                start, end = one.place.span.start, one.extent.end.line
                yield f"{start.line}:{start.character}-{end} {one.kind} {one.name}"


def _by(counts: Counter[str]) -> str:
    return first_few([f"{name} {number:,}" for name, number in counts.most_common()], _NAMED)


def _folder(one: Reached, shown: Shown) -> str:
    return shown(one.symbol.place.path.parent) or "."


def impact_fields(
    answer: ImpactReport | UnusedList, place: Callable[..., dict[str, Any]], shown: Shown
) -> dict[str, Any]:
    """The fields of JSON; `place` returns those of a place."""
    if isinstance(answer, UnusedList):
        return {
            field: [{"name": one.name, "kind": one.kind, **place(one.place, False)} for one in found]
            for field, found in answer.lists.items()
        }
    return {
        "uses": [place(use, answer.with_code) for use in answer.uses],
        "through": [{"name": one.name, "kind": one.kind, **place(one.place, False)} for one in answer.through],
        "reached_from": dict(Counter(_folder(one, shown) for one in answer.functions)),
        "exported": [{"name": one.name, "kind": one.kind, **place(one.place, False)} for one in answer.exported],
        "tests": [
            {"name": one.symbol.name, **place(one.symbol.place, False), "way": list(one.way)} for one in answer.tests
        ],
        "commands": list(answer.commands),
    }
