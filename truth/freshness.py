"""Questions asked at once after edits of all kinds: `random_freshness`."""

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

Asked = tuple[Answer, Outcome, list[str]]
_COMMITS = 5
_QUESTIONS = 2  # after each edit


def random_freshness(
    session: Session, language: Language, live: Path, shadow: Path, rng: random.Random
) -> Iterator[Asked]:
    """Change the tree `live` without end, and ask about what the change changed, at once.

    Each edit is made to the copy `shadow` first, and the oracle reads that: so nothing lies between the edit of `live`
    and the question, and the oracle is no part of what the program under examination sees. Right is what
    `reading.references` says, in the tree as it is after the edit.
    """
    steps = make_history(language, live, rng)
    shutil.rmtree(shadow, ignore_errors=True)
    shutil.copytree(live, shadow, symlinks=True)
    before = language.graph(shadow)
    changes = _Changes(language, rng)
    while True:
        edit = changes.next(shadow, before)
        edit.make(shadow)
        graph = language.graph(shadow)
        asked = _changed(before, graph, rng)
        edit.make(live)
        steps.append(edit.description)
        for symbol in asked:
            # The second is asked, too, when the first answer has made the server read what changed.
            answer, outcome = references(session, graph, spelled_at(symbol, rng))
            yield answer, outcome, steps[-12:]
        before = graph


def make_history(language: Language, folder: Path, rng: random.Random) -> list[str]:
    """Commit several edits on a branch `work`; what was done."""
    steps = []
    git(folder, "checkout", "-q", "-B", "work")
    graph = language.graph(folder)
    for number in range(_COMMITS):
        for part in range(3):
            if edit := language.edit(folder, graph, rng, 1000 + 10 * number + part):
                edit.make(folder)
                steps.append(edit.description)
        commit(folder, f"edit {number}")
    return steps


class _Changes:
    """One edit after the other."""

    def __init__(self, language: Language, rng: random.Random) -> None:
        self._language = language
        self._rng = rng
        self._git = GitEdits(rng)
        self._added: list[str] = []
        self._number = 0

    def next(self, folder: Path, graph: Graph) -> Edit:
        edit = None
        while edit is None:
            self._number += 1
            edit = self._one(folder, graph)
        self._added = [file for file in self._added if file not in edit.removed] + list(edit.added)
        return edit

    def _one(self, folder: Path, graph: Graph) -> Edit | None:
        dice = self._rng.random()
        if self._git.pending or dice < 0.2:
            return self._git.next()
        there = [file for file in self._added if (folder / file).is_file()]
        if there and dice < 0.45:
            file = self._rng.choice(there)
            others = {one.name for one in graph.symbols.values() if any(place.file == file for place in one.uses)}
            if dice < 0.3:
                # Nobody else may need what it declares.
                own = [one for one in graph.symbols.values() if any(place.file == file for place in one.where)]
                alone = all(place.file == file for one in own for place in one.uses)
                return deleted(file) if alone else None
            if dice < 0.38:
                path = Path(file)
                stem = path.stem.removesuffix("_test")
                return renamed(file, path.with_name(path.name.replace(stem, f"{stem}n{self._number}", 1)).as_posix())
            return self._swapped(folder, graph, file, others)
        return self._language.edit(folder, graph, self._rng, self._number)

    def _swapped(self, folder: Path, graph: Graph, file: str, names: set[str]) -> Edit | None:
        """Another symbol of the same kind, package and length of name, in a file of ours."""
        used = [one for one in graph.symbols.values() if one.name in names and one.kind in ("func", "var", "const", "type")]
        for symbol in self._rng.sample(sorted(used, key=lambda one: one.id), len(used)):
            alike = [
                one.name
                for one in graph.symbols.values()
                if (one.kind, one.package, one.generic, len(one.name)) == (symbol.kind, symbol.package, symbol.generic, len(symbol.name))
                and one.name != symbol.name and {Path(p.file).parent for p in one.where} == {Path(p.file).parent for p in symbol.where}
                and not any(p.file.endswith("_test.go") or "_" in p.file for p in one.where)
            ]  # fmt: skip
            if alike and symbol.where and file not in {place.file for place in symbol.where}:
                return same_time(file, symbol.name, self._rng.choice(sorted(alike)))
        return None


def _changed(before: Graph, after: Graph, rng: random.Random) -> list[Symbol]:
    """Symbols that are used more or less often than before, or have moved; and a random one."""
    counts = {_key(symbol): len(symbol.uses) for symbol in before.symbols.values()}
    every = [symbol for symbol in after.symbols.values() if not symbol.outside]
    changed = [symbol for symbol in every if counts.get(_key(symbol)) != len(symbol.uses)]
    moved = [symbol for symbol in every if symbol.id not in before.symbols]
    some = changed or moved or every
    chosen = [rng.choice(sorted(some, key=lambda one: one.id)) for _ in range(_QUESTIONS - 1)]
    return [*chosen, rng.choice(sorted(moved or every, key=lambda one: one.id))]


def _key(symbol: Symbol) -> tuple[str, ...]:
    return symbol.package, symbol.owner, symbol.kind, symbol.name
