"""Questions immediately after edits of all kinds: `random_freshness`."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from changing import GitEdits, deleted, renamed, same_time
from graph import Graph, Symbol
from language import Edit, Language
from reading import references
from sampling import spelled_at
from session import Answer, Session
from sources import commit, git
from verdicts import Outcome

Judged = tuple[Answer, Outcome, list[str]]
_COMMITS = 5
_QUESTIONS = 2  # after each edit


def random_freshness(
    session: Session, language: Language, live: Path, shadow: Path, rng: random.Random
) -> Iterator[Judged]:
    """Change the tree `live` endlessly, and ask about each change immediately.

    Each edit is made first to the copy `shadow`, which the oracle reads: so nothing separates the edit of `live` from
    the question, and the tested program does not see the oracle. Right is defined by `reading.references`, for the tree
    after the edit.
    """
    steps = make_history(language, live, rng)
    shutil.rmtree(shadow, ignore_errors=True)
    shutil.copytree(live, shadow, symlinks=True)
    before = language.graph(shadow)
    changes = _Changes(language, rng)
    while True:
        edit, graph = changes.next(shadow, before)
        symbols = _changed(before, graph, rng)
        edit.make(live)
        steps.append(edit.description)
        for symbol in symbols:
            # The second question is also asked after the first has made the server read the changes.
            answer, outcome = references(session, graph, spelled_at(symbol, rng))
            yield answer, outcome, steps[-12:]
        before = graph


def make_history(language: Language, folder: Path, rng: random.Random) -> list[str]:
    """Commit several edits on a branch `work`; returns a description."""
    steps = []
    git(folder, "checkout", "-q", "-B", "work")
    graph = language.graph(folder)
    changes = _Changes(language, rng, 1000)
    for number in range(_COMMITS):
        for _ in range(2):
            edit, graph = changes.next(folder, graph, with_git=False)
            steps.append(edit.description)
        commit(folder, f"edit {number}")
    return steps


class _Changes:
    """One edit after the other."""

    def __init__(self, language: Language, rng: random.Random, number: int = 0) -> None:
        self._language = language
        self._rng = rng
        self._git = GitEdits(rng)
        self._added: list[str] = []
        self._number = number

    def next(self, folder: Path, before: Graph, *, with_git: bool = True) -> tuple[Edit, Graph]:
        """An edit after which the code compiles as it did `before`, made in `folder`; and the oracle's result then."""
        graph = before

        def compiles() -> bool:
            nonlocal graph
            graph = self._language.graph(folder)
            return not set(graph.broken) - set(before.broken)

        while True:
            self._number += 1
            if with_git and (self._git.pending or self._rng.random() < 0.2):
                edit = self._git.next()
                edit.make(folder)
                graph = self._language.graph(folder)
                break
            some = self._one(folder, before)
            if some and some.try_on(folder, compiles):
                edit = some
                break
        self._added = [file for file in self._added if file not in edit.removed] + list(edit.added)
        return edit, graph

    def _one(self, folder: Path, graph: Graph) -> Edit | None:
        dice = self._rng.random()
        there = [file for file in self._added if (folder / file).is_file()]
        if there and dice < 0.3:
            file = self._rng.choice(there)
            others = {one.name for one in graph.symbols.values() if any(place.file == file for place in one.uses)}
            if dice < 0.1:
                # Nothing else may need its declarations.
                own = [one for one in graph.symbols.values() if any(place.file == file for place in one.where)]
                alone = all(place.file == file for one in own for place in one.uses)
                return deleted(file) if alone else None
            if dice < 0.2:
                path = Path(file)
                stem = path.stem.removesuffix("_test")
                return renamed(file, path.with_name(path.name.replace(stem, f"{stem}n{self._number}", 1)).as_posix())
            return self._swapped(folder, graph, file, others)
        return self._language.edit(folder, graph, self._rng, self._number)

    def _swapped(self, folder: Path, graph: Graph, file: str, names: set[str]) -> Edit | None:
        """Another symbol of the same kind, package and length of name, in a file of ours."""
        every = sorted(graph.symbols.values(), key=lambda one: one.id)
        used = [one for one in every if one.name in names and one.kind in _SWAPPED]
        for symbol in self._rng.sample(used, len(used)):
            alike = sorted({one.name for one in every if _alike(one, symbol)})
            if alike and file not in {place.file for place in symbol.where}:
                return same_time(file, symbol.name, self._rng.choice(alike))
        return None


_SWAPPED = ("func", "var", "const", "type", "function", "class")


def _alike(one: Symbol, other: Symbol) -> bool:
    """Whether a declaration that uses `other` may use `one` instead, with the same length."""
    kinds = {(symbol.kind, symbol.package, symbol.generic, len(symbol.name)) for symbol in (one, other)}
    folders = {Path(place.file).parent for symbol in (one, other) for place in symbol.where}
    # Symbols that exist only for some systems or in tests won't do.
    everywhere = not any("_" in Path(place.file).name for place in one.where)
    return len(kinds) == 1 and len(folders) == 1 and one.name != other.name and everywhere


def _changed(before: Graph, after: Graph, rng: random.Random) -> list[Symbol]:
    """Symbols whose number of uses or place has changed; and a random one."""
    counts = {_key(symbol): len(symbol.uses) for symbol in before.symbols.values()}
    every = [symbol for symbol in after.symbols.values() if not symbol.outside]
    changed = [symbol for symbol in every if counts.get(_key(symbol)) != len(symbol.uses)]
    moved = [symbol for symbol in every if symbol.id not in before.symbols]
    some = changed or moved or every
    chosen = [rng.choice(sorted(some, key=lambda one: one.id)) for _ in range(_QUESTIONS - 1)]
    return [*chosen, rng.choice(sorted(moved or every, key=lambda one: one.id))]


def _key(symbol: Symbol) -> tuple[str, ...]:
    return symbol.package, symbol.owner, symbol.kind, symbol.name
