"""The connected Neovims as MCP resources: `Resources` (docs/contracts/nvim.md)."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from lsp_mcp.errors import unknown
from lsp_mcp.sessions.neovims import Neovims

_CONNECTIONS = "nvim-connections://"


class Resources:
    """`nvim-connections://`, and `nvim-connections://ID` for each connection."""

    def __init__(self, neovims: Neovims) -> None:
        self._neovims = neovims

    async def list(self, _: ServerRequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """All of them."""
        refuse_cursor(params)
        await self._neovims.begun()
        connections = self._neovims.connections.connected
        named = [
            (f"{_CONNECTIONS}{connection.id}", f"{connection.name} in {connection.cwd}") for connection in connections
        ]
        return ListResourcesResult(
            resources=[
                Resource(uri=uri, name=name, mime_type="application/json")
                for uri, name in [(_CONNECTIONS, "Connected Neovims"), *named]
            ]
        )

    async def read(self, _: ServerRequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        """One of them."""
        uri = str(params.uri)
        wanted = uri.removeprefix(_CONNECTIONS).strip("/")
        known: dict[str, Any] = {
            connection.id: {
                "connection_id": connection.id,
                "target": connection.address.text,
                "cwd": str(connection.cwd),
                "pid": connection.pid,
                "version": connection.version,
            }
            for connection in self._neovims.connections.connected
        }
        if not uri.startswith(_CONNECTIONS) or (wanted and wanted not in known):
            there = [_CONNECTIONS, *(f"{_CONNECTIONS}{id_}" for id_ in known)]
            raise MCPError(INVALID_PARAMS, unknown("resource", uri, there))
        text = json.dumps(known[wanted] if wanted else list(known.values()), separators=(",", ":"))
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, text=text, mime_type="application/json")]
        )


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Lists are given in one piece, so no cursor is one that this server gave.

    Raises:
        MCPError: there is one.
    """
    if params and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, f"unknown cursor {params.cursor[:80]!r}: this list has one page")
