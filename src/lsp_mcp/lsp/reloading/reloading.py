"""What a session asks of either kind of reloading: `Reloading`, which does nothing.

Two kinds of servers do not read a changed file by being told of it: one that must be asked about each
(`PackageRequests`), and one that must have it opened (`Reopening`). See `[changes]` of an adapter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count, first_few

_MOST_NAMED = 3  # files with errors whose errors are told

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

    async def gaps(self, scope: Scope) -> list[Gap]:
        """What makes answers incomplete beyond what the server says itself; see `Backend.gaps`."""
        return []


def error_gaps(word: str, errors: Mapping[Path, str], display_path: Callable[[Path], str]) -> list[Gap]:
    """The gap that `errors`, the first of each file that has `word`, make together, if there are any."""
    if not errors:
        return []
    named = [f"{display_path(path)} ({error})" for path, error in errors.items()]
    about = first_few(named, _MOST_NAMED)
    text = f"files with errors may have more uses of {word}: {about}"
    brief = f"{count(len(named), 'file')} with errors may have more uses of {word}"
    return [Gap("syntax_error", text, tuple(errors), brief=brief, about=about)]


def own_error_gap(path: Path, error: str | None, display_path: Callable[[Path], str]) -> list[Gap]:
    """The gap that an error in the very document makes that is asked about, if it has one."""
    return [Gap("syntax_error", f"{display_path(path)} has errors: {error}", (path,))] if error else []
