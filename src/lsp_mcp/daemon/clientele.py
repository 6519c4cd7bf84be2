"""Each client's part of a daemon: `Clientele`, in which all share language servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from lsp_mcp.backend import Json
from lsp_mcp.daemon.clients import Door, Session
from lsp_mcp.sessions.running import Running


class Clientele:
    """Clients share the language servers of `running`; their anchors and the record of reported news are their own."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._shell = running.for_client(is_shell=True)  # a batch counts as one client per call: each is told the news

    def begin(self) -> None:
        """Start everything that the first question would wait for."""
        self._running.begin()

    def expect(self, arguments: Sequence[str]) -> None:
        """A call with these arguments will come."""
        self._running.code.expect(arguments)

    def met(self, door: Door) -> None:
        """This task now serves the client of `door`."""

    def session(self, door: Door, session_of: Callable[[Running], Session]) -> Session:
        """The session of the client of `door`, made by `session_of` from that client's part. Raises its errors."""
        return session_of(self._running.for_client())

    @asynccontextmanager
    async def shell(self, tool: str) -> AsyncIterator[Running]:
        """The part for a call of `tool` from the shell."""
        yield self._shell

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[Running]:
        """The part for the calls of one batch."""
        yield self._running.for_client(is_shell=True)

    @property
    def is_wanted(self) -> bool:
        """Whether the next client benefits from what already runs."""
        return True

    @property
    def state(self) -> Json:
        """Its description in the daemon's state."""
        return {}

    async def over(self) -> None:
        """Return when nothing is left to work with, and no tool is being called."""
        await asyncio.Event().wait()

    async def last_edits(self) -> None:
        """Return when edits in progress are written; no other edit begins."""
        await self._running.code.last_edits()

    async def close(self) -> None:
        """End everything that belongs to clients alone."""
