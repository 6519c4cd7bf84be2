"""Which lines of a generator's input, such as a grammar, some generated code was made from: `made_from`."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from lsp_mcp.requests.places import Place
from lsp_mcp.text import Text


def made_from(code: Iterable[Place], directive: str, inputs: Collection[Place]) -> frozenset[tuple[Path, int]]:
    """The files and lines of those of `inputs` that `code`, places of the same word, was made from.

    Generated code says so by lines that match `directive`, with the groups `file` and `line` (ISO C, 6.10.4 "Line
    control"). A line counts if it has the word as often as the code that was made from it.
    """
    there = Counter((one.path, one.span.start.line) for one in inputs)
    files = {path for path, _ in there}
    found = set()
    for path, places in groupby(sorted(code, key=attrgetter("path")), key=attrgetter("path")):
        for name, line, number in _origins(list(places), directive):
            named = next((one for one in _named(path, name) if one in files), None)
            if named and there[named, line] == number:
                found.add((named, line))
    return frozenset(found)


def inputs(path: Path, text: Text, directive: str, paths: Collection[Path]) -> set[Path]:
    """Those of `paths` that `text`, of the file `path`, says to be made from; see `made_from`."""
    names = {name for _, name, _ in _directives(text, directive)}
    return {one for name in names for one in _named(path, name) if one in paths}


def _named(path: Path, name: str) -> Iterable[Path]:
    """The files that generated code in `path` may mean by `name`, which is relative to its folder or one above."""
    return [Path(os.path.normpath(folder / name)) for folder in path.parents]


def _origins(places: list[Place], directive: str) -> Iterable[tuple[str, int, int]]:
    """The names and lines that the lines of `places`, of one file, were made from, and how many are in each."""
    text = places[0].text
    told = list(_directives(text, directive))
    starts = [start for start, _, _ in told]
    found: Counter[tuple[str, int]] = Counter()
    for place in places:
        offset = text.point_offset(place.span.start)
        if index := bisect_right(starts, offset):
            start, name, first = told[index - 1]
            found[name, first + text.content.count("\n", start, offset)] += 1
    for (name, line), number in found.items():
        yield name, line, number


def _directives(text: Text, directive: str) -> Iterable[tuple[int, str, int]]:
    """Where the line after each directive of `text` begins, the file that it names, and the line there."""
    for found in re.finditer(rf"(?:{directive})[^\n]*\n", text.content, re.MULTILINE):
        yield found.end(), found["file"], int(found["line"])
