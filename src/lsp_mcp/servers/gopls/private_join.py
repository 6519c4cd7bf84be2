"""Projects joined for the server alone, by a file in our cache, if the user has not joined them: `PrivateJoin`.

Nothing is written in the workspace. A joining file or variable of the user takes precedence.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lsp_mcp.cache_folders import checkout_folder
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.errors import UnavailableError
from lsp_mcp.private_files import private_folder, write_private
from lsp_mcp.servers.gopls.projects import Project, ProjectMap, folders_named_in
from lsp_mcp.servers.gopls.rules import Join
from lsp_mcp.wire.process import run

log = logging.getLogger(__name__)

_MOST = 16  # projects joined; each costs the server memory
_TIMEOUT = 30.0  # seconds for the command that checks whether they load together


class PrivateJoin:
    """The joined projects, and the variable that passes them to the server and other programs.

    `environment` is that of the server, including the user's variables; `allowed` is False if the server cannot be
    told.
    """

    def __init__(self, rules: Join, marker: str, root: Path, environment: Mapping[str, str], *, allowed: bool) -> None:
        self.env: dict[str, str] = {}  # empty: nothing joined by us
        self.folders: frozenset[Path] = frozenset()
        self.made: set[Path] = set()  # our files, which a server may watch although they are outside the workspace
        self.problem = ""  # why related projects are not joined
        self._rules = rules
        self._marker = marker
        self._root = root
        self._environment = environment
        self._allowed = allowed
        self._tried = ""  # the last attempt

    def by_user(self) -> Mapping[Path, frozenset[Path]] | None:
        """The folders that the user's variable joins, by the folder of that file; None without such a variable."""
        value = self._environment.get(self._rules.variable, "")
        if not value:
            return None
        if not os.path.isabs(value):  # noqa: PTH117 (a word such as `off`, or a path)
            return {}
        file = Path(os.path.realpath(value))
        folders = folders_named_in(file, content_or_nothing(file).decode("utf-8", "replace"))
        # It counts for any program started in the root, wherever the file is.
        return {self._root: frozenset(Path(os.path.realpath(folder)) for folder in folders)}

    def setting_against(self) -> str:
        """The user's setting that keeps any file from joining projects, `GOWORK=off`; empty if there is none."""
        value = self._environment.get(self._rules.variable, "")
        return f"{self._rules.variable}={value}" if value and self.by_user() == {} else ""

    async def update(self, projects: ProjectMap) -> bool:
        """Join related ones of `projects` as they are now; returns whether that changed."""
        before = self.env, self.folders
        related = _related(projects, self._root)
        text = self._text(related) if self._may(projects, related) else ""
        if text != self._tried:
            self._tried, self.env, self.folders, self.problem = text, {}, frozenset(), ""
            if text:
                await self._join(related, text)
        return (self.env, self.folders) != before

    def _may(self, projects: ProjectMap, related: list[Project]) -> bool:
        return (
            self._allowed
            and 1 < len(related) <= _MOST
            and not projects.is_joined
            and not any(re.search(p, self._environment.get(name, "")) for name, p in self._rules.decided_by.items())
            and not any((one.folder / name).exists() for one in related for name in self._rules.decided_by_files)
        )

    def _text(self, related: list[Project]) -> str:
        markers = [content_or_nothing(one.folder / self._marker).decode("utf-8", "replace") for one in related]
        versions = [found[1] for marker in markers if (found := re.search(self._rules.version_pattern, marker))]
        entries = "".join(self._rules.entry.replace("{folder}", str(one.folder)) for one in related)
        newest = max(versions, key=_comparable, default=self._rules.version_default)
        return self._rules.text.replace("{version}", newest).replace("{entries}", entries)

    async def _join(self, related: list[Project], text: str) -> None:
        try:
            digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
            home = await asyncio.to_thread(lambda: private_folder(checkout_folder(self._root) / f"joined-{digest}"))
            file = home / self._rules.file
            self.made.add(Path(os.path.realpath(file)))
            await asyncio.to_thread(write_private, file, text.encode())
        except (OSError, UnicodeEncodeError) as error:
            self.problem = f"projects cannot be joined: {error}"
            return
        env = {self._rules.variable: str(file)}
        # Projects that loaded once load again with the same files: the command takes as long as the server's own first
        # load.
        loaded = home / f"loads-{self._state(related)}"
        if loaded.exists():
            self.env, self.folders = env, frozenset(one.folder for one in related)
            return
        command = [*self._rules.check_command, *(str(one.folder / "...") for one in related)]
        try:
            code, output = await run(command, cwd=related[0].folder, timeout=_TIMEOUT, env=env)
        except UnavailableError as error:
            code, output = 1, str(error)
        if code or (self._rules.check_problem and re.search(self._rules.check_problem, output)):
            self.problem = " ".join(output.split())[:300]
            log.info("projects of %s are not joined: %s", self._root, self.problem)
            return
        self.env, self.folders = env, frozenset(one.folder for one in related)
        try:
            await asyncio.to_thread(write_private, loaded, b"")
        except OSError as error:
            log.debug("asked again the next time: %s", error)

    def _state(self, related: list[Project]) -> str:
        """A digest of everything that determines how `related` load."""
        digest = hashlib.blake2b(digest_size=8)
        for one in related:
            for name in (self._marker, *self._rules.lock_files):
                text = content_or_nothing(one.folder / name)
                digest.update(f"{one.folder}/{name} {len(text)}\n".encode() + text)
        return digest.hexdigest()


def _related(projects: ProjectMap, root: Path) -> list[Project]:
    """The projects below `root` that use another of them, or are used by one."""
    below = [project for project in projects.projects if project.folder.is_relative_to(root)]
    names = {project.name for project in below}
    users = {project.folder for project in below if project.words & (names - {project.name})}
    used = {name for project in below for name in project.words & (names - {project.name})}
    return [project for project in below if project.folder in users or project.name in used]


def _comparable(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Orders `1.9`, `1.23rc1`, `1.23.4` as versions."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    rest = version[numbers.end() :] if numbers else version
    return tuple(map(int, numbers[0].split("."))) if numbers else (), not rest, rest
