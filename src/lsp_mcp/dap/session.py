"""One debugged program from its start to its end, including child processes: `DebugSession`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from lsp_mcp.dap.breakpoints import Breakpoints
from lsp_mcp.dap.exits import Exit, exit_of
from lsp_mcp.dap.output import Output
from lsp_mcp.dap.plan import Plan
from lsp_mcp.dap.process import AdapterProcess, connect, process_end
from lsp_mcp.dap.target import Stop, Target, quietly
from lsp_mcp.dap.terminal import Terminal
from lsp_mcp.dap.transport import Connection, Json, Reply
from lsp_mcp.errors import CallerError, LspMcpError, RefusedError

log = logging.getLogger(__name__)

State = Literal["starting", "running", "stopped", "ended", "failed"]
_END_TIMEOUT = 2.0  # seconds for an adapter to end its debuggee, before everything is killed
_PROGRAM_END = 3.0  # seconds for a program to exit after its adapter reports its end
_TRACE = re.compile(r"\s*at ")  # a line of a trace, as several runtimes print it
_MOST_WORDS = 600  # characters of what an adapter said on its stderr
_NO_FILTERS: tuple[str, ...] = ()


@dataclass
class Reported:
    """What was already reported to a caller about a session."""

    lines: int = 0  # of its output
    call: tuple[Any, ...] = ()  # the one that it stood in
    variables: dict[str, str] = field(default_factory=dict)  # there
    thread: tuple[int, int] | None = None  # of a target, by its id
    beside: dict[int, tuple[int, ...]] = field(default_factory=dict)  # what other threads hit that stand, by thread


class DebugSession:
    """One session: `start` begins it in the background; `outcome` waits for its effects. Ended by `end`,
    at most 5 s.
    """

    def __init__(self, name: str, plan: Plan, breakpoints: Breakpoints) -> None:
        self.name = name
        self.plan = plan
        self.breakpoints = breakpoints
        self.output = Output(plan.adapter.chatter, plan.adapter.chatter_goes_on)
        self.targets: list[Target] = []
        self.error = ""  # why it failed
        self.stop: Stop | None = None  # its present stops
        self.stop_count = 0
        self.reported = Reported()
        self.shown = 0  # the number of the last reported stop
        self.stops: dict[int, Stop] = {}  # by number, for `to`
        self.last_stop_text = ""  # the description of the last stop
        self.remarks: list[str] = list(plan.remarks)
        self.hits: dict[int, int] = {}  # by our breakpoint's id
        self.over = asyncio.Event()  # it has ended or failed, and all its output was read
        self.let_go = False  # it continues without us
        self.pausing = False  # it was asked to stop
        self.changes = 0  # that were told of it
        self._process: AdapterProcess | None = None
        self._terminals: list[Terminal] = []
        # Threads at breakpoints whose conditions the adapter may not have looked at; how often the target had run by
        # then, and what makes it a stop.
        self._doubted: list[tuple[Target, Any, list[str], int, Callable[[], None]]] = []
        self._signal = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stdin_file: Any = None
        self._ending: asyncio.Task[None] | None = None
        self._wanted_end = False

    # --- what callers ask --------------------------------------------------------------------------

    def start(self) -> None:
        """Start it in the background."""
        self._spawn(self._run())

    @property
    def state(self) -> State:
        """Its present state."""
        if self.over.is_set() or (self.targets and all(target.state == "ended" for target in self.targets)):
            return "failed" if self.error else "ended"
        if self.stop:
            return "stopped"
        return "starting" if not self.targets or self.targets[0].state == "starting" else "running"

    @property
    def live(self) -> list[Target]:
        """The debuggees that have not ended."""
        return [target for target in self.targets if target.state not in ("ended", "starting")]

    @property
    def words(self) -> str:
        """The last line of its adapter's stderr."""
        lines = [line for line in self._process.errors().split("\n") if not _TRACE.match(line)] if self._process else []
        return "\n".join(lines)[-_MOST_WORDS:]

    @property
    def exit(self) -> Exit:
        """How it ended, as far as known; nothing if we ended it."""
        if self._wanted_end:
            return Exit()
        first = self._terminals[0].status if self._terminals else None
        codes = [target.exit_code for target in self.targets if target.exit_code is not None]
        return exit_of(self.plan.adapter.exits, first, codes, self.output, self.last_stop_text)

    async def outcome(self, after: int, timeout: float) -> State:
        """The state, after a stop with a number above `after`, the end, or `timeout` seconds."""

        def came() -> bool:
            return self.over.is_set() or (self.stop is not None and self.stop.number > after)

        await self.wait_for(came, timeout)
        return self.state

    async def wait_for(self, came: Callable[[], bool], timeout: float) -> bool:
        """Whether `came()` becomes true within `timeout` seconds; checked after each change."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not came():
                    self._signal.clear()
                    await self._signal.wait()
        return came()

    async def resume(self, command: str, target: Target, thread: int, **arguments: Any) -> None:
        """Resume `target`: `continue`, `next`, `stepIn` or `stepOut`.

        Raises:
            RefusedError: the adapter refuses; nothing has moved.
        """
        kept, stop, state = dict(target.stops), self.stop, target.state
        # Before it is sent: the next stop may arrive with the answer.
        target.stops.clear()
        target.state = "running"
        target.runs += 1
        target.awaited = self.plan.adapter.says_continued and target.says_continued
        self._forget_stop()
        try:
            await target.ask(command, {"threadId": thread, **arguments})
        except RefusedError:
            target.awaited = False
            target.stops.update(kept)
            target.state, self.stop = state, stop
            raise

    async def resume_all(self) -> None:
        """Resume everything that is stopped. Raises as `resume`."""
        self.reported.beside = {}
        for target in self.live:
            if target.stops:
                await self.resume("continue", target, next(reversed(target.stops)))

    async def send_breakpoints(self, paths: Iterable[Path], *, functions: bool = False) -> None:
        """Send the adapters the breakpoints in `paths`, and those on functions."""
        requests = [target.send_breakpoints(path) for target in self.live for path in paths]
        if functions:
            requests += [target.send_functions() for target in self.live]
        await asyncio.gather(*map(quietly, requests))

    def give_input(self, text: str) -> None:
        """Write to the program's input.

        Raises:
            CallerError: it has no open input.
        """
        if self.plan.adapter.stdin == "adapter" and self._process and self.plan.open_input:
            self._process.give_input(text.encode("utf-8", "replace"))
        elif self._terminals:
            self._terminals[0].give(text)
        else:
            raise CallerError("the program's input is closed; start it with stdin='open' to send it input later.")

    async def end(self, *, detach: bool = False) -> None:
        """End it, its child processes and its adapter; with `detach` the program continues."""
        if self._ending is None:
            self._wanted_end = True
            self.let_go = detach
            self._ending = asyncio.create_task(self._end(detach=detach))
        await asyncio.shield(self._ending)

    @property
    def refusal(self) -> str:
        """The adapter's message if its last stop only means that a step was refused; else empty."""
        pattern = self.plan.adapter.refused_text
        stop = self.stop
        if not (stop and pattern):
            return ""
        said = next((one for one in (stop.text, stop.description) if re.search(pattern, one)), "")
        return self.plan.adapter.plain(said)

    @property
    def was_ended(self) -> bool:
        """Whether it was ended by its caller."""
        return self._wanted_end

    def kill(self) -> None:
        """Kill all of it, without an event loop."""
        for terminal in self._terminals:
            terminal.kill()
        if self._process:
            self._process.kill()

    # --- what targets tell; see `target.Host` ------------------------------------------------------

    def stopped(self, target: Target, body: Json) -> None:
        """See `Host`."""
        if target.awaited:
            log.info("%s: a stop from before it was resumed: %s", self.name, body)
            return
        thread = body.get("threadId")
        numbers = tuple(one for one in body.get("hitBreakpointIds") or () if isinstance(one, int))
        said = [str(body.get(key) or "") for key in ("reason", "description", "text")]
        # lldb-dap 19 says "breakpoint 0.0" of a thread whose step was interrupted by another one's stop.
        aside = bool(body.get("preserveFocusHint")) or bool(numbers and not target.hit(numbers))
        if aside and (pattern := self.plan.adapter.aside_text) and pattern in " ".join(said):
            return
        if body.get("reason") == "exception" and self.plan.adapter.exceptions.pass_over:
            self._spawn(self._judge(target, thread, said, numbers))
        elif conditions := self._unproven(target, numbers):
            self._doubted.append(
                (target, thread, conditions, target.runs, partial(self._stop, target, thread, said, numbers, aside))
            )
            if len(self._doubted) == 1:
                self._spawn(self._prove())
        else:
            self._stop(target, thread, said, numbers, aside)

    def resumed(self, target: Target) -> None:
        """See `Host`."""
        if self.stop and self.stop.target is target and not target.stops:
            self._forget_stop()
        self.changed()

    def printed(self, category: str, text: str) -> None:
        """See `Host`. What a program prints in a terminal of ours is heard there."""
        stream = self.plan.adapter.streams.get(category, category)
        if stream == "console" and self.breakpoints.logged(text):  # where DAP has it, beside the adapter's own words
            self._on_output("stdout", text)
        elif not self._terminals or stream not in ("stdout", "stderr"):
            self._on_output(stream, text)

    def _on_output(self, category: str, text: str) -> None:
        self.output.add(category, text)
        self.changed()

    def began(self, target: Target) -> None:
        """See `Host`. The number of a process of another machine, to which a port may lead, says nothing here."""
        if target.pid and self.plan.request == "launch":
            self._spawn(self._until_gone(target, target.pid))

    def changed(self) -> None:
        """See `Host`."""
        if self.stop and self.stop.target.state == "ended":
            self._forget_stop()
        if self.targets and self._ending is None and all(target.state == "ended" for target in self.targets):
            self._ending = asyncio.create_task(self._end())
        self.changes += 1
        self._signal.set()

    def start_child(self, parent: Target, request: str, configuration: Json) -> None:
        """See `Host`."""
        name = str(configuration.get("name") or f"child of {parent.name}")
        self._spawn(self._run_child(Target(self, name, parent, self.plan.adapter), request, configuration))

    def run_in_terminal(self, arguments: Json, reply: Reply) -> None:
        """See `Host`."""
        command = [str(word) for word in arguments.get("args") or ()]
        if not command:
            reply(None, "runInTerminal without a command")
            return
        try:
            terminal = Terminal(
                command,
                cwd=Path(str(arguments.get("cwd") or self.plan.cwd)),
                env=arguments.get("env") or {},
                text=self.plan.stdin,
                is_open=self.plan.open_input,
                on_output=self._on_output,
            )
        except RefusedError as error:
            reply(None, str(error))
            return
        self._terminals.append(terminal)
        reply({"processId": terminal.pid}, None)

    # --- inside ------------------------------------------------------------------------------------

    def _stop(
        self, target: Target, thread: Any, said: list[str], numbers: tuple[int, ...], aside: bool = False
    ) -> None:
        """It stands. With `aside` another thread is the one to look at, if the adapter names one."""
        self.stop_count += 1
        if self.pausing and (pattern := self.plan.adapter.pause_text) and pattern in " ".join(said):
            said = ["pause", "", ""]
        self.pausing = False
        number = thread if isinstance(thread, int) else next(iter(target.stops), 0)
        stop = Stop(self.stop_count, target, number, said[0], said[1], said[2], numbers)
        target.stops.pop(number, None)
        target.stops[number] = stop
        target.state = "stopped"
        if aside:
            self._spawn(self._look_at(stop, target.runs))
        else:
            self._show(stop)

    def _show(self, stop: Stop) -> None:
        self.stop = stop
        self.last_stop_text = " ".join((stop.reason, stop.description, stop.text))
        self._signal.set()

    async def _look_at(self, stop: Stop, runs: int) -> None:
        """Show this stop if none to look at has come with it: an adapter tells of all threads before it answers."""
        target = stop.target
        await quietly(target.ask("threads"))
        if self.stop is None and target.runs == runs:
            self._show(
                max(target.stops.values(), key=lambda one: (bool(target.hit(one.hit)), one.number), default=stop)
            )

    async def _judge(self, target: Target, thread: Any, said: list[str], numbers: tuple[int, ...]) -> None:
        """Resume a program that is only about to end."""
        if self.plan.break_on == "uncaught" and target.can("supportsExceptionInfoRequest"):
            info = await quietly(target.ask("exceptionInfo", {"threadId": thread})) or {}
            text = f"{info.get('exceptionId', '')} {said[2]}"
            if re.search(self.plan.adapter.exceptions.pass_over, text):
                await quietly(target.ask("continue", {"threadId": thread}))
                return
        self._stop(target, thread, said, numbers)

    def _unproven(self, target: Target, numbers: tuple[int, ...]) -> list[str]:
        """The conditions of these breakpoints if the adapter may not have looked at them; at a stop one holds."""
        if not self.plan.adapter.false_condition:
            return []
        hit = [one for one in self.breakpoints if one.id in target.hit(numbers)]
        return [one.condition for one in hit] if all(one.condition for one in hit) else []

    async def _prove(self) -> None:
        """Stop where a condition holds. If no thread of a target has any other reason to stand, it goes on."""
        while self._doubted:
            target, thread, conditions, runs, stop = self._doubted[0]
            holds = await self._one_holds(target, thread, conditions)
            self._doubted.pop(0)
            if target.runs != runs:  # that stop is over
                continue
            if holds:
                stop()
            elif not target.stops and all(one is not target for one, *_ in self._doubted):
                await quietly(self.resume("continue", target, thread))

    async def _one_holds(self, target: Target, thread: Any, conditions: list[str]) -> bool:
        """Whether one of them is true in this thread, or cannot be evaluated."""
        top = await quietly(target.ask("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1})) or {}
        frame = next((one.get("id") for one in top.get("stackFrames") or ()), None)
        arguments = {"frameId": frame, "context": self.plan.adapter.context}
        answers = [await quietly(target.ask("evaluate", {**arguments, "expression": one})) for one in conditions]
        is_false = re.compile(self.plan.adapter.false_condition)
        return not all(answer and is_false.search(str(answer.get("result"))) for answer in answers)

    def _forget_stop(self) -> None:
        """The current stop is over; another thread or process may still be stopped."""
        others = [stop for target in self.live for stop in target.stops.values()]
        self.stop = max(others, key=lambda stop: stop.number, default=None)

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self) -> None:
        plan = self.plan
        try:
            if plan.address is None:
                self._process = AdapterProcess(
                    plan.adapter.name, plan.command, cwd=plan.cwd, env=self._adapter_environment()
                )
                await self._process.attach()
                self._process_input()
            target = Target(self, plan.title, None, plan.adapter)
            self.targets.append(target)
            await self._begin(target, plan.request, plan.final_arguments(self._stdin_path()))
        except LspMcpError as error:
            self._fail(error)

    def _adapter_environment(self) -> dict[str, str]:
        # A program that inherits its adapter's environment gets the caller's variables.
        return {**self.plan.adapter.adapter_env}

    def _process_input(self) -> None:
        """What a program reads that inherits its adapter's input."""
        assert self._process
        if self.plan.adapter.stdin == "adapter":
            if self.plan.stdin:
                self._process.give_input(self.plan.stdin.encode("utf-8", "replace"))
            if not self.plan.open_input:
                self._process.give_input(None)

    def _stdin_path(self) -> Path | None:
        """A file with the program's input."""
        self._stdin_file = tempfile.NamedTemporaryFile(prefix="lsp-mcp-stdin-")  # noqa: SIM115 (it lives as long as the program)
        self._stdin_file.write((self.plan.stdin or "").encode("utf-8", "replace"))
        self._stdin_file.flush()
        return Path(self._stdin_file.name)

    async def _run_child(self, target: Target, request: str, configuration: Json) -> None:
        self.targets.append(target)
        try:
            await self._begin(target, request, configuration)
        except LspMcpError as error:
            log.info("%s: the child %s cannot be debugged: %s", self.name, target.name, error)
            self.remarks.append(f"a child process runs without the debugger: {error}")
            target.finish()

    async def _begin(self, target: Target, request: str, arguments: Json) -> None:
        reader, writer = await self._streams(target, arguments)
        await target.begin(
            partial(Connection, self.plan.adapter.name, reader, writer),
            self.plan.adapter.types[0],
            request,
            arguments,
            self._filters,
            self.plan.adapter.setup,
        )
        assert target.connection
        self._spawn(self._until_closed(target))

    async def _streams(self, target: Target, arguments: Json) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        name = self.plan.adapter.name
        address = arguments.get("connect") if target.parent else None
        if isinstance(address, dict) and isinstance(address.get("port"), int):
            return await connect(name, str(address.get("host") or "127.0.0.1"), address["port"])
        if self.plan.address:
            return await connect(name, *self.plan.address)
        assert self._process
        return await self._process.streams(self.plan.adapter.listening)

    def _filters(self, capabilities: Json) -> tuple[str, ...]:
        """The adapter's names of the requested exception filters; missing ones are reported."""
        if self.plan.break_on == "none":
            return _NO_FILTERS
        offered = [one.get("filter") for one in capabilities.get("exceptionBreakpointFilters") or ()]
        wanted: tuple[str, ...] = getattr(self.plan.adapter.exceptions, self.plan.break_on)
        found = tuple(name for name in wanted if name in offered)
        if not found and self.plan.break_on != "uncaught":
            remark = f"{self.plan.adapter.name} cannot stop at {self.plan.break_on} exceptions"
            if remark not in self.remarks:
                self.remarks.append(f"{remark}; it has: {', '.join(map(str, offered)) or 'no filters'}")
        return found

    async def _until_closed(self, target: Target) -> None:
        assert target.connection
        await target.connection.closed.wait()
        if target.state == "ended":
            return
        # It reported no end of the program, so that this is its own, unless we ended it.
        if self._process and target.parent is None and self._ending is None and not self._wanted_end:
            self.error = await self._process.failure(_PROGRAM_END)
        target.finish()

    async def _until_gone(self, target: Target, pid: int) -> None:
        """End a target whose process is gone even if its adapter does not.

        A debugger may wait for the end of its output, which other processes that it started hold open.
        """
        if await process_end(pid, until=self.over) and not await self.wait_for(
            lambda: target.state == "ended" or self.over.is_set(), _PROGRAM_END
        ):
            target.finish()
            left = ", ".join(f"{one.process or one.name} [{one.pid}]" for one in self.live)
            how = f"{target.process or target.name} [{pid}] has ended; {self.plan.adapter.name} does not tell how"
            self.remarks.append(f"{how}. Still running: {left}" if left else how)

    def _fail(self, error: LspMcpError) -> None:
        if not self._wanted_end:
            self.error = f"{error}" + (f" | {self.words}" if self.words and self.words not in str(error) else "")
        for target in self.targets:
            target.state = "ended"
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())

    async def _end(self, *, detach: bool = False) -> None:
        root = self.targets[0] if self.targets else None
        launched = self.plan.request == "launch"
        if detach and self._process:
            self._process.leave_running()
            for terminal in self._terminals:
                terminal.leave_running()
        if root and root.connection and not root.connection.closed.is_set():
            if not detach and not self._wanted_end and self._terminals:
                await self._terminals_gone()
            arguments = {"restart": False, "terminateDebuggee": launched and not detach}
            with contextlib.suppress(LspMcpError):
                await root.connection.request("disconnect", arguments, timeout=_END_TIMEOUT)
        for target in self.targets:
            if target.connection:
                target.connection.close()
            target.state = "ended"
        if not detach:
            for terminal in self._terminals:
                terminal.kill()
        if self._process:
            await self._process.end()
        await self._terminals_gone()
        if not detach:
            for terminal in self._terminals:
                terminal.close()
        if self._stdin_file:
            self._stdin_file.close()
        self.stop = None
        self.output.flush()
        self.over.set()
        self._signal.set()

    async def _terminals_gone(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PROGRAM_END):
                for terminal in self._terminals:
                    await terminal.exited.wait()
