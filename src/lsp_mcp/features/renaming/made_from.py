"""Which lines of a generator's input, such as a grammar, some generated code was made from: `made_from`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath

from lsp_mcp.requests.places import Place
from lsp_mcp.text import Text


def made_from(code: Iterable[Place], directive: str, inputs: Collection[Place]) -> frozenset[tuple[Path, int]]:
    """The files and lines of those of `inputs` that `code`, places of the same word, was made from.

    Generated code says so by lines that match `directive`, with the groups `file` and `line` (ISO C, 6.10.4 "Line
    control"). A line counts if it has the word as often as the code that was made from it.
    """
    made: dict[int, list[tuple[tuple[str, ...], int]]] = {}
    for _, places in groupby(sorted(code, key=attrgetter("path")), key=attrgetter("path")):
        for line, number in _origins(list(places), directive):
            made.setdefault(number, []).append(line)
    there = Counter((one.path, one.span.start.line) for one in inputs)
    return frozenset(
        (path, line)
        for (path, line), number in there.items()
        if any(at == line and path.parts[-len(name) :] == name for name, at in made.get(number, ()))
    )


def inputs(text: Text, directive: str, paths: Iterable[Path]) -> set[Path]:
    """Those of `paths` that `text` says to be made from; see `made_from`."""
    names = {name for _, name, _ in _directives(text, directive)}
    return {path for path in paths if any(path.parts[-len(name) :] == name for name in names)}


def _origins(places: list[Place], directive: str) -> Iterable[tuple[tuple[tuple[str, ...], int], int]]:
    """The name and the line that each line of `places`, of one file, was made from, and how many are in it."""
    told = list(_directives(places[0].text, directive))
    starts = [at for at, _, _ in told]
    for line, number in Counter(place.span.start.line for place in places).items():
        if index := bisect_right(starts, line - 1):
            at, name, first = told[index - 1]
            yield (name, first + line - at - 1), number


def _directives(text: Text, directive: str) -> Iterable[tuple[int, tuple[str, ...], int]]:
    """The line of each directive of `text`, the end of the path that it names, and the line there of the next line."""
    line, counted = 1, 0
    for found in re.finditer(directive, text.content, re.MULTILINE):
        line += text.content.count("\n", counted, found.start())
        counted = found.start()
        parts = PurePosixPath(found["file"]).parts
        yield line, tuple(part for part in parts if part not in ("/", "..")), int(found["line"])
