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
        self._may_differ = False

    def found(self) -> Mapping[str, Any]:
        """The settings for the workspace as it is now; may be called in another thread."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """See `Coverage.settings`."""
        found = self.found()
        if self._told is None:
            self._told = found
        return found

    def changed(self, paths: Sequence[Path]) -> None:
        """See `Coverage.changed`."""
        self._may_differ |= any(path.name in self.marked_by for path in paths)

    async def settle(self, reload_all: Callable[..., Awaitable[None]]) -> bool:
        """See `Coverage.settle`."""
        if not self._may_differ or self._told is None:
            return False
        found = await asyncio.to_thread(self.found)
        self._may_differ = False
        if found == self._told:
            return False
        self._told = found
        await reload_all(settings=True)
        return True
