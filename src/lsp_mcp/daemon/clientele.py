"""What each client of a daemon gets of what runs: `Clientele`, where all share language servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from lsp_mcp.backend import Json
from lsp_mcp.daemon.clients import Door, Session
from lsp_mcp.sessions.running import Running


class Clientele:
    """Clients share the language servers of `running`; what they were told and handed out is their own."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._shell = running.for_client(is_shell=True)  # its calls come as so many clients: each is told what is new

    def begin(self) -> None:
        """Start what the first question would wait for."""
        self._running.begin()

    def met(self, door: Door) -> None:
        """This task serves the client of `door` from now on."""

    def session(self, door: Door, session_of: Callable[[Running], Session]) -> Session:
        """The session of the client of `door`, as `session_of` makes it of what that client gets. Raises its errors."""
        return session_of(self._running.for_client())

    @asynccontextmanager
    async def shell(self, tool: str) -> AsyncIterator[Running]:
        """For a call of `tool` from the shell."""
        yield self._shell

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[Running]:
        """For the calls of one batch."""
        yield self._running.for_client(is_shell=True)

    @property
    def is_wanted(self) -> bool:
        """Whether the next client gains by what runs already."""
        return True

    @property
    def about(self) -> Json:
        """What is told of it."""
        return {}

    async def over(self) -> None:
        """Return when there is nothing more to work with, and no tool is called."""
        await asyncio.Event().wait()

    async def last_edits(self) -> None:
        """Return when what is being written is written; no other edit begins."""
        await self._running.code.last_edits()

    async def close(self) -> None:
        """End what is of clients alone."""
