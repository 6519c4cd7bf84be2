"""Answers about debugged programs: `Answers` waits for the effect of a call, and describes it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lsp_mcp.dap.breakpoints import Breakpoint
from lsp_mcp.dap.looking import View, hit_by_id, look, own_thread
from lsp_mcp.dap.secrets import Secrets
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.dap.sessions import DebugSessions
from lsp_mcp.dap.target import Stop
from lsp_mcp.render import debugging
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.waiting import allow, phase
from lsp_mcp.workspace import Workspace

Json = dict[str, Any]
BEYOND = 10.0  # seconds that a call may take beyond its wait, to inspect the result


class Answers:
    """Answers about `sessions`; nothing is reported twice (`DebugSession.reported`)."""

    def __init__(self, sessions: DebugSessions, workspace: Workspace) -> None:
        self._sessions = sessions
        self._workspace = workspace

    def show(self, path: Path) -> str:
        """A path as shown to callers."""
        return self._workspace.display_path(path)

    async def outcome(self, call: Call, session: DebugSession, after: int, wait: float, **how: Any) -> str:
        """The effect of a call, within `wait` seconds: a stop with a number above `after`, the end, or that it still
        runs.
        """
        allow(wait + BEYOND)
        began = time.monotonic()
        with phase(lambda: f"{session.plan.title} is {session.state}"):
            state = await session.outcome(after, wait)
        if state == "stopped" and session.stop:
            answer = await self.stopped(session, **how)
        elif session.over.is_set():
            answer = self.ended(session)
        else:
            lines = session.output.of_program(self._new(session))
            answer = debugging.still(
                session.name, session.state, time.monotonic() - began, lines, session.plan.adapter.builds
            )
            if said := self._notes(session, answer):
                answer["notes"] = said
        return self.text(call, session, answer)

    async def stopped(self, session: DebugSession, *, to: Any = None, whole: bool = False, notes: Any = ()) -> Json:
        """Its present place; `to` is the breakpoint that a caller wanted to reach."""
        stop = session.stop
        assert stop
        if stop.reason == "pause":
            stop = session.stop = await own_thread(session, stop, self._sessions.root)
        view = await look(session, stop, root=self._sessions.root)
        self._allow(view)
        others = [
            one for one in stop.target.stops.values() if one is not stop and (not one.hit or stop.target.hit(one.hit))
        ]
        # A thread that a step of another one left where it was is told once.
        standing = {one.thread: one.hit for one in others}
        beside = [
            one for one in others if one.number > session.shown and session.reported.beside.get(one.thread) != one.hit
        ]
        session.reported.beside = standing
        if session.shown < stop.number:
            self._count(session, view.breakpoints)
        session.shown = max(one.number for one in [stop, *others])
        reached = to is not None and any(one.id == to.id for one in view.breakpoints)
        key = self._key(view)
        before = session.reported.variables
        same = session.reported.call == key and not whole and stop.reason not in ("exception",)
        several = sum(target.seen_code for target in session.targets) > 1
        threads = (id(stop.target), stop.thread)
        answer = debugging.stopped(
            view,
            self.show,
            name=session.name,
            before=before if same else None,
            reached=reached,
            process=_process(view) if several else "",
            other_thread=(was := session.reported.thread or threads)[0] == threads[0] and was != threads,
        )
        session.reported.thread, session.reported.call = threads, key
        session.reported.variables = debugging.values(view.variables, debugging.STOP_BUDGET)[0]
        said = [*notes, *(self._beside(session, one) for one in beside), *view.broken_conditions]
        said += self._notes(session, answer)
        if to is not None and not reached:
            said.append(f"{self.show(to.path)}:{to.line} was not reached: it stopped here first")
        answer |= debugging.last_output(session.output.of_program(self._new(session)), 5)
        return {**answer, **({"notes": said} if said else {})}

    def ended(self, session: DebugSession) -> Json:
        """How it ended, and the breakpoints that it never reached."""
        answer = debugging.ended(
            session.name, session.exit, session.output.of_program(self._new(session)), error=session.error
        )
        if session.error:
            debugger = [line.text for line in session.output.lines(stream="debugger") if line.text.strip()]
            answer |= debugging.last_output([*debugger, *answer.get("output", ())], 15)
        if session.let_go:
            answer["state"] = "detached"
        if not session.error and not session.was_ended and (never := self._never_hit(session)):
            answer["never_hit"] = never
        said = self._notes(session, answer)
        return {**answer, **({"notes": said} if said else {})}

    def text(self, call: Call, session: DebugSession | None, answer: Json) -> str:
        """The answer as sent: without secrets, in the requested format."""
        environments = [session.plan.env] if session else [one.plan.env for one in self._sessions.all]
        hidden = Secrets(environments).hidden(answer)
        return debugging.compact(hidden) if call.format == "compact" else as_json(hidden)

    def bound(self, session: DebugSession | None, number: int) -> str:
        """The state of a breakpoint in a live session; empty if there is nothing to report."""
        if session is None or not session.live:
            return ""
        got = [target.bound[number] for target in session.targets if number in target.bound]
        if any(one.verified for one in got):
            ours = self._sessions.breakpoints.get(number)
            line = next((one.line for one in got if one.verified and one.line), None)
            return f"at line {line}" if ours and line and line != ours.line and not ours.function else ""
        why = next((one.message for one in got if one.message), "its file is not loaded yet")
        return f"not bound: {why}"

    # --- inside ------------------------------------------------------------------------------------

    def _count(self, session: DebugSession, hit: Iterable[Breakpoint]) -> None:
        for one in hit:
            session.hits[one.id] = session.hits.get(one.id, 0) + 1

    def _beside(self, session: DebugSession, stop: Stop) -> str:
        """A sentence about another thread that stopped at the same time, and why."""
        hit = hit_by_id(session, stop)
        self._count(session, hit)
        why = ", ".join(f"breakpoint {debugging.breakpoint_line(one, self.show)}" for one in hit)
        return f"thread {stop.thread} stopped too: {why or stop.description or stop.reason}"

    def _new(self, session: DebugSession) -> int:
        """The number of the last reported line of output; then all lines count as reported."""
        seen, session.reported.lines = session.reported.lines, session.output.count
        return seen

    def _key(self, view: View) -> tuple[Any, ...]:
        frame = view.frame
        return (id(view.stop.target), view.stop.thread, frame and frame.name, frame and frame.path, view.total)

    def _allow(self, view: View) -> None:
        for frame in view.frames:
            if frame.path and frame.path.is_absolute():
                self._workspace.allow(frame.path)

    def _notes(self, session: DebugSession, answer: Json) -> list[str]:
        """Further notes, each reported once."""
        said = session.remarks[:]
        session.remarks.clear()
        text = json.dumps([answer.get(key, "") for key in ("exception", "text", "description")])
        return said + [note.note for note in session.plan.adapter.notes if note.text in text]

    def _never_hit(self, session: DebugSession) -> list[str]:
        found = []
        for one in self._sessions.breakpoints:
            if session.hits.get(one.id) or one.log or one.once:
                continue
            got = [target.bound[one.id] for target in session.targets if one.id in target.bound]
            if not got:
                continue
            if any(bound.verified for bound in got):
                why = "its condition was never true" if one.condition else "its line was never reached"
                why = f"it was not reached {one.hit} times" if one.hit and not one.condition else why
            else:
                why = "not bound: " + (next((bound.message for bound in got if bound.message), "") or "no code there")
            found.append(f"{debugging.breakpoint_line(one, self.show)}: {why}")
        return found


def _process(view: View) -> str:
    target = view.stop.target
    name = target.process or target.name
    return f"{name} [{target.pid}]" if target.pid and str(target.pid) not in name else name
