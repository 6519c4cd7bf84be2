"""How a server that is ours is started: `ProcessLauncher`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.lsp.connection import ProcessConnection
from lsp_mcp.wire.process import Child


class ProcessLauncher:
    """Starts a language server as a child process. See `Launcher`."""

    def __init__(
        self, adapter: Adapter, root: Path, command: Callable[[], Sequence[str]], env: Mapping[str, str] | None
    ) -> None:
        self._adapter = adapter
        self._root = root
        self._command = command
        self._env = env
        self._child: Child | None = None
        self._launched = 0

    @property
    def starts_again(self) -> bool:
        """See `Launcher.starts_again`."""
        return self._launched > 1

    def spawn(self) -> None:
        """Start the process now; it is initialized by `launch`."""
        try:
            self._child = Child(self._command(), cwd=self._root, env=self._env)
        except MissingProgramError as error:
            how = f" Get it with: lsp-mcp install {self._adapter.name}" if self._adapter.install else ""
            raise MissingProgramError(f"{error}.{how}") from None

    def check(self) -> None:
        """See `Launcher.check`."""
        self._command()

    async def launch(self, before: Callable[[], Awaitable[None]]) -> ProcessConnection:
        """See `Launcher.launch`."""
        await before()
        if self._child is None or self._child.attached:
            self.spawn()
        assert self._child
        connection = ProcessConnection(self._adapter, self._child, self._root)
        try:
            await connection.start()
        except BaseException:
            await connection.abandon()
            raise
        self._launched += 1
        return connection

    def kill(self) -> None:
        """See `Launcher.kill`."""
        if self._child:
            self._child.kill()
