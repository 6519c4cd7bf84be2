"""A Neovim as an editor with language clients and buffers: `NvimHost`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from lsp_mcp.disk.files import Files
from lsp_mcp.errors import UnavailableError
from lsp_mcp.nvim.buffers import Buffers
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.nvim.language_clients import LanguageClients


class NvimHost:
    """One workspace's Neovim: the connected one, or the last one.

    `connect` is called while there is none: it may call `use`.
    """

    def __init__(self, connect: Callable[[], Awaitable[None]] | None = None) -> None:
        self.files = Files()
        self.buffers = Buffers(self.present, self.files)
        self.connection: NvimConnection | None = None
        self.epoch = 0  # number of Neovims so far
        self.connects = connect is not None  # whether `ready` connects by itself
        self._connect = connect

    def use(self, connection: NvimConnection) -> None:
        """Use `connection` from now on."""
        self.connection = connection
        self.epoch += 1
        self.buffers.replaced()

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.connection.name if self.connection else "Neovim"

    @property
    def process(self) -> tuple[str, int]:
        """See `Host.process`: its address, and its process there; raises as `present`."""
        connection = self.present()
        return connection.address.text, connection.pid

    async def ready(self) -> None:
        """Connect if that was requested and nothing is connected; raises as `present`."""
        if self._connect and self.connects and (self.connection is None or self.connection.gone):
            await self._connect()
        self.present()

    def check(self) -> None:
        """Raise `UnavailableError` if no Neovim is connected."""
        self.present()

    def present(self) -> NvimConnection:
        """The connected Neovim.

        Raises:
            UnavailableError: there is none, or no longer.
        """
        connection = self.connection
        if connection is None:
            raise UnavailableError("no Neovim is connected; call connect")
        if connection.disconnected:
            raise UnavailableError(
                f"{connection.name} was disconnected; to work through it again, call connect with target "
                f"{connection.address.text}"
            )
        if connection.gone:
            raise UnavailableError(
                f"{connection.name} (process {connection.pid}) has ended; start it again, or connect to another"
            )
        return connection

    async def waiting_at(self) -> str | None:
        """See `LuaModule.waiting_at`; raises as `present`."""
        return await self.present().lua.waiting_at()

    @property
    def clients(self) -> LanguageClients:
        """The language clients of the connected Neovim; raises as `present`."""
        return self.present().clients

    async def show(self, path: Path) -> None:
        """Load `path` into a buffer that is on no list and in no window."""
        await self.present().lua.call("load", str(path))
