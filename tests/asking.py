"""Real language servers asked in one process: `asking` runs a question with a way to call tools."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.patience import TO_THE_END
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.programs import find_command
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace

BOUND = 300  # seconds for a whole test: a hang, not a measurement
Ask = Callable[..., Awaitable[dict[str, Any]]]


class Asked:
    """Calls tools of `sessions`; `proven` returns when all proofs of earlier answers have ended."""

    def __init__(self, sessions: Sessions, answer_within: float | None, index_store: str | None = None) -> None:
        self.sessions = sessions
        settings = ToolSettings(answer_within=answer_within, index_store=index_store)
        self._tools = {tool.name: tool for tool in offered_tools(ToolContext(sessions, settings))}

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of the tool `name`."""
        return json.loads(await self._tools[name].call(Call(), arguments))

    async def proven(self) -> None:
        """See the class."""
        await self.sessions.word_checks.background.idle()


def skip_without(backend: str) -> None:
    """Skip the whole module where the server `backend` is not installed."""
    try:
        find_command(load_adapter(backend))
    except MissingProgramError as error:
        pytest.skip(f"{backend}: {error}", allow_module_level=True)


def asking(
    backend: str,
    root: Path,
    question: Callable[[Asked], Awaitable[None]],
    options: SessionOptions | None = None,
    *,
    answer_within: float | None = TO_THE_END,
    index_store: str | None = None,
) -> None:
    """Run `question` with a way to call tools on a fresh server `backend` in `root`."""

    async def run() -> None:
        sessions = Sessions(Workspace(root), [load_adapter(backend)], {backend: options or SessionOptions()})
        ask = Asked(sessions, answer_within, index_store)
        sessions.begin()
        try:
            async with asyncio.timeout(BOUND):
                await question(ask)
        finally:
            await sessions.close()

    asyncio.run(run())
