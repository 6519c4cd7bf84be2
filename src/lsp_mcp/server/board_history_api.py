"""The API of the board's page for the past: histories, earlier revisions, the trash."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from lsp_mcp.board import trash, versions
from lsp_mcp.board.board import Board
from lsp_mcp.board.history import Kind
from lsp_mcp.errors import CallerError
from lsp_mcp.server.board_requests import Body, Handler, json_of

_MOST = 1_000  # entries of the trash
_KINDS: dict[str, Kind] = {"task": "task", "stage": "stage", "standard": "standard", "snippet": "snippet"}


class Revert(Body):
    """POST /api/revert; without a revision: before the last change, or before it was deleted."""

    kind: Kind
    id: str
    revision: int | None = None


class HistoryApi:
    """The routes for histories and the trash."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """Methods, paths and handlers."""
        return [
            ("GET", "/api/history/{kind}/{id}", self._history),
            ("GET", "/api/history/{kind}/{id}/{revision:int}", self._as_of),
            ("POST", "/api/revert", self._revert),
            ("GET", "/api/trash", self._trash),
            ("DELETE", "/api/trash", self._empty),
            ("DELETE", "/api/trash/{entry:int}", self._empty),
        ]

    async def _history(self, request: Request) -> Any:
        """`entries`: `fields` have [before, after] or, for a long text, {`at`, `removed`, `added`}."""
        kind, id_ = _named(request)
        return await self._board.read(lambda at: versions.revisions(at, kind, id_))

    async def _as_of(self, request: Request) -> Any:
        kind, id_ = _named(request)
        revision = request.path_params["revision"]
        return await self._board.read(lambda at: versions.as_of(at, kind, id_, revision))

    async def _revert(self, request: Request) -> Any:
        wanted = Revert.model_validate(await json_of(request))
        return await self._board.write(lambda at: versions.revert(at, wanted.kind, wanted.id, wanted.revision))

    async def _trash(self, _: Request) -> Any:
        found, total = await self._board.read(lambda at: trash.listed(at, _MOST))
        return {"entries": found, "total": total}

    async def _empty(self, request: Request) -> Any:
        entry = request.path_params.get("entry")
        return {"deleted": await self._board.write(lambda at: trash.empty(at, entry))}


def _named(request: Request) -> tuple[Kind, str]:
    kind = _KINDS.get(request.path_params["kind"])
    if kind is None:
        raise CallerError(f"unknown kind; available: {', '.join(_KINDS)}.")
    return kind, request.path_params["id"]
