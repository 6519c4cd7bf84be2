"""Serving as an MCP server of the SDK, also on HTTP."""

from __future__ import annotations

import socket
from typing import Any

from mcp.server.lowlevel import Server

from lsp_mcp.server import http
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.completions import Completions
from lsp_mcp.server.lines import MessageLines
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.offer import Offer, Served, offer_of
from lsp_mcp.server.resources import Resources

__all__ = ["MessageLines", "serve_bridge", "serve_http", "server_of"]


async def serve_http(served: Served, listening: socket.socket, token: str) -> None:
    """Serve on HTTP for clients with `token`. Does not return.

    Raises:
        ConfigError: a requested toolset is not available.
    """
    server, running = server_of(offer_of(served)), served.running
    running.begin()
    application = http.app(server, token, {"root": str(running.code.workspace.root)})
    http.say_port(listening)
    await http.serve_app(application, running, [listening])


async def serve_bridge(served: Served, listening: socket.socket, token: str) -> None:
    """Serve one Neovim's tools on HTTP, for clients with `token`, until that Neovim is gone. Does not return.

    Raises:
        ConfigError: see `serve_http`.
        CallerError, UnavailableError: there is no such Neovim.
    """
    running = served.running
    assert running.neovims
    connection = await running.neovims.connection()
    if "code" in served.settings.toolsets:
        running.code.begin()
    server = server_of(offer_of(served, root=str(connection.cwd)))
    health = {"nvim": connection.address.text, "pid": connection.pid}
    http.say_port(listening)
    await http.serve_app(http.app(server, token, health), running, [listening], over=connection.ended)


def server_of(offer: Offer) -> Server[dict[str, Any]]:
    """The MCP server of an offer."""
    served = offer.served
    if served is None:
        return mcp_server(offer.calls, offer.instructions)
    running = served.running
    neovims = running.neovims
    changes = Changes(neovims.begun) if neovims else None
    if neovims and changes:
        neovims.changed.subscribe(changes.happened)
    tools = {tool.name: tool for tool in offer.tools}
    return mcp_server(
        offer.calls,
        offer.instructions,
        changes=changes,
        resources=Resources(neovims, offer.tools, served.settings.base) if neovims else offer.diagnostics,
        prompts=offer.prompts,
        completions=Completions(tools, running.code.workspace.root) if offer.prompts else None,
        left=running.left if running.parts else None,
        called=running.called if running.parts else None,
    )
