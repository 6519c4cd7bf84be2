"""Child processes that never outlive us: `Child` is one started program with its three pipes.

Starting is synchronous, so that a server can load while this program still imports; `attach` joins the
pipes to the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_mcp.door.environment import names_a_repository
from lsp_mcp.errors import MissingProgramError, SilentError
from lsp_mcp.scratch import scratch_folder
from lsp_mcp.waiting import phase

if TYPE_CHECKING:
    import psutil

_STDERR_LINES = 40  # lines kept for the error message of a program that dies
_STDERR_LINE_LENGTH = 500  # characters kept of each
_CHUNK = 64 * 1024  # bytes of its stderr read at once; a longer line counts as several
_TERMINATE_WAIT = 0.5  # seconds between SIGTERM and SIGKILL
_STDERR_WAIT = 0.2  # seconds for the end of its stderr, which a child may hold open for ever
_KILL_WAIT = 0.3  # seconds for the kernel to carry out a SIGKILL
_PR_SET_PDEATHSIG = 1
TOKEN_VARIABLE = "LSP_MCP_TOKEN"  # noqa: S105 (a name; its value opens this program's servers, and is for nobody else to know)
_FREE_AFTER = 2.0  # seconds until a program is first checked for hanging
_SHOWN = 80  # characters of a waiting command
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Child:
    """A started program: `reader` and `writer` after `attach`, `exited` when it is gone.

    Ends with us, `kill -9` included (Linux: parent-death signal; elsewhere by the end of its stdin).
    Leads a process group of its own, so that its children go with it. With `cleans_up` its temporary files are in a
    folder of their own, which goes with it, too, even if it is killed.

    Raises:
        MissingProgramError: the program does not exist or cannot be executed.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def __init__(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, cleans_up: bool = False
    ) -> None:
        self.command = list(command)
        self._scratch = scratch_folder() if cleans_up else None
        if self._scratch:
            env = {"TMPDIR": str(self._scratch.folder), **(env or {})}
        self.exited = asyncio.Event()
        self.on_error_line: Callable[[str], None] | None = None  # called with each line of its stderr, in any thread
        self.attached = False  # whether `attach` was called
        self._put_down = False  # it was killed
        self._swept = False  # it and its group are gone; its id may belong to another program
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._hearing = threading.RLock()  # its stderr is read by one at a time
        self._half_line = b""  # of its stderr
        self._silent = False  # its stderr has ended
        try:
            self._popen = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env=child_environment(env),
                process_group=0,
                # Must be set between fork and exec, and from the main thread: the signal is sent when the *thread* that
                # started the child ends.
                preexec_fn=_die_with_parent(),  # noqa: PLW1509
            )
        except OSError as error:
            if self._scratch:
                self._scratch.remove()
            raise MissingProgramError(f"{shlex.join(self.command)} cannot be started: {error.strerror}") from None

    @property
    def pid(self) -> int:
        """The process id, which is also its process group's."""
        return self._popen.pid

    def cpu_time(self) -> float | None:
        """Seconds of CPU time used so far by it and its children; None if it is gone. Slow: 10 ms."""
        import psutil

        try:
            top = psutil.Process(self.pid)
            return sum(_used(process) for process in (top, *top.children(recursive=True)))
        except psutil.Error:
            return None

    def memory(self) -> int | None:
        """Bytes of it and its children in RAM; None if it is gone. Slow: 10 ms."""
        import psutil

        try:
            top = psutil.Process(self.pid)
            return sum(_resident(process) for process in (top, *top.children(recursive=True)))
        except psutil.Error:
            return None

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._popen.poll()

    async def attach(self) -> None:
        """Connect the pipes to the running event loop. Its stderr is drained from here on."""
        self.attached = True
        loop = asyncio.get_running_loop()
        popen = self._popen
        assert popen.stdin and popen.stdout and popen.stderr
        # Threads, not tasks: both must continue while the loop is busy, and end with the child by themselves.
        stderr = threading.Thread(target=self._drain_stderr, name=f"stderr of {self.pid}", daemon=True)
        stderr.start()
        threading.Thread(target=self._wait, args=(loop, stderr), name=f"wait for {self.pid}", daemon=True).start()
        self.reader = asyncio.StreamReader(limit=2**20)
        self._output, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self.reader), popen.stdout)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, popen.stdin)
        self.writer = asyncio.StreamWriter(transport, protocol, None, loop)

    def hear_errors(self) -> None:
        """Read its stderr up to now: its stdout, read separately, may be ahead of that."""
        assert self._popen.stderr
        file = self._popen.stderr.fileno()
        poll = select.poll()
        poll.register(file, select.POLLIN)
        with self._hearing:
            while not self._silent and poll.poll(0):
                self._hear(os.read(file, _CHUNK))

    def errors(self) -> str:
        """The last lines of its stderr, at most 40 of at most 500 characters."""
        return "\n".join(self._stderr)

    def last_words(self) -> str:
        """How it ended and the last lines of its stderr, for the end of a sentence."""
        code = self.returncode
        how = "is still running" if code is None else _exit_text(code)
        if self._put_down:
            how = "stopped talking and was killed"
        words = " | ".join(list(self._stderr)[-6:])
        return f"{how}; its last words: {words}" if words else how

    async def end(self, patience: float) -> None:
        """Close its stdin, wait `patience` seconds, then SIGTERM, then SIGKILL; afterwards its whole group is gone."""
        if hasattr(self, "writer"):
            self.writer.close()
        if not await self._gone_within(patience):
            self._put_down = True
            self._signal_group(signal.SIGTERM)
            await self._gone_within(_TERMINATE_WAIT)
        self.kill()
        await self._gone_within(_KILL_WAIT)

    def detach(self) -> None:
        """Close its pipes, which a process outside its group may hold open for ever."""
        if hasattr(self, "writer"):
            self.writer.close()
        if hasattr(self, "_output"):
            self._output.close()

    def kill(self) -> None:
        """SIGKILL to the whole process group. Safe at any time, also from a signal handler."""
        if not self._swept:
            self._swept = self.returncode is not None
            self._signal_group(signal.SIGKILL)
        if self._scratch and not self.attached:
            threading.Thread(target=self._clean_up, name=f"clean up after {self.pid}", daemon=True).start()

    async def _gone_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        return self.exited.is_set()

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _drain_stderr(self) -> None:
        assert self._popen.stderr
        poll = select.poll()
        poll.register(self._popen.stderr, select.POLLIN)
        while not self._silent:
            poll.poll()
            self.hear_errors()

    def _hear(self, content: bytes) -> None:
        *lines, self._half_line = (self._half_line + content).split(b"\n")
        if not content or len(self._half_line) > _CHUNK:
            lines, self._half_line = [*lines, self._half_line], b""
        self._silent = not content
        for line in lines:
            if text := line.decode("utf-8", "replace").strip():
                self._stderr.append(text[:_STDERR_LINE_LENGTH])
                if self.on_error_line:
                    self.on_error_line(text)

    def _wait(self, loop: asyncio.AbstractEventLoop, stderr: threading.Thread) -> None:
        self._popen.wait()
        stderr.join(_STDERR_WAIT)  # its stderr is complete when its end is known
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits any more
            loop.call_soon_threadsafe(self.exited.set)
        self._clean_up()

    def _clean_up(self) -> None:
        """Remove its temporary files, once it is gone and what it has started."""
        scratch, self._scratch = self._scratch, None
        if scratch:
            self._popen.wait()
            self.kill()
            scratch.remove()


