"""The documents that an editor has open with our server: `HeldDocuments`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsp_mcp.lsp.editor.connection import HostedConnection
from lsp_mcp.lsp.editor.host import Host
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.text import Text


class HeldDocuments:
    """The documents of the client that `connection` gives, which may change. See `Holder`."""

    def __init__(self, host: Host, connection: Callable[[], Connection | None]) -> None:
        self._host = host
        self._connection = connection

    def held(self) -> dict[Path, tuple[Text, int]]:
        """See `Holder.held`."""
        client = self._client()
        return {} if client is None else self._host.buffers.held(client)

    def texts(self) -> dict[Path, Text]:
        """The text of each."""
        return {path: text for path, (text, _) in self.held().items()}

    def reread(self, path: Path, version: int) -> None:
        """See `Holder.reread`."""
        if (client := self._client()) is not None:
            self._host.clients.reread(client, path, version)

    def show(self, path: Path, version: int, text: Text) -> None:
        """See `Holder.show`."""
        if (client := self._client()) is not None:
            self._host.clients.show(client, path, version, text.content)

    def _client(self) -> int | None:
        connection = self._connection()
        return connection.client.id if isinstance(connection, HostedConnection) and connection.client else None
