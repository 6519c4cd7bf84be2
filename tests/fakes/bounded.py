"""Asynchronous tests that end, and leave nothing behind; waiting for the end of processes."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import select
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

BOUND = 120  # seconds for a whole test: a hang, not a measurement


def bounded(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run the coroutine `test` in a loop of its own.

    It fails if it hangs, leaves a task behind, or if an error went by unseen ("Task exception was never
    retrieved", "Task was destroyed but it is pending", an error in a callback).
    """

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        unseen: list[dict[str, Any]] = []
        left: set[asyncio.Task[Any]] = set()

        async def main() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
            async with asyncio.timeout(BOUND) as bound:
                await test(*arguments, **named)
            assert not bound.expired()  # the test may have taken its end for another cancel
            left.update(asyncio.all_tasks() - {asyncio.current_task()})

        asyncio.run(main())
        tasks = [repr(task) for task in left]
        left.clear()
        gc.collect()
        assert not tasks, tasks
        assert not unseen, unseen

    return run


async def steps(count: int = 20) -> None:
    """Let everything that can go on go on."""
    for _ in range(count):
        await asyncio.sleep(0)


def stop(pid: int) -> None:
    """Stop the process `pid` (SIGSTOP); returns once none of its threads runs, which a busy machine delays."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + BOUND
    while any(_state(thread) not in "TZX" for thread in Path(f"/proc/{pid}/task").iterdir()):
        assert time.monotonic() < until, f"process {pid} does not stop"
        os.sched_yield()


def _state(thread: Path) -> str:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"  # it ended since it was listed


async def gone(pid: int) -> None:
    """Wait until the process `pid` has ended."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)


async def told(fifo: Path) -> None:
    """Wait until somebody has written into the named pipe `fifo` and closed it."""
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
        while not _is_at_end(descriptor):
            readable.clear()
            await readable.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def wait_told(fifo: Path) -> bool:
    """The same, waited for without a loop; False if it does not happen."""
    descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while select.select([descriptor], [], [], BOUND)[0]:
            if _is_at_end(descriptor):
                return True
        return False
    finally:
        os.close(descriptor)


def _is_at_end(pipe: int) -> bool:
    """Read what is there; whether its writer has closed it.

    One that has not keeps the pipe and what is in it: the next reader would take it for the next writer's.
    """
    try:
        return os.read(pipe, 4096) == b""
    except BlockingIOError:
        return False


def wait_gone(pid: int) -> bool:
    """Whether the process `pid` ends, waited for without a loop."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], BOUND)[0])
    finally:
        os.close(descriptor)
