"""A process that keeps a debug adapter and everything it starts: `python keeper.py COMMAND...`.

Debuggers put debuggees into other process groups, and adapters outlive the end of their input. This process becomes the
parent of all orphans below it (Linux), so that all processes of a debuggee can be found and ended: when the adapter
ends, on SIGTERM, and when this process's parent is gone, however it died. SIGUSR1: leave running processes alone at the
adapter's end.

It imports the standard library only, and little of it, since it is started for each session.
"""

from __future__ import annotations

import os
import signal
import sys
import time

_SUBREAPER, _DEATH_SIGNAL = 36, 1  # options of prctl(2)
_ROUNDS = 50  # searches for processes started while others were ended
_PAUSE = 0.01  # seconds between them


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, the nearest first (Linux; elsewhere none)."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop(0))
        found += children
        waiting += children
    return found


def kill_below(pid: int) -> None:
    """SIGKILL to all below `pid`, repeated until there is nothing new: a process may start others before it dies."""
    for _ in range(_ROUNDS):
        below = [child for child in descendants(pid) if not _is_dead(child)]
        if not below:
            return
        for child in below:
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(_PAUSE)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (see above)
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
        except OSError:
            continue
    return found


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return True


def _main(parent: int, command: list[str]) -> int:
    prctl = None
    if sys.platform == "linux":
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(_SUBREAPER, 1)
        prctl(_DEATH_SIGNAL, signal.SIGTERM)  # not SIGKILL, which our own parent asked for: there is work to do
    leaves = False

    def end(*_: object) -> None:
        kill_below(os.getpid())
        os._exit(1)

    def leave(*_: object) -> None:
        nonlocal leaves
        leaves = True

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGUSR1, leave)
    if os.getppid() != parent:  # it died before the kernel was asked
        return 1
    adapter = os.fork()
    if adapter == 0:
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
        if prctl:
            prctl(_DEATH_SIGNAL, signal.SIGKILL)
        try:
            os.execvp(command[0], command)  # noqa: S606
        except OSError as error:
            print(f"{command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            os._exit(127)
    for descriptor in (0, 1):
        os.close(descriptor)  # they are the adapter's: this process must not keep them open
    while True:
        pid, status = os.wait()
        if pid == adapter:
            if not leaves:
                kill_below(os.getpid())
            return _end_like(os.waitstatus_to_exitcode(status))


def _end_like(code: int) -> int:
    """End by the signal that ended the adapter; its exit code otherwise."""
    if code < 0 and -code not in (signal.SIGTERM, signal.SIGUSR1):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(_main(int(sys.argv[1]), sys.argv[2:]))
