"""The oracle for TypeScript: the checker of TypeScript 5.9 by its compiler API, through `oracle_typescript.cjs`."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graph import Graph, Place, Symbol, triples

_HERE = Path(__file__).parent
_COMPILER = _HERE.parent / ".tools" / "npm" / "node_modules" / "typescript" / "lib" / "typescript.js"
_QUOTED = re.compile(r"(?<!\w)'[^']*'")  # not the apostrophe of can't
_LISTED = re.compile(r"(?<=: )[\w$#]+(?:, [\w$#]+)+(?=, and \d+ more|$)")  # members that a type lacks
_FORMS = {1: "{old}: {new}", 2: "{new}: {old}"}


class TypeScriptOracle:
    """The running program; it keeps the trees of unchanged files."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def graph(self, folder: Path) -> Graph:
        """What the checker knows about the present tree in `folder`.

        Raises:
            RuntimeError: it cannot be loaded at all.
        """
        return _graph(self._asked(folder))

    def errors(self, folder: Path) -> dict[str, str]:
        """What `tsc --noEmit` would say about the present tree in `folder`, by keys that other names do not change."""
        return _by_key(self._asked(folder, only="errors")["broken"])

    def _asked(self, folder: Path, **more: str) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"dir": str(folder.resolve()), **more}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the oracle for TypeScript ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(f"the oracle for TypeScript: {answer['error']}")
        return answer


@contextmanager
def typescript_oracle() -> Iterator[TypeScriptOracle]:
    """The oracle, running."""
    if not _COMPILER.is_file():
        raise RuntimeError("TypeScript's compiler API is not installed; run: scripts/tools.sh linters")
    command = ["node", "--max-old-space-size=4096", str(_HERE / "oracle_typescript.cjs"), str(_COMPILER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield TypeScriptOracle(process)
        finally:
            process.kill()


def _graph(answer: dict[str, Any]) -> Graph:
    files = answer["files"]
    below: dict[str, set[str]] = {found["id"]: set(found["derived"]) for found in answer["symbols"]}
    symbols = {}
    for found in answer["symbols"]:
        forms = {}
        for number, line, character, form in found["forms"]:
            forms[Place(files[number], line, character)] = _FORMS[form]
        symbols[found["id"]] = Symbol(
            id=found["id"],
            name=found["name"],
            kind=found["kind"],
            uses=frozenset(triples(found["uses"], files)),
            where=frozenset(triples(found["where"], files)),
            package=found["package"],
            owner=found["owner"],
            family=found["family"],
            generic=found["generic"],
            outside=found["outside"],
            calls=frozenset(triples(found["calls"], files)),
            subtypes=tuple(sorted(_classes(found["id"], below))),
            passed=tuple(found["passed"]),
            allowed=frozenset(triples(found["allowed"], files)),
            forms=forms,
            exported=found["exported"],
        )
    unread = {
        file: {
            word: {Place(file, *at) for at in zip(numbers[::2], numbers[1::2], strict=True)}
            for word, numbers in words.items()
        }
        for file, words in answer["unread"].items()
    }
    return Graph(symbols, sorted(_by_key(answer["broken"])), unread)


def _by_key(errors: list[dict[str, Any]]) -> dict[str, str]:
    """Errors by their file, code and message without the names in it: a rename or a moved line makes no new ones."""
    counts: Counter[str] = Counter()
    found = {}
    for one in errors:
        key = f"{one['file']}: {one['code']}: {_LISTED.sub('…', _QUOTED.sub('…', one['text']))}"
        counts[key] += 1
        found[f"{key} ({counts[key]})"] = f"{one['file']}:{one['line']}: {one['code']}: {one['text']}"
    return found


def _classes(above: str, below: dict[str, set[str]]) -> set[str]:
    """The classes below a type, also through interfaces (`=`), which are none themselves."""
    found: set[str] = set()
    todo, seen = [above], set()
    while todo:
        one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for derived in below.get(one, ()):
            if not derived.startswith("="):
                found.add(derived)
            todo.append(derived.removeprefix("="))
    return found
