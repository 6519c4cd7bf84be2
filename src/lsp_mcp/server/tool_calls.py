"""The tools of a session, listed and called independently of any transport: `ToolCalls`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol

from lsp_mcp.backend import Report
from lsp_mcp.errors import CallerError, LspMcpError, defect, unknown
from lsp_mcp.server.envelope import BLOCKS_SCHEMA, Json, ResponseFormat, answered, failed
from lsp_mcp.toolsets.tool import Call, Client, Format, Tool
from lsp_mcp.visible import short_echo, visible

log = logging.getLogger(__name__)


class Offered(Protocol):
    """A tool's entry in a list."""

    @property
    def name(self) -> str:
        """Its name for clients."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def description(self) -> str:
        """Its description."""

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""

    @property
    def destructive(self) -> bool:
        """Whether it may destroy data."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of its arguments."""


class More(Protocol):
    """Tools of another program, which may change at any time."""

    @property
    def prefix(self) -> str:
        """The prefix of their names."""

    async def tools(self) -> Sequence[Offered]:
        """The present ones."""

    async def call(self, call: Call, name: str, arguments: dict[str, Any]) -> str:
        """The answer of one of them, or an `LspMcpError` that lists the available ones."""


class UnknownToolError(CallerError):
    """There is no tool of that name; the message lists the available ones."""


class ToolCalls:
    """`tools`, and `more`; `format` and `response_format` are the user's defaults.

    The first answer ends with the `greeting`. Each call runs in its `turn`.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        format: Format,
        response_format: ResponseFormat,
        more: More | None = None,
        greeting: str = "",
        turn: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        self._tools = tools
        self._by_name = {tool.name: tool for tool in tools}
        self._format: Format = format
        self._response_format = response_format
        self._more = more
        self._greetings = [greeting] if greeting else []
        self._turn = turn

    @property
    def writing(self) -> list[str]:
        """The names of tools that may change something; `x*` means all names that begin with `x`."""
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
            async with self._turn():
                if tool := self._by_name.get(name):
                    answer = await tool.call(call, arguments)
                else:
                    assert self._more
                    answer = await self._more.call(call, name, arguments)
        except LspMcpError as error:
            return failed(str(error))
        except Exception:
            log.exception("%s %s failed", name, short_echo(arguments))
            return failed(defect(name, "the log on its stderr has the details"))
        remarks = [*call.remarks, *self._greetings]
        self._greetings.clear()
        return answered([answer, *remarks], self._response_format)


def described(tool: Offered, response_format: ResponseFormat = "text") -> Json:
    """A tool for `tools/list`, with the schema of its answers if those are structured."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        **({} if response_format == "text" else {"outputSchema": BLOCKS_SCHEMA}),
        # For a read-only tool only that hint: the others apply to tools that write.
        "annotations": {"readOnlyHint": True}
        if tool.read_only
        else {"destructiveHint": tool.destructive, "openWorldHint": False},
    }
