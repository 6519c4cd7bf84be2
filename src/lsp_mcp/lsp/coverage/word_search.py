"""Which files have a word: `WordSearch`, for what a server doesn't look into."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Hashable, Iterable
from pathlib import Path

from lsp_mcp.disk.files import content_or_nothing

_MOST = 1_000  # answers remembered


class WordSearch:
    """Searches files for whole words, and remembers what it found until something changes."""

    def __init__(self) -> None:
        self._found: dict[tuple[Hashable, str], tuple[Path, ...]] = {}

    def changed(self) -> None:
        """Some file is not as it was."""
        # Replaced, not emptied: a search that goes on meanwhile must not be remembered.
        self._found = {}

    async def files_with(
        self, word: str, scope: Hashable, files: Iterable[Path], *, part: bool = False
    ) -> tuple[Path, ...]:
        """Those of `files`, which are the files of `scope`, that have `word`; read in a thread.

        With `part`, in a longer word too, whatever the case of its letters.
        """
        known = self._found
        if (scope, word) not in known:
            known[scope, word] = await asyncio.to_thread(_having, word, list(files), part)
            if len(known) > _MOST:
                del known[next(iter(known))]
        return known[scope, word]


def _having(word: str, files: Iterable[Path], part: bool) -> tuple[Path, ...]:
    spelled = re.escape(word.encode("utf-8", "surrogatepass"))
    pattern = re.compile(spelled, re.IGNORECASE) if part else re.compile(rb"(?<!\w)" + spelled + rb"(?!\w)")
    return tuple(file for file in files if pattern.search(content_or_nothing(file)))
