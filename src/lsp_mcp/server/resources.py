"""Connected Neovims, their diagnostics and tools, as MCP resources: `Resources` (docs/contracts/nvim.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from lsp_mcp.errors import LspMcpError, unknown
from lsp_mcp.nvim.connection import NvimConnection
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.text import Base
from lsp_mcp.toolsets.nvim.diagnostics import NvimDiagnostics
from lsp_mcp.toolsets.tool import Call, Tool

_CONNECTIONS, _DIAGNOSTICS, _TOOLS = "nvim-connections://", "nvim-diagnostics://", "nvim-tools://"
_JSON = "application/json"
_TEMPLATES = (
    (
        f"{_CONNECTIONS}{{connection_id}}",
        "Neovim connection",
        "Address, folder, process and version of a connected Neovim",
    ),
    (
        f"{_DIAGNOSTICS}{{connection_id}}/workspace",
        "Workspace diagnostics",
        "Errors and warnings in all buffers of a Neovim",
    ),
    (
        f"{_DIAGNOSTICS}{{connection_id}}/buffer/{{buffer_id}}",
        "Buffer diagnostics",
        "Errors and warnings in one buffer",
    ),
    (f"{_TOOLS}{{connection_id}}", "Tools of a Neovim", "The tools of this connection"),
)
_ONE = re.compile(r"(?P<scheme>nvim-\w+://)(?P<id>[^/]*)(?:/(?P<rest>.*?))?/?")


class Resources:
    """Connections, the diagnostics of their buffers, and their tools."""

    def __init__(self, neovims: Neovims, tools: Sequence[Tool], base: Base) -> None:
        self._neovims = neovims
        self._tools = tools
        self._diagnostics = NvimDiagnostics(neovims, base)

    async def list(self, _: ServerRequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """The present resources."""
        refuse_cursor(params)
        await self._neovims.begun()
        listed = [
            (_CONNECTIONS, "Active Neovim Connections", "The Neovims that are connected"),
            (_DIAGNOSTICS, "Diagnostics", "Errors and warnings in all buffers of all connected Neovims"),
            (_TOOLS, "Tools", "The tools of connected Neovims"),
        ]
        for connection in self._connected:
            where = f"{connection.name} in {connection.cwd}"
            listed += [
                (f"{_CONNECTIONS}{connection.id}", where, "Address, folder, process and version"),
                (
                    f"{_DIAGNOSTICS}{connection.id}/workspace",
                    f"Diagnostics of {where}",
                    "Errors and warnings in all its buffers",
                ),
                (f"{_TOOLS}{connection.id}", f"Tools of {where}", "The tools of this connection"),
            ]
        return ListResourcesResult(
            resources=[Resource(uri=uri, name=name, description=about, mime_type=_JSON) for uri, name, about in listed]
        )

    async def templates(
        self, _: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Their templates."""
        refuse_cursor(params)
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(uri_template=uri, name=name, description=about, mime_type=_JSON)
                for uri, name, about in _TEMPLATES
            ]
        )

    async def read(self, context: ServerRequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        """One of them; a remark on it is a second content."""

        async def report(done: float, total: float | None, message: str) -> None:
            await context.session.report_progress(done, total, message)

        uri, call = str(params.uri), Call(report=report)
        match = _ONE.fullmatch(uri)
        reader = self._readers.get(match["scheme"]) if match else None
        if match is None or reader is None:
            raise MCPError(INVALID_PARAMS, unknown("resource", uri, [_CONNECTIONS, _DIAGNOSTICS, _TOOLS]))
        await self._neovims.begun()
        try:
            value = await reader(call, uri, match["id"], match["rest"] or "")
        except LspMcpError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        texts = [json.dumps(value, separators=(",", ":"), ensure_ascii=False), *call.remarks]
        kinds = [_JSON, *("text/plain" for _ in call.remarks)]
        contents = [
            TextResourceContents(uri=params.uri, text=t, mime_type=k) for t, k in zip(texts, kinds, strict=True)
        ]
        return ReadResourceResult(contents=list(contents))

    # --- inside ------------------------------------------------------------------------------------

    @property
    def _connected(self) -> Sequence[NvimConnection]:
        return self._neovims.connections.connected

    @property
    def _readers(self) -> dict[str, Callable[[Call, str, str, str], Any]]:
        return {_CONNECTIONS: self._connections, _DIAGNOSTICS: self._wrong, _TOOLS: self._offered}

    def _connection(self, uri: str, id_: str) -> NvimConnection:
        scheme = uri.partition("://")[0]
        for connection in self._connected:
            if connection.id == id_:
                return connection
        raise MCPError(INVALID_PARAMS, unknown("resource", uri, [f"{scheme}://{one.id}" for one in self._connected]))

    async def _connections(self, _: Call, uri: str, id_: str, rest: str) -> Any:
        if rest:
            raise MCPError(INVALID_PARAMS, unknown("resource", uri, [f"{_CONNECTIONS}{id_}"]))
        return _about(self._connection(uri, id_)) if id_ else [_about(connection) for connection in self._connected]

    async def _wrong(self, call: Call, uri: str, id_: str, rest: str) -> Any:
        if not id_:
            return {one.id: await self._wrong(call, uri, one.id, "workspace") for one in self._connected}
        connection = self._connection(uri, id_)
        sessions = await self._neovims.sessions(connection.id)
        what, _, number = rest.partition("/")
        if rest == "workspace":
            return await self._diagnostics.of_workspace(call, sessions)
        if what == "buffer" and number.isascii() and number.isdigit():
            return await self._diagnostics.of_buffer(call, sessions, int(number))
        known = [f"{_DIAGNOSTICS}{id_}/workspace", f"{_DIAGNOSTICS}{id_}/buffer/NUMBER"]
        raise MCPError(INVALID_PARAMS, unknown("resource", uri, known))

    async def _offered(self, _: Call, uri: str, id_: str, rest: str) -> Any:
        if rest:
            raise MCPError(INVALID_PARAMS, unknown("resource", uri, [f"{_TOOLS}{id_}"]))
        tools = [{"name": tool.name, "description": tool.description} for tool in self._tools if tool.listed()]
        if not id_:
            return {"tools": tools, "connections": [connection.id for connection in self._connected]}
        return {"connection_id": self._connection(uri, id_).id, "tools": tools, "total_count": len(tools)}


def _about(connection: NvimConnection) -> dict[str, Any]:
    return {
        "id": connection.id,
        "connection_id": connection.id,
        "target": connection.address.text,
        "cwd": str(connection.cwd),
        "pid": connection.pid,
        "version": connection.version,
    }


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """Refuse a cursor: lists are returned in one piece.

    Raises:
        MCPError: there is one.
    """
    if params and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, f"unknown cursor {params.cursor[:80]!r}: this list has one page")
