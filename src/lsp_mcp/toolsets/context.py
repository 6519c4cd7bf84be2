"""What every toolset is built from, `ToolContext`; and the base class of them all, `Toolset`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from lsp_mcp.edits.plan import EditPlan, Step
from lsp_mcp.nvim.apply import Done
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Tool
from lsp_mcp.usage import Usage

if TYPE_CHECKING:
    from lsp_mcp.dap.sessions import DebugSessions
    from lsp_mcp.sessions.running import Part


TasksOn = Callable[[Path, Point, str], Awaitable[str | None]]
"""Called with a symbol's file, place and name; returns a line for the caller who asks about it."""


class Links(Protocol):
    """The interface between a part of the program and the code tools."""

    async def tasks_on(self, path: Path, point: Point, name: str) -> str | None:
        """One line on the pending tasks about the symbol called `name` at `point` of `path`; None if there are none."""

    async def edited(self, steps: Sequence[Step]) -> None:
        """These edits were made."""


class ToolContext(Struct, frozen=True):
    """The running parts and the user's settings; immutable."""

    sessions: Sessions
    settings: ToolSettings = field(default_factory=ToolSettings)
    neovims: Neovims | None = None
    parts: Mapping[str, Part] = field(default_factory=dict)  # by toolset
    debug: DebugSessions | None = None
    links: Sequence[Links] = ()  # of the enabled parts
    usage: Usage | None = None

    async def tasks_on(self, path: Path, point: Point, name: str) -> str | None:
        """The remarks of the parts on that symbol; see `Links`."""
        lines = [line for one in self.links if (line := await one.tasks_on(path, point, name))]
        return "\n".join(lines) or None

    async def apply(self, sessions: Sessions, plan: EditPlan, *, save: bool = True, confirmed: bool = False) -> Done:
        """Apply all of `plan` in the workspace of `sessions` or nothing, and notify the parts; see `Sessions.apply`."""
        done = await sessions.apply(plan, save=save, confirmed=confirmed)
        for one in self.links:
            await one.edited(plan.steps)
        return done


class Toolset:
    """Tools over the running parts; a subclass marks its methods with `tool`."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._settings = context.settings

    def lists(self, name: str) -> bool:
        """Whether the tool called `name` is listed now; unlisted ones can still be called."""
        return True

    def adapted(self, tool: Tool) -> Tool:
        """One of its tools, as offered."""
        return tool
