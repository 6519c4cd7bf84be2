"""Source files excluded from the server's build (another system, another build tag): `ExcludedFiles`.

The server doesn't read them, so answers miss uses in them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import UnavailableError
from lsp_mcp.servers.gopls.kept_excluded import KeptExcluded
from lsp_mcp.servers.gopls.rules import Projects
from lsp_mcp.wire.process import run

log = logging.getLogger(__name__)

_AT_ONCE = 400  # folders per command
_MOST_HINTED = 20  # files examined for a hint
_TIMEOUT = 30.0  # seconds for one command


def how_to_build(rules: Projects, files: Sequence[Path]) -> str:
    """How a user can include those of the `left_out` files that state their condition; empty if none does."""
    if not rules.left_out_hint:
        return ""
    texts = [content_or_nothing(file).decode("utf-8", "replace") for file in files[:_MOST_HINTED]]
    said = [found[0] for text in texts if (found := re.search(rules.left_out_pattern, text))]
    tags = dict.fromkeys(tag for line in said for tag in re.findall(rules.left_out_tag, line))
    return rules.left_out_hint.format(tags=",".join(tags)) if tags else ""


class ExcludedFiles:
    """Asks a command, given folders, for the excluded files in them; caches the answer until a folder changes.

    `free` unblocks a command that waits for a named pipe. With `kept`, the answer about all folders of a project is
    stored for the next session.
    """

    def __init__(
        self,
        command: Sequence[str],
        free: Callable[[], Awaitable[object]] | None = None,
        env: Callable[[], Mapping[str, str]] = dict,
        kept: KeptExcluded | None = None,
    ) -> None:
        self._kept = kept
        self._command = command
        self._free = free
        self._env = env
        self._by_folder: dict[Path, frozenset[str]] = {}
        self._below: dict[Path, tuple[Sequence[Path], tuple[str, ...]]] = {}  # the last answer about each project
        self._unknown: dict[Path, str] = {}  # why the command gave no answer about a project, the last time
        self._asking = asyncio.Lock()
        self._changed: set[Path] = set()  # folders changed since the last run

    def changed(self, paths: Sequence[Path]) -> None:
        """Note that files in the folders of `paths` were created, changed or deleted."""
        folders = {path.parent for path in paths}
        self._changed |= folders
        if folders:
            self._below.clear()
        for folder in folders:
            self._by_folder.pop(folder, None)

    def forget(self) -> None:
        """Note that projects changed, and so perhaps the set of excluded files."""
        self._changed |= set(self._by_folder)
        self._below.clear()
        self._by_folder.clear()

    async def below(self, project: Path, folders: Sequence[Path]) -> tuple[str, ...]:
        """The excluded files directly in `folders`; the command runs in the folder `project`.

        Asking again with the identical `folders` object costs nothing and returns the identical answer.
        """
        last = self._below.get(project)
        if last and last[0] is folders:
            return last[1]
        async with self._asking:
            self._changed.clear()
            self._unknown.pop(project, None)
            unknown = [folder for folder in folders if folder not in self._by_folder]
            state = await self._take_kept(project, folders) if len(unknown) == len(folders) else ""
            unknown = [folder for folder in unknown if folder not in self._by_folder]
            for start in range(0, len(unknown), _AT_ONCE):
                await self._ask(project, unknown[start : start + _AT_ONCE])
            if state and unknown:
                await self._keep(project, folders, state)
            found = tuple(sorted(file for folder in folders for file in self._by_folder.get(folder, ())))
            for folder in self._changed:
                self._by_folder.pop(folder, None)  # the command's output may be older
            if all(folder in self._by_folder for folder in folders):
                self._below[project] = folders, found
        return found

    def unknown(self, project: Path) -> str:
        """Why the last answer of `below` about `project` may lack files; empty if it lacks none."""
        return self._unknown.get(project, "")

    async def _take_kept(self, project: Path, folders: Sequence[Path]) -> str:
        """Load what an earlier session stored, if still valid; the state that it is stored under, or empty."""
        if not self._kept or not folders:
            return ""
        if state := await self._kept.state(project, folders, self._command):
            found = await asyncio.to_thread(self._kept.stored, project, state)
            self._by_folder.update({folder: found[folder] for folder in folders if folder in found})
        return state

    async def _keep(self, project: Path, folders: Sequence[Path], state: str) -> None:
        """Store the known files, if complete and nothing has changed since `state`."""
        assert self._kept
        known = {folder: self._by_folder[folder] for folder in folders if folder in self._by_folder}
        if len(known) == len(folders) and state == await self._kept.state(project, folders, self._command):
            await asyncio.to_thread(self._kept.keep, project, state, known)

    async def _ask(self, project: Path, folders: Sequence[Path]) -> None:
        arguments = [f"./{folder.relative_to(project).as_posix()}" for folder in folders]
        try:
            code, output = await run(
                [*self._command, *arguments], cwd=project, timeout=_TIMEOUT, free=self._free, env=self._env()
            )
        except UnavailableError as error:
            code, output = 1, str(error)
        if code:
            log.warning("files that the build leaves out are not known: %s", output[:500])
            self._unknown[project] = " ".join(output.split())[:200]
            return
        found: dict[str, set[str]] = {str(folder): set() for folder in folders}
        for line in filter(None, map(str.strip, output.split("\n"))):
            folder, _, name = line.rpartition("/")
            if folder not in found:
                folder = os.path.realpath(folder)  # the command may use another name, if a link leads to it
            if folder in found:
                found[folder].add(os.path.join(folder, name))  # noqa: PTH118 (a path as the others here)
        self._by_folder.update({folder: frozenset(found[str(folder)]) for folder in folders})
