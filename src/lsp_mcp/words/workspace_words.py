"""The words of a workspace's source files, as fresh as what the watch has told: `WorkspaceWords`."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.text import Text
from lsp_mcp.words.index import WordIndex, words_in
from lsp_mcp.words.lexing import Occurrences, occurrences
from lsp_mcp.words.visibility import Symbol

_MOST_OCCURRENCES = 20_000  # places remembered

Buffers = Callable[[], Mapping[Path, Text]]
"""The texts that an editor has of files, which count more than what is on disk."""


@dataclass(frozen=True)
class FilesWith:
    """The files that have a word; one may have another word instead, see `WordIndex`."""

    files: tuple[Path, ...]  # sorted
    unknown: str = ""  # why there may be more; empty: these are all


class WorkspaceWords:
    """See `Words`. `paths` gives every file of the workspace."""

    def __init__(self, adapter: Adapter, paths: Callable[[], Iterable[str]], buffers: Buffers = dict) -> None:
        self._adapter = adapter
        self._paths = paths
        self._buffers = buffers
        self._index = WordIndex()
        self._pending: set[str] | None = None  # files to be read; None: all of them
        self._reading: asyncio.Task[None] | None = None
        self._total = 0
        self._closed = False
        self._answers: dict[str, FilesWith] = {}
        self._occurrences: OrderedDict[tuple[Path, str], tuple[int, Occurrences]] = OrderedDict()
        self._remembered = 0  # places in `_occurrences`

    @property
    def pairs(self) -> int:
        """How many words of files are kept, those of files as they were included."""
        return self._index.pairs

    def begin(self) -> None:
        """Begin to read what is to be read, unless it is going on."""
        if self._pending != set() and not self._closed and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read())

    def changed(self, paths: Iterable[Path]) -> None:
        """These files came, changed or went, on disk or in a buffer."""
        if sources := {str(path) for path in paths if self._adapter.language_of(path)}:
            self._answers.clear()
            if self._pending is not None:
                self._pending |= sources

    async def close(self) -> None:
        """End what goes on."""
        self._closed = True
        if self._reading:
            await asyncio.wait([self._reading])

    async def files_with(self, word: str, *, seconds: float | None = None) -> FilesWith:
        """See `Words.files_with`."""
        known = self._answers.get(word)
        if known:
            return known
        end = None if seconds is None else time.monotonic() + seconds
        while self._pending != set() or self._is_reading:
            self.begin()
            assert self._reading
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                break
            # Shielded by `wait`: it is for everybody.
            await asyncio.wait([self._reading], timeout=left)
            if self._closed:
                break
            if self._reading.done():
                self._reading.result()  # a defect is raised, not tried again
        unknown = self._unread()
        found = FilesWith(tuple(map(Path, sorted(self._index.files_with(word)))), unknown)
        if not unknown:
            self._answers[word] = found
        return found

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
        del symbol
        return frozenset(files)

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _is_reading(self) -> bool:
        return self._reading is not None and not self._reading.done()

    def _unread(self) -> str:
        if self._pending == set() and not self._is_reading:
            return ""
        return f"the index of words has read {len(self._index):,} of {max(self._total, len(self._index)):,} files"

    async def _read(self) -> None:
        """Read what is pending, in a thread."""
        if self._pending is None:
            # Listed here: the watch is for one thread.
            todo = [path for path in self._paths() if self._is_source(path)]
            self._total = len(todo)
        else:
            todo = list(self._pending)
        self._pending = set()
        held = {str(path): text for path, text in self._buffers().items()}
        await asyncio.to_thread(self._read_all, todo, held)
        self._answers.clear()

    def _read_all(self, todo: Iterable[str], held: Mapping[str, Text]) -> None:
        for path in todo:
            if self._closed:
                return
            if text := held.get(path):
                content = text.content.encode("utf-8", "surrogatepass")
            else:
                if not os.path.isfile(path):  # noqa: PTH113 (no Path: there are thousands)
                    self._index.drop(path)
                    continue
                content = content_or_nothing(path)
            self._index.put(path, words_in(content))
            time.sleep(0)  # the event loop may wait for the interpreter

    def _is_source(self, path: str) -> bool:
        extension = os.path.splitext(path)[1]  # noqa: PTH122
        extensions = self._adapter.extensions
        return extension in extensions or extension.lower() in extensions
