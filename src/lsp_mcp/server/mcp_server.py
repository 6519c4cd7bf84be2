"""The tools of this program as an MCP server, for both protocol eras (mcp 2.3 low-level server)."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

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
    ToolAnnotations,
)
from mcp.types import Tool as McpTool

from lsp_mcp import __version__
from lsp_mcp.errors import LspMcpError, unknown
from lsp_mcp.server.callers import Left, caller
from lsp_mcp.server.changes import Changes
from lsp_mcp.server.completions import Completions
from lsp_mcp.server.diagnostics import Diagnostics
from lsp_mcp.server.envelope import BLOCKS_SCHEMA, ResponseFormat, answered, failed
from lsp_mcp.server.prompts import Prompts
from lsp_mcp.server.resources import Resources, refuse_cursor
from lsp_mcp.sessions.running import Tell
from lsp_mcp.toolsets.tool import Call, Format, Tool
from lsp_mcp.visible import short_echo, visible

log = logging.getLogger(__name__)

_CHANGING = NotificationOptions(tools_changed=True, resources_changed=True)


class Offered(Protocol):
    """What a list says of a tool."""

    @property
    def name(self) -> str:
        """What clients call it."""

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def description(self) -> str:
        """What it does."""

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""

    @property
    def destructive(self) -> bool:
        """Whether what it changes may be lost."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""


class More(Protocol):
    """Tools that somebody else has, and may change at any time."""

    async def tools(self) -> Sequence[Offered]:
        """Those that there are now."""

    async def call(self, call: Call, name: str, arguments: dict[str, Any]) -> str:
        """The answer of one of them, or a `LspMcpError` that says what there is."""


async def _tell(session: ServerSession, logger: str, told: dict[str, str]) -> None:
    """Send `notifications/message` to the client of that session."""
    params = LoggingMessageNotificationParams(level="info", data=told, logger=logger)
    await session.send_notification(LoggingMessageNotification(params=params))


def mcp_server(
    tools: Sequence[Tool],
    instructions: str,
    *,
    format: Format,
    response_format: ResponseFormat,
    changes: Changes | None = None,
    resources: Resources | Diagnostics | None = None,
    prompts: Prompts | None = None,
    completions: Completions | None = None,
    more: More | None = None,
    left: Left | None = None,
    called: Callable[[str, Tell], None] | None = None,
    greeting: str = "",
    at_once: int = 0,
) -> Server[dict[str, Any]]:
    """A server that offers `tools`, and `more`; `format` and `response_format` are the user's defaults.

    The first answer ends with the `greeting`. No more than `at_once` calls run at a time, unless that is 0.

    With `changes`, which of them are listed may change. `left` is called with the key of a client that is gone,
    `called` with that of one that calls a tool, and what sends it messages.
    """
    by_name = {tool.name: tool for tool in tools}
    greetings = [greeting] if greeting else []
    turn: AbstractAsyncContextManager[Any] = asyncio.Semaphore(at_once) if at_once else nullcontext()

    async def list_tools(context: ServerRequestContext, params: PaginatedRequestParams | None) -> ListToolsResult:
        refuse_cursor(params)
        if changes:
            await changes.settled()
            changes.seen(context.session)
        listed: list[Offered] = [tool for tool in tools if tool.listed()]
        if more:
            listed += [tool for tool in await more.tools() if tool.name not in by_name]
        return ListToolsResult(tools=[described(tool, response_format) for tool in listed])

    async def call_tool(context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        tool = by_name.get(params.name)
        if tool is None and more is None:
            raise MCPError(INVALID_PARAMS, unknown("tool", params.name, [tool.name for tool in tools if tool.listed()]))

        async def report(done: float, total: float | None, message: str) -> None:
            await context.session.report_progress(done, total, visible(message))

        call = Call(format=format, report=report, client=caller(context, left))
        arguments = params.arguments or {}
        if called:
            called(call.client.key, partial(_tell, context.session))
        try:
            async with turn:
                if tool:
                    answer = await tool.call(call, arguments)
                else:
                    assert more
                    answer = await more.call(call, params.name, arguments)
            remarks = [*call.remarks, *greetings]
            greetings.clear()
            return answered([answer, *remarks], response_format)
        except LspMcpError as error:
            return failed(str(error))
        except Exception:
            log.exception("%s %s failed", params.name, short_echo(params.arguments))
            return failed(
                f"{params.name} failed by a defect of lsp-mcp itself; the log on its stderr has the details. "
                "Please report it."
            )

    async def set_level(context: ServerRequestContext, params: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()  # what is sent is for a person's eyes or an agent's, and little

    if called:
        # Deprecated in the newest version of MCP, in which nobody can be told of anything between two requests.
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
    """Says on every transport whether its lists may change; the SDK (2.3) asks only stdio's caller."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **values: Any
    ) -> InitializationOptions:
        """See `Server`."""
        changing = _CHANGING if self.get_request_handler("subscriptions/listen") else NotificationOptions()
        return super().create_initialization_options(notification_options or changing, *args, **values)


def described(tool: Offered, response_format: ResponseFormat = "text") -> McpTool:
    """A tool as `tools/list` has it; the schema of its answers is there if those are structured."""
    return McpTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=None if response_format == "text" else BLOCKS_SCHEMA,
        annotations=_annotations(tool),
    )


def _annotations(tool: Offered) -> ToolAnnotations:
    """Of what only reads, that alone: the others mean something only for what writes (`ToolAnnotations`)."""
    if tool.read_only:
        return ToolAnnotations(read_only_hint=True)
    return ToolAnnotations(destructive_hint=tool.destructive, open_world_hint=False)
