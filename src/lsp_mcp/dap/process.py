"""A started debug adapter: `AdapterProcess`, spoken to on its own pipes or at a port that it listens on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lsp_mcp.dap import keeper
from lsp_mcp.errors import UnavailableError
from lsp_mcp.wire.process import Child

_CHUNK = 64 * 1024  # bytes per read
_CONNECT_TIMEOUT = 10.0  # seconds for a connection to a port that is listened on
_LISTEN_TIMEOUT = 60.0  # seconds for an adapter to say where it listens: the first start on a busy machine is slow
_LONGEST_LINE = 10_000  # bytes of what it prints that are looked at
_END = 0.3  # seconds for it to end by itself once its input is closed


class AdapterProcess:
    """A debug adapter below a keeper (`dap.keeper`): all that it starts ends with it, however this program ends.

    Raises:
        MissingProgramError: it cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.name = name
        keeping = [sys.executable, "-I", "-S", keeper.__file__, str(os.getpid())]
        self._child = Child([*keeping, *command], cwd=cwd, env=env)
        self._draining: asyncio.Task[None] | None = None
        self._port: int | None = None
        self.exited = self._child.exited

    async def attach(self) -> None:
        """Join its pipes to the running loop."""
        await self._child.attach()

    async def streams(self, listening: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """What to speak to it on: its own pipes, or the port that it prints, by the pattern `listening`.

        Raises:
            UnavailableError: it ended, or says nothing of a port; its last words.
        """
        if not listening:
            return self._child.reader, self._child.writer
        if self._port is None:
            self._port = await self._listens(re.compile(listening))
        return await connect(self.name, "127.0.0.1", self._port)

    @property
    def port(self) -> int | None:
        """Where it listens, once that is known."""
        return self._port

    def give_input(self, text: bytes | None) -> None:
        """Write to its input, which what it debugs inherits; None closes it."""
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

    def on_error_line(self, hear: Callable[[str], None]) -> None:
        """`hear`, in a thread, is called with each line of its stderr."""
        self._child.on_error_line = hear

    def leave_running(self) -> None:
        """What still runs when the adapter ends is left alone."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, signal.SIGUSR1)

    async def end(self) -> None:
        """End it and all that came of it; bounded by a second or two."""
        if self._draining:
            self._draining.cancel()
        await self._child.end(_END)
        self._child.detach()

    def kill(self) -> None:
        """End it and all that came of it at once; also from a signal handler."""
        if self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGTERM)

    async def _listens(self, pattern: re.Pattern[str]) -> int:
        seen = b""
        try:
            async with asyncio.timeout(_LISTEN_TIMEOUT):
                while data := await self._child.reader.read(_CHUNK):
                    seen = (seen + data)[-_LONGEST_LINE:]
                    if found := pattern.search(seen.decode("utf-8", "replace")):
                        self._draining = asyncio.create_task(self._drain())
                        return int(found[1])
                await self._child.exited.wait()
        except TimeoutError:
            pass
        raise UnavailableError(f"{self.name} does not say on which port it listens: it {self.last_words()}")

    async def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while await self._child.reader.read(_CHUNK):
                pass


async def connect(name: str, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a debug adapter that listens.

    Raises:
        UnavailableError: nothing listens there.
    """
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT):
            return await asyncio.open_connection(host, port, limit=2**20)
    except (OSError, TimeoutError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise UnavailableError(f"{name}: nothing answers at {host}:{port} ({why}).") from None
