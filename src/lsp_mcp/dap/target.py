"""One debuggee as reported by its adapter: `Target`, from `initialize` to the end of its connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.dap.adapter import DebugAdapter
from lsp_mcp.dap.breakpoints import Breakpoint, Breakpoints
from lsp_mcp.dap.transport import Connection, Json, Reply
from lsp_mcp.errors import LspMcpError, RefusedError

log = logging.getLogger(__name__)

_STEP_TIMEOUT = 60.0  # seconds for an adapter to take breakpoints and filters while it starts
_CLIENT: Json = {
    "clientID": "lsp-mcp",
    "clientName": "lsp-mcp",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "pathFormat": "path",
    "locale": "en",
    "supportsVariableType": True,
    "supportsVariablePaging": True,
    "supportsRunInTerminalRequest": True,
    "supportsStartDebuggingRequest": True,
    "supportsANSIStyling": False,
    "supportsInvalidatedEvent": False,
    "supportsProgressReporting": False,
}


@dataclass(frozen=True)
class Stop:
    """Why and where a debuggee stopped, according to the event."""

    number: int  # of its session, from 1
    target: Target
    thread: int
    reason: str
    description: str = ""
    text: str = ""
    hit: tuple[int, ...] = ()  # the adapter's ids of breakpoints


@dataclass
class Bound:
    """An adapter's result for a breakpoint."""

    verified: bool = False
    message: str = ""
    line: int | None = None  # its actual place
    number: int | None = None  # the adapter's id
    hits: int = 0


class Host(Protocol):
    """The session of a target."""

    breakpoints: Breakpoints

    def stopped(self, target: Target, body: Json) -> None:
        """It stopped."""

    def resumed(self, target: Target) -> None:
        """It, or a thread of it, runs again."""

    def printed(self, category: str, text: str) -> None:
        """It, or its adapter, printed this."""

    def began(self, target: Target) -> None:
        """Its process is known."""

    def changed(self) -> None:
        """Other state has changed."""

    def start_child(self, parent: Target, request: str, configuration: Json) -> None:
        """The adapter wants a process started by the debuggee to be debugged too."""

    def run_in_terminal(self, arguments: Json, reply: Reply) -> None:
        """The adapter wants the program to be started."""


