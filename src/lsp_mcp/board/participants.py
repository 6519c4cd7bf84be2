"""Which agent is behind each connection to this process: `Participants`."""

from __future__ import annotations

import asyncio

from lsp_mcp.board import agents
from lsp_mcp.board.board import Board
from lsp_mcp.board.store import Actor


class Participants:
    """By connection, under whatever key the transport has for it."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._actors: dict[str, Actor] = {}
        self._joining = asyncio.Lock()

    async def actor(self, key: str, client: str) -> Actor:
        """The agent behind a connection; one that is new gets a name made of what its `client` is called."""
        await self._board.begin()
        async with self._joining:
            if key not in self._actors:
                process = self._board.process
                self._actors[key] = await self._board.write(lambda at: agents.connect(at, client, process))
        return self._actors[key]

    async def register(self, key: str, client: str, name: str | None) -> Actor:
        """The agent behind a connection, under another name; see `agents.register`."""
        actor = await self.actor(key, client)
        self._actors[key] = await self._board.write(lambda at: agents.register(at, actor, name), actor)
        return self._actors[key]

    async def leave(self, key: str) -> None:
        """The connection has ended. Harmless if it never was one."""
        if actor := self._actors.pop(key, None):
            await self._board.write(lambda at: agents.disconnect(at, actor), actor)
