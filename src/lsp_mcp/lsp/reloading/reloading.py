"""What a session asks of either kind of reloading: `Reloading`, which does nothing.

Two kinds of servers do not read a changed file by being told of it: one that must be asked about each
(`PackageRequests`), and one that must have it opened (`Reopening`). See `[changes]` of an adapter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from lsp_mcp.backend import Use

_MOST_NAMED = 3  # files named in notes of one kind

Known = Callable[[], Awaitable[None]]
"""Waits until the server knows the workspace, with a bound."""


class Reloading:
    """What a session asks of either kind; a server that reads by itself what it is told of needs nothing of it."""

    def started(self) -> None:
        """There is a new server, which knows only what is in its index."""

    async def load(self, changed: Collection[Path]) -> bool:
        """Have the changed files loaded; whether the server knows more now than when it was told of them."""
        return False

    async def reload_all(self, root: Path) -> None:
        """Have a server that nobody told of changes look at the disk again; `root` is its folder."""

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """The buffers of `paths` changed in an editor, which has told the server."""

    def mistrust(self, path: Path, name: str) -> None:
        """See `Backend.mistrust`."""

    async def load_word(self, word: str, *, part: bool) -> None:
        """Have the files read in which `word` may stand unseen; with `part`, a part of a word is enough."""

    async def notes(self, use: Use | None, *, part: bool) -> list[str]:
        """What makes answers incomplete, besides what the server says itself; see `Backend.notes`."""
        return []

    async def problems(self, path: Path) -> list[str]:
        """See `Backend.problems`."""
        return []


def may_have_more(word: str, errors: Mapping[Path, str], display_path: Callable[[Path], str]) -> list[str]:
    """Notes on files that have `word`, and errors that may hide it from the server."""
    named = [f"{display_path(path)} may have more uses of {word}: {error}" for path, error in errors.items()]
    more = [f"so may {len(errors) - _MOST_NAMED:,} more files with errors"] if len(errors) > _MOST_NAMED else []
    return named[:_MOST_NAMED] + more
