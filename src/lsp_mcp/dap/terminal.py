"""A program that an adapter wants to run in a terminal (DAP `runInTerminal`): `Terminal`, which is ours."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lsp_mcp.dap import keeper
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.wire.process import child_environment

_CHUNK = 64 * 1024  # bytes per read
_MOST_UNREAD = 1_000_000  # bytes of input that a program has not read


class Terminal:
    """The program `command`, its output in pseudo-terminals and its input from `text`, or open for `give`.

    `on_output(stream, text)` is called in the loop with its output; `exited` is set, with `status`, when it is gone and
    all output was read.

    Raises:
        RefusedError: it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str | None],
        text: str | None,
        is_open: bool,
        on_output: Callable[[str, str], None],
    ) -> None:
        self.exited = asyncio.Event()
        self.status: int | None = None  # negative for a signal
        self._loop = asyncio.get_running_loop()
        self._on_output = on_output
        self._masters: dict[int, str] = {}  # the streams that are still open
        self._unread = b""
        self._input: int | None = None
        environment = {name: value for name, value in {**child_environment(), **env}.items() if value is not None}
        out, out_slave = _pseudo_terminal()
        err, err_slave = _pseudo_terminal()
        given = out_slave if is_open else _file(text or "")
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", keeper.__file__, str(os.getpid()), *command],
                stdin=given,
                stdout=out_slave,
                stderr=err_slave,
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            for descriptor in (out, err):
                os.close(descriptor)
            raise RefusedError(f"{command[0]} cannot be started: {error.strerror}") from None
        finally:
            for descriptor in {given, out_slave, err_slave}:
                os.close(descriptor)
        self._input = out if is_open else None
        for master, stream in ((out, "stdout"), (err, "stderr")):
            self._masters[master] = stream
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self._loop.add_reader(master, self._read, master, decoder)
        threading.Thread(target=self._wait, name=f"wait for {self._popen.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id of the keeper."""
        return self._popen.pid

    def give(self, text: str) -> None:
        """Write to its input.

        Raises:
            CallerError: it was started with all its input, or has ended, or does not read.
        """
        if self._input is None or self.exited.is_set():
            raise CallerError("the program's input is closed; start it with stdin='open' to send it input later.")
        data = text.encode("utf-8", "replace")
        if len(self._unread) + len(data) > _MOST_UNREAD:
            raise CallerError(f"the program has not read {len(self._unread):,} bytes of its input yet; none was added.")
        self._unread += data
        self._loop.add_writer(self._input, self._write)

    def kill(self) -> None:
        """Kill it and everything that it started."""
        if self._popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._popen.pid, signal.SIGTERM)

    def leave_running(self) -> None:
        """Leave running processes alone when it ends."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._popen.pid, signal.SIGUSR1)

    def close(self) -> None:
        """End it, and close its terminals."""
        self.kill()
        for master in list(self._masters):
            self._drop(master)

    # --- inside ------------------------------------------------------------------------------------

    def _read(self, master: int, decoder: codecs.IncrementalDecoder) -> None:
        try:
            data = os.read(master, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # the other end is closed
            data = b""
        if text := decoder.decode(data, final=not data):
            self._on_output(self._masters[master], text)
        if not data:
            self._drop(master)

    def _write(self) -> None:
        assert self._input is not None
        try:
            written = os.write(self._input, self._unread)
        except BlockingIOError:
            return
        except OSError:
            written = len(self._unread)
        self._unread = self._unread[written:]
        if not self._unread:
            self._loop.remove_writer(self._input)

    def _drop(self, master: int) -> None:
        if self._masters.pop(master, None) is None:
            return
        self._loop.remove_reader(master)
        if master == self._input:
            self._loop.remove_writer(master)
            self._input = None
        os.close(master)
        if self.status is not None and not self._masters:
            self.exited.set()

    def _wait(self) -> None:
        status = self._popen.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._ended, status)

    def _ended(self, status: int) -> None:
        self.status = status
        for master in list(self._masters):
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            # Its output is in the terminal by now; a process that it left behind may hold that open for ever.
            while master in self._masters:
                try:
                    data = os.read(master, _CHUNK)
                except OSError:
                    data = b""
                if data:
                    self._on_output(self._masters[master], decoder.decode(data))
                else:
                    self._drop(master)
        self.exited.set()


def _pseudo_terminal() -> tuple[int, int]:
    """A master, which does not block, and its slave, which neither echoes nor adds carriage returns."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    os.set_blocking(master, False)
    return master, slave


def _file(text: str) -> int:
    """A file that holds `text` and has no name, to be read."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        descriptor = os.dup(file.fileno())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
