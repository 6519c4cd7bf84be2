"""Tells agents of what a person has answered, and of who overrode their claims: `Answers`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from mcp.types import LoggingMessageNotification, LoggingMessageNotificationParams

from lsp_mcp.board import talk
from lsp_mcp.board.host import BoardHost
from lsp_mcp.errors import LspMcpError

log = logging.getLogger(__name__)

_LOGGER = "board"


class Answers:
    """Sends `notifications/message` with the answer to the connection whose agent has asked, if it is still there.

    What is missed is not lost: get_response and get_responses have it.
    """

    def __init__(self, host: BoardHost) -> None:
        self._host = host
        self._telling: asyncio.Task[None] | None = None

    def called(self, key: str, session: Any) -> None:
        """A connection calls a tool in this session of the SDK's."""
        self._host.participants.reached[key] = session
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        with self._host.board.listening() as listener:
            async for event in listener:
                if event.type == "change" and event.data["action"] == "answered":
                    await self._answered(event.data["ref"])
                if event.type == "change" and event.data["action"] == "forced":
                    await self._forced(event.data["ref"], event.data["text"])

    async def _answered(self, id_: str) -> None:
        try:
            question = await self._host.board.read(lambda at: talk.get(at, id_))
        except LspMcpError as error:
            log.warning("the agent that asked %s is not told of the answer: %s", id_, error)
            return
        told = {"questionId": id_, "question": question["question"], "answer": talk.shown(question)}
        await self._send(str(question["agent"]), told)

    async def _forced(self, agent: str, text: str) -> None:
        """Somebody changed a task on which that agent works: whether it listens or not, it is told."""
        for key in self._host.participants.keys(agent):
            self._host.participants.tell(key, f"{text}; read it again")
        await self._send(agent, {"message": text})

    async def _send(self, agent: str, told: dict[str, str]) -> None:
        for key in self._host.participants.keys(agent):
            if session := self._host.participants.reached.get(key):
                try:
                    params = LoggingMessageNotificationParams(level="info", data=told, logger=_LOGGER)
                    await session.send_notification(LoggingMessageNotification(params=params))
                except Exception as error:  # noqa: BLE001 (a connection that breaks now ends by itself)
                    log.info("an answer is not told to a connection: %s", error)
