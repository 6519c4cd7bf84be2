"""The clients of a daemon: `Clients`, each behind a door at a socket of the user's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

import click
from msgspec import Struct

from lsp_mcp import __version__
from lsp_mcp.backend import Report
from lsp_mcp.daemon.memory import PEAK, peak
from lsp_mcp.errors import LspMcpError
from lsp_mcp.sessions.use import Use

if TYPE_CHECKING:
    import psutil

log = logging.getLogger(__name__)

LONGEST_LINE = 256 * 1024 * 1024  # bytes of one message
_HELLO_TIMEOUT = 10.0  # seconds for a door to introduce itself
_QUEUED = 100  # lines of a batch read ahead
_RESTARTED = "lsp-mcp restarted: answers may repeat news about changed files that you were told before"
Json = dict[str, Any]
Answer = Callable[[Json], Awaitable[None]]


class Door(Struct, frozen=True):
    """A door's information about its client."""

    pid: int
    """Its own process."""
    around: Mapping[str, str]
    """The variables that name the Neovim around it."""
    resumed: bool
    """Whether another daemon served the client before."""
    kept: Json
    """What that daemon passed on to this one."""

    @classmethod
    def from_hello(cls, hello: Json) -> Door:
        """The door that sent `hello`, which may be of an older version."""
        return cls(hello.get("pid", 0), hello.get("around", {}), bool(hello.get("resumed")), hello.get("kept", {}))


class Session(Protocol):
    """One client's MCP session."""

    @property
    def writing(self) -> Sequence[str]:
        """The names of its tools that change something."""

    async def run(self, read: Callable[[], Any], write: Callable[[bytes], Any]) -> None:
        """Answer until the input ends."""


class Serving(Protocol):
    """The services of a daemon for its clients, from when it is `ready` on."""

    def expect(self, arguments: Sequence[str]) -> None:
        """A call with these arguments will come; it may be told before it is ready."""

    async def ready(self) -> None:
        """Return when all that serves clients is imported."""

    def met(self, door: Door) -> None:
        """This task now serves the client of `door`."""

    def session(self, flags: Sequence[str], door: Door, greeting: str) -> Session:
        """A session for a client with these flags; its first answer includes `greeting`."""

    def batch(
        self, flags: Sequence[str], *, terminal: bool
    ) -> AbstractAsyncContextManager[Callable[[str], Awaitable[Json | None]]]:
        """A function that answers lines of questions one after the other; None if nothing can be answered."""

    def state(self) -> Json:
        """The daemon's state: running calls, resting servers, and the seconds since the last question."""

    async def rest(self) -> bool:
        """End the language servers until the next question; False if one is in progress."""

    async def call(self, flags: Sequence[str], words: Sequence[str], report: Report, *, terminal: bool) -> Json:
        """The output of one call from the shell: `out`, `err`, `status`."""


