"""A server's diagnostics for a document: `Diagnosing`."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.lsp.freshness import Freshness
from lsp_mcp.lsp.life.connection import Connection
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.life.lifetime import Lifetime
from lsp_mcp.lsp.life.reading import read_again, read_told
from lsp_mcp.servers.plugin import Plugin
from lsp_mcp.uris import path_uri
from lsp_mcp.waiting import within

log = logging.getLogger(__name__)

_TIMEOUT = 10.0  # seconds for a server to check a text


class Diagnosing:
    """The diagnostics of one server's documents, each for its present text.

    `timeout`: seconds for the request that some servers need to look at a document again.
    """

    def __init__(
        self, plugin: Plugin, documents: Documents, lifetime: Lifetime, freshness: Freshness, timeout: float
    ) -> None:
        self._plugin = plugin
        self._adapter = plugin.adapter
        self._documents = documents
        self._lifetime = lifetime
        self._freshness = freshness
        self._timeout = timeout
        self._requested: dict[Path, int] = {}  # the generation in which the diagnostics of a file were last requested

    async def diagnosed(self, path: Path) -> bool:
        """See `backend.Problems.diagnosed`."""
        connection = await self._lifetime.live()
        self._documents.open(path)
        try:
            await self._request(path, connection)
        except SilentError:
            return False
        diagnostics, version = connection.notifications.diagnostics, self._documents.note_version(path)
        if diagnostics.pull and version is not None and await diagnostics.pulled(path, version):
            return True
        read = read_again if self._documents.is_uncertain(path) else read_told
        try:
            async with asyncio.timeout(within(_TIMEOUT)):
                return await read(path, self._documents, diagnostics)
        except TimeoutError:
            return False

    async def said(self, pattern: str) -> re.Match[str] | None:
        """A message of the server's that matches `pattern`, in whatever file, and is about the present state.

        A server may have published it before a change, and looks at that file again only after a while.
        """
        connection = await self._lifetime.live()
        diagnostics = connection.notifications.diagnostics
        if (said := diagnostics.said(pattern)) is None:
            return None
        try:
            await self._request(said[0], connection)
        except (SilentError, RefusedError) as error:
            log.debug("what %s said about %s may be out of date: %s", self._adapter.name, said[0], error)
        said = diagnostics.said(pattern)
        return said[1] if said else None

    async def _request(self, path: Path, connection: Connection) -> None:
        """Make a server that delays it look at `path` again, once in each generation: a file it uses may have changed.

        Raises:
            SilentError, RefusedError, UnavailableError: see `Connection.request`.
        """
        rules, generation = self._plugin.diagnostics, self._freshness.generation
        if not rules.command or self._requested.get(path) == generation:
            return
        params = {"command": rules.command, "arguments": [{rules.command_field: [path_uri(path)]}]}
        await connection.request("workspace/executeCommand", params, timeout=within(self._timeout))
        self._requested[path] = generation

    @property
    def has_versions(self) -> bool:
        """See `backend.Problems.has_versions`."""
        connection = self._lifetime.connection
        return bool(connection and connection.notifications.diagnostics.has_versions)

    def diagnostics(self, path: Path) -> list[Any]:
        """See `backend.Problems.diagnostics`."""
        connection = self._lifetime.connection
        return connection.notifications.diagnostics.raw.get(path, []) if connection else []
