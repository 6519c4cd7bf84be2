"""Is `check` true? Random edits that break real code: the files that it says have errors, and those of the compiler.

    python truth/check_truth.py FOLDER --backend gopls --number 100
    python truth/check_truth.py FOLDER --backend clangd --number 100    # with compile_commands.json below FOLDER
    python truth/check_truth.py leveldb --backend clangd                # a tree of sources.toml

The oracle is go/types (`oracle-go`) or clang without clangd (`compile_errors`). FOLDER is copied; nothing is written
to it. An answer is right if its files are the oracle's, and flagged if its status names each one that it lacks. Of a
file that the build does not have the compiler says nothing, so that what `check` says of it counts for neither.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from go_oracle import go_oracle
from session import Answer, session
from sources import copied, trees

# What an edit changes, the group `what`, and its replacement: most break something.
_EDITS = {
    "gopls": {
        "rename": (r"^(?:func(?: \([^)]*\))?|type|var|const) +(?P<what>[A-Za-z_]\w*)", r"Broken_\g<what>"),
        "rename a field": (r"^\t(?P<what>[A-Za-z_]\w*) +[\w.*\[\]]+$", r"Broken_\g<what>"),
        "one parameter more": (r"^func (?:\([^)]*\) )?\w+\((?P<what>)[^()]*\)", "broken int, "),
        "another result": (r"^func (?:\([^)]*\) )?\w+\([^()]*\) (?P<what>\w+) \{", r"Broken_\g<what>"),
        "no import": (r'^(?P<what>\t"[\w./-]+")$', ""),
        "no line": (r"^(?P<what>\t[^\n]*[)\w])$", ""),
        "no brace": (r"(?P<what>\})$", ""),
    },
    "clangd": {
        "rename a function": (r"^[ \t]*(?:[\w:<>*&]+[ \t]+)+[*&]*(?:\w+::)?(?P<what>\w+)\(", r"Broken_\g<what>"),
        "rename a type": (r"^[ \t]*(?:typedef +)?(?:struct|class|enum) (?P<what>\w+)[^;{]*\{", r"Broken_\g<what>"),
        "rename a macro": (r"^#[ \t]*define[ \t]+(?P<what>\w+)", r"Broken_\g<what>"),
        "rename a field": (r"^[ \t]+(?:[\w:<>,*&]+[ \t]+)+[*&]*(?P<what>\w+);", r"Broken_\g<what>"),
        "another type": (r"^[ \t]*(?:static |virtual |const |inline )*(?P<what>\w+)[ *&]+\w+\(", r"Broken_\g<what>"),
        "one parameter more": (r"^[ \t]*(?:[\w:<>*&]+[ \t]+)+[*&]*\w+\((?P<what>)\w[^()]*\)", "int broken, "),
        "no include": (r"^(?P<what>#[ \t]*include .*)", ""),
        "no line": (r"^(?P<what>[^\n]*[;{}]) *$", ""),
        "no semicolon": (r"(?P<what>;)$", ""),
    },
}  # fmt: skip
_SUFFIXES = {"gopls": (".go",), "clangd": (".cc", ".cpp", ".c", ".h", ".hpp")}
_PLACE = re.compile(r"^(?P<file>[^:\s][^:]*):\d+:\d+")


@dataclass(frozen=True)
class Oracle:
    """Asks the compiler: the `broken` files now, and whether it `sees` a file at all; relative to the folder."""

    broken: Callable[[], set[str]]
    sees: Callable[[], Callable[[str], bool]]
    newest: Callable[[set[str]], set[str] | None] = lambda _: None  # those of some existing ones, by the version in use


@click.command(help=__doc__)
@click.argument("folder")
@click.option("--backend", type=click.Choice(list(_EDITS)), default="gopls", show_default=True)
@click.option("--number", default=100, show_default=True, help="How many edits.")
@click.option("--seed", default=1, show_default=True)
@click.option("--kept", default=0.2, show_default=True, help="The share of edits that stay for the next ones.")
def main(folder: str, backend: str, number: int, seed: int, kept: float) -> None:
    """Exit status 1: an answer was wrong and its status did not name what it lacks."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-check-truth-") as temporary:
        copy = Path(temporary).resolve() / "tree"
        if known := [tree for tree in trees(backend) if tree.name == folder]:
            copied(known[0], copy)
        else:
            shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".cache"))
            _repoint(copy, Path(folder).resolve())
        outcomes = examine(copy, backend, number, seed, Path(temporary), click.echo, kept=kept)
    summary = ", ".join(f"{outcomes[one]} {one}" for one in ("right", "flagged", "wrong"))
    click.echo(f"{folder}: {number} edits, seed {seed}: {summary}")
    sys.exit(outcomes["wrong"] > 0)


