"""The tools of a session, listed and called apart from any transport: `ToolCalls`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from lsp_mcp.backend import Report
from lsp_mcp.errors import CallerError, LspMcpError, unknown
from lsp_mcp.server.envelope import BLOCKS_SCHEMA, Json, ResponseFormat, answered, failed
from lsp_mcp.toolsets.tool import Call, Client, Format, Tool
from lsp_mcp.visible import short_echo, visible

log = logging.getLogger(__name__)


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
    """Tools of another program, which may change at any time."""

    @property
    def prefix(self) -> str:
        """What their names begin with."""

    async def tools(self) -> Sequence[Offered]:
        """Those that there are now."""

    async def call(self, call: Call, name: str, arguments: dict[str, Any]) -> str:
        """The answer of one of them, or a `LspMcpError` that says what there is."""


class UnknownToolError(CallerError):
    """There is no tool of that name; the message lists those that there are."""


class ToolCalls:
    """`tools`, and `more`; `format` and `response_format` are the user's defaults.

    The first answer ends with the `greeting`. No more than `at_once` calls run at a time, unless that is 0.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        format: Format,
        response_format: ResponseFormat,
        more: More | None = None,
        greeting: str = "",
        at_once: int = 0,
    ) -> None:
        self._tools = tools
        self._by_name = {tool.name: tool for tool in tools}
        self._format: Format = format
        self._response_format = response_format
        self._more = more
        self._greetings = [greeting] if greeting else []
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Semaphore(at_once) if at_once else nullcontext()

    @property
    def writing(self) -> list[str]:
        """The names of those that may change something; `x*` is all whose names begin with `x`."""
        of_others = [f"{self._more.prefix}*"] if self._more else []
        return [*(tool.name for tool in self._tools if not tool.read_only), *of_others]

    def listed(self) -> list[Json]:
        """MCP's `Tool`s, without `more`."""
        return [described(tool, self._response_format) for tool in self._tools if tool.listed()]

    async def all_listed(self) -> list[Json]:
        """MCP's `Tool`s."""
        more = await self._more.tools() if self._more else []
        return [
            *self.listed(),
            *(described(tool, self._response_format) for tool in more if tool.name not in self._by_name),
        ]

    def check(self, name: str) -> None:
        """Raises UnknownToolError: there is no tool `name`."""
        if name not in self._by_name and self._more is None:
            known = [tool.name for tool in self._tools if tool.listed()]
            raise UnknownToolError(unknown("tool", name, known))

    async def call(self, name: str, arguments: dict[str, Any], client: Client, report: Report) -> Json:
        """The `CallToolResult` of a call.

        Raises:
            UnknownToolError: see `check`.
        """
        self.check(name)

        async def shown(done: float, total: float | None, message: str) -> None:
            await report(done, total, visible(message))

        call = Call(format=self._format, report=shown, client=client)
        try:
            async with self._turn:
                if tool := self._by_name.get(name):
                    answer = await tool.call(call, arguments)
                else:
                    assert self._more
                    answer = await self._more.call(call, name, arguments)
        except LspMcpError as error:
            return failed(str(error))
        except Exception:
            log.exception("%s %s failed", name, short_echo(arguments))
            return failed(
                f"{name} failed by a defect of lsp-mcp itself; the log on its stderr has the details. Please report it."
            )
        remarks = [*call.remarks, *self._greetings]
        self._greetings.clear()
        return answered([answer, *remarks], self._response_format)


def described(tool: Offered, response_format: ResponseFormat = "text") -> Json:
    """A tool as `tools/list` has it; the schema of its answers is there if those are structured."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        **({} if response_format == "text" else {"outputSchema": BLOCKS_SCHEMA}),
        # Of a tool that only reads, that alone: the other hints mean something only for tools that write.
        "annotations": {"readOnlyHint": True}
        if tool.read_only
        else {"destructiveHint": tool.destructive, "openWorldHint": False},
    }