class Clients:
    """Serves each connection as a session of its own.

    The first door, which started this daemon, says what it serves: only a door of the same version can compute that,
    and it may be older than this program.
    """

    def __init__(self, root: str, serving: Serving, stop: asyncio.Event) -> None:
        self._root = root
        self._served = ""  # see `DaemonRequest.served`
        self._parts: Json = {}  # see `DaemonRequest.parts`
        self._serving = serving
        self._stop = stop
        self._tasks: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self._doors: dict[asyncio.Task[Any], Json] = {}
        self._sessions: set[asyncio.StreamWriter] = set()  # to clients with a session
        self._stoppers: list[asyncio.StreamWriter] = []  # to those who wait until this process has ended
        self._retired = False
        self._left = asyncio.Event()
        self.shells = Use()  # calls and batches from the shell, whose doors do not continue with another daemon
        self._since = time.time()
        self._used = asyncio.get_running_loop().time()  # when the last client left

    @property
    def connected(self) -> bool:
        """Whether anyone is connected, introduced or not."""
        return bool(self._tasks)

    async def idle(self, timeout: Callable[[], float]) -> None:
        """Return once nobody has been connected for the seconds that `timeout` gave when the last client left."""
        while True:
            self._left.clear()
            if self._tasks:
                await self._left.wait()
                continue
            try:
                # A connection that only checks whether we exist does not count.
                async with asyncio.timeout(self._used + timeout() - asyncio.get_running_loop().time()):
                    await self._left.wait()
            except TimeoutError:
                if not self._tasks:
                    return

    def retire(self) -> None:
        """Serve what clients have sent until now, and nothing later."""
        self._retired = True
        for writer in self._sessions:
            # Data that arrived can still be read. The door's next message fails, so it knows that it was never started.
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").shutdown(socket.SHUT_RD)

    async def ended(self) -> None:
        """Return when no client is being served."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    def end(self) -> None:
        """Disconnect all clients: their doors find another daemon and repeat requests without an answer."""
        for task, writer in self._tasks.items():
            writer.transport.abort()  # first, or calls would be answered with their cancellation
            task.cancel()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its hello to its end."""
        task = asyncio.current_task()
        assert task
        self._tasks[task] = writer
        try:
            await self._introduced(task, reader, writer)
        except (OSError, TimeoutError, ValueError) as error:
            log.info("a connection ended: %s", error or type(error).__name__)
        except asyncio.CancelledError:
            pass  # by `end`; asyncio would report that as a failure of this task
        except Exception:
            log.exception("a session failed")
        finally:
            del self._tasks[task]
            self._sessions.discard(writer)
            if self._doors.pop(task, None):
                self._used = asyncio.get_running_loop().time()
            self._left.set()
            if writer not in self._stoppers:
                writer.close()

    async def _introduced(
        self, task: asyncio.Task[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        async def answer(value: Json) -> None:
            writer.write(json.dumps(value).encode() + b"\n")
            await writer.drain()

        if not is_ours(writer.get_extra_info("socket")):
            await answer({"refused": "another user's daemon"})
            return
        async with asyncio.timeout(_HELLO_TIMEOUT):
            hello = json.loads(await reader.readline() or b"{}")
        if "expect" in hello:
            self._serving.expect(hello["expect"])
            return
        if "tell" in hello:
            rested = hello["tell"] != "rest" or await self._serving.rest()
            about = await asyncio.to_thread(self._about, with_peaks=hello["tell"] == PEAK)
            await answer({**about, **self._serving.state(), "rested": rested})
            if hello["tell"] == "stop":
                self._stoppers.append(writer)
                self._stop.set()
            return
        served = hello.get("served", "")
        self._served = self._served or served
        self._parts = self._parts or hello.get("parts", {})
        if served != self._served:
            await answer({"refused": "the daemon of that name serves something else"})
            return
        if self._retired:
            return  # the door looks for another daemon
        self._doors[task] = {"pid": hello.get("pid"), "since": time.time()}
        door = Door.from_hello(hello)
        self._serving.expect(hello.get("call", ()))
        await self._serving.ready()
        self._serving.met(door)
        if hello.get("batch") or hello.get("call"):
            with self.shells.call():
                await answer({"serves": __version__})
                serve = self._batch if hello.get("batch") else self._call
                await serve(hello, reader, answer)
            return
        try:
            session = self._serving.session(hello.get("flags", ()), door, _RESTARTED if door.resumed else "")
        except (LspMcpError, click.ClickException) as error:
            await answer({"refused": str(error)})
            return
        self._sessions.add(writer)
        await answer({"serves": __version__, "pid": os.getpid(), "writing": list(session.writing)})

        async def write(data: bytes) -> None:
            try:
                writer.write(data)
                await writer.drain()
            except ConnectionError:
                raise BrokenPipeError from None

        await session.run(reader.readline, write)

    async def _batch(self, hello: Json, reader: asyncio.StreamReader, answer: Answer) -> None:
        questions: asyncio.Queue[str | None] = asyncio.Queue(_QUEUED)

        async def answer_all() -> None:
            async with self._serving.batch(hello.get("flags", ()), terminal=bool(hello.get("terminal"))) as ask:
                while (question := await questions.get()) is not None:
                    if outcome := await ask(question):
                        await answer(outcome)
            await answer({"ended": True})

        async def listen() -> None:
            while line := await reader.readline():
                await questions.put(json.loads(line).get("question"))

        await _while_connected(answer_all(), listen())

    async def _call(self, hello: Json, reader: asyncio.StreamReader, answer: Answer) -> None:
        async def report(_: float, __: float | None, message: str) -> None:
            await answer({"progress": message})

        async def call() -> None:
            flags, terminal = hello.get("flags", ()), bool(hello.get("terminal"))
            await answer(await self._serving.call(flags, hello["call"], report, terminal=terminal))

        await _while_connected(call(), reader.read(1))  # a door sends nothing more

    def _about(self, *, with_peaks: bool) -> Json:
        import psutil

        process = psutil.Process()
        return {
            "pid": process.pid,
            "rss": process.memory_info().rss,
            "servers": [
                about for one in process.children(recursive=True) if (about := _server(one, with_peak=with_peaks))
            ],
            "version": __version__,
            "root": self._root,
            "since": self._since,
            "clients": list(self._doors.values()),
            "parts": self._parts,
        }


async def _while_connected(answering: Coroutine[Any, Any, None], leaving: Coroutine[Any, Any, object]) -> None:
    """Continue `answering` until it is done, or until the door is gone (`leaving` ends), since nobody
    wants the rest.
    """
    tasks = [asyncio.ensure_future(answering), asyncio.ensure_future(leaving)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()


def _server(process: psutil.Process, *, with_peak: bool) -> Json | None:
    import psutil

    try:
        about = {"name": process.name(), "pid": process.pid, "rss": process.memory_info().rss}
        return {**about, "peak": peak(process.pid)} if with_peak else about
    except psutil.Error:
        return None  # it has just ended


def is_ours(connection: socket.socket) -> bool:
    """Whether the other end is this user's; if the system does not tell, the folder's permissions protect."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1]) == os.geteuid()


def refuse(listening: socket.socket, why: str) -> None:
    """Tell waiting doors that there will be no daemon."""
    listening.setblocking(False)
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(_HELLO_TIMEOUT)
            try:
                connection.sendall(json.dumps({"refused": why}).encode() + b"\n")
                connection.shutdown(socket.SHUT_WR)
                connection.recv(65536)  # its hello: unread data would discard the answer
            except OSError as error:
                log.info("a client could not be notified: %s", error)
