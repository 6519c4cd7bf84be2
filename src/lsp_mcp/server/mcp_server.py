"""The tools of this program as an MCP server, for both protocol eras (mcp 2.3 low-level server)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ListenHandler
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp.types import Tool as McpTool

from lsp_mcp import __version__
from lsp_mcp.errors import LspMcpError
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.envelope import ResponseFormat, answered, failed
from lsp_mcp.server.resources import Resources
from lsp_mcp.toolsets.tool import Call, Format, Tool

log = logging.getLogger(__name__)


def mcp_server(
    tools: Sequence[Tool],
    instructions: str,
    *,
    format: Format,
    response_format: ResponseFormat,
    changes: Changes | None = None,
    resources: Resources | None = None,
) -> Server[dict[str, Any]]:
    """A server that offers `tools`; `format` and `response_format` are the user's defaults.

    With `changes`, which of them are listed may change.
    """
    by_name = {tool.name: tool for tool in tools}

    async def list_tools(context: ServerRequestContext, _: PaginatedRequestParams | None) -> ListToolsResult:
        if changes:
            await changes.settled()
            changes.seen(context.session)
        return ListToolsResult(tools=[described(tool) for tool in tools if tool.listed()])

    async def call_tool(context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            return failed(f"There is no tool {params.name!r}; there is: {', '.join(by_name)}.")
        call = Call(format=format, report=context.session.report_progress)
        try:
            answer = await tool.call(call, params.arguments or {})
            return answered([answer, *call.remarks], response_format)
        except LspMcpError as error:
            return failed(str(error))
        except Exception:
            log.exception("%s %r failed", params.name, params.arguments)
            return failed(
                f"{params.name} failed by a defect of lsp-mcp itself; the log on its stderr has the details. "
                "Please report it."
            )

    return Server(
        "lsp-mcp",
        version=__version__,
        title="lsp-mcp",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(changes.bus) if changes else None,
        on_list_resources=resources.list if resources else None,
        on_read_resource=resources.read if resources else None,
    )


def described(tool: Tool) -> McpTool:
    """A tool as `tools/list` has it."""
    return McpTool(
        name=tool.name,
        title=tool.title,
        description=tool.told,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.read_only,
            open_world_hint=False,
        ),
    )
