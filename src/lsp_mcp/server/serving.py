"""What is served: the toolsets of the running backends, as an MCP server on a transport."""

from __future__ import annotations

from lsp_mcp.errors import ConfigError, LspMcpError
from lsp_mcp.server.envelope import ResponseFormat
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.stdio import serve
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.offered import offered_tools, tools_without_sessions
from lsp_mcp.toolsets.shared import ToolSettings
from lsp_mcp.toolsets.tool import Format


async def serve_stdio(
    sessions: Sessions, settings: ToolSettings, format: Format, response_format: ResponseFormat
) -> None:
    """Serve the tools of `sessions` on stdio. Does not return."""
    try:
        tools = offered_tools(sessions, settings)
    except ConfigError as error:
        await serve_refusals(error, sessions)
        return
    told = instructions(
        sessions.languages,
        ", ".join(backend.name for backend in sessions.backends),
        str(sessions.workspace.root),
        [tool.name for tool in tools],
    )
    server = mcp_server(tools, told, format=format, response_format=response_format)
    await serve(server, sessions)


async def serve_refusals(reason: LspMcpError, sessions: Sessions | None = None) -> None:
    """Serve tools that all answer `reason`: a client hides what a server that fails to start says. Does not return.

    `sessions` are ended with it.
    """
    told = f"lsp-mcp cannot answer: {reason}"
    await serve(mcp_server(tools_without_sessions(reason), told, format="json", response_format="text"), sessions)