@dataclass
class Target:
    """One debuggee. `state` is `starting`, `running`, `stopped` or `ended`."""

    host: Host
    name: str
    parent: Target | None = None
    adapter: DebugAdapter | None = None
    state: str = "starting"
    capabilities: Json = field(default_factory=dict)
    stops: dict[int, Stop] = field(default_factory=dict)  # of stopped threads, by thread
    bound: dict[int, Bound] = field(default_factory=dict)  # by our breakpoint's id
    exit_code: int | None = None
    process: str = ""  # as the adapter calls it
    pid: int | None = None
    connection: Connection | None = None
    seen_code: bool = False  # a thread, a module or a process was reported
    filters: tuple[str, ...] = ()  # of exceptions
    runs: int = 0  # how often it was made to run, or said that it runs
    says_continued: bool = False  # it has done so
    awaited: bool = False  # it was made to run and has not said `continued` yet, though it does
    _initialized: asyncio.Event = field(default_factory=asyncio.Event)
    _sent: dict[Path, list[int]] = field(default_factory=dict)  # our ids in the order in which they were sent

    async def begin(
        self,
        connection: Callable[[Any, Any], Connection],
        adapter_id: str,
        request: str,
        arguments: Json,
        choose_filters: Callable[[Json], Iterable[str]],
        setup: Iterable[Json] = (),
    ) -> None:
        """Initialize, launch or attach, set breakpoints, and let it run.

        The answer to `launch` may come only after `configurationDone` (DAP, "Launching and attaching"), so nothing
        waits for it before.

        Raises:
            RefusedError: the adapter refuses.
            UnavailableError: it is gone or silent.
        """
        self.connection = link = connection(self._event, self._request)
        self.capabilities = await link.request(
            "initialize", {**_CLIENT, "adapterID": adapter_id}, timeout=_STEP_TIMEOUT
        )
        launched = link.send(request, arguments)
        ready = asyncio.ensure_future(self._initialized.wait())
        either: set[asyncio.Future[Any]] = {launched, ready}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if launched.done() and (problem := launched.exception()):
                raise problem
            closed = asyncio.create_task(link.closed.wait())
            try:
                await asyncio.wait({ready, closed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                closed.cancel()
            if not ready.done():
                await launched  # says why
        finally:
            ready.cancel()
        for one in setup:
            try:
                await link.request(one["command"], one.get("arguments"))
            except RefusedError as error:
                log.info("%s: %s: %s", self.name, one["command"], error)
        self.filters = tuple(choose_filters(self.capabilities))
        await asyncio.gather(
            *(self.send_breakpoints(path) for path in self.host.breakpoints.paths), self.send_functions()
        )
        if self.capabilities.get("exceptionBreakpointFilters") is not None or self.filters:
            await link.request("setExceptionBreakpoints", {"filters": list(self.filters)}, timeout=_STEP_TIMEOUT)
        if self.capabilities.get("supportsConfigurationDoneRequest"):
            await link.request("configurationDone", {}, timeout=_STEP_TIMEOUT)
        await launched
        if self.state == "starting":
            self.state = "running"
        self.host.changed()

    async def ask(self, command: str, arguments: Json | None = None, **options: float) -> Json:
        """The answer of the adapter; see `Connection.request`."""
        assert self.connection
        try:
            return await self.connection.request(command, arguments, **options)
        except RefusedError as error:
            raise RefusedError(self.adapter.plain(str(error)) if self.adapter else str(error)) from None

    def can(self, capability: str) -> bool:
        """Whether the adapter supports it."""
        return bool(self.capabilities.get(capability))

    def hit(self, numbers: tuple[int, ...]) -> list[int]:
        """Our ids of the adapter's breakpoints."""
        return [ours for ours, bound in self.bound.items() if bound.number in numbers]

    # --- breakpoints -------------------------------------------------------------------------------

    async def send_breakpoints(self, path: Path) -> None:
        """Send the adapter all breakpoints in `path`."""
        ours = self.host.breakpoints.in_file(path)
        self._sent[path] = [one.id for one in ours]
        wanted = [self._wanted(one) for one in ours]
        arguments = {"source": {"path": str(path), "name": path.name}, "breakpoints": wanted, "sourceModified": False}
        arguments["lines"] = [one.line for one in ours]
        try:
            answer = await self.ask("setBreakpoints", arguments, timeout=_STEP_TIMEOUT)
        except RefusedError as error:
            answer = {"breakpoints": [{"verified": False, "message": str(error)} for _ in ours]}
        for one, got in zip(ours, answer.get("breakpoints") or (), strict=False):
            self._bind(one.id, got)

    async def send_functions(self) -> None:
        """Send the adapter all breakpoints on functions."""
        ours = self.host.breakpoints.functions
        if not ours and not any(one in self.bound for one in self._sent.get(Path(), ())):
            return
        self._sent[Path()] = [one.id for one in ours]
        if not self.can("supportsFunctionBreakpoints"):
            for one in ours:
                self._bind(one.id, {"verified": False, "message": "this debugger has no breakpoints on functions"})
            return
        wanted = [{**self._wanted(one), "name": one.function} for one in ours]
        try:
            answer = await self.ask("setFunctionBreakpoints", {"breakpoints": wanted}, timeout=_STEP_TIMEOUT)
        except RefusedError as error:
            answer = {"breakpoints": [{"verified": False, "message": str(error)} for _ in ours]}
        for one, got in zip(ours, answer.get("breakpoints") or (), strict=False):
            self._bind(one.id, got)

    def _wanted(self, one: Breakpoint) -> Json:
        wanted: Json = {} if one.function else {"line": one.line}
        if one.condition:
            wanted["condition"] = one.condition
        if one.hit:
            wanted["hitCondition"] = (self.adapter.hit if self.adapter else "{count}").replace("{count}", str(one.hit))
        if one.log:
            wanted["logMessage"] = one.log
        return wanted

    def _bind(self, number: int, got: Json) -> None:
        bound = self.bound.setdefault(number, Bound())
        bound.verified = bool(got.get("verified"))
        bound.message = str(got.get("message") or "") if not bound.verified else ""
        bound.line = got.get("line") if isinstance(got.get("line"), int) else bound.line
        bound.number = got.get("id") if isinstance(got.get("id"), int) else bound.number

    # --- what it says ------------------------------------------------------------------------------

    def _event(self, event: str, body: Json) -> None:
        match event:
            case "initialized":
                self._initialized.set()
            case "stopped":
                self.seen_code = True
                self.host.stopped(self, body)
            case "continued":
                self._continued(body)
            case "output":
                self.host.printed(str(body.get("category") or "console"), str(body.get("output") or ""))
            case "thread" | "module" | "loadedSource":
                self.seen_code = True
                if event == "thread" and body.get("reason") == "exited":
                    self.stops.pop(body.get("threadId", -1), None)
            case "process":
                self.seen_code = True
                self.process = str(body.get("name") or "")
                self.pid = body.get("systemProcessId") if isinstance(body.get("systemProcessId"), int) else None
                self.host.began(self)
                self.host.changed()
            case "breakpoint":
                self._rebound(body.get("breakpoint") or {})
            case "capabilities":
                self.capabilities.update(body.get("capabilities") or {})
            case "exited":
                code = body.get("exitCode")
                self.exit_code = code if isinstance(code, int) else self.exit_code
                self.host.changed()
            case "terminated":
                self.finish()

    def finish(self) -> None:
        """Everything has ended."""
        self.state = "ended"
        self.stops.clear()
        self.host.changed()

    def _request(self, command: str, arguments: Json, reply: Reply) -> None:
        if command == "startDebugging":
            reply({}, None)
            self.host.start_child(self, str(arguments.get("request")), arguments.get("configuration") or {})
        elif command == "runInTerminal":
            self.host.run_in_terminal(arguments, reply)
        else:
            reply(None, f"lsp-mcp does not know the request {command}")

    def _continued(self, body: Json) -> None:
        if body.get("allThreadsContinued", True):
            self.stops.clear()
        else:
            self.stops.pop(body.get("threadId", -1), None)
        self.ran()

    def ran(self) -> None:
        """It runs again, unless a thread is still stopped."""
        self.runs += 1
        self.says_continued, self.awaited = True, False
        if self.state == "stopped" and not self.stops:
            self.state = "running"
        self.host.resumed(self)

    def _rebound(self, got: Json) -> None:
        for bound in self.bound.values():
            if bound.number is not None and bound.number == got.get("id"):
                bound.verified = bool(got.get("verified", bound.verified))
                bound.message = "" if bound.verified else str(got.get("message") or bound.message)
                bound.line = got.get("line") if isinstance(got.get("line"), int) else bound.line
        self.host.changed()


async def quietly(request: Any) -> Any:
    """The result of `request`; None if the adapter refuses it or is gone."""
    try:
        return await request
    except LspMcpError as error:
        log.info("not answered: %s", error)
        return None
