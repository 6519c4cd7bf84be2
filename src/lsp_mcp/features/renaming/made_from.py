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
    """The name and the line that each line of `places`, of one file, was made from, and how many are in it."""
    told = list(_directives(places[0].text, directive))
    starts = [at for at, _, _ in told]
    for line, number in Counter(place.span.start.line for place in places).items():
        if index := bisect_right(starts, line - 1):
            at, name, first = told[index - 1]
            yield name, first + line - at - 1, number


def _directives(text: Text, directive: str) -> Iterable[tuple[int, str, int]]:
    """The line of each directive of `text`, the file that it names, and the line there of the next line."""
    line, counted = 1, 0
    for found in re.finditer(directive, text.content, re.MULTILINE):
        line += text.content.count("\n", counted, found.start())
        counted = found.start()
        yield line, found["file"], int(found["line"])
