"""Shared by the debug tools: `DebugToolset`, and the arguments of several of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lsp_mcp.dap.breakpoints import Breakpoint
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.dap.target import Stop
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.debug.answers import Answers
from lsp_mcp.toolsets.debug.places import Places, Where
from lsp_mcp.visible import quoted

Session = Annotated[str | None, Field(description="Needed if several are live")]
Wait = Annotated[float, Field(ge=0, le=600, description="Seconds to wait for the outcome")]
WAIT = 30.0


class DebugToolset(Toolset):
    """Tools over the debug sessions of this process."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        assert context.debug
        self._debug = context.debug
        self._places = Places(context.sessions)
        self._answers = Answers(context.debug, context.sessions.workspace)

    def _named(self, name: str | None) -> DebugSession:
        return self._debug.named(name)

    def _standing(self, session: DebugSession, thread: int | None) -> Stop:
        """The stop of the session, or of one of its threads.

        Raises:
            CallerError: it is not stopped.
        """
        if thread is not None and session.stop:
            for target in session.live:
                if thread in target.stops:
                    return target.stops[thread]
            return Stop(session.stop.number, session.stop.target, thread, session.stop.reason)
        if session.stop is None:
            how = "has ended" if session.over.is_set() else f"is {session.state}: debug_pause stops it"
            if session.state == "starting":
                how = "is still starting: debug_continue waits on"
            raise CallerError(f"{session.name} ({session.plan.title}) {how}.")
        return session.stop

    def _set(self, where: Where, *, condition: str = "", hit: int = 0, log: str = "") -> Breakpoint:
        ours = self._debug.breakpoints
        if where.path is None:
            return ours.add_function(where.function, condition=condition, hit=hit, log=log)
        return ours.add_line(where.path, where.line, condition=condition, hit=hit, log=log)

    def _followed(self) -> list[str]:
        """Move breakpoints with edits of their files; returns their changes."""
        show = self._answers.show
        said = []
        for moved in self._debug.breakpoints.follow():
            assert moved.before.path
            at = f"{show(moved.before.path)}:{moved.before.line}"
            if moved.now:
                said.append(f"breakpoint {moved.before.id} moved with its line: {at} → {moved.now.line}")
            else:
                said.append(
                    f"breakpoint {moved.before.id} at {at} was removed: its line {quoted(moved.before.text)} is gone"
                )
        return said


def check_runs(session: DebugSession) -> None:
    """Raise CallerError if no debugger is available."""
    if session.plan.is_core and not session.over.is_set():
        raise CallerError(
            f"{session.name} ({session.plan.title}) is a core file: nothing runs. Use debug_context, with "
            "frame= and thread=, and debug_evaluate."
        )
