"""The files of a workspace that its build compiles or includes, and those it excludes: `BuildFiles`."""

from __future__ import annotations

import asyncio
import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.disk.feed import Feed
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.objects.second_names import SecondNames
from lsp_mcp.servers.clangd.compilation.conditionals import stands_in_condition
from lsp_mcp.servers.clangd.compilation.fragments import is_inside
from lsp_mcp.servers.clangd.compilation.includes import Includes, Links
from lsp_mcp.servers.clangd.compilation.whole_units import WholeUnit
from lsp_mcp.servers.clangd.rules import Compilation
from lsp_mcp.text import Text
from lsp_mcp.words.word_search import WordSearch

_NOTHING: frozenset[Path] = frozenset()
_MOST_INCLUDERS = 20  # of a file, which are read
_MOST_WHOLES = 2  # includes by one file, in which the server is shown the included one
_MOST_READ = 500_000  # bytes of each


class View(Struct, frozen=True):
    """The files at one moment. `inside` may be larger than the server's set, if its index can't be compared."""

    inside: Collection[Path]  # every file that is compiled, or included by a compiled one
    outside: Collection[Path]  # every other source file of the workspace
    compiled: Collection[Path]
    conditional: Collection[Path]  # compiled or outside files of which the preprocessor may exclude a part


class Included:
    """Which files without the extension of a source file are included by one, whatever they are called; immutable."""

    def __init__(self, adapter: Adapter, includes: Includes | None = None) -> None:
        self._adapter = adapter
        self.names = SecondNames(*includes.links) if includes else SecondNames()
        self.endings = includes.endings(lambda name: bool(adapter.language_of(Path(name)))) if includes else {}

    def language_of(self, path: Path) -> Language | None:
        """See `BuildFiles.language_of`."""
        seen: set[Path] = set()
        while not (language := self._adapter.language_of(path)) and path not in seen:
            seen.add(path)
            of_name = self.endings.get(path.name, {})
            path = next((by for ending, by in of_name.items() if f"{path}".endswith(f"/{ending}")), path)
        return language


