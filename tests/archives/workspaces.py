"""How archives reach the program: each way opens a folder and calls tools by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from fakes.callers import somebody
from fakes.patience import TO_THE_END
from lsp_mcp.adapters import load_adapter
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.programs import find_command
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace
from nvim.neovims import find_nvim, neovim

CallTool = Callable[[str, dict[str, Any]], Awaitable[str]]
"""Called with a tool's name and its arguments; the answer's text, compact unless `format` says otherwise."""

Open = Callable[[Path], AbstractAsyncContextManager[CallTool]]
"""Called with the workspace root."""


def direct(backend: str, toolsets: Sequence[str] = ()) -> Open:
    """The language server `backend`, started by the program itself; `toolsets` in addition to those that fit it.

    Raises:
        MissingProgramError: it is not installed.
    """
    adapter = load_adapter(backend)
    find_command(adapter)

    @asynccontextmanager
    async def open_(root: Path) -> AsyncIterator[CallTool]:
        workspace = Workspace(root)
        workspace.checkout = root.parent  # an archive's dependencies are beside its root
        sessions = Sessions(workspace, [adapter], {})
        settings = ToolSettings(toolsets=tuple(toolsets), answer_within=TO_THE_END)
        tools = {tool.name: tool for tool in offered_tools(ToolContext(sessions, settings))}
        sessions.begin()
        try:
            yield lambda name, arguments: tools[name].call(Call(format="compact", client=somebody()), arguments)
        finally:
            await sessions.close()
            sessions.kill()

    return open_


def through_neovim(backend: str, toolsets: Sequence[str] = ()) -> Open:
    """The language server `backend`, as a Neovim runs it; otherwise as `direct`."""
    adapter = load_adapter(backend)
    find_command(adapter)
    find_nvim()

    @asynccontextmanager
    async def open_(root: Path) -> AsyncIterator[CallTool]:
        async with neovim(root, servers=(backend,), env={"LSP_MCP_TEST_ONE_ROOT": "1"}) as nvim:
            neovims = Neovims(Workspace(root), [adapter], SessionOptions(), str(nvim.socket))
            settings = ToolSettings(toolsets=tuple(toolsets), answer_within=TO_THE_END)
            tools = {tool.name: tool for tool in offered_tools(ToolContext(neovims.code, settings))}
            neovims.begin()
            try:
                yield lambda name, arguments: tools[name].call(Call(format="compact", client=somebody()), arguments)
            finally:
                await neovims.close()

    return open_
