"""What is served: the toolsets of the running backends, as an MCP server on a transport."""

from __future__ import annotations

from lsp_mcp.server.envelope import ResponseFormat
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.stdio import serve
from lsp_mcp.sessions import Sessions
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.tool import Format, tools_of


async def serve_stdio(sessions: Sessions, format: Format, response_format: ResponseFormat) -> None:
    """Serve the tools of `sessions` on stdio. Does not return."""
    told = instructions(
        sessions.languages,
        ", ".join(backend.name for backend in sessions.backends),
        str(sessions.workspace.root),
    )
    server = mcp_server(tools_of(CodeTools(sessions)), told, format=format, response_format=response_format)
    await serve(server, sessions)
