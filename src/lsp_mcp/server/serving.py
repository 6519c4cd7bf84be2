"""What is served: the toolsets of the running backends, as an MCP server on a transport."""

from __future__ import annotations

from lsp_mcp.errors import ConfigError, LspMcpError
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.envelope import ResponseFormat
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.resources import Resources
from lsp_mcp.server.stdio import serve
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.offered import offered_tools, tools_without_sessions, toolset_of
from lsp_mcp.toolsets.shared import ToolSettings
from lsp_mcp.toolsets.tool import Format

Running = Sessions | Neovims
"""What is served: language servers that we started, or Neovims."""


async def serve_stdio(
    running: Running, settings: ToolSettings, format: Format, response_format: ResponseFormat
) -> None:
    """Serve the tools of what is running on stdio. Does not return."""
    neovims = running if isinstance(running, Neovims) else None
    sessions = running.code if isinstance(running, Neovims) else running
    try:
        tools = offered_tools(sessions, settings, neovims)
    except ConfigError as error:
        await serve_refusals(error, running)
        return
    told = instructions(
        sessions.languages,
        ", ".join(backend.name for backend in sessions.backends),
        str(sessions.workspace.root),
        [tool.name for tool in tools if neovims is None or toolset_of(tool.name) != "nvim"],
        through_neovim=neovims is not None,
    )
    changes = Changes(neovims.begun) if neovims else None
    if neovims and changes:
        neovims.editors.on_change = changes.happened
    resources = Resources(neovims) if neovims else None
    server = mcp_server(
        tools, told, format=format, response_format=response_format, changes=changes, resources=resources
    )
    await serve(server, running)


async def serve_refusals(reason: LspMcpError, running: Running | None = None) -> None:
    """Serve tools that all answer `reason`: a client hides what a server that fails to start says. Does not return.

    What is `running` is ended with it.
    """
    told = f"lsp-mcp cannot answer: {reason}"
    await serve(mcp_server(tools_without_sessions(reason), told, format="json", response_format="text"), running)