class BuildFiles:
    """The files of a workspace; changes are processed at the next look."""

    def __init__(self, adapter: Adapter, rules: Compilation, feed: Feed, includes: Includes) -> None:
        self._rules = rules
        self._adapter = adapter
        self._feed = feed
        self._includes = includes
        self._compiled: Collection[Path] = _NOTHING
        self._indexed: Mapping[str, int] | None = None
        self._changed_since: set[Path] = set()  # since the server began to index
        self.last_inside: Collection[Path] = _NOTHING  # as it was at the last look
        self._looking: asyncio.Task[None] | None = None
        self._stamp = 0  # grows with each change
        self._changed: set[Path] = set()
        self._view: View | None = None
        self._leading_out: tuple[View, frozenset[Path]] | None = None
        self._conditional: dict[str, list[Path]] = {}
        self._parts: dict[Path, tuple[Path, int] | None] = {}  # see `part_of`
        self._including: dict[Path, Sequence[tuple[Path, int]]] = {}  # see `included_at`
        self._words = WordSearch()
        self._included = Included(adapter)
        self.on_included: Callable[[Collection[Path]], None] = lambda _: None  # files are sources that were none

    @property
    def second_names(self) -> SecondNames:
        """The links in the workspace to source files there."""
        return self._included.names

    def language_of(self, path: Path) -> Language | None:
        """The language of `path` by its name; else, if a source file includes it, the language of that one."""
        return self._included.language_of(path)

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that these were created, changed or deleted: they are read again."""
        paths = list(paths)
        self._changed.update(paths)
        self._changed_since.update(paths)
        self._stamp += 1
        self._view = None
        self._conditional = {}
        self._parts = {}
        self._including = {}
        self._words.changed(paths)

    def replace(self, includes: Includes, included: Included, compiled: Collection[Path]) -> None:
        """Replace the includes and the compiled files."""
        self._includes = includes
        self._take(included)
        self._compiled = compiled
        self._indexed, self._changed_since = None, set()
        self.changed(())

    def indexed(self, names: Counter[str]) -> None:
        """The number of files of each name in the server's index, now that it is complete."""
        self._indexed = names
        self.changed(())

    @property
    def compared(self) -> bool:
        """Whether `indexed` is known."""
        return self._indexed is not None

    def sources(self) -> list[Path]:
        """The source files of the workspace, and those that are compiled elsewhere."""
        return sorted({path for path in self._feed.files() if self.language_of(path)}.union(self._compiled))

    async def view(self) -> View:
        """The files that the build includes and excludes now."""
        while self._view is None:
            self._looking = self._looking or asyncio.create_task(self._look_once())
            # Shielded: the result is for all callers, and the changes are consumed.
            await asyncio.shield(self._looking)
        return self._view

    async def _look_once(self) -> None:
        try:
            changed, self._changed = self._changed, set()
            stamp, includes, compiled, indexed = self._stamp, self._includes, self._compiled, self._indexed
            view, included = await asyncio.to_thread(
                _look, includes, changed, self._adapter, self.sources(), self._feed, compiled, indexed
            )
            self.last_inside = view.inside
            self._take(included)
            if stamp == self._stamp:
                self._view = view
        finally:
            self._looking = None

    def _take(self, included: Included) -> None:
        """Use `included` from now on."""
        before, self._included = self._included, included
        if included.endings != before.endings:
            new = [path for path in self._feed.files() if included.language_of(path) and not before.language_of(path)]
            self.on_included(new)

    async def affected(self, changed: Collection[Path]) -> set[Path]:
        """Those of `changed` and every file that includes one of them, as far as the server answers for them."""
        await self.view()
        links = self.second_names.files
        return {path for path in self._includes.affected(changed) if self.language_of(path) and path not in links}

    def importers(self, path: Path) -> set[Path]:
        """The files that may include `path`, or import the module that it declares, themselves."""
        return self._includes.includers(path)

    async def that_include(self, files: Collection[Path]) -> frozenset[Path] | None:
        """`files` and every file that may include one of them, also indirectly, in the workspace or outside.

        None if one of `files` is unknown: then the includers are unknown too.
        """
        view = await self.view()
        if not all(path in self._includes.known for path in files):
            return None
        if self._leading_out is None or self._leading_out[0] is not view:
            out = self._includes.leading_out(_Libraries(self._rules).has, self._is_nowhere)
            self._leading_out = view, frozenset(self._includes.affected(out))
        including = self._includes.affected(files)
        if all(map(self._rules.compiles, files)):
            return frozenset(including)  # a header without generated files that include one
        return self._leading_out[1].union(including)

    def _is_nowhere(self, path: Path, name: str) -> bool:
        """Whether the server, which has compiled the text of `path` as it is, read no file of that name."""
        return bool(self._indexed) and name not in (self._indexed or ()) and path not in self._changed_since

    async def included_by(self, files: Collection[Path]) -> frozenset[Path]:
        """`files` and every known file that one of them may include, also indirectly."""
        await self.view()
        return frozenset(self._includes.reached(files))

    async def part_of(self, path: Path) -> tuple[Path, int] | None:
        """File and line, from 1, of the code that `path` is only a part of; None if it is compiled, or not such a part.

        The first files that include it, by their paths, are looked at; one that does so between declarations is enough,
        unless it is not called like a source file: such a file seldom includes what it needs.
        """
        if path in self._compiled:
            return None
        await self.view()
        known = self._parts  # replaced when something changes in the meantime
        if path not in known:
            includes = self._includes
            includers = sorted(includes.includers_by_any_name(path), key=lambda one: (one.parent != path.parent, one))
            includers = includers[:_MOST_INCLUDERS]
            everywhere = not self._adapter.language_of(path)
            known[path] = await asyncio.to_thread(
                _part_of, path, includers, includes.places, self.language_of, everywhere=everywhere
            )
        return known[path]

    async def included_at(self, path: Path) -> Sequence[tuple[Path, int]]:
        """A file, if possible a compiled one, and lines, from 1, that include `path`; none if that is compiled."""
        if path in self._compiled:
            return ()
        await self.view()
        known = self._including  # replaced when something changes in the meantime
        if path not in known:
            includers = sorted(
                self._includes.includers_by_any_name(path), key=lambda one: (one not in self._compiled, one)
            )
            known[path] = await asyncio.to_thread(_included_at, path, includers, self._includes.places)
        return known[path]

    async def whole_unit(self, path: Path, text: Text, language: Language, prefix: str, *, apart: bool) -> WholeUnit:
        """See `WholeUnit`."""
        await self.view()
        libraries = _Libraries(self._rules).has
        return WholeUnit(
            path, text, language, prefix, self._rules.include_pattern, self._includes, libraries, apart=apart
        )

    async def outside_with(self, word: str, *, part: bool) -> list[Path]:
        """The files outside the build that contain `word`; with `part`, inside a word too, ignoring case."""
        outside = (await self.view()).outside
        return sorted(await self._words.files_with(word, ("outside", part), outside, part=part))

    async def conditional_with(self, word: str) -> list[Path]:
        """The files, except headers of the build, with `word` in a part that the preprocessor may exclude."""
        conditional = (await self.view()).conditional
        known = self._conditional  # replaced when something changes in the meantime
        if word not in known:
            files = await self._words.files_with(word, "conditional", conditional)
            known[word] = await asyncio.to_thread(_conditional, word, files)
        return known[word]

    async def having(self, word: str, files: Iterable[Path]) -> list[Path]:
        """Those of `files` that contain `word`."""
        files = frozenset(files)
        return sorted(await self._words.files_with(word, files, files))


