"""Settings that say which projects there are, kept as the workspace is: `FoundSettings`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.lsp.coverage import Coverage


class FoundSettings(Coverage):
    """A server that is told of the projects in its settings is replaced when a project comes or goes."""

    marked_by: frozenset[str] = frozenset()
    """The names of files and folders that may make a project."""

    def __init__(self) -> None:
        self._told: Mapping[str, Any] | None = None  # to the server that runs; None: there was none yet
        self._had: Sequence[Path] = ()
        self._changed = 0  # how often something did that may make a project
        self._settled = 0  # how often it had when `found` was asked last

    def found(self) -> Mapping[str, Any]:
        """The settings for the workspace as it is now; may be called in another thread."""
        return {}

    def programs(self) -> Sequence[Path]:
        """What else the server's settings depend on and nobody is told of, as far as it exists; each question asks."""
        return ()

    def settings(self) -> Mapping[str, Any]:
        """See `Coverage.settings`."""
        found = self.found()
        if self._told is None:
            self._told, self._had = found, self.programs()
        return found

    def changed(self, paths: Sequence[Path]) -> None:
        """See `Coverage.changed`."""
        self._changed += any(path.name in self.marked_by for path in paths)

    async def settle(self, reload_all: Callable[..., Awaitable[None]]) -> bool:
        """See `Coverage.settle`."""
        if self._told is None or (self._settled == self._changed and self.programs() == self._had):
            return False
        # What changes in the meantime, or was not looked at by a call that is cancelled, is looked at by the next one.
        changed = self._changed
        found = await asyncio.to_thread(self.found)
        self._settled, programs = changed, self.programs()  # which may be those of projects that were found
        if (found, programs) == (self._told, self._had):
            return False
        self._told, self._had = found, programs
        await reload_all(settings=True)
        return True
