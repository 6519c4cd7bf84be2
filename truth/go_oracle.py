"""The oracle for Go: go/types, through the program in `oracle-go`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graph import Graph, Place, Symbol, triples

_SOURCE = Path(__file__).parent / "oracle-go"


class GoOracle:
    """The running program; it caches its knowledge of dependencies."""

    def __init__(self, process: subprocess.Popen[str], systems: list[str]) -> None:
        self._process = process
        self._systems = systems

    def graph(self, folder: Path) -> Graph:
        """What go/types knows about the present tree in `folder`.

        Raises:
            RuntimeError: it cannot be loaded at all.
        """
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps({"dir": str(folder), "goos": self._systems}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the oracle for Go ended with status {self._process.wait()}")
        answer = json.loads(line)
        if answer.get("error"):
            raise RuntimeError(f"the oracle for Go: {answer['error']}")
        # Without the folder: those of a copy are the same.
        answer["broken"] = [error.replace(f"{folder.resolve()}/", "") for error in answer["broken"]]
        return _graph(answer)


@contextmanager
def go_oracle(cache: Path, systems: list[str]) -> Iterator[GoOracle]:
    """The oracle, built with the machine's Go into `cache` and running."""
    program = cache / "oracle-go"
    build = ["go", "build", "-o", str(program), "."]
    built = subprocess.run(build, cwd=_SOURCE, capture_output=True, text=True, check=False)
    if built.returncode:
        raise RuntimeError(f"the oracle for Go cannot be built: {built.stderr.strip()}")
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield GoOracle(process, systems)
        finally:
            process.kill()


def _graph(answer: dict[str, Any]) -> Graph:
    files = answer["files"]
    symbols = {}
    for found in answer["symbols"]:
        file, line, character, _ = found["id"].rsplit(":", 3)
        symbols[found["id"]] = Symbol(
            id=found["id"],
            name=found["name"],
            kind=found["kind"],
            uses=frozenset(triples(found["uses"], files)),
            where=frozenset({Place(file, int(line), int(character))}),  # in bytes; only outside it is not a use
            package=found["pkg"],
            owner=found.get("owner", ""),
            family=found.get("related", ""),
            generic=found.get("generic", False),
            outside=found.get("outside", False),
            calls=frozenset(triples(found.get("calls", []), files)),
            subtypes=tuple(found.get("subtypes", ())),
            found=tuple(found.get("found", ())),
        )
    unread = {
        file: {
            word: {Place(file, *at) for at in zip(numbers[::2], numbers[1::2], strict=True)}
            for word, numbers in words.items()
        }
        for file, words in answer["unread"].items()
    }
    return Graph(symbols, answer["broken"], unread)
