"""What a running server says is wrong: `ServedProblems`, a `backend.Problems`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from lsp_mcp.backend import Checked, Trial
from lsp_mcp.lsp.checking import Checking
from lsp_mcp.lsp.diagnosing import Diagnosing
from lsp_mcp.lsp.life.lifetime import Lifetime


class ServedProblems:
    """The diagnostics of single documents (`diagnosing`), and of everything (`checking`).

    `load_projects` makes the server load what it should check. `trial_server` makes a server of its own for trials with
    the files that include the shown ones; None: the server itself tries those.
    """

    def __init__(
        self,
        lifetime: Lifetime,
        diagnosing: Diagnosing,
        checking: Checking,
        load_projects: Callable[[], None],
        trial_server: Callable[[], AbstractAsyncContextManager[Trial]] | None,
    ) -> None:
        self._lifetime = lifetime
        self._diagnosing = diagnosing
        self._checking = checking
        self._load_projects = load_projects
        self._trial_server = trial_server

    async def diagnosed(self, path: Path) -> bool:
        """See `backend.Problems.diagnosed`."""
        return await self._diagnosing.diagnosed(path)

    @property
    def has_versions(self) -> bool:
        """See `backend.Problems.has_versions`."""
        return self._diagnosing.has_versions

    def diagnostics(self, path: Path) -> list[Any]:
        """See `backend.Problems.diagnostics`."""
        return self._diagnosing.diagnostics(path)

    def begin_baseline(self) -> bool:
        """See `Checking.begin_baseline`."""
        return self._checking.begin_baseline()

    async def take_baseline(self) -> None:
        """See `Checking.take_baseline`."""
        await self._checking.take_baseline()

    @property
    def baseline(self) -> Checked | None:
        """See `backend.Problems.baseline`."""
        return self._checking.baseline

    async def check(self, also: Collection[Path] = (), *, only: bool = False) -> Checked:
        """See `backend.Problems.check`."""
        await self._lifetime.live()
        self._load_projects()
        return await self._checking.check(also, only=only)

    def trial(self, *, with_dependents: bool = False) -> AbstractAsyncContextManager[Trial]:
        """See `backend.Problems.trial`."""
        if with_dependents and self._trial_server:
            return self._trial_server()
        return self._checking.trial()
