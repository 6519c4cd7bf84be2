"""A started debug adapter: `AdapterProcess`, connected by its own pipes, or by a socket or port that it listens on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.dap import keeper
from lsp_mcp.errors import UnavailableError
from lsp_mcp.wire.process import Child

SOCKET = "{socket}"  # in an adapter's command: the path of a socket to listen on
_CHUNK = 64 * 1024  # bytes per read
_CONNECT_TIMEOUT = 10.0  # seconds for a connection to a port that is listened on
_LISTEN_TIMEOUT = 60.0  # seconds for an adapter to listen: the first start on a busy machine is slow
_LONGEST_LINE = 10_000  # bytes of its output that are searched
_LIMIT = 2**20  # bytes of a line of a stream's reader
_END = 0.3  # seconds for it to end by itself once its input is closed


class AdapterProcess:
    """A debug adapter below a keeper (`dap.keeper`): everything it starts ends with it, however this program ends.

    Raises:
        MissingProgramError: it cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._address: Path | int | None = None  # where it listens, once that is known
        if SOCKET in command:
            # For this user alone; and without TCP's delay for an adapter's small messages.
            self._folder = tempfile.TemporaryDirectory(prefix="lsp-mcp-dap-", ignore_cleanup_errors=True)
            command = [self._socket if word == SOCKET else word for word in command]
        keeping = [sys.executable, "-I", "-S", keeper.__file__, str(os.getpid())]
        self._child = Child([*keeping, *command], cwd=cwd, env=env)
        self._draining: asyncio.Task[None] | None = None
        self.exited = self._child.exited

    async def attach(self) -> None:
        """Connect its pipes to the running loop."""
        await self._child.attach()

    async def streams(self, listening: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Its streams: its own pipes, or a connection once it prints what matches `listening`.

        Raises:
            UnavailableError: it ended, or does not report that it listens; its last words.
        """
        if not listening:
            return self._child.reader, self._child.writer
        if self._address is None:
            found = await self._listens(re.compile(listening))
            self._address = Path(self._socket) if self._folder else int(found[1])
        if isinstance(self._address, Path):
            return await connect_to_socket(self.name, self._address)
        return await connect(self.name, "127.0.0.1", self._address)

    def give_input(self, text: bytes | None) -> None:
        """Write to its input, which the debuggee inherits; None closes it."""
        if text is None:
            self._child.writer.close()
        else:
            self._child.writer.write(text)

    def errors(self) -> str:
        """The last lines of its stderr."""
        return self._child.errors()

    def last_words(self) -> str:
        """How it ended, and the last lines of its stderr."""
        return self._child.last_words()

    async def failure(self, patience: float) -> str:
        """How it ended, if it did so within `patience` seconds and not by itself; empty otherwise."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._child.exited.wait()
        return f"{self.name} {self.last_words()}" if self._child.returncode else ""

    def on_error_line(self, hear: Callable[[str], None]) -> None:
        """`hear`, in a thread, is called with each line of its stderr."""
        self._child.on_error_line = hear

    def leave_running(self) -> None:
        """Leave running processes alone when the adapter ends."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGUSR1)

    async def end(self) -> None:
        """End the debug adapter and everything that it started; takes a second or two at most."""
        if self._draining:
            self._draining.cancel()
        await self._child.end(_END)
        self._child.detach()
        if self._folder:
            self._folder.cleanup()

    def kill(self) -> None:
        """Kill it and everything that it started; also from a signal handler."""
        if self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGTERM)

    @property
    def _socket(self) -> str:
        assert self._folder
        return str(Path(self._folder.name, "dap"))

    async def _listens(self, pattern: re.Pattern[str]) -> re.Match[str]:
        seen = b""
        try:
            async with asyncio.timeout(_LISTEN_TIMEOUT):
                while data := await self._child.reader.read(_CHUNK):
                    seen = (seen + data)[-_LONGEST_LINE:]
                    if found := pattern.search(seen.decode("utf-8", "replace")):
                        self._draining = asyncio.create_task(self._drain())
                        return found
                await self._child.exited.wait()
        except TimeoutError:
            pass
        raise UnavailableError(f"{self.name} did not report that it listens: it {self.last_words()}")

    async def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while await self._child.reader.read(_CHUNK):
                pass


async def process_end(pid: int, *, until: asyncio.Event) -> bool:
    """Whether the process `pid` of this machine has ended, as soon as it has or `until` is set; False where no kernel
    tells.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError) as error:
        return isinstance(error, ProcessLookupError)
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    waits = [asyncio.create_task(one.wait()) for one in (ended, until)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return ended.is_set()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        for one in waits:
            one.cancel()


async def connect(name: str, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a debug adapter that listens on a port.

    Raises:
        UnavailableError: nothing listens there.
    """
    return await _connected(name, f"{host}:{port}", asyncio.open_connection(host, port, limit=_LIMIT))


async def connect_to_socket(name: str, path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a debug adapter that listens on a Unix socket."""
    return await _connected(name, str(path), asyncio.open_unix_connection(path, limit=_LIMIT))


async def _connected(
    name: str, shown: str, connecting: Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT):
            return await connecting
    except (OSError, TimeoutError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise UnavailableError(f"{name}: nothing answers at {shown} ({why}).") from None
