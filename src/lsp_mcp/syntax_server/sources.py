"""The source files of a workspace and what their syntax says, read when a question needs them: `Sources`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.disk.files import Files
from lsp_mcp.errors import LspMcpError, PathError, RefusedError
from lsp_mcp.file_kinds import kind_of
from lsp_mcp.remembered import Remembered
from lsp_mcp.syntax.codes import code_of
from lsp_mcp.syntax.definitions import Definition, definitions
from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.trees import TREES, Parsed
from lsp_mcp.text import Text
from lsp_mcp.words.word_search import WordSearch

_MOST_FILES = 200_000  # of a workspace
_MOST_PARSED = 3_000  # files for one question
_MOST_KEPT = 300_000  # definitions


class Source(Struct, frozen=True):
    """One file with its text and its grammar."""

    path: Path
    text: Text
    language_id: str
    grammar: Grammar

    def parsed(self) -> Parsed:
        """The text with its tree."""
        return TREES.tree_of(self.text, self.grammar, self.path)

    def is_code(self, offset: int) -> bool:
        """Whether `offset` is outside comments and strings."""
        code = code_of(self.text, self.language_id)
        return code is None or code.part(offset) in ("code", "never")


class Sources:
    """The files below `roots` in the `languages` (ids by kind of file). `shown` gives the text of an open document.

    Methods that are not `async` may take a while: call them in a thread.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        languages: Mapping[str, str],
        ignored: Collection[str],
        shown: Callable[[Path], Text | None],
    ) -> None:
        self.is_told = False  # whether the client tells of changes on disk; else nothing is kept
        self._roots = roots
        self._languages = languages
        self._ignored = frozenset(ignored)
        self._shown = shown
        self._files = Files()
        self._search = WordSearch()
        self._listed: tuple[Path, ...] | None = None
        self._kept: Remembered[Path, Text, tuple[Definition, ...]] = Remembered(_MOST_KEPT)

    def changed(self, paths: Collection[Path]) -> None:
        """These files were created, changed or deleted, here or on disk."""
        self._files.forget(paths)
        self._search.changed(paths)
        known = frozenset(self._listed or ())
        if any(path.is_file() != (path in known) for path in paths):
            self._listed = None

    def source(self, path: Path) -> Source:
        """The file `path`.

        Raises:
            PathError: it cannot be read, or is in no language known here.
            RefusedError: there is no grammar for its language.
        """
        kind = kind_of(path, self._languages)
        if kind is None:
            raise PathError(f"{path} is in no language that this server knows by its name or its first line")
        language_id = self._languages[kind]
        grammar = grammar_of(language_id)
        if grammar is None:
            raise RefusedError(f"no grammar for {language_id} is installed: pip install 'lsp-mcp[grammars]'")
        return Source(path, self._shown(path) or self._files.text(path), language_id, grammar)

    def definitions(self, source: Source) -> tuple[Definition, ...]:
        """The definitions in `source`.

        Raises:
            RefusedError: the grammar does not say what a definition is.
        """
        if (known := self._kept.get(source.path, source.text)) is not None:
            return known
        found = definitions(source.parsed(), source.grammar)
        if found is None:
            raise RefusedError(f"what a definition is in {source.language_id} is not known from its syntax")
        self._kept.put(source.path, source.text, tuple(found), 1 + len(found))
        return tuple(found)

    async def having(self, word: str, *, part: bool = False) -> list[Path]:
        """The files whose text has `word`, in order; with `part`, inside a longer word too, ignoring case.

        Raises:
            RefusedError: there are too many to read them all.
        """
        if not self.is_told:
            self._listed, self._search, self._files = None, WordSearch(), Files()
        if self._listed is None:
            self._listed = await asyncio.to_thread(self._list)
        found = await self._search.files_with(word, part, self._listed, part=part)
        if len(found) > _MOST_PARSED:
            raise RefusedError(f"{word} is in {len(found):,} files, more than are parsed for one question")
        return sorted(found)

    def read(self, paths: Iterable[Path]) -> Iterator[Source]:
        """Those of `paths` that can be read."""
        for path in paths:
            try:
                yield self.source(path)
            except LspMcpError:
                continue

    def named(self, name: str, paths: Iterable[Path]) -> Iterator[tuple[Source, Definition]]:
        """The definitions in `paths` called `name`."""
        return ((source, one) for source, one in self.defined(paths) if one.name == name)

    def defined(self, paths: Iterable[Path]) -> Iterator[tuple[Source, Definition]]:
        """All definitions in `paths`."""
        for source in self.read(paths):
            try:
                found = self.definitions(source)
            except RefusedError:
                continue
            yield from ((source, one) for one in found)

    def container(self, source: Source, one: Definition) -> list[str]:
        """The names of the definitions around `one` of `source`, outermost first, then that of its owner."""
        every, names = self.definitions(source), [one.owner] if one.owner else []
        while one.above >= 0:
            one = every[one.above]
            names.append(one.name)
        return names[::-1]

    def occurrences(self, word: str, source: Source) -> list[tuple[int, int]]:
        """Where `source` has `word` in its code, outside comments and strings."""
        spans = (tuple(map(source.text.point_offset, span)) for span in source.text.words(word))
        return [(start, end) for start, end in spans if source.is_code(start)]

    def _list(self) -> tuple[Path, ...]:
        """Every file in a known language, without those in ignored folders."""
        found = []
        for root in self._roots:
            for folder, folders, names in os.walk(root):
                folders[:] = [name for name in folders if name not in self._ignored]
                found += [Path(folder, name) for name in names if kind_of(f"{folder}/{name}", self._languages)]
                if len(found) > _MOST_FILES:
                    raise RefusedError(f"{root} has more than {_MOST_FILES:,} source files")
        return tuple(found)
