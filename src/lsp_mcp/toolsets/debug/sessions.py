"""Tools over debug sessions as a whole: `SessionTools`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.dap.target import quietly
from lsp_mcp.render import debugging
from lsp_mcp.toolsets.debug.base import WAIT, DebugToolset, Session, Wait
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

_MOST_LINES = 100


class SessionTools(DebugToolset):
    """The programs' output and input, the list of sessions, and their end."""

    @tool(title="Read a program's output, or send it input", read_only=False)
    async def debug_output(
        self,
        call: Call,
        since: Annotated[int, Field(ge=0, description="`next` of an earlier answer")] = 0,
        stream: Annotated[str | None, Field(pattern="^(stdout|stderr|debugger)$")] = None,
        send_input: Annotated[
            str | None, Field(description="Text for stdin; end it with a newline if the program reads lines")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=1000), UNLISTED] = _MOST_LINES,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Get the last lines of a program's output, also after its end; `stream` is stdout, stderr or debugger."""
        one = self._named(session)
        if send_input is not None:
            before = one.output.count
            one.give_input(send_input)
            await one.wait_for(lambda: one.output.count > before or one.stop is not None or one.over.is_set(), 2.0)
        lines = [line for line in one.output.lines(since, stream) if stream or line.stream != "debugger"]
        shown = lines[-limit:]
        answer: dict[str, Any] = {
            "session": one.name,
            "state": one.state,
            "output": debugging.output_lines(shown, with_stream=stream is None),
            "next": one.output.count,
        }
        if len(lines) > len(shown):
            answer["left_out"] = len(lines) - len(shown)
        if one.output.forgotten > since:
            answer["forgotten"] = one.output.forgotten - since
        return self._answers.text(call, one, answer)

    @tool(title="List debug sessions", read_only=True)
    async def debug_sessions(self, call: Call, format: FormatChoice = None) -> str:
        """List the debugged programs, their locations or how they ended, and their child processes."""
        shown = []
        for one in self._debug.all:
            entry: dict[str, Any] = {"session": one.name, "program": one.plan.title, "state": one.state}
            if one.stop:
                frames = await quietly(one.stop.target.ask("stackTrace", {"threadId": one.stop.thread, "levels": 1}))
                for top in (frames or {}).get("stackFrames", ())[:1]:
                    entry["at"] = f"{(top.get('source') or {}).get('name', '?')}:{top.get('line')}"
            how = one.exit
            if one.over.is_set() and (how.signal or how.code is not None):
                entry |= {"signal": how.signal} if how.signal else {"exit_code": how.code}
            if children := [target.process or target.name for target in one.targets[1:] if target.state != "ended"]:
                entry["children"] = children
            shown.append(entry)
        return self._answers.text(call, None, {"sessions": shown})

    @tool(title="End a debug session", read_only=False, destructive=True)
    async def debug_stop(
        self,
        call: Call,
        detach: Annotated[bool, Field(description="Keep the program running, without the debugger")] = False,
        restart: Annotated[bool, Field(description="Start it again, with the same breakpoints")] = False,
        session: Session = None,
        wait: Annotated[Wait, UNLISTED] = WAIT,
        format: FormatChoice = None,
    ) -> str:
        """End a program and everything it started; an attached program keeps running."""
        one = self._named(session)
        await one.end(detach=not one.plan.is_core and (detach or one.plan.request == "attach"))
        if not restart:
            return self._answers.text(call, one, self._answers.ended(one))
        notes = self._followed()
        again = self._debug.start(one.plan)
        again.remarks += notes
        return await self._answers.outcome(call, again, 0, wait)
