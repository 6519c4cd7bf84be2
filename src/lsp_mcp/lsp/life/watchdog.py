"""Detect a server that is waited for and does nothing: `Watchdog`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context

from lsp_mcp.errors import LspMcpError, SilentError

log = logging.getLogger(__name__)

PROBE = "$/lsp-mcp/probe"  # LSP 3.17: a request of an unknown name that begins so is refused at once
_LOOKS = 8  # looks in one request timeout
_SHORTEST = 0.5  # seconds between two looks: less says nothing about a program on a busy machine
_BUSY = 0.01  # of the time between two looks: with less of a processor than that, a program waits
_MOST_SILENT = 2  # looks in a row at a server that says and does nothing, the probe included: it is stuck
_MOST_IDLE = 3  # the same for one that answers the probe, and maybe waits for another program or the network

Free = Callable[[], Awaitable[bool]]
"""Sets free a server that waits for something that can be ended; whether it did wait."""


class Watchdog:
    """Looks at a server, every eighth of the request timeout, while somebody waits for it; else it costs nothing.

    `probe` asks it something that any server answers at once, and raises what `Peer.request` does. `cpu_time` gives
    the seconds that it and its children have used, None if it is gone. `heard` counts the messages that it has sent.
    `at_work` tells whether it says itself that it works: it may then wait for the network, as long as it answers.
    `free` may set free one that does nothing, and says whether it did; else `on_stuck` is called.
    """

    def __init__(
        self,
        timeout: float,
        *,
        probe: Callable[[float], Awaitable[None]],
        cpu_time: Callable[[], Awaitable[float | None]],
        heard: Callable[[], int],
        at_work: Callable[[], bool],
        free: Free,
        on_stuck: Callable[[], None],
    ) -> None:
        self._window = max(_SHORTEST, timeout / _LOOKS)
        self._probe = probe
        self._cpu_time = cpu_time
        self._heard = heard
        self._at_work = at_work
        self._on_stuck = on_stuck
        self._free = free
        self._waiting = 0
        self._owed = 0  # answers that it owes; what else is waited for may take any time
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def waited_for(self, *, owed: bool = True) -> Iterator[None]:
        """Look at the server while the block waits for it; without `owed`, for something that it need not do soon."""
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
        """Stop looking."""
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
        idle = silent = 0  # looks in a row in which it did nothing, and did not even answer the probe
        before = await self._cpu_time()
        while True:
            heard, until = self._heard(), loop.time() + self._window
            answered = await self._answers()
            await asyncio.sleep(until - loop.time())
            now = await self._cpu_time()
            works = before is None or now is None or now - before > _BUSY * self._window
            does = works or self._heard() - heard > answered
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
    """Nobody awaits the looks: without this their end by an error would not be noticed."""
    if not looking.cancelled() and (error := looking.exception()):
        log.error("the watch over a silent server has ended: %r", error)
