"""The words of a workspace's source files, as fresh as what the watch has told: `WorkspaceWords`."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.adapters import Adapter, Visibility
from lsp_mcp.text import Text
from lsp_mcp.words.index import WordIndex
from lsp_mcp.words.kept_index import Buffers, KeptIndex
from lsp_mcp.words.lexing import Occurrences, occurrences
from lsp_mcp.words.packages import Importing, Imports, Packages
from lsp_mcp.words.visibility import Symbol, seeing

_MOST_OCCURRENCES = 20_000  # places remembered
_MOST_SEEN = 50  # symbols remembered
_MOST_ANSWERS = 1_000  # words remembered


class Surroundings(Protocol):
    """What of a workspace says where imports lead."""

    def names(self) -> list[tuple[str, str]]:
        """What the path of an import may begin with, and the folder that it means then."""

    async def libraries(self) -> Sequence[str]:
        """The folders in which dependencies lie."""


@dataclass(frozen=True)
class FilesWith:
    """The files that have a word; one may have another word instead, see `WordIndex`."""

    files: tuple[Path, ...]  # sorted
    unknown: str = ""  # why there may be more; empty: these are all


class WorkspaceWords:
    """See `Words`. `paths` gives every file of the workspace `root`."""

    def __init__(
        self,
        adapter: Adapter,
        root: Path,
        paths: Callable[[], Iterable[str]],
        buffers: Buffers = dict,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._adapter = adapter
        self._surroundings = surroundings
        self._importing = _importing(adapter)
        self._kept = KeptIndex(adapter, root, paths, self._importing, buffers)
        self._changes = 0  # how often anything came, changed or went
        self._answers: dict[str, tuple[Path, ...]] = {}
        self._seeing: dict[tuple[frozenset[Path], Symbol], frozenset[Path]] = {}
        self._packages: tuple[object, Packages] | None = None  # and what it was made of
        self._libraries_import: dict[str, Imports] = {}
        self._occurrences: OrderedDict[tuple[Path, str], tuple[int, Occurrences]] = OrderedDict()
        self._remembered = 0  # places in `_occurrences`

    @property
    def index(self) -> WordIndex:
        """What is known by now."""
        return self._kept.index

    def begin(self) -> None:
        """Begin to read what is to be read, unless that goes on."""
        self._kept.begin()

    def changed(self, paths: Collection[Path]) -> None:
        """These files came, changed or went, on disk or in a buffer."""
        if not paths:
            return
        self._changes += 1
        self._seeing.clear()  # they may say what imports lead to
        if sources := [path for path in paths if self._adapter.language_of(path)]:
            self._answers.clear()
            self._kept.changed(sources)

    async def close(self) -> None:
        """End what goes on."""
        await self._kept.close()

    async def files_with(self, word: str, *, seconds: float | None = None) -> FilesWith:
        """See `Words.files_with`."""
        if (known := self._answers.get(word)) is not None:
            return FilesWith(known)
        await self._kept.wait(seconds)
        found = tuple(map(Path, sorted(self.index.files_with(word))))
        unknown = self._kept.unknown()
        if not unknown:
            _make_room(self._answers, _MOST_ANSWERS)
            self._answers[word] = found
        return FilesWith(found, unknown)

    def occurrences(self, path: Path, text: Text, word: str) -> Occurrences:
        """See `Words.occurrences`."""
        key, stamp = (path, word), hash(text.content)
        known = self._occurrences.get(key)
        if known and known[0] == stamp:
            self._occurrences.move_to_end(key)
            return known[1]
        found = occurrences(text, word, self._adapter.language_of(path))
        if known:
            self._remembered -= len(known[1]) + 1
        self._occurrences[key] = stamp, found
        self._occurrences.move_to_end(key)
        self._remembered += len(found) + 1
        while self._remembered > _MOST_OCCURRENCES and self._occurrences:
            _, (_, oldest) = self._occurrences.popitem(last=False)
            self._remembered -= len(oldest) + 1
        return found

    async def that_can_see(self, files: Collection[Path], symbol: Symbol) -> frozenset[Path]:
        """See `Words.that_can_see`."""
        asked = frozenset(files)
        if symbol.role == "local":
            return asked.intersection(symbol.declared)
        if self._kept.unknown():
            return asked
        if (asked, symbol) in self._seeing:
            return self._seeing[asked, symbol]
        changes, seen = self._changes, asked
        if self._surroundings and self._adapter.visibility and self._importing:
            rules, names = self._adapter.visibility, self._surroundings.names()
            libraries = await self._surroundings.libraries()
            seen = await asyncio.to_thread(self._seen, rules, self._importing, asked, symbol, names, libraries)
        if changes == self._changes:
            _make_room(self._seeing, _MOST_SEEN)
            self._seeing[asked, symbol] = seen
        return seen

    # --- inside ------------------------------------------------------------------------------------

    def _seen(
        self,
        rules: Visibility,
        importing: Importing,
        asked: frozenset[Path],
        symbol: Symbol,
        names: list[tuple[str, str]],
        libraries: Sequence[str],
    ) -> frozenset[Path]:
        index = self.index
        made_of = index.imports_changed, names, libraries
        if self._packages is None or self._packages[0] != made_of:
            packages = Packages(
                rules,
                importing,
                ((path, index.imports(path)) for path in index.paths()),
                names,
                libraries,
                self._adapter.extensions,
                self._adapter.workspace.dependency_folder_names,
                self._libraries_import,
            )
            self._packages = made_of, packages
        seen = seeing(asked, symbol, rules, self._packages[1], index.imports)
        if len(seen) < len(asked):
            naming = {path for word in rules.naming_words for path in index.files_with(word)}
            seen |= {path for path in asked if str(path) in naming}
        return seen


def _importing(adapter: Adapter) -> Importing | None:
    lexing = next((language.lexing for language in adapter.languages if language.lexing), None)
    return Importing(adapter.visibility, lexing) if adapter.visibility and lexing else None


def _make_room(answers: dict[Any, Any], most: int) -> None:
    """One more is remembered: the oldest goes."""
    if len(answers) >= most:
        del answers[next(iter(answers))]
