"""Connected Neovims, and the language clients of each as sessions: `Neovims`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter, Language, adapter_names, load_adapter, shipped_adapters
from lsp_mcp.backend import Json
from lsp_mcp.errors import CallerError, LspMcpError, UnavailableError
from lsp_mcp.events import Event
from lsp_mcp.lsp.editor.launcher import runs
from lsp_mcp.lsp.session import Session, SessionOptions
from lsp_mcp.nvim.address import Address
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.nvim.connections import NvimConnections
from lsp_mcp.nvim.host import NvimHost
from lsp_mcp.nvim.language_clients import NvimClient
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.visible import quoted
from lsp_mcp.workspace import Workspace

log = logging.getLogger(__name__)

_NEEDED = ("workspaceSymbolProvider", "referencesProvider", "documentSymbolProvider")  # of a client, for the code tools


class Neovims:
    """All connections. The code tools use one of them: that to `socket`, else the one in the workspace root.

    `adapters` are those that the code tools use from the start; clients that run in that Neovim are used too.
    """

    def __init__(
        self,
        workspace: Workspace,
        adapters: Sequence[Adapter],
        options: SessionOptions,
        socket: str | None = None,
        *,
        allow_protected_edits: bool = False,
        kept: Json | None = None,
    ) -> None:
        """`kept` is the `kept` of an earlier object, whose session continues here."""
        self.changed = Event()  # a connection came or went, or its tools changed
        self.connections = NvimConnections(self.changed.happened)
        self._adapters = adapters
        self._options = options
        self._socket = socket
        self._kept = kept
        self._allow_protected_edits = allow_protected_edits
        self._code_host = NvimHost(self._connect_code)
        self.code = Sessions(
            workspace,
            adapters,
            {"": options},
            self._code_host,
            self._join,
            allow_protected_edits=allow_protected_edits,
        )
        self._others: dict[str, tuple[NvimConnection, Sessions]] = {}
        self._connecting = asyncio.Lock()
        self._joined: tuple[NvimConnection, int] | None = None
        self._beginning: asyncio.Task[None] | None = None

    def for_client(self, kept: Json | None = None) -> Neovims:
        """A separate object for one client of several: not connected yet, with its own choice, anchors and news.

        Each client has its own connections, as if it had this program for itself. Edits of all clients run one after
        the other.
        """
        own = Neovims(
            self.code.workspace,
            self._adapters,
            self._options,
            self._socket,
            allow_protected_edits=self._allow_protected_edits,
            kept=kept,
        )
        own.code.use, own.code.editing = self.code.use, self.code.editing
        return own

    @property
    def kept(self) -> Json:
        """What a session's next `Neovims` needs to continue."""
        connection = self._code_host.connection
        is_used = connection is not None and not connection.gone
        used = connection.address.text if connection and is_used else None
        return {**self.connections.kept, "used": used, "connects": self._code_host.connects}

    def begin(self) -> None:
        """Connect in the background, so that the first question waits less."""
        self._beginning = asyncio.create_task(self._begin())

    async def begun(self) -> None:
        """Wait until `begin` has connected or failed."""
        if self._beginning:
            await asyncio.wait([self._beginning])

    def kill(self) -> None:
        """Nothing in Neovim belongs to us."""

    async def close(self) -> None:
        """End all connections; the Neovims keep running."""
        if self._beginning:
            self._beginning.cancel()
        await self.code.close()
        for _, sessions in self._others.values():
            await sessions.close()
        await self.connections.close()

    # --- connections -------------------------------------------------------------------------------

    async def connect(self, address: Address) -> NvimConnection:
        """See `NvimConnections.connect`.

        The code tools use it if they have no connection, and if it works in their workspace.
        """
        connection = await self.connections.connect(address)
        host = self._code_host
        host.connects = True
        fits = connection.cwd == self.code.workspace.root or self.code.workspace.root.is_relative_to(connection.cwd)
        if (host.connection is None or host.connection.gone) and (fits or self._is_named(address)):
            await self._work_through(connection)
        return connection

    def disconnect(self, connection_id: str) -> NvimConnection:
        """See `NvimConnections.disconnect`; nothing reconnects by itself. Returns the connection that was ended."""
        connection = self.connections.get(connection_id)
        if connection is self._code_host.connection:
            self._code_host.connects = False
        self.connections.disconnect(connection_id)
        return connection

    async def connection(self) -> NvimConnection:
        """The Neovim that the code tools use, else the only connected one.

        Raises:
            CallerError, UnavailableError: there is none, or several are connected.
        """
        if not self.connections.connected and self._code_host.connects:
            await self._connect_code()
        connection = self._code_host.connection
        return connection if connection and not connection.gone else self.connections.get(None)

    async def sessions(self, connection_id: str | None) -> Sessions:
        """The sessions of a connection, of the only one if none is named.

        Raises:
            CallerError, UnavailableError: see `NvimConnections.get`.
        """
        if connection_id is None and not self.connections.connected and self._code_host.connects:
            try:
                await self._connect_code()
            except LspMcpError:
                if not self.connections.had_any:
                    raise  # else the error below names the one that has ended
        connection = self.connections.get(connection_id)
        if connection is self._code_host.connection:
            return self.code
        known = self._others.get(connection.id)
        if known is None:
            folder = connection.project
            if folder is None:
                raise CallerError(
                    f"{connection.name} works in {connection.cwd.resolve()}, which is not a project; :cd to one there."
                )
            sessions = Sessions(
                Workspace(folder),
                [],
                {"": self._options},
                NvimHost(),
                allow_protected_edits=self._allow_protected_edits,
            )
            self._others[connection.id] = known = connection, sessions
            _host(sessions).use(connection)
        elif known[0] is not connection:
            _host(known[1]).use(connection)
            self._others[connection.id] = connection, known[1]
        return known[1]

    # --- language clients --------------------------------------------------------------------------

    async def session(
        self,
        sessions: Sessions,
        path: Path | None,
        name: str | None,
        provider: str = "",
        *,
        argument: str = "lsp_client_name",
    ) -> Session:
        """The session of the language client called `name`, else of the one that answers for `path`.

        `provider` is the required capability, to choose between several; `argument` is the name of the caller's
        argument for it.

        Raises:
            CallerError: there is none, or several may answer; the message lists them.
        """
        host = _host(sessions)
        await host.ready()
        clients = await host.clients.known()
        if name is not None and all(client.name != name for client in clients):
            clients = await host.clients.all()  # it may be starting
        if name is not None:
            named = [client for client in clients if client.name == name]
            if not named and name not in adapter_names():
                raise CallerError(f"unknown language client {quoted(name)} in {host.name}. {_listed(clients)}")
            return sessions.session(await _adapter(host, named[0]) if named else load_adapter(name))
        adapters = await self._answering(host, clients, path)
        able = [(client, adapter) for client, adapter in adapters if client is None or _has(client, provider)]
        found = {adapter.name: adapter for _, adapter in able or adapters}
        if len(found) == 1:
            return sessions.session(next(iter(found.values())))
        if found:
            raise CallerError(f"several language clients may answer; pass {argument}: {', '.join(found)}.")
        if waiting := await host.waiting_at():
            raise UnavailableError(f"{host.name} is waiting {waiting}, then ask again.")
        what = f"answers for {sessions.workspace.display_path(path)}" if path else "runs"
        raise CallerError(f"no language client {what} in {host.name}. {_listed(clients)}")

    async def _answering(
        self, host: NvimHost, clients: Sequence[NvimClient], path: Path | None
    ) -> list[tuple[NvimClient | None, Adapter]]:
        if path is None:
            return [(client, await _adapter(host, client)) for client in clients]
        buffer = (await host.buffers.seen()).get(path)
        attached = [client for client in clients if buffer and client.id in buffer.versions]
        if attached:
            return [(client, await _adapter(host, client)) for client in attached]
        running = [(client, await _adapter(host, client)) for client in clients]
        fitting = [(client, adapter) for client, adapter in running if adapter.language_of(path)]
        if fitting:
            return list(fitting)
        # None runs yet; showing Neovim a file may start one that this program knows.
        return [(None, adapter) for adapter in shipped_adapters() if adapter.language_of(path)]

    # --- inside ------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        try:
            await self._restore()
            await self._code_host.ready()
        except LspMcpError as error:
            log.info("%s", error)
            return
        self.code.begin()

    async def _restore(self) -> None:
        kept, self._kept = self._kept, None
        if not kept:
            return
        await self.connections.restore(kept)
        for connection in self.connections.connected:
            if connection.address.text == kept["used"]:
                await self._work_through(connection)
        self._code_host.connects = kept["connects"]

    async def _connect_code(self) -> None:
        async with self._connecting:
            if self._code_host.connection is None or self._code_host.connection.gone:
                await self._connect_fitting()

    async def _connect_fitting(self) -> None:
        connection = await self.connections.connect_fitting(self.code.workspace.root, self._socket)
        if self._code_host.connection is not connection:
            await self._work_through(connection)

    async def _work_through(self, connection: NvimConnection) -> None:
        self._code_host.use(connection)
        await self._join()

    async def _join(self) -> None:
        """Add to the code tools those clients that work in the workspace in a language not covered yet.

        Looks only if clients came or went since the last call.
        """
        connection = self._code_host.connection
        if connection is None or connection.gone or self._joined == (connection, connection.clients.events):
            return
        seen = connection, connection.clients.events
        root = self.code.workspace.root
        for client in await self._code_host.clients.all():
            adapter = await _adapter(self._code_host, client)
            related = client.root is None or client.root.is_relative_to(root) or root.is_relative_to(client.root)
            taken = {kind for backend in self.code.backends for kind in backend.plugin.adapter.by_kind}
            able = all(client.capabilities.get(provider) for provider in _NEEDED)
            if related and able and adapter.by_kind and taken.isdisjoint(adapter.by_kind):
                self.code.join(adapter)
        self._joined = seen  # not earlier: the next caller must look again if this one gives up

    def _is_named(self, address: Address) -> bool:
        return self._socket is not None and address.text == self._socket


