"""What the board's page asks about what a task depends on, and about the code that it is about."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from lsp_mcp.board import tasks
from lsp_mcp.board.host import BoardHost
from lsp_mcp.server.board_requests import Handler, json_of
from lsp_mcp.toolsets.board.anchored import anchored, code_around

_AROUND = 6  # lines that are shown before and behind an anchor


class Links(BaseModel):
    """PUT /api/tasks/ID/links; what is not given stays."""

    model_config = ConfigDict(extra="forbid")

    depends_on: list[str] | None = None
    anchors: list[str] | None = None


class LinksApi:
    """The routes of links between tasks, and to code."""

    def __init__(self, host: BoardHost) -> None:
        self._host = host

    def handlers(self) -> list[tuple[str, str, Handler]]:
        """All of them."""
        return [("PUT", "/api/tasks/{id}/links", self._link), ("GET", "/api/code", self._code)]

    async def _link(self, request: Request) -> Any:
        id_, links = request.path_params["id"], Links.model_validate(await json_of(request))
        rows = None if links.anchors is None else await anchored(self._host, links.anchors)
        changed = await self._host.board.write(
            lambda at: tasks.update(at, id_, depends_on=links.depends_on, anchored=rows)
        )
        return {"id": changed["id"], "revision": changed["revision"]}

    async def _code(self, request: Request) -> Any:
        lines = await code_around(self._host, request.query_params.get("anchor", ""), _AROUND)
        return {"lines": [{"number": number, "text": text} for number, text in lines]}
