"""Finding a server in an editor, or starting it there: `HostLauncher`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import MissingProgramError, UnavailableError
from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Client, Host, Owner
from lsp_mcp.lsp.life.watchdog import Free
from lsp_mcp.servers.plugin import Plugin

_START_TIMEOUT = 60.0  # seconds for a server to be initialized by the editor
_PATIENCE = 2.0  # seconds for an editor that has shown a file to choose a server for it


class HostLauncher:
    """Finds the server of one adapter in an editor, or has the editor start or restart it. See `Launcher`.

    `sample` returns a file of the workspace that the server answers for.
    """

    def __init__(
        self,
        plugin: Plugin,
        root: Path,
        host: Host,
        sample: Callable[[], Awaitable[Path | None]],
        owner: Owner,
        timeout: float,
        free: Free,
    ) -> None:
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._root = root
        self._host = host
        self._sample = sample
        self._owner = owner
        self._timeout = timeout  # seconds for one answer
        self._free = free
        self._last: HostedConnection | None = None
        self._epoch = 0
        self.starts_again = False
        self.command: Sequence[str] = ()  # the editor's command

    def spawn(self) -> None:
        """We start no process."""

    def check(self) -> None:
        """Raise `MissingProgramError` if the editor is gone."""
        try:
            self._host.check()
        except UnavailableError as error:
            raise MissingProgramError(str(error)) from None

    def kill(self) -> None:
        """Do nothing: the server is not ours."""

    async def launch(self, before: Callable[[], Awaitable[None]]) -> HostedConnection:
        """See `Launcher.launch`."""
        await self._host.ready()
        if self._host.epoch != self._epoch:
            self._epoch, self._last = self._host.epoch, None
        last = self._last
        if last and last.client and last.dead.done() and (last.ending or last.crashed) and not await self._fitting():
            await before()
            await self._host.clients.restart(last.client.id)
            client = await self._find()
        else:
            client = await self._find()
            self.command = client.command
            await before()
        connection = HostedConnection(self._plugin, self._root, self._host, self._owner, self._timeout, self._free)
        await connection.start(client)
        self.starts_again, self._last = self._last is not None, connection
        return connection

    async def _find(self) -> Client:
        """The initialized client.

        Raises:
            UnavailableError: there is none, and the editor starts none.
        """
        last = self._last
        ended_by_user = last is not None and last.dead.done() and not (last.ending or last.crashed)
        if last is None and not await self._fitting() and (sample := await self._sample()):
            await self._host.show(sample)
        try:
            async with asyncio.timeout(_START_TIMEOUT):
                return await self._initialized()
        except TimeoutError:
            raise UnavailableError(
                f"{self._adapter.name} was not initialized in {self._host.name} within {_START_TIMEOUT:g} s; "
                "look there with :checkhealth vim.lsp"
            ) from None
        except LookupError:
            pass
        if waiting := await self._host.waiting_at():
            raise UnavailableError(f"{self._host.name} is waiting {waiting}, then ask again.")
        if ended_by_user:
            raise UnavailableError(
                f"{self._adapter.name} was stopped in {self._host.name}; start it there again, for example with :edit"
            )
        languages = " and ".join(language.name for language in self._adapter.languages)
        raise UnavailableError(
            f"{self._host.name} does not start a language server for {languages} in {self._root}; enable one there, "
            f"for example with :lua vim.lsp.enable('{self._adapter.name}'), and see :checkhealth vim.lsp"
        )

    async def _initialized(self) -> Client:
        """The best client, once it is initialized; LookupError if none appears."""
        while True:
            attached = self._host.clients.attached
            fitting = await self._fitting()
            if ready := [client for client in fitting if client.initialized]:
                return ready[0]
            if fitting:
                await attached.wait()
                continue
            try:
                async with asyncio.timeout(_PATIENCE):
                    await attached.wait()
            except TimeoutError:
                raise LookupError(self._adapter.name) from None

    async def _fitting(self) -> list[Client]:
        """The clients that run this adapter's server on the workspace, the best first."""
        fitting = [client for client in await self._host.clients.all() if runs(client, self._adapter)]
        near = [client for client in fitting if client.root is None or _related(client.root, self._root)]
        return sorted(near, key=lambda client: (not client.initialized, _distance(client.root, self._root)))


def runs(client: Client, adapter: Adapter) -> bool:
    """Whether `client`'s server is the adapter's, by its name or its command."""
    program = Path(client.command[0]).name if client.command else ""
    return adapter.name in (client.name, program) or (program != "" and program == Path(adapter.command[0]).name)


def _related(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _distance(root: Path | None, workspace: Path) -> int:
    """The workspace's own server first, then one above it, then one below, then one without a folder."""
    if root is None:
        return 3
    return 0 if root == workspace else 1 if workspace.is_relative_to(root) else 2