def examine(
    copy: Path, backend: str, number: int, seed: int, cache: Path, say: Callable[[str], None], *, kept: float = 0.2
) -> Counter[str]:
    """The numbers of right, flagged and wrong answers."""
    chance = random.Random(seed)
    sources = sorted(path for path in copy.rglob("*") if path.suffix in _SUFFIXES[backend] and _is_source(path, copy))
    outcomes: Counter[str] = Counter()
    undo: dict[Path, bytes] = {}
    with _oracle(backend, copy, cache) as oracle, session(backend, copy, cache / "index") as at:
        before = oracle.broken()
        at.ask("check", all=True)
        for step in range(number):
            what, path, broken = _edit(chance, backend, sources)
            undo.setdefault(path, path.read_bytes())
            path.write_text(broken, encoding="utf-8", errors="surrogateescape")
            outcome, difference = _judged(at.ask("check", all=True), oracle)
            outcomes[outcome] += 1
            if outcome != "right":
                say(f"{step} {outcome}: {path.relative_to(copy)}: {what}; {difference}; before {sorted(before)[:3]}")
            if chance.random() >= kept:  # otherwise several errors accumulate until all are fixed
                for one, contents in undo.items():
                    one.write_bytes(contents)
                undo.clear()
    return outcomes


def _judged(answer: Answer, oracle: Oracle) -> tuple[str, str]:
    """The verdict on the answer, and the files that differ."""
    found = {one["location"]["file"] for one in answer.json.get("new", []) + answer.json.get("remaining", [])}
    truth, seen = oracle.broken(), oracle.sees()
    lacking, more = truth - found, {file for file in found - truth if seen(file)}
    if (lacking or more) and (newest := oracle.newest(lacking | more)) is not None:
        lacking, more = lacking & newest, more - newest
    if not lacking and not more and not answer.error:
        return "right", ""
    flagged = bool(answer.error) or (answer.names(lacking) and not more)
    difference = f"not told {sorted(lacking)[:6]}, told too much {sorted(more)[:6]}; {answer.status[:300]}"
    return "flagged" if flagged else "wrong", difference


def _edit(chance: random.Random, backend: str, sources: list[Path]) -> tuple[str, Path, str]:
    """A description of the edit, its file, and its text afterwards."""
    while True:
        what = chance.choice(list(_EDITS[backend]))
        pattern, into = _EDITS[backend][what]
        path = chance.choice(sources)
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if found := list(re.finditer(pattern, text, re.MULTILINE)):
            match = chance.choice(found)
            start, end = match.span("what")
            line = text.count("\n", 0, start) + 1
            return f"{what} in line {line}", path, f"{text[:start]}{match.expand(into)}{text[end:]}"


@contextmanager
def _oracle(backend: str, copy: Path, cache: Path) -> Iterator[Oracle]:
    if backend == "clangd":
        from compile_errors import CompileErrors

        with CompileErrors(copy) as clang:
            yield Oracle(clang.files, lambda: clang.compiled().__contains__, clang.newest)
        return
    with go_oracle(cache, ["linux"]) as go:

        def errors() -> list[tuple[str, str]]:
            found = go.graph(copy).broken
            return [(_relative(copy, match["file"]), one) for one in found if (match := _PLACE.match(one))]

        def broken() -> set[str]:
            return {file for file, _ in errors()}

        def newest(disputed: set[str]) -> set[str]:
            # After ten errors in a file go/parser gives up, and no file of the package has what that one declares.
            # gopls goes on in the package itself.
            left = {file for file, error in errors() if error.endswith(" more errors)")}
            beside = {Path(file).parent for file in left}
            return {file for file in disputed & broken() if file in left or Path(file).parent not in beside}

        yield Oracle(broken, lambda: lambda _: True, newest)


def _relative(copy: Path, file: str) -> str:
    path = Path(copy, file).resolve()
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
