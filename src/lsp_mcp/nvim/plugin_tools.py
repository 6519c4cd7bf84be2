"""The tools of the plugin's registry in one Neovim: `PluginTools`."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from lsp_mcp.backend import Report
from lsp_mcp.nvim.lua_module import LuaModule
from lsp_mcp.nvim.replies import Replies

_REPORT_TIMEOUT = 1.0  # seconds for a client to take what was said before an answer


class PluginTools:
    """Lists and runs them."""

    def __init__(self, lua: LuaModule, replies: Replies) -> None:
        self._lua = lua
        self._replies = replies
        self._progress: dict[int, asyncio.Queue[str | None]] = {}  # what tools say while they are called

    async def all(self) -> dict[str, str] | None:
        """JSON of each tool by its name; None without the plugin. Raises as `LuaModule.call`."""
        listed: dict[str, str] | None = await self._lua.call("tools")
        return listed

    async def run(self, name: str, arguments: str, report: Report) -> Any:
        """The answer of a tool: `text`, JSON; whether it is `plain` text; `remarks`.

        None if Neovim lacks the plugin, False if the plugin lacks the tool. `arguments` is JSON; `report` gets the
        progress messages of the tool.

        Raises:
            RefusedError: the tool's error.
            DiedError: Neovim is gone.
            SilentError: no answer in the tool's own time, or Neovim waits for its user; the call was cancelled.
        """
        number = self._replies.number()
        said: asyncio.Queue[str | None] = asyncio.Queue()
        self._progress[number] = said
        reporting = asyncio.create_task(_report(said, report))
        try:
            # Not `call`: to a Neovim at a prompt it would be called when the prompt is over.
            begun = self._lua.change("run_tool", number, name, arguments)
            answer = await self._replies.reply(number, begun, cancel="cancel_tool", what=name)
            said.put_nowait(None)
            # What was said before the answer comes before it; a client that takes none holds nothing up for long.
            await asyncio.wait([reporting], timeout=_REPORT_TIMEOUT)
            return answer
        finally:
            reporting.cancel()
            del self._progress[number]

    def on_progress(self, number: int, message: Any) -> None:
        """A tool that is called says something."""
        if queue := self._progress.get(number):
            queue.put_nowait(str(message))


async def _report(said: asyncio.Queue[str | None], report: Report) -> None:
    """Hand on what is said, up to None."""
    for count in itertools.count(1):
        message = await said.get()
        if message is None:
            return
        await report(count, None, message)
