"""Who is running: `Sessions` holds the backends of one workspace and finds the one for a file."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter, load_adapter
from lsp_mcp.backend import Backend
from lsp_mcp.disk.feed import FeedHub
from lsp_mcp.disk.files import Files
from lsp_mcp.errors import ConfigError, LspMcpError, PathError
from lsp_mcp.features.anchor_memory import AnchorMemory
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.wire.process import run
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_DEPENDENCY_TIMEOUT = 10.0  # seconds for a command that prints where dependencies lie


class Sessions:
    """The backends of one workspace, from their start to their end.

    Constructing it starts the server processes; `begin` (in a running loop) initializes them.

    Raises:
        ConfigError: no backend was named and none fits the workspace, or two answer for the same language.
    """

    def __init__(self, workspace: Workspace, adapters: Sequence[Adapter], options: dict[str, SessionOptions]) -> None:
        self.workspace = workspace
        self.memory = AnchorMemory()
        self._files = Files()
        self._hub = FeedHub(workspace.root, {name for a in adapters for name in a.workspace.ignored_folders})
        self._sessions = [
            Session(a, workspace, self._files, self._hub.feed(), options.get(a.name, SessionOptions()))
            for a in adapters
        ]
        for session in self._sessions:
            session.spawn()
        self._dependencies: asyncio.Task[None] | None = None

    @property
    def backends(self) -> Sequence[Backend]:
        """All backends, in the order in which they were named."""
        return self._sessions

    @property
    def languages(self) -> str:
        """The languages of the workspace, for a sentence: `Go`, `C and C++`."""
        return _and([language.name for backend in self.backends for language in backend.adapter.languages])

    def begin(self) -> None:
        """Initialize every server in the background."""
        for session in self._sessions:
            session.begin()

    async def close(self) -> None:
        """End every server, within 3 s."""
        if self._dependencies:
            self._dependencies.cancel()
        await asyncio.gather(*(session.close() for session in self._sessions))
        self._hub.close()

    def kill(self) -> None:
        """End every server at once, without a loop."""
        for session in self._sessions:
            session.kill()

    def for_path(self, path: Path) -> Backend:
        """The backend that answers for `path`.

        Raises:
            PathError: none does; the message says which files are answered for.
        """
        for backend in self.backends:
            if backend.adapter.language_of(path):
                return backend
        known = "; ".join(f"{b.name} answers for {', '.join(b.adapter.extensions)}" for b in self.backends)
        raise PathError(f"no backend answers for {self.workspace.shown(path)}: {known}.")

    async def file(self, name: str) -> Path:
        """The existing file that a caller calls `name`; see `Workspace.file`."""
        try:
            return self.workspace.file(name)
        except PathError:
            if self.workspace.dependency_folders or not self._dependency_commands():
                raise
        # Only who asks about a file outside the root needs to know where dependencies lie.
        self._dependencies = self._dependencies or asyncio.create_task(self._find_dependencies())
        await asyncio.shield(self._dependencies)
        return self.workspace.file(name)

    def _dependency_commands(self) -> list[tuple[str, ...]]:
        commands = (backend.adapter.workspace.dependency_folders_command for backend in self.backends)
        return [command for command in commands if command]

    async def _find_dependencies(self) -> None:
        folders: list[Path] = []
        for command in self._dependency_commands():
            try:
                code, output = await run(command, cwd=self.workspace.root, timeout=_DEPENDENCY_TIMEOUT)
            except LspMcpError as error:
                log.warning("dependencies are not readable: %s", error)
                continue
            if code == 0:
                folders += [Path(os.path.realpath(line)) for line in output.split("\n") if line.startswith("/")]
        self.workspace.dependency_folders = tuple(folders)


def choose_adapters(names: Iterable[str], root: Path, available: Iterable[str]) -> list[Adapter]:
    """The adapters called `names`; without names, those that fit what lies in `root`.

    Raises:
        ConfigError: a name is unknown, two answer for the same extension, or nothing fits.
    """
    named = list(dict.fromkeys(names))
    adapters = [load_adapter(name) for name in named] or _fitting(root, [load_adapter(n) for n in available])
    owners: dict[str, str] = {}
    for adapter in adapters:
        for extension in adapter.extensions:
            if extension in owners:
                raise ConfigError(
                    f"the backends {owners[extension]} and {adapter.name} both answer for {extension}; name one of them"
                )
            owners[extension] = adapter.name
    return adapters


def _fitting(root: Path, adapters: list[Adapter]) -> list[Adapter]:
    """The adapters one of whose root markers is in `root` or above it, else whose files lie in `root`."""
    marked = [
        a for a in adapters if any((p / m).exists() for m in a.workspace.root_markers for p in (root, *root.parents))
    ]
    below = [a for a in adapters if any(next(root.glob(f"{d}*{e}"), None) for e in a.extensions for d in ("", "*/"))]
    fitting = marked or below
    if not fitting:
        names = ", ".join(a.name for a in adapters)
        raise ConfigError(
            f"nothing in {root} says which language server it needs; name one with --backend (there is: {names})"
        )
    return fitting


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
