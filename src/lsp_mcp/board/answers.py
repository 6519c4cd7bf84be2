"""Notifies agents of a person's answers, and of changes by others to them or their tasks: `Answers`."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from lsp_mcp.board import talk
from lsp_mcp.board.board import Board
from lsp_mcp.board.participants import Participants, Tell
from lsp_mcp.errors import LspMcpError

log = logging.getLogger(__name__)

_LOGGER = "board"
_MOST_WAIT = 5.0  # seconds for what others have changed to be read, before an agent is answered without it


class Answers:
    """Sends the answer to the connection of the agent that asked, if it still exists.

    Nothing is lost otherwise: get_response and get_responses return it.
    """

    def __init__(self, board: Board, participants: Participants) -> None:
        self._board = board
        self._participants = participants
        self._telling: asyncio.Task[None] | None = None
        self._read = 0  # the last change that was read
        self._reading = asyncio.Condition()

    def called(self, key: str, tell: Tell) -> None:
        """A connection calls a tool; `tell` sends it notices."""
        self._participants.reached[key] = tell
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def caught_up(self) -> None:
        """Wait until agents are told of every change up to now, at most 5 seconds; the rest is in a later answer."""
        if self._telling is None or self._telling.done():
            return
        newest = await self._board.publish_newest()
        with suppress(TimeoutError):
            async with asyncio.timeout(_MOST_WAIT), self._reading:
                await self._reading.wait_for(lambda: self._read >= newest)

    async def close(self) -> None:
        """Send nothing more; idempotent."""
        if self._telling:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        await self._board.begin()
        with self._board.listening() as listener:
            await self._have_read(self._board.published)
            async for event in listener:
                if event.type == "change":
                    await self._changed(event.data)
                    await self._have_read(event.data["seq"])
                elif event.type == "lost":
                    await self._have_read(self._board.published)

    async def _have_read(self, seq: int) -> None:
        async with self._reading:
            self._read = seq
            self._reading.notify_all()

    async def _changed(self, change: dict[str, Any]) -> None:
        ref, text = change["ref"], change["text"]
        match change["action"]:
            case "answered":
                await self._answered(ref)
            case "told":
                await self._news(ref, text)
            case "renamed":
                self._participants.renamed(ref, text)

    async def _answered(self, id_: str) -> None:
        try:
            question = await self._board.read(lambda at: talk.get(at, id_))
        except LspMcpError as error:
            log.warning("the agent that asked %s could not be notified of the answer: %s", id_, error)
            return
        payload = {"questionId": id_, "question": question["question"], "answer": talk.shown(question)}
        await self._send(str(question["agent"]), payload)

    async def _news(self, agent: str, text: str) -> None:
        """Record an event that concerns that agent: it is reported now or later."""
        for key in self._participants.keys(agent):
            self._participants.tell(key, text)
        await self._send(agent, {"message": text})

    async def _send(self, agent: str, payload: dict[str, str]) -> None:
        for key in self._participants.keys(agent):
            if tell := self._participants.reached.get(key):
                try:
                    await tell(_LOGGER, payload)
                except Exception as error:  # noqa: BLE001 (a connection that breaks now ends by itself)
                    log.info("an answer could not be sent to a connection: %s", error)
