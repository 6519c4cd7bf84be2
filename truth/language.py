"""What the examination needs of a language: `Language`, and `Edit`, one change of a tree."""

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

    `added` are files that are new, `removed` those that are gone, `touched` all that an undoing must restore.
    """

    description: str
    make: Callable[[Path], object]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()

    def try_on(self, folder: Path, compiles: Callable[[], bool]) -> bool:
        """Make it in `folder`, and take it back unless it compiles then; whether it was kept."""
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
    """One language: its oracle, and how its code is changed and compiled."""

    def graph(self, folder: Path) -> Graph:
        """What the oracle knows of the tree in `folder`, as it is now."""

    def edit(self, folder: Path, graph: Graph, rng: random.Random, number: int) -> Edit | None:
        """A random change of the code after which it still compiles; None if the dice fell badly: ask again.

        New files are called by `number`.
        """

    def new_name(self, symbol: Symbol, graph: Graph, rng: random.Random) -> str:
        """A name as long as that of `symbol` that nothing else has, "" if none is found."""

    def trouble(self, folder: Path, changed: Sequence[str]) -> str:
        """What compilers and checkers say of the tree after the files `changed` changed; "" if nothing new."""

    @property
    def reorders(self) -> bool:
        """Whether the order of declarations in a file means nothing."""
