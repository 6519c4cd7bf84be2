"""Whether a client of Streamable HTTP is still there: `Presence` watches the stream that it keeps open.

HTTP has no connection that ends with its client. A client that listens has a stream open all the time, and opens it
again at once; one that has never opened a stream is only known to be gone when its session ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from starlette.requests import Request

from lsp_mcp.errors import LspMcpError
from lsp_mcp.server.callers import session_key

log = logging.getLogger(__name__)

_GRACE = 3.0  # seconds in which a client that is there has opened another stream, or asked something


class Presence:
    """Calls `away` with the key of a client that has closed its stream and asks nothing more."""

    def __init__(self, away: Callable[[str], Awaitable[None]]) -> None:
        self._away = away
        self._open: Counter[str] = Counter()  # requests under way, streams included
        self._listening: set[str] = set()  # the clients that have had a stream
        self._telling: set[asyncio.Task[None]] = set()

    @contextmanager
    def during(self, request: Request) -> Iterator[None]:
        """During a request of a client."""
        key = session_key(request)
        if key is None:
            yield
            return
        self._open[key] += 1
        if request.method == "GET":
            self._listening.add(key)
        try:
            yield
        finally:
            self._open[key] -= 1
            if request.method == "DELETE":
                self._listening.discard(key)  # its session ends
            if not self._open[key]:
                del self._open[key]
                if key in self._listening:
                    asyncio.get_running_loop().call_later(_GRACE, self._look, key)

    def _look(self, key: str) -> None:
        if self._open[key] or key not in self._listening:
            return
        self._listening.discard(key)
        task = asyncio.create_task(self._tell(key))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, key: str) -> None:
        try:
            await self._away(key)
        except LspMcpError as error:
            log.warning("an agent that has left is still shown as connected: %s", error)
