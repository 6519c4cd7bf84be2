"""Detecting an inactive server during a request: `Watchdog`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

from lsp_mcp.errors import LspMcpError, SilentError

log = logging.getLogger(__name__)

PROBE = "$/lsp-mcp/probe"  # LSP 3.17: an unknown request with this prefix is refused at once
_LOOKS = 8  # checks per request timeout
_SHORTEST = 0.5  # seconds between two checks: less says nothing on a busy machine
_BUSY = 0.01  # share of the time between two checks: with less CPU time than that, a program is waiting
_MOST_SILENT = 2  # consecutive checks of a server that sends and does nothing, the probe included: it is stuck
_MOST_IDLE = 3  # the same for one that answers the probe, and may wait for another program or the network

Free = Callable[[], Awaitable[bool]]
"""Unblocks a server that waits for something that can be ended; returns whether it did wait."""


class Watchdog:
    """Checks a server, every eighth of the request timeout, during requests only.

    `probe` sends a request that any server answers at once, and raises what `Peer.request` does. `cpu_time` returns the
    seconds used by it and its children, None if it is gone. `received` counts its messages. `at_work` says whether it
    reports work: then it may wait for the network, as long as it answers. `free` may unblock an inactive one, and says
    whether it did; else `on_stuck` is called.
    """

    def __init__(
        self,
        timeout: float,
        *,
        probe: Callable[[float], Awaitable[None]],
        cpu_time: Callable[[], Awaitable[float | None]],
        received: Callable[[], int],
        at_work: Callable[[], bool],
        free: Free,
        on_stuck: Callable[[], None],
    ) -> None:
        self._window = max(_SHORTEST, timeout / _LOOKS)
        self._probe = probe
        self._cpu_time = cpu_time
        self._received = received
        self._at_work = at_work
        self._on_stuck = on_stuck
        self._free = free
        self._waiting = 0
        self._owed = 0  # answers that it owes; other waits may take any time
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def waited_for(self, *, owed: bool = True) -> Iterator[None]:
        """Check the server while the block waits for it; without `owed`, for something that has no deadline."""
        if not self._waiting:
            self._timer = asyncio.get_running_loop().call_later(self._window, self._begin)
        self._waiting += 1
        self._owed += owed
        try:
            yield
        finally:
            self._waiting -= 1
            self._owed -= owed
            if not self._waiting:
                self.end()

    def end(self) -> None:
        """Stop checking."""
        if self._timer:
            self._timer.cancel()
        if self._looking:
            self._looking.cancel()
        self._timer = self._looking = None

    def _begin(self) -> None:
        self._looking = asyncio.create_task(self._look(), context=Context())
        self._looking.add_done_callback(_tell_defect)

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        idle = silent = 0  # consecutive checks without activity, or even an answer to the probe
        before = await self._cpu_time()
        while True:
            received, until = self._received(), loop.time() + self._window
            answered = await self._answers()
            await asyncio.sleep(until - loop.time())
            now = await self._cpu_time()
            works = before is None or now is None or now - before > _BUSY * self._window
            does = works or self._received() - received > answered
            idle = 0 if does or not self._owed else idle + 1
            silent = 0 if does or answered else silent + 1
            before = now
            if idle == 1 and await self._free():
                idle = silent = 0
            if silent == _MOST_SILENT or (idle >= _MOST_IDLE and not self._at_work()):
                self._looking = None
                self._on_stuck()
                return

    async def _answers(self) -> bool:
        try:
            await self._probe(self._window)
        except SilentError:
            return False
        except LspMcpError:
            return True
        return True


def _tell_defect(looking: asyncio.Task[None]) -> None:
    """Nothing awaits the checks: without this, their failure would go unnoticed."""
    if not looking.cancelled() and (error := looking.exception()):
        log.error("the watch over a silent server has ended: %r", error)