class _Libraries:
    """The headers in system folders."""

    def __init__(self, rules: Compilation) -> None:
        globs = rules.library_folders
        self._folders = [folder for pattern in globs for folder in glob.glob(pattern)]  # noqa: PTH207 (absolute)
        self._own = re.compile(rules.library_pattern)

    def has(self, spelled: str) -> bool:
        """Whether an include's spelling names one of them."""
        return bool(self._own.fullmatch(spelled)) or any(
            os.path.isfile(os.path.join(folder, spelled))  # noqa: PTH113, PTH118 (strings: there are many)
            for folder in self._folders
        )


def _part_of(
    path: Path,
    includers: Iterable[Path],
    places: Callable[[Path, Path, bytes], list[int]],
    language_of: Callable[[Path], Language | None],
    *,
    everywhere: bool,
) -> tuple[Path, int] | None:
    found = None
    for includer in includers:
        content = content_or_nothing(includer)[:_MOST_READ]
        for place in places(path, includer, content):
            before = content[:place].decode("utf-8", "replace")
            if not everywhere and not is_inside(before, language_of(includer)):
                return None
            found = found or (includer, before.count("\n") + 1)
    return found


def _included_at(
    path: Path, includers: Iterable[Path], places: Callable[[Path, Path, bytes], list[int]]
) -> list[tuple[Path, int]]:
    for includer in includers:
        content = content_or_nothing(includer)[:_MOST_READ]
        if found := places(path, includer, content):
            return [(includer, content[:place].count(b"\n") + 1) for place in found[:_MOST_WHOLES]]
    return []


def _look(
    includes: Includes,
    changed: Iterable[Path],
    adapter: Adapter,
    sources: list[Path],
    feed: Feed,
    compiled: Collection[Path],
    indexed: Mapping[str, int] | None,
) -> tuple[View, Included]:
    links = links_in(feed, compiled)
    includes.forget({*changed, *links.files, *includes.links.files})
    includes.links = links
    includes.update(list(feed.files()), sources)
    inside = includes.reached(compiled)
    inside -= _not_indexed(inside, {*compiled, *links.files, *links.files.values()}, indexed)
    included = Included(adapter, includes)
    # A file of any name that a source file includes is one, too.
    there = {*sources, *(path for path in includes.known if included.language_of(path))}
    outside = [
        path for path in sorted(there) if not (path in inside or path in links.files or adapter.is_generated(path))
    ]
    known = includes.known
    conditional = [path for path in {*compiled, *outside} if path in known and known[path].conditional]
    return View(inside, outside, compiled, conditional), included


def links_in(feed: Feed, compiled: Collection[Path]) -> Links:
    """The links in a workspace; not those to files that are compiled by the link's name."""
    found = {Path(link): Path(os.path.realpath(link)) for link in feed.links()}
    there = set(feed.paths()) if found else set()
    files = {link: to for link, to in found.items() if str(to) in there and link not in compiled}
    roots = feed.folders()
    folders = {link: to for link, to in found.items() if to.is_dir() and any(map(to.is_relative_to, roots))}
    return Links(files, folders)


def _not_indexed(inside: Collection[Path], known: Collection[Path], indexed: Mapping[str, int] | None) -> set[Path]:
    """Those of `inside` that the server may not have: behind an `#if`, or because another file is meant.

    Its index has fewer files of that name than seem to be included; which ones are missing is unknown. It has those
    that are `known` to be there.
    """
    if not indexed:
        return set()  # it is not complete yet, or elsewhere
    count = Counter(path.name for path in inside)
    few = {name for name, number in count.items() if number > indexed.get(name, 0)}
    return {path for path in inside if path.name in few and path not in known}


def _conditional(word: str, files: Iterable[Path]) -> list[Path]:
    return [path for path in sorted(files) if stands_in_condition(word, _text(path))]


def _text(path: Path) -> str:
    return content_or_nothing(path).decode("utf-8", "replace").replace("\r\n", "\n")
