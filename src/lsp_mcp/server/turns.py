"""Which calls run now, so that many calls of one client do not hold up those of others: `Turns`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_MOST = 8  # concurrent calls of one client
_MOST_OF_SEVERAL = 2  # the same while other clients ask; two, because the second may answer what the first waits for
_LONG = 1.0  # seconds after which a call waits for something else than its share of the processors, and counts no more
_LATELY = 30.0  # seconds after its last call in which a client may ask again


class Turns:
    """Shared by the clients of a process. Servers work on all their requests at once, so each one delays the others."""

    def __init__(self) -> None:
        self._asked: dict[ClientTurns, float] = {}  # the two clients that asked last, and when

    def of_client(self) -> ClientTurns:
        """The turns of a new client."""
        return ClientTurns(self)

    def asks(self, client: ClientTurns) -> None:
        """`client` makes a call."""
        self._asked.pop(client, None)
        self._asked[client] = time.monotonic()
        if len(self._asked) > 2:
            del self._asked[next(iter(self._asked))]

    def most(self, client: ClientTurns) -> int:
        """The number of calls that `client` may have at a time."""
        since = time.monotonic() - _LATELY
        others = any(asked >= since for other, asked in self._asked.items() if other is not client)
        return _MOST_OF_SEVERAL if others else _MOST


class ClientTurns:
    """The calls of one client."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._first = asyncio.Semaphore(_MOST)
        self._counted: set[object] = set()  # calls that have run for less than `_LONG`
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One call: waits until it may run."""
        self._turns.asks(self)
        async with self._first:
            while len(self._counted) >= self._turns.most(self):
                self._changed.clear()
                await self._changed.wait()
            call = object()
            self._counted.add(call)
            counts = asyncio.get_running_loop().call_later(_LONG, self._count_no_more, call)
            try:
                yield
            finally:
                counts.cancel()
                self._count_no_more(call)

    def _count_no_more(self, call: object) -> None:
        self._counted.discard(call)
        self._changed.set()
