"""The tools of this program as an MCP server, for both protocol eras (mcp 2.3 low-level server)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    ListToolsResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    SetLevelRequestParams,
)
from mcp.types import Tool as McpTool

from lsp_mcp import __version__
from lsp_mcp.server import tool_calls
from lsp_mcp.server.callers import Left, caller
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.completions import Completions
from lsp_mcp.server.diagnostics import Diagnostics
from lsp_mcp.server.prompts import Prompts
from lsp_mcp.server.resources import Resources, refuse_cursor
from lsp_mcp.server.tool_calls import Offered, ToolCalls, UnknownToolError
from lsp_mcp.sessions.running import Tell

_CHANGING = NotificationOptions(tools_changed=True, resources_changed=True)


async def _tell(session: ServerSession, logger: str, data: dict[str, str]) -> None:
    """Send `notifications/message` to the client of that session."""
    params = LoggingMessageNotificationParams(level="info", data=data, logger=logger)
    await session.send_notification(LoggingMessageNotification(params=params))


def mcp_server(
    calls: ToolCalls,
    instructions: str,
    *,
    changes: Changes | None = None,
    resources: Resources | Diagnostics | None = None,
    prompts: Prompts | None = None,
    completions: Completions | None = None,
    left: Left | None = None,
    called: Callable[[str, Tell], None] | None = None,
) -> Server[dict[str, Any]]:
    """A server that offers `calls`.

    With `changes`, the list of tools may change. `left` is called with the key of a client that has disconnected,
    `called` with the key of a client that calls a tool, and a function that sends it messages.
    """

    async def list_tools(context: ServerRequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        refuse_cursor(params)
        if changes:
            await changes.settled()
            changes.seen(context.session)
        return ListToolsResult(tools=list(map(McpTool.model_validate, await calls.all_listed())))

    async def call_tool(context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        client = caller(context, left)
        try:
            calls.check(params.name)
            if called:
                called(client.key, partial(_tell, context.session))
            result = await calls.call(params.name, params.arguments or {}, client, context.session.report_progress)
        except UnknownToolError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        return CallToolResult.model_validate(result)

    async def set_level(context: ServerRequestContext, params: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()  # it only sends small notices for a person or an agent

    if called:
        # Deprecated in the newest version of MCP, in which no notification can be sent between two requests.
        warnings.filterwarnings("ignore", message="The logging capability is deprecated")
    return _Server(
        "lsp-mcp",
        version=__version__,
        title="lsp-mcp",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_set_logging_level=set_level if called else None,
        on_subscriptions_listen=ListenHandler(changes.bus) if changes else None,
        on_list_resources=resources.list if resources else None,
        on_list_resource_templates=resources.templates if resources else None,
        on_read_resource=resources.read if resources else None,
        on_list_prompts=prompts.list if prompts else None,
        on_get_prompt=prompts.get if prompts else None,
        on_completion=completions.complete if completions else None,
    )


class _Server(Server[dict[str, Any]]):
    """Announces on every transport whether its lists may change; the SDK (2.3) supports that only for stdio."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **values: Any
    ) -> InitializationOptions:
        """See `Server`."""
        changing = _CHANGING if self.get_request_handler("subscriptions/listen") else NotificationOptions()
        return super().create_initialization_options(notification_options or changing, *args, **values)


def described(tool: Offered) -> McpTool:
    """A tool in the SDK's form."""
    return McpTool.model_validate(tool_calls.described(tool))
