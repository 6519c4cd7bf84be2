"""How a server is made to take in changed files, where telling it of them is not enough: the Protocol `Reloading`.

Two ways conform to it: a server is asked about each changed file, and loads the package of it (`PackageRequests`), or
each is opened, and the server reads it then (`Reopening`). See `[changes]` of an adapter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count, first_few

_MOST_NAMED = 3  # files with errors whose errors are told

Known = Callable[[], Awaitable[None]]
"""Waits until the server knows the workspace, with a bound."""


class Looked(Struct, frozen=True):
    """At which files a server has looked: the diagnostics of `covers` are those of their present texts.

    `unread` are files that it did not read in time. `units` are the errors of files that were looked at with all that
    they include; of the `parts`, which are compiled only so, the diagnostics of documents do not count. `untold` files
    have errors of which nobody knows, or may have: those of `hidden` because of what is wrong elsewhere. `disturbed`:
    the server had other texts in the meantime. Of `undated` files it has not said of which text its diagnostics are,
    and those of `outdated` documents are of their text of before.
    """

    covers: Collection[Path]
    unread: Collection[Path] = ()
    units: Mapping[Path, list[Any]] = field(default_factory=dict)
    parts: Collection[Path] = ()
    untold: Collection[Path] | None = None
    hidden: Collection[Path] = ()
    disturbed: bool = False
    undated: Collection[Path] = ()
    outdated: Collection[Path] = ()


class Reloading(Protocol):
    """What a session needs from each way of reloading."""

    def started(self) -> None:
        """Note that there is a new server, which knows only its index."""

    async def load(self, changed: Collection[Path], *, to_check: bool = False) -> bool:
        """Have the changed files taken in; whether the server knows more now than when it was told of them.

        `changed` are all since the last call that was not cancelled. See `Backend.sync` for `to_check`.
        """

    async def reload_all(self, root: Path, *, settings: bool = False) -> None:
        """Have a server that nobody told of changes look at the disk again; `root` is its folder.

        With `settings`, its settings are others too.
        """

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """Wait until the server has taken in the buffers of `paths`, which an editor has told it of."""

    def has_reread(self, path: Path) -> bool:
        """See `Backend.has_reread`."""

    def mistrust(self, path: Path, name: str) -> None:
        """See `Backend.mistrust`."""

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """Have the files taken in in which `word` may stand unseen; with `part`, a part of a word is enough.

        Returns those that are not taken in yet.
        """

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """Have the server say what is wrong in the `changed` files and in those that depend on them.

        None: nothing is read, and the server has said what it has said.
        """

    async def gaps(self, scope: Scope) -> list[Gap]:
        """What makes answers incomplete beyond what the server says itself; see `Backend.gaps`."""


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
