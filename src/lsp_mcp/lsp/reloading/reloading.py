"""Making a server take in changed files if a notification is not enough: the Protocol `Reloading`.

For most servers a notification is enough (`PlainReloading`). Plug-ins have others: a request about each changed file
makes the server load its package, or opening each makes the server read it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from lsp_mcp.backend import Scope
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count, first_few

_MOST_NAMED = 3  # files listed with their errors

Known = Callable[[], Awaitable[None]]
"""Waits until the server has loaded the workspace, with a time limit."""


class Looked(Struct, frozen=True):
    """The files that a server has checked: the diagnostics of `covers` are for their present texts.

    `unread` files were not read in time. `units` are the errors of files checked with all their includes; for the
    `parts`, which are compiled only that way, documents' diagnostics do not count. `incomplete` files have, or may
    have, unknown errors: those of `hidden` because of errors elsewhere. `disturbed`: the server had other texts in the
    meantime. For `undated` files the server has not named the text of its diagnostics, about `silent` ones it has not
    reported at all, and those of `outdated` documents are for an earlier text.
    """

    covers: Collection[Path]
    unread: Collection[Path] = ()
    units: Mapping[Path, list[Any]] = field(default_factory=dict)
    parts: Collection[Path] = ()
    incomplete: Collection[Path] | None = None
    hidden: Collection[Path] = ()
    disturbed: bool = False
    undated: Collection[Path] = ()
    silent: Collection[Path] = ()
    outdated: Collection[Path] = ()


class Reloading(Protocol):
    """What a session needs from each implementation."""

    @property
    def reads_untold(self) -> bool:
        """Whether the server must be made to read files of which nobody has told it."""

    def started(self) -> None:
        """Note that there is a new server, which has only its index."""

    async def load(self, changed: Collection[Path], *, to_check: bool = False) -> bool:
        """Make the server take in the changed files; returns whether it knows more than after the notification.

        `changed` are all since the last call that was not cancelled. See `Backend.sync` for `to_check`.
        """

    async def load_alone(self, files: Collection[Path]) -> None:
        """Make the server take in `files` that it reads only while they are open, and on which no others depend."""

    async def reload_all(self, root: Path, *, settings: bool = False) -> None:
        """Make a server that received no notifications look at the disk again; `root` is its folder.

        With `settings`, its settings have changed too.
        """

    async def buffers_changed(self, paths: Collection[Path]) -> None:
        """Wait until the server has read the buffers of `paths`, which an editor has sent it."""

    def has_reread(self, path: Path) -> bool:
        """See `backend.Coverage.has_reread`."""

    def mistrust(self, path: Path, name: str) -> None:
        """See `backend.Coverage.mistrust`."""

    async def load_word(self, word: str, *, part: bool) -> frozenset[Path]:
        """Make the server read files that may contain `word`; with `part`, inside a longer word too.

        Returns those that are not read yet.
        """

    async def look_at(self, changed: Collection[Path] | None) -> Looked:
        """Make the server report the errors in the `changed` files and their dependents.

        None: nothing is read, and existing reports count.
        """

    async def gaps(self, scope: Scope) -> list[Gap]:
        """The gaps beyond those that the server reports itself; see `Backend.gaps`."""


def error_gaps(word: str, errors: Mapping[Path, str], display_path: Callable[[Path], str]) -> list[Gap]:
    """The combined gap of `errors`, the first of each file with `word`, if there are any."""
    if not errors:
        return []
    named = [f"{display_path(path)} ({error})" for path, error in errors.items()]
    about = first_few(named, _MOST_NAMED)
    text = f"files with errors may have more uses of {word}: {about}"
    brief = f"{count(len(named), 'file')} with errors may have more uses of {word}"
    return [Gap("syntax_error", text, tuple(errors), brief=brief, about=about)]


def own_error_gap(path: Path, error: str | None, display_path: Callable[[Path], str]) -> list[Gap]:
    """The gap caused by an error in the document asked about, if it has one."""
    return [Gap("syntax_error", f"{display_path(path)} has errors: {error}", (path,))] if error else []
