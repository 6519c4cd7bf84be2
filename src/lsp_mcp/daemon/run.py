"""From the start of a daemon to its end: `run`."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib
import logging
import os
import signal
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lsp_mcp.backend import Json, Report
from lsp_mcp.cli.call import ToolCall
from lsp_mcp.cli.options import ServerFlags, server_flags
from lsp_mcp.cli.serve import importing
from lsp_mcp.daemon.clients import LONGEST_LINE, Clients, Session, refuse
from lsp_mcp.door.asked import Asked, relevant
from lsp_mcp.door.place import LISTENER, folder
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.sessions.running import Running
from lsp_mcp.visible import visible_lines

log = logging.getLogger(__name__)


def run(name: str, root: str, words: list[str]) -> None:
    """Be the daemon called `name` for the workspace `root`, the working folder; `words` are its flags.

    Does not return.
    """
    listening = socket.socket(fileno=LISTENER)
    shape = words[2:] if words[:2] == ["--workspace-root", root] else words
    identity = Asked(shape, (), root, relevant(os.environ)).identity
    try:
        flags = parsed(words)
        running = flags.running()
    except (LspMcpError, click.ClickException) as error:
        why = error.format_message() if isinstance(error, click.ClickException) else str(error)
        log.error("%s", why)
        _withdraw(name)
        refuse(listening, why)
        os._exit(1)
    asyncio.run(_serve(name, listening, flags, running, identity, words))


def parsed(words: Sequence[str]) -> ServerFlags:
    """The flags that `words` spell.

    Raises:
        ClickException: they are malformed.
        ConfigError: they mean nothing.
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
    """What runs, for clients each with flags of its own."""

    def __init__(self, running: Running, words: Sequence[str], serving: Any) -> None:
        self._running = running
        self._words = words
        self._serving = serving  # the module, which takes long to import

    def session(self, flags: Sequence[str], greeting: str) -> Session:
        """See `Serving.session`."""
        given = parsed([*self._words, *flags])
        running = self._running.for_client()
        served = self._serving.Served(running, given.settings(), given.form, given.response_format)
        session: Session = self._serving.client_session(served, greeting)
        return session

    async def call(self, flags: Sequence[str], words: Sequence[str], report: Report, *, terminal: bool) -> Json:
        """See `Serving.call`."""
        name, *arguments = words
        try:
            given = parsed([*self._words, *(flag for flag in flags if flag != "--json")])
            asked = ToolCall(given, name, arguments, as_json="--json" in flags, terminal=terminal)
            return asdict(await asked.outcome(self._running.for_client(), report))
        except (LspMcpError, click.ClickException) as error:
            said = error.format_message() if isinstance(error, click.ClickException) else str(error)
            status = 2 if isinstance(error, CallerError | click.ClickException) else 1
            return {"out": None, "err": [visible_lines(f"lsp-mcp: {said}")], "status": status}


async def _serve(
    name: str, listening: socket.socket, flags: ServerFlags, running: Running, identity: str, words: Sequence[str]
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    running.begin()
    # As in a process of one client: the servers load while the SDK is imported.
    with importing():
        serving = await asyncio.to_thread(importlib.import_module, "lsp_mcp.server.serving")
        stdio = importlib.import_module("lsp_mcp.server.stdio")

    clients = Clients(identity, _Serving(running, words, serving), stop)
    server = await asyncio.start_unix_server(clients.serve, sock=listening, limit=LONGEST_LINE)
    stopping = asyncio.create_task(stop.wait())
    while not stopping.done():
        idle = asyncio.create_task(clients.idle(flags.idle_timeout))
        await asyncio.wait([idle, stopping], return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        # A client that came just now keeps us, and others must go on finding us.
        if stopping.done() or (not clients.connected and _withdraw(name)):
            break
    if stopping.done():
        _withdraw(name)
    server.close()
    clients.end()
    await stdio.end(running)
    os._exit(0)


def _withdraw(name: str) -> bool:
    """Make sure that nobody finds us any more; False while a door is starting one and so may be coming."""
    home = folder()
    if home is None:
        return True
    with (Path(home) / f"{name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        with contextlib.suppress(FileNotFoundError):
            (Path(home) / f"{name}.sock").unlink()
    return True
