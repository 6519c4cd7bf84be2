"""The index of a workspace's words, kept current with the watch, and stored between sessions: `KeptIndex`."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from pathlib import Path

from lsp_mcp.adapters import Adapter, Language
from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.disk.files import Signature, content_or_nothing
from lsp_mcp.text import Text
from lsp_mcp.words.index import WordIndex, words_in
from lsp_mcp.words.packages import Importing
from lsp_mcp.words.saved import load, save

log = logging.getLogger(__name__)

_WORTH_SAVING = 20, 0.02  # minimum number of newly read files, and their share, for storing it again
_RACY = 0.05  # seconds: a file written this shortly before it was read may change unnoticed (coarse mtime)
_FIRST_SECONDS = 1.0  # that a question may wait for the first reading
_LOOKED_AT = 64  # consecutive files whose state is checked

LanguageOf = Callable[[Path], Language | None]
Buffers = Callable[[], Mapping[Path, Text]]
"""An editor's texts of files, which take precedence over the disk."""


class KeptIndex:
    """Reads the source files of `adapter` in the workspace `root` in a thread, and changed ones again.

    `paths` returns every file there. `language_of` knows source files that are not called like one.
    """

    def __init__(
        self,
        adapter: Adapter,
        root: Path,
        paths: Callable[[], Iterable[str]],
        importing: Importing | None,
        buffers: Buffers,
        language_of: LanguageOf | None = None,
    ) -> None:
        self.index = WordIndex()
        self._adapter = adapter
        self._root = root
        self._paths = paths
        self._importing = importing
        self._buffers = buffers
        self._language_of = language_of
        self._pending: set[str] | None = None  # files to read; None: all of them
        self._reading: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._has_read = False  # all files, once
        self._total = 0
        self._closed = False

    def is_source(self, path: str) -> bool:
        """Whether the file `path` belongs into the index, or is there: what it was told by may be gone."""
        return path in self.index or self._is_source(path)

    def begin(self) -> None:
        """Start reading the unread files, unless that is already under way."""
        if self._pending != set() and not self._closed and not self._is_reading:
            # In its own context: it is not a part of the call that starts it.
            self._reading = asyncio.create_task(self._read(), context=Context())

    def changed(self, sources: Iterable[Path]) -> None:
        """These source files were created, changed or deleted, on disk or in a buffer."""
        if self._pending is not None:
            self._pending.update(map(str, sources))

    def unknown(self) -> str:
        """Files that are not read yet; empty if the index is current."""
        if self._pending == set() and not self._is_reading:
            return ""
        read = len(self.index)
        return f"{read:,} of {max(self._total, read):,} files are in the index of words"

    async def wait(self, seconds: float | None) -> None:
        """Wait until all files are read, at most `seconds`; unless that is 0, longer during the first reading."""
        if seconds and not self._has_read:
            seconds = max(seconds, _FIRST_SECONDS)
        end = None if seconds is None else time.monotonic() + seconds
        while self.unknown() and not self._closed:
            self.begin()
            assert self._reading
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            # `wait` does not cancel it with its caller: it is for all callers.
            done, _ = await asyncio.wait([self._reading], timeout=left)
            for task in done:
                task.result()  # a defect is raised, not retried

    async def is_on_disk(self) -> bool:
        """Whether every file in the index has the text that was read, also if a change was not reported yet."""
        index = self.index
        return not self.unknown() and await asyncio.to_thread(lambda: all(_is_as_read(index, p) for p in index.paths()))

    async def close(self) -> None:
        """Stop reading."""
        self._closed = True
        if self._reading:
            await asyncio.wait([self._reading])
        if self._saving:
            await asyncio.wait([self._saving])

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _is_reading(self) -> bool:
        return self._reading is not None and not self._reading.done()

    async def _read(self) -> None:
        """Read the pending files. The first reading is visible before it is stored."""
        if self._saving:
            await asyncio.wait([self._saving])  # the index does not change while it is stored
        # Listed here: the watch and the editor are not thread-safe.
        held = {str(path): text for path, text in self._buffers().items()}
        pending = self._pending
        if pending is None:
            listed = list(self._paths())
            self._total = len(listed)  # at most: which of them are sources is found out in the thread
            self._pending = set()
            is_worth_saving = await asyncio.to_thread(self._read_first, listed, held)
            self._has_read = True
            if is_worth_saving:
                self._saving = asyncio.create_task(asyncio.to_thread(self._save))
        else:
            self._pending = set()
            await asyncio.to_thread(self._read_all, pending, held)

    def _is_source(self, path: str) -> bool:
        is_named = self._adapter.language_of(path) or (self._language_of and self._language_of(Path(path)))
        return bool(is_named) and not self._adapter.is_generated(path)

    def _read_first(self, listed: list[str], held: Mapping[str, Text]) -> bool:
        """Load the stored index as far as it is valid, and read the rest; returns whether that is worth storing."""
        sources = [path for path in listed if self._is_source(path)]
        self._total = len(sources)
        file = self._file()
        if file and (table := load(file, self._rules())):
            index, there = WordIndex(table), set(sources)
            for path in index.paths():
                if path not in there:
                    index.drop(path)
            self.index = index
        changed = []
        for number, path in enumerate(sources):
            stamp = 0 if path in held else _stamp(path)
            if stamp in (0, _UNSURE) or stamp != self.index.stamp(path):
                changed.append(path)
            if number % _LOOKED_AT == 0:
                time.sleep(0)
        self._read_all(changed, held)
        least, part = _WORTH_SAVING
        return len(changed) > max(least, part * len(sources)) and not self._closed

    def _save(self) -> None:
        if file := self._file():
            try:
                save(file, self.index.compact(), self._rules())
            except OSError as error:
                log.warning("%s: %s", file, error)

    def _read_all(self, files: Iterable[str], held: Mapping[str, Text]) -> None:
        for path in files:
            if self._closed:
                return
            if text := held.get(path):
                self._put(path, text.content.encode("utf-8", "surrogatepass"), 0)
            elif self._is_source(path) and (stamp := _stamp(path)):
                self._put(path, content_or_nothing(path), stamp)
            else:
                self.index.drop(path)
            time.sleep(0)  # the event loop may wait for the interpreter

    def _put(self, path: str, content: bytes, stamp: int) -> None:
        imports = self._importing.imports(content) if self._importing else ()
        self.index.put(path, words_in(content), imports, stamp, _digest(content))

    def _file(self) -> Path | None:
        """Its place."""
        try:
            return checkout_folder(self._root) / f"{self._adapter.name}.words"
        except OSError as error:
            log.warning("the index of words is not kept: %s", error)
            return None

    def _rules(self) -> str:
        return self._importing.rules if self._importing else ""


def _is_as_read(index: WordIndex, path: str) -> bool:
    stamp = _stamp(path)
    return (stamp == index.stamp(path) and stamp != _UNSURE) or _digest(content_or_nothing(path)) == index.content(path)


_UNSURE = 1  # a stamp that no content has


def _stamp(path: str) -> int:
    """A number that identifies the content of `path`; 0 if there is no such file."""
    signature = Signature.read(path)
    if signature is None:
        return 0
    if time.time_ns() - max(signature.mtime_ns, signature.ctime_ns) < _RACY * 1e9:
        return _UNSURE
    return _digest(struct.pack("<4Q", *(number % 2**64 for number in signature))) | 2


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
