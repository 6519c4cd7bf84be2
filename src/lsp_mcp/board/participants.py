"""The agent behind each connection to this process: `Participants`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from lsp_mcp.board import agents
from lsp_mcp.board.board import Board
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.secret_tokens import new_token

Tell = Callable[[str, dict[str, str]], Awaitable[None]]
"""Sends a connection a message, with the sender's name."""


@dataclass
class _Connection:
    actor: Actor
    token: str
    is_away: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Participants:
    """By connection, under the transport's key for it."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._connections: dict[str, _Connection] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._news: dict[str, list[str]] = {}
        self.reached: dict[str, Tell] = {}  # by connection: sends notices, if it supports them
        self._joining = asyncio.Lock()

    async def actor(self, key: str, client: str, token: str | None = None) -> Actor:
        """The agent behind a connection; a new one gets a name derived from its `client`'s.

        With the `token` of a known agent, it is that one.

        Raises:
            CallerError: no agent has that token.
        """
        await self._board.begin()
        process = self._board.process
        async with self._joining:
            if key not in self._connections:
                known = token or new_token()

                def work(at: Transaction) -> Actor:
                    if token:
                        return agents.come_back(at, known, client, process)
                    return agents.connect(at, client, process, known)

                self._connections[key] = _Connection(await self._board.write(work), known)
            elif (mine := self._connections[key]).is_away:
                mine.actor = await self._board.write(lambda at: agents.come_back(at, mine.token, client, process))
                mine.is_away = False
        return self._connections[key].actor

    async def register(self, key: str, client: str, name: str | None, token: str | None = None) -> Actor:
        """The agent behind a connection, under another name, or the one that has `token`; see `agents.register`.

        Raises:
            CallerError: as `actor`, or it cannot have that name.
        """
        actor = await self.actor(key, client)
        connection, process = self._connections[key], self._board.process

        def work(at: Transaction) -> Actor:
            me = actor
            if token:
                me = agents.come_back(at, token, client, process)
                agents.succeed(at, actor, me)
            return agents.register(at, me, name)

        connection.actor = await self._board.write(work, actor)
        connection.token = token or connection.token
        return connection.actor

    def renamed(self, agent: str, name: str) -> None:
        """The agent of that id has a new name."""
        for key in self.keys(agent):
            self._connections[key].actor = Actor(name, agent)

    def token(self, key: str) -> str:
        """The token with which the agent behind a connection can come back. Raises KeyError if there is none."""
        return self._connections[key].token

    def turn(self, key: str) -> asyncio.Lock:
        """Held during each call of a connection, so that its calls run in order."""
        return self._turns.setdefault(key, asyncio.Lock())

    def tell(self, key: str, news: str) -> None:
        """Add this to the next answer on a connection."""
        self._news.setdefault(key, []).append(news)

    def news(self, key: str) -> list[str]:
        """The pending notices, which are removed."""
        return self._news.pop(key, [])

    def keys(self, agent: str) -> list[str]:
        """The connections of the agent of that id."""
        return [key for key, one in self._connections.items() if one.actor.id == agent]

    async def away(self, key: str) -> None:
        """The client of a connection seems to be gone; its agent is back with the next call."""
        if (mine := self._connections.get(key)) and not mine.is_away and self.keys(str(mine.actor.id)) == [key]:
            mine.is_away = True
            await self._board.write(lambda at: agents.away(at, mine.actor), mine.actor)

    async def leave(self, key: str) -> None:
        """The connection has ended. Harmless if it never was one."""
        self._turns.pop(key, None)
        self.reached.pop(key, None)
        self._news.pop(key, None)
        if connection := self._connections.pop(key, None):
            actor, process = connection.actor, None if connection.is_away else self._board.process
            if not self.keys(str(actor.id)):  # it may be here again already
                await self._board.write(lambda at: agents.disconnect(at, actor, process), actor)
