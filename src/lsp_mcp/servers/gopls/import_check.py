"""Imports that make a server drop packages, above all import cycles: `ImportCheck`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from pathlib import Path

from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import UnavailableError
from lsp_mcp.servers.gopls.projects import Project
from lsp_mcp.servers.gopls.rules import Projects
from lsp_mcp.wire.process import run

log = logging.getLogger(__name__)

_TIMEOUT = 20.0  # seconds for one command
_AT_ONCE = 400  # folders per command
Problems = dict[Path, str]  # by folder


class ImportCheck:
    """Runs a command on folders whose imports changed; folders with problems are checked again after each change.

    A server that has just started reads all packages itself and needs no check.
    """

    def __init__(
        self,
        rules: Projects,
        project_of: Callable[[Path], Project | None],
        env: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._rules = rules
        self._project_of = project_of
        self._env = env
        self._imports: dict[Path, tuple[str, ...]] = {}  # of changed files
        self._problems: Problems = {}
        self._due: set[Path] = set()  # folders to check
        self._repaired = False
        self._checking: asyncio.Task[None] | None = None

    def changed(self, sources: Iterable[Path]) -> None:
        """Note that these source files were created, changed or deleted."""
        if not self._rules.import_command:
            return
        changed = False
        for path in sources:
            changed = True
            imports = tuple(re.findall(self._rules.import_pattern, content_or_nothing(path).decode("utf-8", "replace")))
            if self._imports.get(path) != imports:
                self._imports[path] = imports
                self._due.add(path.parent)
        if changed:
            # Any change may have fixed it.
            self._due.update(self._problems)

    async def repaired(self) -> bool:
        """Whether a problem was fixed, at least partly: a server does not load dropped packages again by itself.

        Stays true until `taken_up`.
        """
        if before := set(self._problems):
            await self._finish()
            self._repaired |= bool(before - set(self._problems))
        return self._repaired

    def taken_up(self) -> None:
        """Note that the server has read all packages again."""
        self._repaired = False

    async def problems(self, project: Project | None) -> list[str]:
        """The present problems of `project`, or of all projects; one sentence each."""
        await self._finish()
        return [
            problem
            for folder, problem in self._problems.items()
            if project in (None, self._project_of(folder / "file"))
        ]

    async def close(self) -> None:
        """End a check that is still running."""
        if self._checking:
            self._checking.cancel()
            await asyncio.wait([self._checking])

    async def _finish(self) -> None:
        while self._due or self._checking:
            if self._checking is None:
                due, self._due = self._due, set()
                self._checking = asyncio.create_task(self._check(due), context=Context())
            # A caller that gives up must not end a check for others.
            await asyncio.shield(self._checking)

    async def _check(self, folders: set[Path]) -> None:
        try:
            by_project: dict[Path, list[Path]] = {}
            for folder in sorted(folders):
                self._problems.pop(folder, None)
                if folder.is_dir() and (project := self._project_of(folder / "file")):
                    by_project.setdefault(project.folder, []).append(folder)
            for root, inside in by_project.items():
                for start in range(0, len(inside), _AT_ONCE):
                    self._problems.update(await self._ask(root, inside[start : start + _AT_ONCE]))
        finally:
            self._checking = None

    async def _ask(self, root: Path, folders: list[Path]) -> Problems:
        names = [f"./{folder.relative_to(root).as_posix()}" for folder in folders]
        try:
            _, output = await run([*self._rules.import_command, *names], cwd=root, timeout=_TIMEOUT, env=self._env())
        except UnavailableError as error:
            return dict.fromkeys(folders[:1], f"whether packages import each other in a circle is not known: {error}")
        found: Problems = {}
        for line in output.split("\n"):
            folder, _, problem = line.partition("\t")
            if problem and re.search(self._rules.import_problem, problem):
                found.setdefault(Path(folder), problem.strip())
        return found
