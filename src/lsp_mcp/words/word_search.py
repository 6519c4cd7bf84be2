"""The files that contain a word: `WordSearch`, for text that a server does not read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from lsp_mcp.disk.files import content_or_nothing

File = TypeVar("File", bound=str | Path)
_MOST = 200  # cached answers
_MOST_CHANGES = 10_000  # changed files remembered; beyond that, every answer is searched again


class _Answer(Struct, frozen=True):
    """Those of `files` that `have` the word, after the first `changes` changes."""

    files: Collection[Any]
    have: tuple[Any, ...]
    changes: int


class WordSearch:
    """Searches files for whole words. For a word asked about before, only files changed since are read."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Hashable, str], _Answer] = {}
        self._changes: list[Any] = []  # every file that changed, in order

    def changed(self, files: Iterable[File]) -> None:
        """These were created, changed or deleted; spelled as in the questions about them."""
        self._changes += files
        if len(self._changes) > _MOST_CHANGES:
            # Replaced, not emptied: a search in progress must not be cached.
            self._answers, self._changes = {}, []

    async def files_with(
        self, word: str, scope: Hashable, files: Collection[File], *, part: bool = False
    ) -> tuple[File, ...]:
        """Those of `files`, the present files of `scope`, that contain `word`; read in a thread.

        With `part`, inside a longer word too, ignoring case. Asking again with the identical `files` object costs
        nothing while nothing changes.
        """
        answers, changes = self._answers, self._changes
        before, seen = answers.get((scope, word)), len(changes)
        if before and before.files is files and before.changes == seen:
            return before.have
        kept, unread = _compared(before, files, changes)
        have = (*kept, *(await asyncio.to_thread(_having, word, unread, part) if unread else ()))
        answers[scope, word] = _Answer(files, have, seen)
        if len(answers) > _MOST:
            del answers[next(iter(answers))]
        return have


def _compared(
    before: _Answer | None, files: Collection[File], changes: list[File]
) -> tuple[list[File], Collection[File]]:
    """The part of an answer that is still valid, and those of `files` that must be read."""
    if before is None:
        return [], list(files)
    changed, now = set(changes[before.changes :]), frozenset(files)
    kept = [file for file in before.have if file in now and file not in changed]
    return kept, (now - frozenset(before.files)) | (now & changed)


def _having(word: str, files: Iterable[File], part: bool) -> tuple[File, ...]:
    spelled = word.encode("utf-8", "surrogatepass")
    if part:
        lower = spelled.lower()
        return tuple(file for file in files if lower in content_or_nothing(file).lower())
    whole = re.compile(rb"(?<!\w)" + re.escape(spelled) + rb"(?!\w)")
    # The plain search is many times as fast as the pattern, and most files don't have the word.
    return tuple(file for file in files if spelled in (content := content_or_nothing(file)) and whole.search(content))
