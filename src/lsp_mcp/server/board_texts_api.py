"""The API of the board's page for standards and snippets."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from starlette.requests import Request

from lsp_mcp.board import library
from lsp_mcp.board.board import Board
from lsp_mcp.server.board_requests import Body, Handler, json_of


class NewStandard(Body):
    """POST /api/standards."""

    id: str
    content: str = ""
    description: str = ""


class StandardChange(Body):
    """PATCH /api/standards/ID."""

    content: str
    description: str | None = None
    expected_revision: int | None = None


class NewSnippet(Body):
    """POST /api/snippets; without an id, one is made from its title."""

    title: str
    content: str
    tags: list[str] = Field(default_factory=list)
    id: str | None = None


class SnippetChange(Body):
    """PATCH /api/snippets/ID."""

    title: str | None = None
    content: str | None = None
    tags: list[str] | None = None
    expected_revision: int | None = None


class TextsApi:
    """The routes below `/api/standards` and `/api/snippets`."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """All of them."""
        return [
            ("GET", "/api/standards/{id}", self._standard),
            ("POST", "/api/standards", self._create_standard),
            ("PATCH", "/api/standards/{id}", self._change_standard),
            ("DELETE", "/api/standards/{id}", self._delete_standard),
            ("GET", "/api/snippets/{id}", self._snippet),
            ("POST", "/api/snippets", self._create_snippet),
            ("PATCH", "/api/snippets/{id}", self._change_snippet),
            ("DELETE", "/api/snippets/{id}", self._delete_snippet),
        ]

    async def _standard(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return await self._board.read(lambda at: library.get_standard(at, id_))

    async def _create_standard(self, request: Request) -> Any:
        new = NewStandard.model_validate(await json_of(request))
        return await self._board.write(lambda at: library.create_standard(at, new.id, new.content, new.description))

    async def _change_standard(self, request: Request) -> Any:
        id_, change = request.path_params["id"], StandardChange.model_validate(await json_of(request))
        return await self._board.write(
            lambda at: library.update_standard(at, id_, change.content, change.description, change.expected_revision)
        )

    async def _delete_standard(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return await self._board.write(lambda at: library.delete_standard(at, id_))

    async def _snippet(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return await self._board.read(lambda at: library.get_snippet(at, id_))

    async def _create_snippet(self, request: Request) -> Any:
        new = NewSnippet.model_validate(await json_of(request))
        return await self._board.write(lambda at: library.create_snippet(at, new.title, new.content, new.tags, new.id))

    async def _change_snippet(self, request: Request) -> Any:
        id_, change = request.path_params["id"], SnippetChange.model_validate(await json_of(request))
        return await self._board.write(
            lambda at: library.update_snippet(
                at,
                id_,
                title=change.title,
                content=change.content,
                tags=change.tags,
                expected_revision=change.expected_revision,
            )
        )

    async def _delete_snippet(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        return await self._board.write(lambda at: library.delete_snippet(at, id_))
