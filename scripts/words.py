#!/usr/bin/env python3
"""Find stilted English: `scripts/words.py [FILE or FOLDER]...`, all of the repository if nothing is named.

Prints each hit with a better wording, and a count for each folder. `--check` prints the hits only and exits with 1 if
there is one; `make check` runs that.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

TOP = Path(__file__).resolve().parent.parent
_SUFFIXES = (
    ".py",
    ".md",
    ".toml",
    ".lua",
    ".js",
    ".mjs",
    ".css",
    ".html",
    ".txt",
    ".txtar",
    ".sh",
    ".yml",
    ".json",
    ".go",
)
_NAMES = frozenset({"Makefile", "Dockerfile", "run"})


@dataclass(frozen=True)
class Hit:
    """One phrase to replace: `line` counts from 1."""

    path: str
    line: int
    phrase: str
    write: str


@dataclass(frozen=True)
class Rules:
    """The word list: patterns with what to write instead, and the paths concerned, relative to the repository."""

    patterns: tuple[tuple[re.Pattern[str], str], ...]
    any: re.Pattern[str]  # matches every text that one of them matches, several times as fast
    skip: tuple[str, ...]

    @classmethod
    def load(cls, file: Path = TOP / "scripts" / "words.toml") -> "Rules":
        """The rules of `file`."""
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        patterns = tuple(
            (re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE), rule["write"])
            for rule in data["rule"]
            for pattern in rule["patterns"]
        )
        every = "|".join(pattern for rule in data["rule"] for pattern in rule["patterns"])
        return cls(patterns, re.compile(rf"(?<![\w-])(?:{every})", re.IGNORECASE), tuple(data["skip"]))

    def hits(self, path: str, text: str) -> Iterator[Hit]:
        """The phrases of `text` to replace, line by line."""
        if not self.any.search(text.replace("_", " ")):
            return
        for number, line in enumerate(text.split("\n"), start=1):
            spaced = line.replace("_", " ")  # names join words by underscores
            for pattern, write in self.patterns:
                for match in pattern.finditer(spaced):
                    yield Hit(path, number, line[match.start() : match.end()], write)


def below(path: str, folders: tuple[str, ...]) -> bool:
    """Whether `path` is one of `folders` or in one of them."""
    return any(PurePosixPath(path).is_relative_to(folder) for folder in folders)


def texts(rules: Rules, wanted: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The examined files in `wanted`, with their texts. New files count before git knows them."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(listed, cwd=TOP, check=True, capture_output=True, text=True).stdout
    for path in sorted(set(output.split("\0")) - {""}):
        pure = PurePosixPath(path)
        examined = pure.suffix in _SUFFIXES or pure.name in _NAMES
        if examined and below(path, wanted) and not below(path, rules.skip) and (TOP / path).is_file():
            yield path, (TOP / path).read_text(encoding="utf-8", errors="replace")


def _folder(path: str) -> str:
    parts = PurePosixPath(path).parts
    depth = 3 if parts[0] == "src" else 1
    return "/".join(parts[: max(1, min(depth, len(parts) - 1))])


def main() -> int:
    """Print the hits; 1 if `--check` found any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", metavar="FILE or FOLDER")
    parser.add_argument("--check", action="store_true", help="print no counts; exit with 1 on a hit")
    parser.add_argument("--count", action="store_true", help="print the counts for each folder only")
    options = parser.parse_args()
    rules = Rules.load()
    wanted = tuple(Path(path).resolve().relative_to(TOP).as_posix() for path in options.paths or [TOP])
    found = [hit for path, text in texts(rules, wanted) for hit in rules.hits(path, text)]
    if not options.count:
        for hit in found:
            print(f"{hit.path}:{hit.line}: {hit.phrase!r}; better: {hit.write}")
    if not options.check:
        for folder, count in sorted(Counter(_folder(hit.path) for hit in found).items()):
            print(f"{count:5} {folder}")
        print(f"{len(found):5} in all")
    return 1 if options.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
