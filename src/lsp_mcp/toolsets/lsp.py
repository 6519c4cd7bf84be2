"""The toolset `lsp`: any read-only LSP request, for every language server."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import CallerError, unknown
from lsp_mcp.features.finding.passthrough import home_document
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.passing import MOST_MS, PassThrough, allowed_methods, check_method
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool
from lsp_mcp.uris import uri_path


class LspTools(Toolset):
    """The pass-through."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._sessions = context.sessions
        self._passing = PassThrough(context.sessions, context.settings.base)

    @tool(title="Send an LSP request", read_only=True, passes=True)
    async def lsp_request(
        self,
        call: Call,
        method: Annotated[str, Field(description="LSP request, e.g. textDocument/hover")],
        params: Annotated[
            dict[str, Any] | None,
            Field(description="Its LSP 3.17 params; textDocument.uri may be a path relative to the workspace root"),
        ] = None,
        timeout_ms: Annotated[
            int | None, Field(ge=1, le=MOST_MS, description="Longest wait, milliseconds"), UNLISTED
        ] = None,
        backend: Annotated[
            str | None, Field(description="Language server; needed if several run and no file decides"), UNLISTED
        ] = None,
    ) -> str:
        """Send one raw read-only LSP request, for questions that no other tool answers: hover, definition,
        typeDefinition, signatureHelp, inlayHint … Positions count from 1, in characters. Items of a result can be
        passed back."""
        await self._sessions.require_backends()
        chosen = self._backend(method, params, backend)
        check_method(method, allowed_methods(chosen, self._settings.allowed_methods))
        checked = await self._passing.checked(method, params)
        passed = self._passing.fitted(await self._passing.send(call, chosen, method, checked, timeout_ms=timeout_ms))
        return as_json({"method": method, "result": passed.result, **passed.fields})

    def _backend(self, method: str, params: Any, name: str | None) -> Backend:
        backends = {backend.plugin.name: backend for backend in self._sessions.backends}
        if name is not None and name not in backends:
            raise CallerError(unknown("backend", name, backends))
        if name is not None:
            return backends[name]
        if uri := home_document(params):
            return self._sessions.for_path(
                uri_path(uri) if uri.startswith("file:") else self._sessions.workspace.root / uri
            )
        if len(backends) > 1:
            raise CallerError(f"{method} names no file, and several servers run; pass backend: {', '.join(backends)}.")
        return next(iter(backends.values()))
