"""Daemons that do not answer: `Silence`, and `silent`. Imported only when there is one."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time

from lsp_mcp.door.lock import locked
from lsp_mcp.door.place import folder, is_same

_ANSWER = 5  # seconds for a daemon to disconnect who asks nothing
_ASLEEP = 20.0  # seconds without an answer and without using the processor
_END = 10  # seconds for a killed process to be gone
_NOTHING = b'{"expect": []}\n'  # a daemon closes such a connection at once, however many calls run
_STOPPED, _SLEEPING = "T", "S"  # states of proc(5)


class Silence:
    """Ends the daemon called `name` if it is stuck; to be asked again while the daemon is silent."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._asleep: tuple[int, int] | None = None  # its process, and the processor's time used
        self._since = 0.0

    def look(self, line: socket.socket) -> None:
        """End the daemon if it is stopped, or has slept for long without an answer; returns when `line` has data."""
        there = silent(self._name, line)
        if there is None:
            self._asleep = None
            return
        state, used = there.activity()
        if state == _STOPPED:
            there.end()
        elif state != _SLEEPING or self._asleep != (there.pid, used):
            self._asleep = (there.pid, used) if state == _SLEEPING else None
            self._since = time.monotonic()
        elif time.monotonic() - self._since >= _ASLEEP:
            there.end()


class Silent:
    """A daemon that does not answer at `path`."""

    def __init__(self, name: str, path: str, place: os.stat_result, pid: int, root: str) -> None:
        self.pid = pid
        self.root = root
        self._name = name
        self._path = path
        self._place = place

    def activity(self) -> tuple[str, int]:
        """The state of its process, and the processor's time that it has used; an empty state if it is gone."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return "", 0
        return fields[0].decode(), int(fields[11]) + int(fields[12])

    def end(self) -> bool:
        """Kill it, so that the next door starts another; whether it has ended.

        Nothing is done if it is not a daemon of that name, or another one listens at its place by now.
        """
        try:
            process = os.pidfd_open(self.pid)
        except OSError:
            return True
        try:
            if _root(self._name, self.pid) is None:
                return False
            with locked(f"{self._path.removesuffix('.sock')}.lock"):
                if not is_same(os.stat(self._path), self._place):
                    return False
                signal.pidfd_send_signal(process, signal.SIGKILL)
                os.unlink(self._path)
            poll = select.poll()
            poll.register(process, select.POLLIN)
            return bool(poll.poll(_END * 1000))
        except OSError:
            return False
        finally:
            os.close(process)


def silent(name: str, line: socket.socket | None = None) -> Silent | None:
    """The daemon called `name` if it does not answer, and the system says who it is.

    `line`: a connection to it; None too as soon as that has data.
    """
    home = folder()
    if home is None or not hasattr(socket, "SO_PEERCRED"):
        return None
    path = os.path.join(home, f"{name}.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        # With a full queue `connect` waits.
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _ANSWER, 0))
        poll = select.poll()
        whose = asking
        try:
            place = os.stat(path)
            try:
                asking.connect(path)
                asking.sendall(_NOTHING)
                poll.register(asking, select.POLLIN)
            except BlockingIOError:
                if line is None:
                    return None
                whose = line
            if line is not None:
                poll.register(line, select.POLLIN)
            if poll.poll(_ANSWER * 1000):
                return None
            credentials = whose.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:
            return None
    pid = struct.unpack("3i", credentials)[0]
    root = _root(name, pid)
    return None if root is None else Silent(name, path, place, pid, root)


def _root(name: str, pid: int) -> str | None:
    """The workspace root of the daemon called `name` if it is the process `pid`."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")]
    except OSError:
        return None
    return words[4] if words[1:4] == ["-m", "lsp_mcp.daemon", name] else None
