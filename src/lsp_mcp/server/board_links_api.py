"""The API of the board's page for a task's dependencies, its code, and its commits."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from lsp_mcp.board import tasks, views
from lsp_mcp.board.host import BoardHost
from lsp_mcp.server.board_requests import Body, Handler, json_of
from lsp_mcp.toolsets.board.anchored import anchored, code_around
from lsp_mcp.toolsets.board.task_commits import commits_of, diff_of

_AROUND = 6  # lines shown before and after an anchor


class Links(Body):
    """PUT /api/tasks/ID/links; omitted fields stay."""

    depends_on: list[str] | None = None
    anchors: list[str] | None = None


class LinksApi:
    """The routes of links between tasks, and to code."""

    def __init__(self, host: BoardHost) -> None:
        self._host = host

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """All of them."""
        return [
            ("PUT", "/api/tasks/{id}/links", self._link),
            ("GET", "/api/tasks/{id}/commits", self._commits),
            ("GET", "/api/commits/{hash}", self._commit),
            ("GET", "/api/code", self._code),
        ]

    async def _link(self, request: Request) -> Any:
        id_, links = request.path_params["id"], Links.model_validate(await json_of(request))
        rows = None if links.anchors is None else await anchored(self._host, links.anchors)
        changed = await self._host.board.write(
            lambda at: tasks.update(at, id_, depends_on=links.depends_on, anchored=rows)
        )
        return {"id": changed["id"], "revision": changed["revision"]}

    async def _commits(self, request: Request) -> Any:
        id_ = request.path_params["id"]
        task = await self._host.board.read(lambda at: views.get(at, id_))
        return {"commits": await commits_of(self._host.workspace.root, task["id"], task["branch"])}

    async def _commit(self, request: Request) -> Any:
        return {"diff": await diff_of(self._host.workspace.root, request.path_params["hash"])}

    async def _code(self, request: Request) -> Any:
        lines = await code_around(self._host, request.query_params.get("anchor", ""), _AROUND)
        return {"lines": [{"number": number, "text": text} for number, text in lines]}
