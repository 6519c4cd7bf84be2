"""Which tools are offered: those of every toolset, over running sessions or over none."""

from __future__ import annotations

from dataclasses import replace

from lsp_mcp.errors import LspMcpError
from lsp_mcp.sessions import Sessions
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.hierarchy import HierarchyTools
from lsp_mcp.toolsets.tool import Call, Tool, declared_tools, tools_of

_TOOLSETS = (CodeTools, HierarchyTools)


def offered_tools(sessions: Sessions) -> list[Tool]:
    """Every tool, answering from `sessions`."""
    return [tool for toolset in _TOOLSETS for tool in tools_of(toolset(sessions))]


def tools_without_sessions(reason: LspMcpError) -> list[Tool]:
    """Every tool, to be looked at; a call of one raises `reason`."""

    async def refuse(_: Call, **arguments: object) -> str:
        raise reason

    return [replace(tool, method=refuse) for toolset in _TOOLSETS for tool in declared_tools(toolset)]
