"""From the start of a daemon to its end: `run`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from lsp_mcp.backend import Json, Report, no_report
from lsp_mcp.cli.options import ServerFlags, server_flags
from lsp_mcp.daemon.clientele import Clientele
from lsp_mcp.daemon.clients import LONGEST_LINE, Clients, Door, Session, refuse
from lsp_mcp.daemon.memory import Memory, default_limit
from lsp_mcp.daemon.neovims import NeovimClientele
from lsp_mcp.daemon.root_watch import deleted
from lsp_mcp.door.place import LISTENER, folder, is_same, remove_old, withdraw
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.server.imports import SDK, importing
from lsp_mcp.server.turns import Turns
from lsp_mcp.sessions.resting import Resting
from lsp_mcp.sessions.running import Running
from lsp_mcp.visible import visible_lines

if TYPE_CHECKING:
    from lsp_mcp.cli.call import Here

log = logging.getLogger(__name__)

_MIB = 1024 * 1024
_CLIENTS_NEED = ("lsp_mcp.server.offer", "lsp_mcp.server.stdio", "lsp_mcp.cli.batch")
_HEAD_START = 0.2  # seconds: a server that answers `initialize` later loads something itself
_MOST_SHELLS = 20  # sets of flags whose tools are cached for calls from the shell


def run(name: str, root: str, words: list[str]) -> None:
    """Be the daemon called `name` for the workspace `root`, the working folder; `words` are its flags.

    Does not return.
    """
    listening = socket.socket(fileno=LISTENER)
    place = _Place(name)
    try:
        flags = parsed(words)
        running = flags.running()
    except (LspMcpError, click.ClickException) as error:
        why = error.format_message() if isinstance(error, click.ClickException) else str(error)
        log.error("%s", why)
        place.leave()
        refuse(listening, why)
        os._exit(1)
    asyncio.run(_serve(place, listening, flags, running, root, words))


def parsed(words: Sequence[str]) -> ServerFlags:
    """The flags in `words`.

    Raises:
        ClickException: they are malformed.
        ConfigError: they are invalid.
    """

    @click.command()
    @server_flags()
    def flags_of(flags: ServerFlags) -> ServerFlags:
        return flags

    found = flags_of.main(args=list(words), standalone_mode=False)
    assert isinstance(found, ServerFlags)
    found.check()
    return found


class _Serving:
    """The running parts, for clients with their own flags."""

    def __init__(
        self, running: Running, clientele: Clientele, words: Sequence[str], limit: int, resting: Resting
    ) -> None:
        self._running = running
        self._clientele = clientele
        self._limit = limit
        self._resting = resting
        self._words = words
        self._turns = Turns()
        self._loaded = asyncio.Event()
        self._shell_tools: dict[tuple[str, ...], Here] = {}  # by the flags of calls

    async def load(self) -> None:
        """Import all that serves clients, while the servers load; the SDK is imported on demand.

        This module imports nothing that starting a server does not need, because that is what the first answer waits
        for longest. All others wait until the servers have started, since they would take time from that.
        """
        await self._running.code.started(_HEAD_START)
        with importing():
            await asyncio.to_thread(lambda: [importlib.import_module(name) for name in _CLIENTS_NEED])
        self._loaded.set()

    def expect(self, arguments: Sequence[str]) -> None:
        """See `Serving.expect`; later, the call itself is as quick."""
        if not self._loaded.is_set():
            self._clientele.expect(arguments)

    async def ready(self) -> None:
        """See `Serving.ready`."""
        await self._loaded.wait()

    def met(self, door: Door) -> None:
        """See `Serving.met`."""
        self._clientele.met(door)

    def session(self, flags: Sequence[str], door: Door, greeting: str) -> Session:
        """See `Serving.session`."""
        from lsp_mcp.server.client_session import ClientSession
        from lsp_mcp.server.offer import Served, offer_of

        given = parsed([*self._words, *flags])

        def session_of(running: Running) -> Session:
            served = Served(running, given.settings(), given.form, given.response_format)
            return ClientSession(offer_of(served, greeting=greeting, turn=self._turns.of_client().turn), SDK)

        return self._clientele.session(door, session_of)

    def state(self) -> Json:
        """See `Serving.state`."""
        code = self._running.code
        now = time.monotonic()
        return {
            "calls": code.use.calls,
            "unused": 0.0 if code.use.calls else min((now - one.used for one in code.servers), default=0.0),
            "at_rest": [one.name for one in code.servers if one.is_at_rest],
            "states": {one.name: dict(zip(("state", "why"), one.standing(), strict=True)) for one in code.servers},
            "memory_limit": self._limit,
            **self._clientele.state,
        }

    async def rest(self) -> bool:
        """See `Serving.rest`."""
        return await self._resting.rest()

    async def call(self, flags: Sequence[str], words: Sequence[str], report: Report, *, terminal: bool) -> Json:
        """See `Serving.call`."""
        from lsp_mcp.cli.call import ToolCall

        name, *arguments = words
        try:
            async with self._turns.of_client().turn(), self._clientele.shell(name) as running:
                here = self._here(running, flags)
                tool_call = ToolCall(here.flags, name, arguments, as_json="--json" in flags, terminal=terminal)
                return asdict(await tool_call.outcome(here, report))
        except (LspMcpError, click.ClickException) as error:
            return _failed(error)

    @asynccontextmanager
    async def batch(
        self, flags: Sequence[str], *, terminal: bool
    ) -> AsyncIterator[Callable[[str], Awaitable[Json | None]]]:
        """See `Serving.batch`."""
        from lsp_mcp.cli.batch import answered
        from lsp_mcp.cli.call import Here

        here: Here | None = None
        turns = self._turns.of_client()
        async with self._clientele.batch() as running:

            async def ask(question: str) -> Json | None:
                nonlocal here
                try:
                    here = here or Here(running, self._given(flags))
                    async with turns.turn():
                        outcome = await answered(
                            question, here, no_report, as_json="--json" in flags, terminal=terminal
                        )
                    return asdict(outcome) if outcome else None
                except (LspMcpError, click.ClickException) as error:
                    return _failed(error)

            yield ask

    def _here(self, running: Running, flags: Sequence[str]) -> Here:
        """For calls with these `flags` to `running`, cached with its last flags."""
        from lsp_mcp.cli.call import Here

        key = tuple(flags)
        found = self._shell_tools.pop(key, None)
        if found is None or found.running is not running:
            found = Here(running, self._given(flags))
        self._shell_tools[key] = found
        if len(self._shell_tools) > _MOST_SHELLS:
            del self._shell_tools[next(iter(self._shell_tools))]
        return found

    def _given(self, flags: Sequence[str]) -> ServerFlags:
        return parsed([*self._words, *(flag for flag in flags if flag != "--json")])


def _failed(error: LspMcpError | click.ClickException) -> Json:
    said = error.format_message() if isinstance(error, click.ClickException) else str(error)
    status = 2 if isinstance(error, CallerError | click.ClickException) else 1
    return {"out": None, "err": [visible_lines(f"lsp-mcp: {said}")], "status": status}


async def _serve(
    place: _Place, listening: socket.socket, flags: ServerFlags, running: Running, root: str, words: Sequence[str]
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    clientele = NeovimClientele(running) if running.neovims else Clientele(running)
    clientele.begin()
    limit = flags.memory_limit * _MIB if flags.memory_limit else default_limit()
    resting = Resting(running.code, flags.idle_timeout)
    memory = Memory(place.home, limit, running.code.use, resting.rest)
    lending = [asyncio.create_task(one.run()) for one in (resting, memory)]
    serving = _Serving(running, clientele, words, limit, resting)
    clients = Clients(root, serving, stop)
    lending.append(asyncio.create_task(_end_with(root, stop)))
    server = await asyncio.start_unix_server(clients.serve, sock=listening, limit=LONGEST_LINE)
    await serving.load()
    from lsp_mcp.server import stdio

    stopping = asyncio.create_task(stop.wait())
    over = asyncio.create_task(_over(clientele, clients))

    def stays() -> float:
        return flags.idle_timeout if place.is_found() and clientele.is_wanted else 0

    while not stopping.done() and not over.done():
        idle = asyncio.create_task(clients.idle(stays))
        await asyncio.wait([idle, over, stopping], return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        # A client that just connected keeps us alive, and others must still find us.
        if idle.done() and not clients.connected and place.leave():
            break
    if stopping.done():
        place.leave()
    elif over.done():
        await asyncio.to_thread(place.leave, waits=True)
    server.close()
    if over.done():
        clients.retire()
        await clients.shells.over()
        with contextlib.suppress(TimeoutError):  # then it is cut off
            async with asyncio.timeout(stdio.END_TIMEOUT):
                await clients.ended()
    try:
        # A client that learns of our end then looks at its files.
        async with asyncio.timeout(stdio.END_TIMEOUT):
            await clientele.last_edits()
    except TimeoutError:
        log.warning("an edit is still in progress")
    clients.end()
    try:
        async with asyncio.timeout(stdio.END_TIMEOUT):
            await clientele.close()
            await clients.ended()
    except TimeoutError:
        log.warning("a session did not end in time")
    for one in lending:
        one.cancel()
    await stdio.end(running)
    os._exit(0)


async def _end_with(root: str, stop: asyncio.Event) -> None:
    await deleted(root)
    log.info("the workspace root is gone: %s", root)
    stop.set()


async def _over(clientele: Clientele, clients: Clients) -> None:
    """Return when nothing is left to work with, and no door needs this daemon."""
    await clientele.over()
    while clients.shells.calls:
        await clients.shells.over()
        await clientele.over()


class _Place:
    """The address under which doors find this daemon."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.home = folder() or ""
        self._socket = self._there()
        if self.home:
            remove_old(self.home)

    def is_found(self) -> bool:
        """Whether doors can find it: someone may have removed its folder."""
        there = self._there()
        return bool(there and self._socket and is_same(there, self._socket))

    def leave(self, *, waits: bool = False) -> bool:
        """See `withdraw`."""
        return not self.home or withdraw(self.home, self._name, self._socket, waits=waits)

    def _there(self) -> os.stat_result | None:
        try:
            return os.stat(os.path.join(self.home, f"{self._name}.sock"))  # noqa: PTH116, PTH118 (as the door)
        except OSError:
            return None