def child_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every program that this one starts: its own with `more`, without the token.

    A git hook's variables are left out as well: they name one repository, and a program works in its own folder.
    """
    own = {name: value for name, value in os.environ.items() if not names_a_repository(name)}
    return {name: value for name, value in {**own, **(more or {})}.items() if name != TOKEN_VARIABLE}


async def run(
    command: Sequence[str],
    *,
    cwd: Path,
    timeout: float,
    said: Callable[[str], None] | None = None,
    free: Callable[[], Awaitable[object]] | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """The exit status of a short program, and its output: stdout, or stderr if that is empty.

    `said` is called, in a thread, with each line of its stderr; `free` is awaited after 2, 4, 8 … seconds, and may
    unblock it.

    Raises:
        MissingProgramError: it cannot be started.
        SilentError: it was still running after `timeout` (seconds), and was killed with its children.
    """
    child = Child(command, cwd=cwd, env=env)
    child.on_error_line = said
    freeing = asyncio.create_task(_keep_free(free)) if free else None
    try:
        await child.attach()
        child.writer.close()
        with phase(lambda: shlex.join(command)[:_SHOWN]):
            async with asyncio.timeout(timeout):
                output = await child.reader.read()
                await child.exited.wait()
    except TimeoutError:
        raise SilentError(f"{shlex.join(command)} was still running after {timeout:g} s") from None
    finally:
        if freeing:
            freeing.cancel()
            await asyncio.gather(freeing, return_exceptions=True)
        child.kill()
        await child.end(0)
        child.detach()
    return child.returncode or 0, output.decode("utf-8", "replace").strip() or child.errors()


async def _keep_free(free: Callable[[], Awaitable[object]]) -> None:
    pause = _FREE_AFTER
    while True:
        await asyncio.sleep(pause)
        await free()
        pause *= 2


def _used(process: psutil.Process) -> float:
    """The resources used by `process` and its ended children; nothing if it is gone by now."""
    import psutil

    try:
        return sum(process.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0


def _resident(process: psutil.Process) -> int:
    import psutil

    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _die_with_parent() -> Callable[[], None] | None:
    """Run in a child between fork and exec so that it ends with this process, if the kernel supports that."""
    return partial(_set_death_signal, _LIBC, os.getpid()) if _LIBC else None


def _set_death_signal(libc: ctypes.CDLL, parent: int) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
