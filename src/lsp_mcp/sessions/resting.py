"""Idle language servers are ended, and start again with the next question: `Resting`."""

from __future__ import annotations

import asyncio
import logging
import time

from lsp_mcp.lsp.session import Session
from lsp_mcp.sessions.sessions import Sessions

log = logging.getLogger(__name__)

_UP = ("starting", "indexing", "running")


class Resting:
    """Ends each server of `sessions` that had no question for `timeout` seconds, none while a call runs."""

    def __init__(self, sessions: Sessions, timeout: float) -> None:
        self._sessions = sessions
        self._timeout = timeout

    async def run(self) -> None:
        """Go on until this is cancelled."""
        use = self._sessions.use
        while True:
            await use.over()
            up = self._up()
            if not up:
                await use.begun()
                continue
            first = min(up, key=lambda session: session.used)
            try:
                async with asyncio.timeout(first.used + self._timeout - time.monotonic()):
                    await use.begun()
            except TimeoutError:
                log.info("%s is ended after %.0f s without a question", first.name, time.monotonic() - first.used)
                await first.rest()

    async def rest(self) -> bool:
        """End every server now, to save memory; False if a call runs."""
        if self._sessions.use.calls:
            return False
        for session in self._up():
            await session.rest(for_memory=True)
        return True

    def _up(self) -> list[Session]:
        return [session for session in self._sessions.servers if session.state() in _UP]
