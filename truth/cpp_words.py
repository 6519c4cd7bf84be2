"""Identifiers in C and C++ sources without comments and strings, which a compiler may not have read."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from graph import Place

_EXTENSIONS = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".def"}
_TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.']*""",
    re.S,
)


def words_of(folder: Path, known: set[Place]) -> dict[str, dict[str, set[Place]]]:
    """The identifiers in all files of `folder` that are not at `known` places."""
    found: dict[str, dict[str, set[Place]]] = {}
    for path in sorted(folder.rglob("*")):
        file = path.relative_to(folder).as_posix()
        if path.suffix in _EXTENSIONS and path.is_file() and not file.startswith("."):
            rest = {word: places - known for word, places in words(folder, file).items()}
            found[file] = {word: places for word, places in rest.items() if places}
    return found


def words(folder: Path, file: str) -> dict[str, set[Place]]:
    """The identifiers of one file, with their places."""
    text = (folder / file).read_bytes().decode("utf-8-sig", "replace")
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: dict[str, set[Place]] = defaultdict(set)
    line = 0
    for match in _TOKEN.finditer(text):
        while line + 1 < len(starts) and starts[line + 1] <= match.start():
            line += 1
        if match[0][0].isalpha() or match[0][0] == "_":
            found[match[0]].add(Place(file, line + 1, match.start() - starts[line] + 1))
    return dict(found)
