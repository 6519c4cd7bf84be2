"""Diagnostics of the code as MCP resources: `Diagnostics` (docs/contracts/prompts.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsp_mcp.errors import LspMcpError, unknown
from lsp_mcp.server.envelope import Json
from lsp_mcp.toolsets.tool import Call, Format, Tool
from lsp_mcp.visible import visible

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.types import (
        ListResourcesResult,
        ListResourceTemplatesResult,
        PaginatedRequestParams,
        ReadResourceRequestParams,
        ReadResourceResult,
    )

ALL = "lsp-mcp://diagnostics"
TEMPLATE = f"{ALL}/{{+path}}"
PATH = "path"  # the variable of the template
_KINDS = {"json": "application/json", "compact": "text/plain"}


class Diagnostics:
    """Errors and warnings of the workspace, of a folder or of a file, as reported by the tool `check`."""

    def __init__(self, check: Tool, format: Format) -> None:
        self._check = check
        self._format: Format = format

    def listed(self) -> Json:
        """The result of `resources/list`."""
        about = "Errors and warnings of the whole workspace, without a build"
        one = {"uri": ALL, "name": "Diagnostics", "description": about, "mimeType": _KINDS[self._format]}
        return {"resources": [one]}

    def templates_listed(self) -> Json:
        """The result of `resources/templates/list`."""
        about = "Errors and warnings of a file, or below a folder, by its path in the workspace"
        name, kind = "Diagnostics of a file", _KINDS[self._format]
        return {"resourceTemplates": [{"uriTemplate": TEMPLATE, "name": name, "description": about, "mimeType": kind}]}

    async def list(self, _: ServerRequestContext, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """The resource for the whole workspace."""
        from mcp.types import ListResourcesResult

        from lsp_mcp.server.resources import refuse_cursor

        refuse_cursor(params)
        return ListResourcesResult.model_validate(self.listed())

    async def templates(
        self, _: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The resource for a file or folder."""
        from mcp.types import ListResourceTemplatesResult

        from lsp_mcp.server.resources import refuse_cursor

        refuse_cursor(params)
        return ListResourceTemplatesResult.model_validate(self.templates_listed())

    async def read(self, context: ServerRequestContext, params: ReadResourceRequestParams) -> ReadResourceResult:
        """The content of one resource, for the present files; later `check`s are not compared with it."""
        from mcp.shared.exceptions import MCPError
        from mcp.types import INVALID_PARAMS, ReadResourceResult, TextResourceContents

        async def report(done: float, total: float | None, message: str) -> None:
            await context.session.report_progress(done, total, visible(message))

        uri = str(params.uri)
        base, _, path = uri.removeprefix(ALL).partition("/")
        if not uri.startswith(ALL) or base:
            raise MCPError(INVALID_PARAMS, unknown("resource", uri, [ALL, TEMPLATE]))
        arguments = {"path": unquote(path), "severity": "warning", "since": "start", "all": True}
        try:
            answer = await self._check.call(Call(format=self._format, report=report), arguments)
        except LspMcpError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        return ReadResourceResult(
            contents=[TextResourceContents(uri=params.uri, text=answer, mime_type=_KINDS[self._format])]
        )
