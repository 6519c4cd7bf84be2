"""The toolset `debug`: programs run under a debugger, without an editor (docs/contracts/debug.md)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.dap import control
from lsp_mcp.dap.adapter import Break
from lsp_mcp.dap.attaching import plan_attach
from lsp_mcp.dap.breakpoints import Breakpoint, read_source
from lsp_mcp.dap.looking import look
from lsp_mcp.dap.planning import Wish, plan_start
from lsp_mcp.dap.session import DebugSession
from lsp_mcp.dap.target import Stop, quietly
from lsp_mcp.dap.variables import elements, opened, page
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.render import debugging
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.debug_answers import BEYOND, Answers
from lsp_mcp.toolsets.debug_places import Places, Where
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted
from lsp_mcp.waiting import allow

Session = Annotated[str | None, Field(description="Which, if several are live")]
Wait = Annotated[float, Field(ge=0, le=600, description="Seconds to wait for the outcome")]
Place = Annotated[str, Field(description="FILE:LINE, FILE:TEXT OF THE LINE, an anchor, or a function's name")]
BreakOn = Annotated[Break, Field(description="Stop at exceptions: user: those that leave the workspace's code")]
_WAIT = 30.0
_PAUSE_LANDS = 5.0  # seconds for a pause
_MOST_LINES = 100
_STEPS = {"over": "next", "in": "stepIn", "out": "stepOut"}
_STACK = 20


class DebugTools(Toolset):
    """Twelve tools over the debug sessions of this process."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        assert context.debug
        self._debug = context.debug
        workspace = context.sessions.workspace
        self._places = Places(context.sessions)
        self._answers = Answers(context.debug, workspace)

    @tool(title="Start a program under a debugger", read_only=False, destructive=True)
    async def debug_start(
        self,
        call: Call,
        program: Annotated[str | None, Field(description="Script, folder of a Go command, or compiled program")] = None,
        module: Annotated[str | None, Field(description="Python module, as python -m")] = None,
        test: Annotated[
            str | None, Field(description="A test's name, FILE::NAME, or a command of find_impact: go test … -run …")
        ] = None,
        config: Annotated[str | None, Field(description="Name in .vscode/launch.json")] = None,
        args: list[str] | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        stdin: Annotated[str | None, Field(description="All that it reads; 'open': sent later by debug_output")] = None,
        breakpoints: Annotated[
            list[str] | None, Field(description="Places (see debug_breakpoints), each may end in ` if CONDITION`")
        ] = None,
        break_on_exceptions: BreakOn = "uncaught",
        stop_on_entry: bool = False,
        debugger: Annotated[str | None, Field(description="Default: the one that fits"), UNLISTED] = None,
        wait: Wait = _WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Run a program, module, test or configuration under a debugger, until it stops or ends.

        Answers with the place, source, variables and output, or `running` and what to do. Breakpoints of earlier runs
        count too, at the lines where their code is now.
        """
        wish = Wish(
            program=program,
            module=module,
            test=test,
            config=config,
            args=args or (),
            env=env or {},
            cwd=cwd,
            stdin=stdin,
            stop_on_entry=stop_on_entry,
            break_on=break_on_exceptions,
            debugger=debugger,
        )
        plan = plan_start(wish, self._debug.root)
        notes = self._followed()
        for spelled in breakpoints or ():
            place, _, condition = spelled.partition(" if ")
            await self._set(call, await self._places.find(call, place), condition=condition.strip())
        session = self._debug.start(plan)
        session.remarks += notes
        return await self._answers.outcome(call, session, 0, wait)

    @tool(title="Debug a running process or a core file", read_only=False, destructive=True)
    async def debug_attach(
        self,
        call: Call,
        pid: int | None = None,
        port: Annotated[int | None, Field(description="Where a debuggee or debugger listens")] = None,
        core: Annotated[str | None, Field(description="Core file; needs program")] = None,
        program: str | None = None,
        host: Annotated[str, UNLISTED] = "127.0.0.1",
        debugger: Annotated[str | None, Field(description="debugpy, dlv, lldb-dap …; needed with port")] = None,
        break_on_exceptions: Annotated[BreakOn, UNLISTED] = "uncaught",
        wait: Annotated[Wait, UNLISTED] = _WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Attach to a process that runs, by pid or port, or open a core file. debug_stop lets the process go on."""
        plan = plan_attach(
            self._debug.root,
            debugger=debugger,
            pid=pid,
            port=port,
            host=host,
            core=core,
            program=program,
            break_on=break_on_exceptions,
        )
        notes = self._followed()
        session = self._debug.start(plan)
        session.remarks += notes
        if not await control.prove_attached(session) and not session.over.is_set():
            await session.end()
            words = f": {session.words}" if session.words else ""
            raise CallerError(f"nothing that {plan.adapter.name} can debug answered at {plan.title}{words}.")
        return await self._answers.outcome(call, session, 0, 0 if session.stop is None else wait)

    @tool(title="Let the program go on", read_only=False)
    async def debug_continue(
        self,
        call: Call,
        to: Annotated[str | None, Field(description="Stop at this place too, once (see debug_breakpoints)")] = None,
        session: Session = None,
        wait: Wait = _WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Continue until the next stop or the end. Of a program that runs: wait on. A stop not yet told is told."""
        one = self._named(session)
        if one.over.is_set():
            return self._answers.text(call, one, self._answers.ended(one))
        _check_runs(one)
        aim = None
        if to is not None:
            where = await self._places.find(call, to)
            if where.path is None:
                raise CallerError(f"{quoted(to)} is not a line: pass FILE:LINE or FILE:TEXT OF THE LINE.")
            aim = self._debug.breakpoints.add_line(where.path, where.line, once=True)
            await one.send_breakpoints([where.path])
        after = one.stop.number if one.stop and one.stop.number <= one.shown else one.shown
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
        wait: Annotated[Wait, UNLISTED] = _WAIT,
        format: FormatChoice = None,
    ) -> str:
        """Step where the program stands; answers with the new place and what changed."""
        one = self._named(session)
        _check_runs(one)
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
        notes = []
        if one.stop and (one.stop.target, one.stop.thread) != (stop.target, stop.thread):
            notes.append(
                f"thread {stop.thread} is still within its step: thread {one.stop.thread} stopped first; "
                "debug_continue lets the step go on"
            )
        return await self._answers.outcome(call, one, after, 0, notes=notes)

    @tool(title="Pause the program", read_only=False)
    async def debug_pause(self, call: Call, session: Session = None, format: FormatChoice = None) -> str:
        """Stop a running program where it is now."""
        one = self._named(session)
        if one.stop is None and not one.over.is_set():
            await one.wait_for(lambda: one.state != "starting", _WAIT)
            after = one.stop_count
            await control.pause(one)
            answer = await self._answers.outcome(call, one, after, _PAUSE_LANDS)
            if one.stop is None and not one.over.is_set():
                call.remark("asked to pause; it has run no code since that it can stop in: it waits for something")
            return answer
        return await self._answers.outcome(call, one, 0, 0)

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
        expect: Annotated[str | None, Field(description="Text that must be in the line")] = None,
        remove: Annotated[int | None, Field(description="The id of one")] = None,
        clear: Annotated[str | None, Field(description="A file, or `all`")] = None,
        session: Annotated[Session, UNLISTED] = None,
        format: FormatChoice = None,
    ) -> str:
        """Set a breakpoint, remove some, or list all. They count for every session, now and later."""
        notes = self._followed()
        changed: list[Breakpoint] = []
        if remove is not None or clear is not None:
            changed += self._removed(remove, clear)
        if at is not None:
            where = await self._places.find(call, at)
            if expect is not None and where.path:
                _check_text(where, expect)
            made = await self._set(call, where, condition=condition or "", hit=hit, log=log or "")
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

    @tool(title="See where the program stands", read_only=True)
    async def debug_context(
        self,
        call: Call,
        frame: Annotated[int | None, Field(ge=0, description="Index in the stack, from 0")] = None,
        thread: int | None = None,
        names: Annotated[list[str] | None, Field(description="Only these variables")] = None,
        budget: Annotated[int, Field(ge=200, le=100_000, description="Most characters of variables")] = 4000,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Place, source, stack, variables and threads of a stopped program, in one answer."""
        one = self._named(session)
        if one.stop is None:
            return await self._answers.outcome(call, one, 0, 0)
        stop = self._standing(one, thread)
        view = await look(one, stop, frame, root=self._debug.root)
        one.shown = max(one.shown, stop.number)
        variables = [v for v in view.variables if names is None or v.name in names]
        answer: dict[str, Any] = {"session": one.name, "state": "stopped", "reason": stop.reason}
        if view.exception:
            answer["exception"] = view.exception[:2000]
        if shown := view.frame:
            answer |= {"at": debugging.place(shown, self._answers.show), "function": shown.name}
            if shown.path and (anchor := await self._places.function_of(shown.path, shown.line)):
                answer["anchor"] = anchor
            if lines := debugging.source(shown, 4):
                answer["source"] = lines
        answer["stack"] = debugging.stack(view, self._answers.show, _STACK)
        shown_values, left_out = debugging.values(variables, budget, max(200, budget // 4))
        answer["variables"] = shown_values
        if left_out:
            answer["variables_left_out"] = left_out
        threads = await control.threads(one)
        if len(threads) > 1:
            answer["threads"] = threads
        return self._answers.text(call, one, answer)

    @tool(title="Evaluate an expression", read_only=False, destructive=True)
    async def debug_evaluate(
        self,
        call: Call,
        expression: str,
        frame: Annotated[int | None, Field(ge=0, description="Index in the stack, from 0")] = None,
        start: Annotated[int, Field(ge=0, description="First of its elements to show")] = 0,
        count: Annotated[int, Field(ge=0, le=1000, description="How many of them")] = 20,
        thread: Annotated[int | None, UNLISTED] = None,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """The value of an expression where the program stands, with its elements one level deep."""
        one = self._named(session)
        stop = self._standing(one, thread)
        view = await look(one, stop, frame, root=self._debug.root)
        if view.frame is None:
            raise CallerError("the debugger does not tell where the program stands; nothing can be evaluated.")
        rules = one.plan.adapter.variables
        asked = {"frameId": view.frame.id, "context": one.plan.adapter.context}
        got = await stop.target.ask("evaluate", {"expression": expression, **asked})
        answer: dict[str, Any] = {"value": debugging.cut(str(got.get("result", "")), 100 if start else 2000)}
        if got.get("type"):
            answer["type"] = got["type"]
        reference, indexed = int(got.get("variablesReference") or 0), int(got.get("indexedVariables") or 0)
        if reference and count:
            found = await page(stop.target, rules, expression, asked, start, count + 1) if start else []
            found = found or await elements(
                stop.target, rules, reference, start=start, count=count + 1, indexed=indexed
            )
            inner = await opened(stop.target, rules, found[:count])
            shown, left_out = debugging.values(inner, 3000, 300)
            if shown and not (start == 0 and all(value in answer["value"] for value in shown.values())):
                answer["elements"] = shown
            if len(found) > count or left_out:
                answer["more"] = f"pass start={start + len(shown)}"
        return self._answers.text(call, one, answer)

    @tool(title="Set a variable", read_only=False, destructive=True)
    async def debug_set_variable(
        self,
        call: Call,
        name: Annotated[str, Field(description="A variable, or an expression that can be assigned to")],
        value: Annotated[str, Field(description="As the language writes it")],
        frame: Annotated[int | None, Field(ge=0), UNLISTED] = None,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """Change a variable of the stopped program; answers with its value afterwards."""
        one = self._named(session)
        stop = self._standing(one, None)
        view = await look(one, stop, frame, root=self._debug.root)
        if view.frame is None:
            raise CallerError("the debugger does not tell where the program stands; nothing can be set.")
        got = await control.assign(one, stop.target, view.frame.id, name, value)
        return self._answers.text(call, one, {"name": name, "value": debugging.cut(str(got), 2000)})

    @tool(title="Read a program's output, or send it input", read_only=False)
    async def debug_output(
        self,
        call: Call,
        since: Annotated[int, Field(ge=0, description="`next` of an earlier answer")] = 0,
        stream: Annotated[str | None, Field(pattern="^(stdout|stderr|debugger)$")] = None,
        send_input: Annotated[str | None, Field(description="Ends with a line end, if the program reads lines")] = None,
        limit: Annotated[int, Field(ge=1, le=1000), UNLISTED] = _MOST_LINES,
        session: Session = None,
        format: FormatChoice = None,
    ) -> str:
        """The last lines that a program printed, also after its end; `stream` is stdout, stderr or debugger."""
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
        """Which programs are debugged, where they stand or how they ended, and their child processes."""
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
        detach: Annotated[bool, Field(description="Let the program go on without the debugger")] = False,
        restart: Annotated[bool, Field(description="Start it again, with the same breakpoints")] = False,
        session: Session = None,
        wait: Annotated[Wait, UNLISTED] = _WAIT,
        format: FormatChoice = None,
    ) -> str:
        """End a program with all that it has started; one that was attached to goes on."""
        one = self._named(session)
        await one.end(detach=not one.plan.is_core and (detach or one.plan.request == "attach"))
        if not restart:
            return self._answers.text(call, one, self._answers.ended(one))
        notes = self._followed()
        again = self._debug.start(one.plan)
        again.remarks += notes
        return await self._answers.outcome(call, again, 0, wait)

    # --- inside ------------------------------------------------------------------------------------

    def _named(self, name: str | None) -> DebugSession:
        return self._debug.named(name)

    def _standing(self, session: DebugSession, thread: int | None) -> Stop:
        """Where the session, or one thread of it, stands still.

        Raises:
            CallerError: it does not.
        """
        if thread is not None and session.stop:
            for target in session.live:
                if thread in target.stops:
                    return target.stops[thread]
            return Stop(session.stop.number, session.stop.target, thread, session.stop.reason)
        if session.stop is None:
            how = "has ended" if session.over.is_set() else f"is {session.state}: debug_pause stops it"
            raise CallerError(f"{session.name} ({session.plan.title}) {how}.")
        return session.stop

    async def _set(self, call: Call, where: Where, *, condition: str = "", hit: int = 0, log: str = "") -> Breakpoint:
        ours = self._debug.breakpoints
        if where.path is None:
            return ours.add_function(where.function, condition=condition, hit=hit, log=log)
        return ours.add_line(where.path, where.line, condition=condition, hit=hit, log=log)

    def _removed(self, number: int | None, clear: str | None) -> list[Breakpoint]:
        ours = self._debug.breakpoints
        if clear is not None:
            gone = list(ours) if clear == "all" else ours.of(self._context.sessions.workspace.file(clear))
        else:
            gone = [found] if number is not None and (found := ours.get(number)) else []
            if not gone:
                listed = ", ".join(str(one.id) for one in ours) or "none"
                raise CallerError(f"unknown breakpoint {number}; available: {listed}.")
        ours.remove(gone)
        return gone

    def _followed(self) -> list[str]:
        """Take breakpoints along with edits of their files; what became of them."""
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

    async def _forget_aims(self, session: DebugSession) -> None:
        """Take away what `to` has set, unless the program still runs towards it."""
        if session.stop is None and not session.over.is_set():
            return
        aims = [one for one in self._debug.breakpoints if one.once]
        self._debug.breakpoints.remove(aims)
        if not session.over.is_set():
            await session.send_breakpoints(list(dict.fromkeys(one.path for one in aims if one.path)))


def _check_runs(session: DebugSession) -> None:
    if session.plan.is_core and not session.over.is_set():
        raise CallerError(
            f"{session.name} ({session.plan.title}) is a core file: nothing runs. Use debug_context, with "
            "frame= and thread=, and debug_evaluate."
        )


def _check_text(where: Where, expected: str) -> None:
    assert where.path
    line = read_source(where.path).line(where.line)
    if expected not in line:
        raise CallerError(
            f"line {where.line} of {where.path.name} is {quoted(line.strip())}, without {quoted(expected)}; "
            "nothing was set."
        )
