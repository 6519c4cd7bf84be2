"""The words of a workspace's source files, as fresh as what the watch has told: `WorkspaceWords`."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import Context
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.remembered import Remembered
from lsp_mcp.servers.traits import Visibility
from lsp_mcp.text import Span, Text
from lsp_mcp.words.index import WordIndex, words_in
from lsp_mcp.words.kept_index import Buffers, KeptIndex, LanguageOf
from lsp_mcp.words.lexing import Occurrences, occurrences_in_thread
from lsp_mcp.words.packages import Importing, Imports, Packages
from lsp_mcp.words.qualified import qualified
from lsp_mcp.words.visibility import Symbol, may_declare, seeing

_MOST_OCCURRENCES = 20_000  # places remembered
_MOST_SEEN = 50  # symbols remembered
_MOST_ANSWERED = 200_000  # files remembered for words
_MANY = 200  # files
_MOST_REACHED = 200  # files that include an edited one: beyond that, too much is affected to look into each


class Includes(Protocol):
    """Which files of a workspace include which, through others too; more rather than less."""

    async def that_include(self, files: Collection[Path]) -> frozenset[Path] | None:
        """`files` and every file that may include one of them; None if that is not known."""

    async def included_by(self, files: Collection[Path]) -> frozenset[Path]:
        """`files` and every file that one of them may include."""


class Surroundings(Protocol):
    """What of a workspace says where imports lead."""

    def names(self) -> list[tuple[str, str]]:
        """What the path of an import may begin with, and the folder that it means then."""

    async def libraries(self) -> Sequence[str]:
        """The folders in which dependencies lie."""


class FilesWith(Struct, frozen=True):
    """The files that have a word; one may have another word instead, see `WordIndex`."""

    files: tuple[Path, ...]  # sorted
    unknown: str = ""  # why there may be more; empty: these are all


class Reached(Struct, frozen=True):
    """Code that may mean something else after a change: in whole `folders`, or in `files`.

    A symbol whose name is made of other words than these `words` is declared where it was; None: any one is.
    """

    folders: frozenset[str] = frozenset()
    files: frozenset[Path] = frozenset()
    words: frozenset[str] | None = None

    def has(self, path: Path) -> bool:
        """Whether code in `path` may mean something else."""
        return path in self.files or str(path.parent) in self.folders


class WorkspaceWords:
    """See `Words`. `paths` gives every file of the workspace `root`, `first_name` that of a file with several."""

    def __init__(
        self,
        adapter: Adapter,
        root: Path,
        paths: Callable[[], Iterable[str]],
        buffers: Buffers = dict,
        surroundings: Surroundings | None = None,
        includes: Includes | None = None,
        visibility: Visibility | None = None,
        language_of: LanguageOf | None = None,
        first_name: Callable[[Path], Path] = lambda path: path,
    ) -> None:
        self._adapter = adapter
        self._language_of = language_of or adapter.language_of
        self._first_name = first_name
        self._visibility = visibility
        self._surroundings = surroundings
        self._paths = paths
        self._buffers = buffers
        self._includes = includes
        self._importing = _importing(adapter, visibility)
        self._kept = KeptIndex(adapter, root, paths, self._importing, buffers, language_of)
        self._changes = 0  # how often anything came, changed or went
        self._answers: dict[str, tuple[Path, ...]] = {}
        self._answered = 0  # files in `_answers`
        self._packing = asyncio.Lock()
        self._preparing: asyncio.Task[None] | None = None
        self._closed = False
        self._path_of: dict[str, Path] = {}
        self._seeing: dict[tuple[frozenset[Path], Symbol], frozenset[Path]] = {}
        self._packages: tuple[object, Packages] | None = None  # and what it was made of
        self._states: dict[str, tuple[int, str]] = {}  # by word, with `_changes` then
        self._libraries_import: dict[str, Imports] = {}
        self._occurrences: Remembered[tuple[Path, str], int, Occurrences] = Remembered(_MOST_OCCURRENCES)

    @property
    def index(self) -> WordIndex:
        """What is known by now."""
        return self._kept.index

    def begin(self) -> None:
        """Start reading the unread files, unless that is already under way."""
        self._kept.begin()
        if self._preparing is None and not self._closed:
            self._preparing = asyncio.create_task(self._prepare(), context=Context())

    def changed(self, paths: Collection[Path]) -> None:
        """These files came, changed or went, on disk or in a buffer."""
        if not paths:
            return
        self._changes += 1
        self._seeing.clear()  # they may say what imports lead to
        if sources := [path for path in paths if self._kept.is_source(str(path))]:
            self._answers.clear()
            self._kept.changed(sources)

    def paths(self) -> list[str]:
        """See `Words.paths`."""
        return list(self._paths())

    def changes(self) -> int:
        """See `Words.changes`."""
        return self._changes

    def imports_begin_with(self) -> list[tuple[str, str]]:
        """See `Words.imports_begin_with`."""
        return self._surroundings.names() if self._surroundings else []

    async def close(self) -> None:
        """End what goes on."""
        self._closed = True
        if self._preparing:
            self._preparing.cancel()
            await asyncio.wait([self._preparing])
        await self._kept.close()

    async def files_with(self, word: str, *, seconds: float | None = None) -> FilesWith:
        """See `Words.files_with`."""
        if (known := self._answers.get(word)) is not None:
            return FilesWith(self._once(known))
        await self._kept.wait(seconds)
        changes, unknown = self._changes, self._kept.unknown()
        # To look through thousands of entries, and to make as many paths, takes a while.
        index = self.index
        names = await asyncio.to_thread(index.files_with, word) if index.is_common(word) else index.files_with(word)
        found = self._as_paths(names) if len(names) < _MANY else await asyncio.to_thread(self._as_paths, names)
        if not unknown and changes == self._changes:
            if self._answered > _MOST_ANSWERED:
                self._answers.clear()
                self._answered = 0
            self._answers[word] = found
            self._answered += len(found) + 1
        return FilesWith(self._once(found), unknown)

    async def occurrences(self, path: Path, text: Text, word: str) -> Occurrences:
        """See `Words.occurrences`."""
        key, stamp = (path, word), hash(text.content)
        found = self._occurrences.get(key, stamp)
        if found is None:
            found = await occurrences_in_thread(text, word, self._language_of(path))
            self._occurrences.put(key, stamp, found, len(found) + 1)
        return found

    async def that_can_see(self, files: Collection[Path], symbol: Symbol) -> frozenset[Path]:
        """See `Words.that_can_see`."""
        candidates = frozenset(files)
        if symbol.role == "local":
            return candidates.intersection(symbol.declared)
        if self._kept.unknown():
            return candidates
        if (candidates, symbol) in self._seeing:
            return self._seeing[candidates, symbol]
        changes, seen = self._changes, candidates
        if packages := await self._packages_now():
            seen = await asyncio.to_thread(self._seen, packages, candidates, symbol)
        elif self._includes:
            seen = candidates & await self._reached(self._includes, candidates, symbol)
        if changes == self._changes:
            _make_room(self._seeing, _MOST_SEEN)
            self._seeing[candidates, symbol] = seen
        return seen

    async def that_can_mean(self, spans: Collection[Span], text: Text, path: Path, symbol: Symbol) -> list[Span]:
        """See `Words.that_can_mean`."""
        rules, packages = self._visibility, None if self._kept.unknown() else await self._packages_now()
        if not (spans and rules and packages):
            return list(spans)
        return await asyncio.to_thread(self._meaning, packages, rules, spans, text, path, symbol)

    async def that_may_use(self, path: Path, files: Sequence[Path]) -> list[Path]:
        """Those of `files` that may use what `path` declares: they import its folder, directly or indirectly.

        If its folder is a library's, those that import from the workspace; in a language without packages, all.
        """
        packages = None if self._kept.unknown() else await self._packages_now()
        if packages is None:
            return list(files)
        imports, folder = self.index.imports, str(path.parent)
        if not packages.has(folder):
            return [one for one in files if not all(map(packages.is_library, imports(str(one))))]
        leading = await asyncio.to_thread(packages.leading_to, folder)
        return [one for one in files if str(one.parent) == folder or packages.imports_any(imports(str(one)), leading)]

    async def reached_from(self, files: Collection[Path], *, seconds: float) -> Reached | None:
        """See `Words.reached_from`."""
        await self._kept.wait(seconds)
        if self._includes and not self._kept.unknown():
            including = await self._includes.that_include(files)
            if including is None or len(including) > _MOST_REACHED:
                return None
            return Reached(
                files=including, words=await asyncio.to_thread(self._words_in, including, dict(self._buffers()))
            )
        packages = None if self._kept.unknown() else await self._packages_now()
        folders = {str(path.parent) for path in files}
        are_sources = all(self._kept.is_source(str(path)) for path in files)
        if not (packages and are_sources and all(map(packages.has, folders))):
            return None
        leading = await asyncio.to_thread(lambda: [packages.leading_to(folder) for folder in folders])
        return Reached(frozenset[str]().union(*leading, (path.rpartition(os.sep)[0] for path in self._naming())))

    async def is_on_disk(self) -> bool:
        """See `Words.is_on_disk`."""
        return await self._kept.is_on_disk()

    async def state_of(self, word: str, *, seconds: float) -> str:
        """See `Words.state_of`."""
        await self._kept.wait(seconds)
        packages = None if self._kept.unknown() else await self._packages_now()
        if packages is None:
            return ""
        changes, known = self._changes, self._states.get(word)
        if known is None or known[0] != changes:
            known = self._states[word] = changes, await asyncio.to_thread(self._state, packages, word)
            _make_room(self._states, _MOST_SEEN)
        return known[1]

    # --- inside ------------------------------------------------------------------------------------

    def _once(self, files: Sequence[Path]) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(map(self._first_name, files)))

    def _words_in(self, files: Collection[Path], buffers: Mapping[Path, Text]) -> frozenset[str]:
        found: set[bytes] = set()
        for path in files:
            text = buffers.get(path)
            found |= words_in(text.content.encode("utf-8", "surrogatepass") if text else content_or_nothing(path))
        return frozenset(word.decode("utf-8", "replace") for word in found)

    def _state(self, packages: Packages, word: str) -> str:
        index = self.index
        having = index.files_with(word) | self._naming() if word else index.paths()
        files = packages.files_below({path.rpartition(os.sep)[0] for path in having})
        if files is None:
            return ""
        lines = (f"{path}\0{index.content(path):x}" for path in files)
        return hashlib.blake2b("\0".join(lines).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

    async def _prepare(self) -> None:
        """Know who imports what before the first question needs it."""
        await self._kept.wait(None)
        if not self._closed:
            await self._packages_now()

    async def _reached(self, includes: Includes, candidates: frozenset[Path], symbol: Symbol) -> frozenset[Path]:
        """Those of `candidates`, maybe among others, that include a declaration of `symbol`, or what may be one."""
        including = await includes.that_include(symbol.declared)
        if including is None or candidates <= including:
            return candidates
        # A header that includes nothing has what stands before it in the files that include it.
        reached = including | await includes.included_by(including)
        if candidates <= reached or symbol.internal or (symbol.unnamed_owner and not symbol.overrides):
            return reached
        having = self.index.files_with(symbol.name)
        # A method may be that of a base class, which its file includes.
        may_override = symbol.role in ("member", "unknown") and symbol.overrides
        above = await includes.included_by(symbol.declared) if may_override else frozenset()
        bases = {path for path in self._as_paths(having) if path in above}
        # Elsewhere only what has its owner can declare it; but a macro may spell that.
        if symbol.owner and (owning := self.index.files_with(symbol.owner)).issuperset(map(str, symbol.declared)):
            having &= owning
        elsewhere = {path for path in self._as_paths(having) if path not in reached}
        again = await asyncio.to_thread(self._declaring, bases | elsewhere, symbol.name, dict(self._buffers()))
        found = await includes.that_include(again) if again else frozenset[Path]()
        return candidates if found is None else reached | found

    def _meaning(
        self, packages: Packages, rules: Visibility, spans: Collection[Span], text: Text, path: Path, symbol: Symbol
    ) -> list[Span]:
        of_packages = qualified(text, spans, rules, self._language_of(path), packages.is_library)
        homes = {str(declared.parent) for declared in symbol.declared}
        # A word qualified by a package's name is not a member; any other may be an embedded type, and so a field.
        is_known = all(map(packages.has, homes))
        return [
            span
            for span in spans
            if span not in of_packages
            or not (
                (symbol.role == "member" and text.content.startswith("(", text.point_offset(span.end)))
                or (is_known and not packages.imports_any((of_packages[span],), homes))
            )
        ]

    def _declaring(self, files: Collection[Path], name: str, buffers: Mapping[Path, Text]) -> list[Path]:
        """Those of `files` that may declare `name`."""
        found = []
        for path in files:
            text = buffers.get(path) or Text(content_or_nothing(path).decode("utf-8", "replace"))
            if may_declare(text, name, self._language_of(path)):
                found.append(path)
        return found

    def _as_paths(self, names: Collection[str]) -> tuple[Path, ...]:
        known = self._path_of
        return tuple(known.get(name) or known.setdefault(name, Path(name)) for name in sorted(names))

    async def _packages_now(self) -> Packages | None:
        """What imports what now; None for a language that has no packages."""
        around, rules, importing = self._surroundings, self._visibility, self._importing
        if around is None or rules is None or importing is None:
            return None
        async with self._packing:
            names, libraries, index = around.names(), await around.libraries(), self.index
            made_of = index.imports_changed, names, libraries
            if self._packages is None or self._packages[0] != made_of:
                files = [(path, index.imports(path)) for path in index.paths()]
                extensions = self._adapter.extensions
                copies = (*self._adapter.workspace.dependency_folder_names, *rules.path_folders)
                known, stopped = self._libraries_import, lambda: self._closed
                self._packages = (
                    made_of,
                    await asyncio.to_thread(
                        Packages, rules, importing, files, names, libraries, extensions, copies, known, stopped
                    ),
                )
            return self._packages[1]

    def _naming(self) -> set[str]:
        """The files that may name symbols without importing them."""
        rules = self._visibility
        return {path for word in rules.naming_words for path in self.index.files_with(word)} if rules else set()

    def _seen(self, packages: Packages, candidates: frozenset[Path], symbol: Symbol) -> frozenset[Path]:
        rules, index = self._visibility, self.index
        assert rules
        seen = seeing(candidates, symbol, rules, packages, index.imports)
        if len(seen) < len(candidates):
            naming = self._naming()
            seen |= {path for path in candidates if str(path) in naming}
        return seen


def _importing(adapter: Adapter, visibility: Visibility | None) -> Importing | None:
    lexing = next((language.lexing for language in adapter.languages if language.lexing), None)
    return Importing(visibility, lexing) if visibility and lexing else None


def _make_room(answers: dict[Any, Any], most: int) -> None:
    """One more is remembered: the oldest goes."""
    if len(answers) >= most:
        del answers[next(iter(answers))]
