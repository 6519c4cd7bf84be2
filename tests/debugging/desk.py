"""The tools of the toolset `debug`, called as a client calls them, in this process: `Desk`."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsp_mcp.dap.sessions import DebugSessions
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.debug import TOOLS
from lsp_mcp.toolsets.tool import Call, tools_of
from lsp_mcp.workspace import Workspace

LONG = 90  # seconds: a bound for a machine that is ten times slower, not a measurement


class Desk:
    """`await desk.start(program=…)` calls debug_start and gives its answer; `said` counts what a model would read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.debug = DebugSessions(Workspace(root).root)
        context = ToolContext(Sessions(Workspace(root), [], {}), debug=self.debug)
        self._tools = {tool.name: tool for kind in TOOLS for tool in tools_of(kind(context))}
        self.calls = 0
        self.said = 0  # bytes

    def __getattr__(self, name: str) -> Any:
        tool = self._tools[f"debug_{name.rstrip('_')}"]

        async def ask(**arguments: Any) -> Any:
            if "wait" in tool.model.model_fields:
                arguments.setdefault("wait", LONG)
            call = Call()
            text = await tool.call(call, arguments)
            self.calls += 1
            self.said += len(text.encode()) + sum(len(remark.encode()) for remark in call.remarks)
            return json.loads(text)

        return ask


@asynccontextmanager
async def desk(root: Path) -> AsyncIterator[Desk]:
    one = Desk(root)
    try:
        yield one
    finally:
        await one.debug.close()


def unhurried(test: Any) -> Any:
    """Run the coroutine `test` in a loop of its own, with a bound that only a hang reaches."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        async def main() -> None:
            async with asyncio.timeout(3 * LONG):
                await test(*arguments, **named)

        asyncio.run(main())

    return run
