"""The tool for breakpoints: `BreakpointTools`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.dap.breakpoints import Breakpoint, read_source
from lsp_mcp.errors import CallerError
from lsp_mcp.render import debugging
from lsp_mcp.toolsets.debug.base import DebugToolset, Session
from lsp_mcp.toolsets.debug.places import Where
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted

Place = Annotated[str, Field(description="FILE:LINE, FILE:TEXT OF THE LINE, an anchor, or a function's name")]


class BreakpointTools(DebugToolset):
    """They belong to the workspace and apply to all sessions."""

    @tool(title="Set, list and remove breakpoints", read_only=False)
    async def debug_breakpoints(
        self,
        call: Call,
        at: Annotated[
            Place | None, Field(description="Set one: FILE:LINE, FILE:TEXT, an anchor, or a function")
        ] = None,
        condition: str | None = None,
        hit: Annotated[int, Field(ge=0, description="Stop from this hit on")] = 0,
        log: Annotated[str | None, Field(description="Print this, with {expressions}, instead of stopping")] = None,
        expect: Annotated[str | None, Field(description="Text that the line must contain")] = None,
        remove: Annotated[int | None, Field(description="ID of a breakpoint")] = None,
        clear: Annotated[str | None, Field(description="A file, or `all`")] = None,
        session: Annotated[Session, UNLISTED] = None,
        format: FormatChoice = None,
    ) -> str:
        """Set a breakpoint, remove some, or list all. They apply to all sessions, current and future."""
        notes = self._followed()
        changed: list[Breakpoint] = []
        if remove is not None or clear is not None:
            changed += self._removed(remove, clear)
        if at is not None:
            where = await self._places.find(call, at)
            if expect is not None and where.path:
                _check_text(where, expect)
            made = self._set(where, condition=condition or "", hit=hit, log=log or "")
            changed.append(made)
        paths = list(dict.fromkeys(one.path for one in changed if one.path))
        functions = any(one.function for one in changed)
        for live in self._debug.live:
            await live.send_breakpoints(paths, functions=functions)
        shown = [made] if at is not None else list(self._debug.breakpoints)
        live_one = self._debug.live[-1] if self._debug.live else None
        lines = [
            debugging.breakpoint_line(one, self._answers.show, self._answers.bound(live_one, one.id)) for one in shown
        ]
        answer: dict[str, Any] = {"breakpoints": lines}
        if at is None and (remove is not None or clear is not None):
            answer = {"removed": len(changed), **answer}
        if notes:
            answer["notes"] = notes
        return self._answers.text(call, None, answer)

    def _removed(self, number: int | None, clear: str | None) -> list[Breakpoint]:
        ours = self._debug.breakpoints
        if clear is not None:
            gone = list(ours) if clear == "all" else ours.in_file(self._context.sessions.workspace.file(clear))
        else:
            gone = [found] if number is not None and (found := ours.get(number)) else []
            if not gone:
                listed = ", ".join(str(one.id) for one in ours) or "none"
                raise CallerError(f"unknown breakpoint {number}; available: {listed}.")
        ours.remove(gone)
        return gone


def _check_text(where: Where, expected: str) -> None:
    assert where.path
    line = read_source(where.path).line(where.line)
    if expected not in line:
        raise CallerError(
            f"line {where.line} of {where.path.name} is {quoted(line.strip())}, without {quoted(expected)}; "
            "nothing was set."
        )
