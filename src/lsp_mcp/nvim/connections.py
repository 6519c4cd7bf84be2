"""The connected Neovims: `NvimConnections`, by connection id."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from lsp_mcp.backend import Json
from lsp_mcp.errors import CallerError, ConfigError, LspMcpError, RefusedError, SilentError, UnavailableError
from lsp_mcp.nvim.address import Address, check_socket, parse_address
from lsp_mcp.nvim.connection import LEAVE_TIMEOUT, NvimConnection
from lsp_mcp.nvim.discovery import alive, discover
from lsp_mcp.visible import quoted

log = logging.getLogger(__name__)

_CLOSE_TIMEOUT = LEAVE_TIMEOUT + 0.5  # seconds
HOW_TO_START = "start one with: nvim --listen ~/.cache/nvim/lsp-mcp.sock"


class Found(Struct, frozen=True):
    """A Neovim that was found on this machine."""

    address: Address
    cwd: Path
    pid: int
    version: str


class NvimConnections:
    """Connects and disconnects. `on_change` is called when a connection came or went, or its tools changed."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._connections: dict[str, NvimConnection] = {}
        self._aliases: dict[str, str] = {}  # ids of other addresses of connected Neovims
        self._ended: dict[str, str] = {}  # why former connections have ended
        self._connecting = asyncio.Lock()

    @property
    def connected(self) -> list[NvimConnection]:
        """Those that are connected now."""
        return list(self._connections.values())

    @property
    def had_any(self) -> bool:
        """Whether a former connection has ended."""
        return bool(self._ended)

    async def connect(self, address: Address) -> NvimConnection:
        """The connection to `address`: the present one, or a new one.

        Raises:
            CallerError: there is no such socket.
            UnavailableError, RefusedError: as `NvimConnection.connect`.
        """
        async with self._connecting:
            connection = NvimConnection(address, self._on_change)
            if known := self._connections.get(connection.id) or self._also(connection.id):
                return known
            if address.path:
                check_socket(address.path)
            await connection.connect()
            for other in self.connected:
                if (other.pid, other.servername) == (connection.pid, connection.servername):
                    # One Neovim by another of its addresses: two connections would interfere with each other.
                    connection.close()
                    self._aliases[connection.id] = other.id
                    return other
            self._connections[connection.id] = connection
            self._ended.pop(connection.id, None)
            connection.ended.add_done_callback(lambda ended: self._gone(connection, ended.result()))
            self._on_change()
            return connection

    def disconnect(self, connection_id: str) -> None:
        """End a connection.

        Raises:
            CallerError: there is none of that id.
        """
        connection = self.get(connection_id)
        connection.disconnected = True
        self._gone(connection, f"{connection.name} was disconnected")
        connection.close()

    def get(self, connection_id: str | None) -> NvimConnection:
        """The connection of that id; without one, the only one.

        Raises:
            CallerError: there is none, or there are several and none was named.
            UnavailableError: it has ended.
        """
        if connection_id is not None:
            if connection := self._connections.get(connection_id) or self._also(connection_id):
                return connection
            if reason := self._ended.get(connection_id):
                raise UnavailableError(f"{reason}; call connect again once it runs. {self._listed()}")
            raise CallerError(f"unknown connection {quoted(connection_id)}. {self._listed()}")
        if len(self._connections) == 1:
            return next(iter(self._connections.values()))
        if self._connections:
            raise CallerError(f"several Neovims are connected; pass connection_id. {self._listed()}")
        reasons = "".join(f" ({reason})" for reason in self._ended.values())
        raise UnavailableError(f"no Neovim is connected{reasons}; call get_targets, then connect.")

    @property
    def kept(self) -> Json:
        """Data for `restore`: the connected Neovims, and why others are gone."""
        connected = [{"target": one.address.text, "pid": one.pid} for one in self.connected]
        return {"connected": connected, "ended": dict(self._ended)}

    async def restore(self, kept: Json) -> None:
        """Connect to those Neovims of `kept` that still run; must be called before any other connection."""
        self._ended |= kept["ended"]
        for one in kept["connected"]:
            address = parse_address(one["target"])
            reason = f"Neovim at {address.text} is gone"
            try:
                connection = await self.connect(address)
            except LspMcpError as error:
                log.info("%s", error)
            else:
                if connection.pid == one["pid"]:
                    continue
                # Another Neovim at the same address: callers must connect explicitly.
                connection.close()
                self._gone(connection, reason)
            self._ended[address.connection_id] = reason

    async def close(self) -> None:
        """End all connections, within 2 s: each Neovim closes the documents that we have open."""
        ended = [connection.ended for connection in self.connected]
        for connection in self.connected:
            connection.close()
        if ended:
            await asyncio.wait(ended, timeout=_CLOSE_TIMEOUT)

    async def find(self) -> tuple[list[Found], list[str]]:
        """The Neovims on this machine that answer, each by its first address, and the problems of others.

        Abandoned sockets are left out.
        """
        candidates = await asyncio.to_thread(discover)
        found = {e.pid: Found(e.address, e.cwd.resolve(), e.pid, e.version) for e in self.connected}
        answers = await asyncio.gather(*(_look(address) for address in candidates if address.pid not in found))
        unusable = []
        for answer in answers:
            if isinstance(answer, Found):
                found.setdefault(answer.pid, answer)
            elif answer:
                unusable.append(answer)
        return list(found.values()), unusable

    async def connect_fitting(self, root: Path, socket: str | None) -> NvimConnection:
        """The connection to `socket`, else to the Neovim that works in `root`.

        Raises:
            UnavailableError: none is found, none fits, or several do; the message lists them.
            CallerError, RefusedError: as `connect`.
        """
        if socket:
            return await self.connect(parse_address(socket))
        found, unusable = await self.find()
        if not found:
            raise UnavailableError(f"{none_runs(unusable)}; {HOW_TO_START}, or pass --socket")
        # No other one is chosen unasked: a Neovim elsewhere works on another project.
        fitting = [one for one in found if one.cwd == root]
        if len(fitting) == 1:
            return await self.connect(fitting[0].address)
        listed = "; ".join(f"{one.address.text} in {one.cwd}" for one in (fitting or found))
        what = f"several Neovims work in {root}" if fitting else f"no Neovim works in {root}"
        raise UnavailableError(f"{what}; pass one with --socket, or call connect: {listed}")

    # --- inside ------------------------------------------------------------------------------------

    def _also(self, connection_id: str) -> NvimConnection | None:
        """The connection that has another id as well."""
        return self._connections.get(self._aliases.get(connection_id, ""))

    def _gone(self, connection: NvimConnection, reason: str) -> None:
        if self._connections.get(connection.id) is connection:
            del self._connections[connection.id]
            self._ended[connection.id] = reason
            self._on_change()

    def _listed(self) -> str:
        if not self._connections:
            return "None is connected."
        return "Connected: " + ", ".join(f"{one.id} ({one.address.text})" for one in self.connected) + "."


def none_runs(unusable: Sequence[str]) -> str:
    """The beginning of an error message: there is no Neovim to connect to, except perhaps `unusable` ones."""
    if not unusable:
        return "no Neovim of yours runs on this machine"
    return f"no Neovim of yours can be connected to: {' '.join(unusable).rstrip('.')}"


async def _look(address: Address) -> Found | str | None:
    """The Neovim there, why it cannot be used, or None if there is none."""
    if not await alive(address):
        return None
    connection = NvimConnection(address, lambda: None)
    try:
        await connection.connect()
    except RefusedError as error:
        return str(error)
    except SilentError as error:
        return None if address.pid is None else str(error)  # where it is not known, it may be something else
    except LspMcpError:
        return None
    connection.close()
    return Found(address, connection.cwd.resolve(), connection.pid, connection.version)


def config_address(socket: str) -> Address:
    """The address that a flag names.

    Raises:
        ConfigError: it can be none.
    """
    try:
        return parse_address(socket)
    except CallerError as error:
        raise ConfigError(f"--socket: {error}") from None
