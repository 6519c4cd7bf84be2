"""The interface of a language for the examination: `Language`, and `Edit`, one change of a tree."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graph import Graph, Symbol


@dataclass(frozen=True)
class Edit:
    """One change, which can be made to several copies of a tree; `description` says how to make it by hand.

    `added` are new files, `removed` deleted ones, `touched` all files that undoing must restore.
    """

    description: str
    make: Callable[[Path], object]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()

    def try_on(self, folder: Path, compiles: Callable[[], bool]) -> bool:
        """Make it in `folder`, and undo it unless the code compiles; returns whether it was kept."""
        paths = [folder / file for file in {*self.touched, *self.added, *self.removed, "compile_commands.json"}]
        before = {path: path.read_bytes() if path.is_file() else None for path in paths}
        self.make(folder)
        if compiles():
            return True
        for path, contents in before.items():
            if contents is not None:
                path.write_bytes(contents)
            else:
                path.unlink(missing_ok=True)
        return False


class Language(Protocol):
    """One language: its oracle, edits and compilers."""

    def graph(self, folder: Path) -> Graph:
        """The oracle's knowledge of the present tree in `folder`."""

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """A random change of the code after which it still compiles; None if the random choice failed: ask again.

        New files are named by `number`.
        """

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """An unused name as long as that of `symbol`, "" if none is found."""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """New errors of compilers and checkers after the files `changed` changed; "" if there are none."""

    @property
    def reorders(self) -> bool:
        """Whether the order of declarations in a file does not matter."""

    @property
    def compares(self) -> bool:
        """Whether `graph` is quick and whole enough to be compared before and after an edit; else compilers judge."""