def _has(client: NvimClient, provider: str) -> bool:
    """Whether `client` has the capability: `hoverProvider`, `codeActionProvider.resolveProvider`; empty: any."""
    value: Any = client.capabilities
    for part in provider.split(".") if provider else ():
        value = value.get(part) if isinstance(value, dict) else None
    return bool(value)


def _host(sessions: Sessions) -> NvimHost:
    assert sessions.host
    return sessions.host


async def _adapter(host: NvimHost, client: NvimClient) -> Adapter:
    """The adapter of the client's server; for an unknown server, one made from Neovim's information."""
    for adapter in shipped_adapters():
        if runs(client, adapter):
            return adapter
    extensions = await host.clients.extensions(client.filetypes)
    await host.buffers.sync()
    for buffer in host.buffers.all():
        if client.id in buffer.versions and buffer.path.suffix:
            extensions.setdefault(buffer.filetype, set()).add(buffer.path.suffix)
    languages = tuple(
        Language(id=filetype, name=filetype, scheme=filetype, extensions=tuple(sorted(found)))
        for filetype, found in extensions.items()
    )
    return Adapter(name=client.name, title=client.name, command=client.command or (client.name,), languages=languages)


def _listed(clients: Sequence[NvimClient]) -> str:
    if not clients:
        return "None runs there: open a file in it whose language server is enabled."
    return f"Available: {', '.join(sorted({client.name for client in clients}))}."
