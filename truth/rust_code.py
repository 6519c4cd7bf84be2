"""Rust: renames in its code, and checking it with `cargo check`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace  # noqa: TID251 (`Symbol` is a dataclass)
from pathlib import Path

import rust_oracle
from graph import Graph, Symbol
from language import Edit

_SYMBOLS = 60  # known of each tree


class Rust:
    """A `Language`. `work` is a folder for copies of the code, and for Cargo."""

    reorders = False
    compares = False  # it takes minutes to read a tree

    def __init__(self, work: Path) -> None:
        self._work = work
        self._said: dict[str, set[str]] = {}
        self._words: set[str] = set()
        self._checked: set[Path] = set()

    def graph(self, folder: Path) -> Graph:
        """See `Language`: of some symbols only, at random.

        What a macro declares, a server finds where the macro is called.
        """
        graph = rust_oracle.graph(folder, _SYMBOLS, self._work)
        macros = frozenset(place for one in graph.symbols.values() if one.kind == "var" for place in one.uses)
        graph.symbols = {id_: replace(one, allowed=one.allowed | macros) for id_, one in graph.symbols.items()}
        return graph

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """See `Language`."""
        return None

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """See `Language`."""
        return rust_oracle.unused(symbol.name, graph.words, rng)

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """See `Language`: new errors of `cargo check` with all targets and features."""
        # Cargo takes copies of one workspace for the same, and goes by the times of files.
        work = self._work / ("shadow" if folder.parent.name == "shadow" else "live")
        if work.name == "shadow" or folder not in self._checked:
            for path in folder.rglob("*.rs"):
                path.touch()
        self._checked.add(folder)
        work.mkdir(parents=True, exist_ok=True)
        said = set(rust_oracle.errors(folder, work))
        known = self._said.setdefault(folder.name, said)
        return "; ".join(sorted(said - known)[:5])
