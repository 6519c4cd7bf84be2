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
        self._may_differ = False

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
        self._may_differ |= any(path.name in self.marked_by for path in paths)

    async def settle(self, reload_all: Callable[..., Awaitable[None]]) -> bool:
        """See `Coverage.settle`."""
        programs = self.programs()
        if self._told is None or not (self._may_differ or programs != self._had):
            return False
        found = await asyncio.to_thread(self.found)
        self._may_differ = False
        if (found, programs) == (self._told, self._had):
            return False
        self._told, self._had = found, programs
        await reload_all(settings=True)
        return True
