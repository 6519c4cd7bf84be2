"""Tools that continue, step and stop a program: `ControlTools`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lsp_mcp.dap import control
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.toolsets.debug.answers import BEYOND
from lsp_mcp.toolsets.debug.base import WAIT, DebugToolset, Session, Wait, check_runs
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted
from lsp_mcp.waiting import allow

_PAUSE_LANDS = 5.0  # seconds for a pause
# lldb-dap 19 accepts a pause in the moment before it lets a process run to which it was attached, and forgets it.
_PAUSE_AGAIN = 1.0  # seconds without a stop, after which it is asked once more
_STEPS = {"over": "next", "in": "stepIn", "out": "stepOut"}


class ControlTools(DebugToolset):
    """Continuing, stepping, pausing."""

    @tool(title="Continue the program", read_only=False)
    async def debug_continue(
        self,
        call: Call,
        to: Annotated[str | None, Field(description="Also stop here, once (see debug_breakpoints)")] = None,
        session: Session = None,
        wait: Wait = WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Continue until the next stop or the end; a running program is waited for, an unreported stop returned."""
        one = self._named(session)
        if one.over.is_set():
            return self._answers.text(call, one, self._answers.ended(one))
        check_runs(one)
        aim = None
        if to is not None:
            where = await self._places.find(call, to)
            if where.path is None:
                raise CallerError(f"{quoted(to)} is not a line: pass FILE:LINE or FILE:TEXT OF THE LINE.")
            aim = self._debug.breakpoints.add_line(where.path, where.line, once=True)
            await one.send_breakpoints([where.path])
        after = one.shown
        if one.stop and one.stop.number <= one.shown:
            after = one.stop_count
            await one.resume_all()
        try:
            return await self._answers.outcome(call, one, after, wait, to=aim)
        finally:
            await self._forget_aims(one)

    @tool(title="Step", read_only=False)
    async def debug_step(
        self,
        call: Call,
        how: Annotated[str, Field(pattern="^(over|in|out)$", description="over, in or out")] = "over",
        times: Annotated[int, Field(ge=1, le=100)] = 1,
        thread: int | None = None,
        session: Session = None,
        wait: Annotated[Wait, UNLISTED] = WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Step from the current location; returns the new one and what changed."""
        one = self._named(session)
        check_runs(one)
        for left in reversed(range(times)):
            stop = self._standing(one, thread)
            after = one.stop_count
            await one.resume(_STEPS[how], stop.target, stop.thread)
            allow(wait + BEYOND)
            await one.outcome(after, wait)
            if (now := one.stop) is None or now.number <= after:
                break
            if one.refusal:
                one.shown = now.number
                raise RefusedError(one.refusal)
            if left == 0 or now.reason != "step":
                break
            one.shown = now.number
            await control.stands(one, now)
        notes = []
        if one.stop and (one.stop.target, one.stop.thread) != (stop.target, stop.thread):
            notes.append(
                f"thread {stop.thread} is still within its step: thread {one.stop.thread} stopped first; "
                "debug_continue lets the step go on"
            )
        return await self._answers.outcome(call, one, after, 0, notes=notes)

    @tool(title="Pause the program", read_only=False)
    async def debug_pause(
        self,
        call: Call,
        session: Session = None,
        wait: Annotated[Wait, UNLISTED] = _PAUSE_LANDS,
        format: FormatChoice = None,
    ) -> str:
        """Pause a running program."""
        one = self._named(session)
        if one.stop is None and not one.over.is_set():
            await one.wait_for(lambda: one.state != "starting", WAIT)
            after = one.stop_count
            await control.pause(one)
            if wait and not await one.wait_for(
                lambda: one.stop is not None or one.over.is_set(), min(wait, _PAUSE_AGAIN)
            ):
                await control.pause(one)
            answer = await self._answers.outcome(call, one, after, wait)
            if one.stop is None and not one.over.is_set():
                call.remark("asked to pause; it has run no code since that it can stop in: it waits for something")
            return answer
        return await self._answers.outcome(call, one, 0, 0)

    async def _forget_aims(self, session: DebugSession) -> None:
        """Remove the temporary breakpoint of `to`, unless the program still runs towards it."""
        if session.stop is None and not session.over.is_set():
            return
        aims = [one for one in self._debug.breakpoints if one.once]
        self._debug.breakpoints.remove(aims)
        if not session.over.is_set():
            await session.send_breakpoints(list(dict.fromkeys(one.path for one in aims if one.path)))
