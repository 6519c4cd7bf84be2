"""A server's diagnostics for a document: `Diagnosing`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.errors import SilentError
from lsp_mcp.lsp.freshness import Freshness
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.reading import read_again, read_told
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import within

_TIMEOUT = 10.0  # seconds for a server to check a text


class Diagnosing:
    """The diagnostics of one server's documents, each for its present text.

    `timeout`: seconds for the request that some servers need to look at a document again.
    """

    def __init__(
        self, adapter: Adapter, documents: Documents, lifetime: Lifetime, freshness: Freshness, timeout: float
    ) -> None:
        self._adapter = adapter
        self._documents = documents
        self._lifetime = lifetime
        self._freshness = freshness
        self._timeout = timeout
        self._requested: dict[Path, int] = {}  # the generation in which the diagnostics of a file were last requested

    async def diagnosed(self, path: Path) -> bool:
        """See `Backend.diagnosed`."""
        connection = await self._lifetime.live()
        self._documents.open(path)
        if (command := self._adapter.diagnostics.command) and self._requested.get(path) != self._freshness.generation:
            # A file that it depends on may have changed.
            generation = self._freshness.generation
            params = {"command": command, "arguments": [{self._adapter.diagnostics.command_field: [path_uri(path)]}]}
            try:
                await connection.request("workspace/executeCommand", params, timeout=within(self._timeout))
            except SilentError:
                return False
            self._requested[path] = generation
        diagnostics, version = connection.notifications.diagnostics, self._documents.note_version(path)
        if diagnostics.pull and version is not None and await diagnostics.pulled(path, version):
            return True
        read = read_again if self._documents.is_uncertain(path) else read_told
        try:
            async with asyncio.timeout(within(_TIMEOUT)):
                return await read(path, self._documents, diagnostics)
        except TimeoutError:
            return False

    @property
    def has_versions(self) -> bool:
        """See `Backend.has_versions`."""
        connection = self._lifetime.connection
        return bool(connection and connection.notifications.diagnostics.has_versions)

    def of(self, path: Path) -> list[Any]:
        """See `Backend.diagnostics`."""
        connection = self._lifetime.connection
        return connection.notifications.diagnostics.raw.get(path, []) if connection else []
