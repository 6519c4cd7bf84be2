"""What is served, and what one client is offered: `Served`, `Offer`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.errors import LspMcpError
from lsp_mcp.server.diagnostics import Diagnostics
from lsp_mcp.server.envelope import ResponseFormat
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.prompts import Prompts
from lsp_mcp.server.tool_calls import ToolCalls
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.offered import EVERYWHERE, lua_tools, offered_tools, tool_context, tools_without_sessions
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.table import PARTS
from lsp_mcp.toolsets.tool import Format, Tool

_TOLD_APART = ("nvim", "debug", *PARTS)  # toolsets that the instructions describe as a whole


class Served(Struct, frozen=True):
    """What is served, and the default form of answers."""

    running: Running
    settings: ToolSettings
    format: Format
    response_format: ResponseFormat


class Offer(Struct, frozen=True):
    """The tools of one session, their calls, and the instructions for a model; `served` is None if all calls fail.

    `is_plain`: there are only these tools, and their list is constant.
    """

    served: Served | None
    tools: list[Tool]
    calls: ToolCalls
    instructions: str
    is_plain: bool
    prompts: Prompts | None = None
    diagnostics: Diagnostics | None = None  # for reports of errors in the code


def offer_of(
    served: Served,
    root: str | None = None,
    greeting: str = "",
    turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Offer:
    """The offer for `served`; `root` is the folder named in the instructions. See `ToolCalls` for the rest.

    Raises:
        ConfigError: a requested toolset is not available.
    """
    running = served.running
    sessions = running.code
    context = tool_context(running, served.settings)
    tools = offered_tools(context)
    more = lua_tools(context)
    guide = instructions(
        sessions.languages,
        ", ".join(backend.plugin.name for backend in sessions.backends),
        root or str(sessions.workspace.root),
        [tool.name for tool in tools if tool.toolset not in _TOLD_APART and tool.listed()],
        through_neovim=running.neovims is not None,
        lua=more is not None,
        debug=any(tool.toolset == "debug" for tool in tools),
        parts=[PARTS[name] for name in running.parts],
        from_index=served.settings.from_index,
    )
    calls = ToolCalls(
        tools,
        format=served.format,
        response_format=served.response_format,
        more=more,
        greeting=greeting,
        turn=turn,
    )
    is_plain = running.neovims is None and not running.parts and more is None
    by_name = {tool.name: tool for tool in tools}
    check = by_name.get("check")
    diagnostics = Diagnostics(check, served.format) if check and running.neovims is None else None
    return Offer(served, tools, calls, guide, is_plain, Prompts(by_name) or None, diagnostics)


def refusing_offer(reason: LspMcpError) -> Offer:
    """Tools that all answer `reason`, because clients hide the error messages of a server that fails to start.

    Only those for every language server are listed: what cannot be used here must not fill the client's context.
    """
    listed = {tool.name for tool in tools_without_sessions(reason, EVERYWHERE)}
    tools = [
        tool if tool.name in listed else replace(tool, listed=lambda: False) for tool in tools_without_sessions(reason)
    ]
    calls = ToolCalls(tools, format="json", response_format="text")
    return Offer(None, tools, calls, f"lsp-mcp cannot answer: {reason}", is_plain=True)
