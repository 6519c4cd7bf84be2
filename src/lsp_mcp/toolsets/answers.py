"""What the tools of the toolset `code` share: their common arguments, and how an answer is put into words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lsp_mcp.render.answers import Answer
from lsp_mcp.render.compact import compact
from lsp_mcp.render.document import document
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import Call

MAX_LIMIT = 10_000

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Most results to return")]
Hover = Annotated[bool, Field(description="Add signature and documentation of each symbol")]
Code = Annotated[bool, Field(description="Add the source line of each place")]
SymbolAnchor = Annotated[
    str, Field(description="go://FILE#LINE:CHAR, or an unambiguous name: Func, Type.Method, pkg.Type.Method")
]


class AnchorToolset:
    """Tools over whatever backends are running, whose answers hold anchors."""

    def __init__(self, sessions: Sessions, settings: ToolSettings) -> None:
        self._sessions = sessions
        self._settings = settings
        self._targets = Targets(sessions)

    async def _tell_tasks(self, call: Call, path: Path, point: Point, name: str) -> None:
        """Remark on what is planned or known about the symbol called `name` at `point`."""
        if self._settings.tasks_on and (line := await self._settings.tasks_on(path, point, name)):
            call.remark(line)

    async def _tell_tasks_on(self, call: Call, target: SymbolTarget) -> None:
        """The same for a target."""
        await self._tell_tasks(call, target.path, target.identifier.start, target.name)

    def _render(self, call: Call, answer: Answer) -> str:
        shown, anchor = self._sessions.workspace.display_path, self._targets.anchor
        if call.format == "compact":
            return compact(answer, shown, anchor)
        return document(answer, shown, anchor, self._settings.base)


def found(number: int, noun: str, gaps: Sequence[str]) -> str:
    """`Found 3 references`; with gaps, none found is no statement that there are none."""
    if number:
        return f"Found {count(number, noun)}"
    return f"Not known yet whether there are {noun}s: none found" if gaps else f"No {noun}s found"


def count(number: int, noun: str) -> str:
    """`1 reference`, `1,204 references`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def capped(listed: int, total: int) -> list[str]:
    """The gap that a limit makes, if it does."""
    return [f"capped at {listed:,} of {total:,}"] if listed < total else []


def dropped(number: int) -> list[str]:
    """The gap that results in files that cannot be shown make, if there are any."""
    return [f"{count(number, 'result')} dropped: file gone or not readable as source"] if number else []
