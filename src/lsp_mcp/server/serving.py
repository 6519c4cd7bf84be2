"""What is served: the toolsets of the running backends, as an MCP server on a transport."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.lowlevel import Server

from lsp_mcp.errors import ConfigError, LspMcpError
from lsp_mcp.server import http
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.completions import Completions
from lsp_mcp.server.diagnostics import Diagnostics
from lsp_mcp.server.envelope import ResponseFormat
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.lines import MessageLines
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.prompts import Prompts
from lsp_mcp.server.resources import Resources
from lsp_mcp.server.stdio import serve
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.offered import lua_tools, offered_tools, tool_context, tools_without_sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.table import PARTS
from lsp_mcp.toolsets.tool import Format

_AT_ONCE = 8  # calls of one client of several that run at a time: a flood must not hold up the others
_TOLD_APART = ("nvim", "debug", *PARTS)  # toolsets whose tools the instructions tell of as a whole


@dataclass(frozen=True)
class Served:
    """What is served, and how its answers look unless a caller says otherwise."""

    running: Running
    settings: ToolSettings
    format: Format
    response_format: ResponseFormat


async def serve_stdio(served: Served) -> None:
    """Serve on stdio. Does not return."""
    try:
        server = server_of(served)
    except ConfigError as error:
        await serve_refusals(error, served.running)
        return
    await serve(server, served.running)


@dataclass(frozen=True)
class ClientSession:
    """One client of several, on a stream of its own; `writing` are the names of its tools that change something."""

    server: Server[dict[str, Any]]
    writing: tuple[str, ...]

    async def run(self, read: Callable[[], Awaitable[bytes]], write: Callable[[bytes], Awaitable[None]]) -> None:
        """See `MessageLines`."""
        await MessageLines(self.server, read, write).run()


def client_session(served: Served, greeting: str) -> ClientSession:
    """A session of what is served; its first answer says `greeting` too, unless that is empty.

    Raises:
        ConfigError: a toolset was asked for that is not available.
    """
    tools = offered_tools(tool_context(served.running, served.settings))
    return ClientSession(
        server_of(served, greeting=greeting, at_once=_AT_ONCE), tuple(tool.name for tool in tools if not tool.read_only)
    )


async def serve_http(served: Served, listening: socket.socket, token: str) -> None:
    """Serve on HTTP, to who sends `token`. Does not return.

    Raises:
        ConfigError: a toolset was asked for that is not available.
    """
    server, running = server_of(served), served.running
    running.begin()
    application = http.app(server, token, {"root": str(running.code.workspace.root)})
    _say_port(listening)
    await http.serve_app(application, running, [listening])


async def serve_bridge(served: Served, listening: socket.socket, token: str) -> None:
    """Serve one Neovim's tools on HTTP, to who sends `token`, until that Neovim is gone. Does not return.

    Raises:
        ConfigError: as `serve_http`.
        CallerError, UnavailableError: there is no such Neovim.
    """
    running = served.running
    assert running.neovims
    connection = await running.neovims.connection()
    if "code" in served.settings.toolsets:
        running.code.begin()
    server = server_of(served, root=str(connection.cwd))
    health = {"nvim": connection.address.text, "pid": connection.pid}
    _say_port(listening)
    await http.serve_app(http.app(server, token, health), running, [listening], over=connection.ended)


def _say_port(listening: socket.socket) -> None:
    """Tell the program that started us (docs/contracts/lua.md). Answers come once the rest is up."""
    print(f"MCP server listening on port {listening.getsockname()[1]}", flush=True)


def server_of(served: Served, root: str | None = None, greeting: str = "", at_once: int = 0) -> Server[dict[str, Any]]:
    """The MCP server over what is running; `root` is told to be its folder.

    Raises:
        ConfigError: a toolset was asked for that is not available.
    """
    running = served.running
    neovims, sessions = running.neovims, running.code
    context = tool_context(running, served.settings)
    tools = offered_tools(context)
    more = lua_tools(context)
    told = instructions(
        sessions.languages,
        ", ".join(backend.name for backend in sessions.backends),
        root or str(sessions.workspace.root),
        [tool.name for tool in tools if tool.toolset not in _TOLD_APART and tool.listed()],
        through_neovim=neovims is not None,
        lua=more is not None,
        debug=any(tool.toolset == "debug" for tool in tools),
        parts=[PARTS[name] for name in running.parts],
    )
    changes = Changes(neovims.begun) if neovims else None
    if neovims and changes:
        neovims.changed.subscribe(changes.happened)
    by_name = {tool.name: tool for tool in tools}
    resources: Resources | Diagnostics | None = None
    if neovims:
        resources = Resources(neovims, tools, served.settings.base)
    elif check := by_name.get("check"):
        resources = Diagnostics(check, served.format)
    prompts = Prompts(by_name)
    return mcp_server(
        tools,
        told,
        format=served.format,
        response_format=served.response_format,
        changes=changes,
        resources=resources,
        prompts=prompts,
        completions=Completions(by_name, sessions.workspace.root) if prompts else None,
        more=more,
        greeting=greeting,
        at_once=at_once,
        left=running.left if running.parts else None,
        called=running.called if running.parts else None,
    )


async def serve_refusals(reason: LspMcpError, running: Running | None = None) -> None:
    """Serve tools that all answer `reason`: a client hides what a server that fails to start says. Does not return.

    What is `running` is ended with it.
    """
    told = f"lsp-mcp cannot answer: {reason}"
    await serve(mcp_server(tools_without_sessions(reason), told, format="json", response_format="text"), running)
