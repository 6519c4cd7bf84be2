"""A person's actions on agents in the board's page: answering questions, naming agents, assigning tasks."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from lsp_mcp.board import agents, claims, talk
from lsp_mcp.board.board import Board, acting
from lsp_mcp.server.board_requests import Body, Handler, json_of


class Answer(Body):
    """POST /api/questions/ID/answer."""

    option: str | None = None
    text: str | None = None


class Assignment(Body):
    """POST /api/tasks/ID/assign; the id of an agent or a person."""

    agent: str


class AgentName(Body):
    """PATCH /api/agents/ID."""

    name: str


class AgentsApi:
    """The routes about agents."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """Methods, paths and handlers."""
        return [
            ("POST", "/api/questions/{id}/answer", self._answer),
            ("POST", "/api/questions/{id}/dismiss", self._dismiss),
            ("POST", "/api/tasks/{id}/assign", self._assign),
            ("POST", "/api/tasks/{id}/release", self._release),
            ("PATCH", "/api/agents/{id}", self._rename),
        ]

    async def _answer(self, request: Request) -> Any:
        id_, answer = request.path_params["id"], Answer.model_validate(await json_of(request))
        return await self._board.write(lambda at: talk.answer(at, id_, option=answer.option, text=answer.text))

    async def _dismiss(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return await self._board.write(lambda at: talk.dismiss(at, id_))

    async def _assign(self, request: Request) -> Any:
        id_, given = request.path_params["id"], Assignment.model_validate(await json_of(request))
        return await self._board.write(lambda at: claims.assign(at, id_, given.agent))

    async def _release(self, request: Request) -> Any:
        id_, me = request.path_params["id"], acting.get()
        return await self._board.write(lambda at: claims.release(at, me, id_))

    async def _rename(self, request: Request) -> Any:
        id_, wanted = request.path_params["id"], AgentName.model_validate(await json_of(request))
        return {"name": await self._board.write(lambda at: agents.rename(at, id_, wanted.name))}
