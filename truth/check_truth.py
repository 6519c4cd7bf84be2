"""Is `check` true? Random edits that break real code: the files that it says have errors, and those of the compiler.

    python truth/check_truth.py FOLDER --backend gopls --number 100
    python truth/check_truth.py FOLDER --backend clangd --number 100    # with compile_commands.json below FOLDER

The oracle is go/types (`oracle-go`) or the system's g++. FOLDER is copied; nothing is written to it.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from go_oracle import go_oracle
from session import session

_DECLARED = {  # what an edit renames where it is declared, and nowhere else
    "gopls": re.compile(r"^(?:func(?: \([^)]*\))?|type|var|const) +(?P<name>[A-Za-z_]\w*)", re.MULTILINE),
    "clangd": re.compile(r"^[ \t]*(?:[\w:<>*&]+[ \t]+)+[*&]?(?:\w+::)?(?P<name>[A-Za-z_]\w*)\(", re.MULTILINE),
}
_SUFFIXES = {"gopls": (".go",), "clangd": (".cc", ".cpp", ".c", ".h", ".hpp")}
_PLACE = re.compile(r"^(?P<file>[^:\s][^:]*):\d+:\d+")
_GCC_ERROR = re.compile(r"^(?P<file>[^:\s][^:]*):\d+:\d+: (?:fatal )?error:", re.MULTILINE)
Oracle = Callable[[], set[str]]
"""The files with errors now, relative to the folder."""


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--backend", type=click.Choice(list(_DECLARED)), default="gopls", show_default=True)
@click.option("--number", default=100, show_default=True, help="How many edits.")
@click.option("--seed", default=1, show_default=True)
def main(folder: Path, backend: str, number: int, seed: int) -> None:
    """Exit status 1: an answer was wrong and its status said `complete`."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-check-truth-") as temporary:
        copy = Path(temporary).resolve() / "tree"
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cache"))
        _repoint(copy, folder.resolve())
        wrong, doubted = examine(copy, backend, number, seed, Path(temporary), click.echo)
    agree = number - wrong - doubted
    click.echo(f"{number} edits, seed {seed}: {agree} agree, {doubted} said that they lack something, {wrong} wrong")
    sys.exit(wrong > 0)


def examine(
    copy: Path, backend: str, number: int, seed: int, cache: Path, say: Callable[[str], None]
) -> tuple[int, int]:
    """How many answers were wrong, and how many of those that were not right said that they may lack something."""
    chance = random.Random(seed)
    sources = sorted(path for path in copy.rglob("*") if path.suffix in _SUFFIXES[backend] and _is_source(path, copy))
    wrong = doubted = 0
    with _oracle(backend, copy, cache) as errors, session(backend, copy, cache / "index") as at:
        before = errors()
        at.ask("check", all=True)
        for _ in range(number):
            path, text, broken = _edit(chance, backend, sources)
            path.write_text(broken, encoding="utf-8")
            answer, truth = at.ask("check", all=True), errors()
            path.write_text(text, encoding="utf-8")
            found = {one["location"]["file"] for one in answer.json.get("new", []) + answer.json.get("remaining", [])}
            if found == truth:
                continue
            said = bool(answer.hiding or answer.error)
            doubted, wrong = doubted + said, wrong + (not said)
            named = path.relative_to(copy)
            say(f"{'doubt' if said else 'WRONG'} {named}: only check {sorted(found - truth)[:5]}, only the compiler "
                f"{sorted(truth - found)[:5]}, before {sorted(before)[:3]}; {answer.status}")  # fmt: skip
    return wrong, doubted


def _edit(chance: random.Random, backend: str, sources: list[Path]) -> tuple[Path, str, str]:
    """A file, its text, and the text in which one declaration has another name."""
    while True:
        path = chance.choice(sources)
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if declared := list(_DECLARED[backend].finditer(text)):
            start, end = chance.choice(declared).span("name")
            return path, text, f"{text[:start]}Broken_{text[start:end]}{text[end:]}"


@contextmanager
def _oracle(backend: str, copy: Path, cache: Path) -> Iterator[Oracle]:
    if backend == "clangd":
        commands = _commands(copy)
        yield lambda: _gcc(copy, commands)
        return
    with go_oracle(cache, ["linux"]) as go:
        yield lambda: {_relative(copy, match["file"]) for one in go.graph(copy).broken if (match := _PLACE.match(one))}


def _gcc(copy: Path, commands: list[tuple[str, list[str]]]) -> set[str]:
    found: set[str] = set()
    for directory, command in commands:
        run = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        found |= {_relative(copy, match["file"], directory) for match in _GCC_ERROR.finditer(run.stderr)}
    return {file for file in found if not file.startswith("/")}


def _commands(copy: Path) -> list[tuple[str, list[str]]]:
    """The folder and the command of each compiled file, which only looks for errors."""
    database = next(iter(sorted(copy.rglob("compile_commands.json"))))
    found = []
    for entry in json.loads(database.read_text("utf-8")):
        words = shlex.split(entry["command"])
        output = words.index("-o")
        found.append((entry["directory"], ["g++", *words[1:output], *words[output + 2 :], "-fsyntax-only"]))
    return found


def _relative(copy: Path, file: str, directory: str = "") -> str:
    path = Path(copy, directory, file).resolve()
    return path.relative_to(copy).as_posix() if path.is_relative_to(copy) else str(path)


def _is_source(path: Path, copy: Path) -> bool:
    parts = path.relative_to(copy).parts
    return path.is_file() and not {"testdata", "vendor", "third_party", "build"} & set(parts)


def _repoint(copy: Path, folder: Path) -> None:
    """The compilation database of `copy` names the files of `copy`."""
    for database in copy.rglob("compile_commands.json"):
        database.write_text(database.read_text("utf-8").replace(str(folder), str(copy)), "utf-8")


if __name__ == "__main__":
    main()
