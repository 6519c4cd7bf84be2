"""Read-only LSP requests through Neovim's own language clients (docs/contracts/nvim.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.backend import Json
from lsp_mcp.errors import METHOD_NOT_FOUND, RefusedError
from lsp_mcp.objects.walker import Walker
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.nvim.base import (
    Character,
    ClientName,
    ConnectionId,
    Document,
    DocumentClient,
    Line,
    NvimToolset,
    Object,
)
from lsp_mcp.toolsets.passing import PassThrough
from lsp_mcp.toolsets.tool import Call, tool

_RESOLVE = "codeActionProvider.resolveProvider"
Item = Annotated[Object, Field(description="From the prepare step, unchanged")]


def _at_place(title: str, method: str, description: str) -> Callable[..., Awaitable[str]]:
    """A tool that sends `textDocument/METHOD` for a place."""
    capability = method.removeprefix("prepare")
    provider = f"{capability[0].lower()}{capability[1:]}Provider"

    async def ask(
        self: QueryTools,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        target = await self._target(connection_id, document, lsp_client_name, provider)
        return await self._answer(call, target, f"textDocument/{method}", self._at(target, line, character))

    ask.__doc__ = description
    return tool(title=title, read_only=True)(ask)


def _of_item(title: str, method: str, description: str) -> Callable[..., Awaitable[str]]:
    """A tool that sends `method` for an item of a hierarchy."""
    provider = f"{method.partition('/')[0]}Provider"

    async def ask(
        self: QueryTools,
        call: Call,
        item: Item,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        return await self._of_client(call, connection_id, lsp_client_name, method, {"item": item}, provider)

    ask.__doc__ = description
    return tool(title=title, read_only=True)(ask)


class QueryTools(NvimToolset):
    """Symbols, places, code actions and hierarchies."""

    @tool(title="Search workspace symbols", read_only=True)
    async def lsp_workspace_symbols(
        self, call: Call, query: str, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Search the workspace's symbols by name."""
        return await self._of_client(
            call, connection_id, lsp_client_name, "workspace/symbol", {"query": query}, "workspaceSymbolProvider"
        )

    @tool(title="Symbols in a document", read_only=True)
    async def lsp_document_symbols(
        self, call: Call, document: Document, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Get the symbols in a document."""
        target = await self._target(connection_id, document, lsp_client_name, "documentSymbolProvider")
        return await self._answer(call, target, "textDocument/documentSymbol", {"textDocument": {"uri": target.uri}})

    @tool(title="Code actions for a range", read_only=True)
    async def lsp_code_actions(
        self,
        call: Call,
        document: Document,
        start_line: Line,
        start_character: Character,
        end_line: Line,
        end_character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Get the code actions for a range, including fixes of its diagnostics."""
        target = await self._target(connection_id, document, lsp_client_name, "codeActionProvider")
        start = {"line": start_line, "character": start_character}
        end = {"line": end_line, "character": end_character}
        diagnosed = True

        async def params() -> Json:
            nonlocal diagnosed
            diagnosed = await target.session.problems.diagnosed(target.path)
            within = await self._diagnostics(target, start, end)
            range_ = {"start": start, "end": end}
            context = {"diagnostics": within}
            return {"textDocument": {"uri": target.uri}, "range": range_, "context": context}

        answer = await self._answer(call, target, "textDocument/codeAction", params)
        if not diagnosed:
            call.remark(f"status: {target.session.name} has not looked at the present text yet: fixes may be missing")
        return answer

    @tool(title="Resolve a code action", read_only=True)
    async def lsp_resolve_code_action(
        self,
        call: Call,
        code_action: Annotated[Object, Field(description="From lsp_code_actions, unchanged")],
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Complete a code action that has no edit yet."""
        try:
            return await self._of_client(
                call, connection_id, lsp_client_name, "codeAction/resolve", code_action, _RESOLVE
            )
        except RefusedError as error:
            if error.code != METHOD_NOT_FOUND or not code_action.get("edit"):
                raise
        return as_json(code_action)  # it has no gaps

    lsp_hover = _at_place("Hover", "hover", "Get the language server's hover text at a position.")

    @tool(title="References", read_only=True)
    async def lsp_references(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        include_declaration: bool = True,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Find all uses of the symbol at a position."""
        target = await self._target(connection_id, document, lsp_client_name, "referencesProvider")
        params = {**self._at(target, line, character), "context": {"includeDeclaration": include_declaration}}
        return await self._answer(call, target, "textDocument/references", params)

    lsp_definition = _at_place("Definition", "definition", "Find where the symbol at a position is defined.")
    lsp_type_definition = _at_place(
        "Type definition", "typeDefinition", "Find where the type of the symbol at a position is defined."
    )
    lsp_implementations = _at_place(
        "Implementations", "implementation", "Find the implementations of the symbol at a position."
    )
    lsp_declaration = _at_place("Declaration", "declaration", "Find where the symbol at a position is declared.")
    lsp_call_hierarchy_prepare = _at_place(
        "Prepare a call hierarchy",
        "prepareCallHierarchy",
        "Get the call hierarchy item at a position, for incoming and outgoing calls.",
    )
    lsp_call_hierarchy_incoming_calls = _of_item(
        "Incoming calls", "callHierarchy/incomingCalls", "Find who calls a call hierarchy item."
    )
    lsp_call_hierarchy_outgoing_calls = _of_item(
        "Outgoing calls", "callHierarchy/outgoingCalls", "Find what a call hierarchy item calls."
    )
    lsp_type_hierarchy_prepare = _at_place(
        "Prepare a type hierarchy",
        "prepareTypeHierarchy",
        "Get the type hierarchy item at a position, for supertypes and subtypes.",
    )
    lsp_type_hierarchy_supertypes = _of_item(
        "Supertypes", "typeHierarchy/supertypes", "Find the supertypes of a type hierarchy item."
    )
    lsp_type_hierarchy_subtypes = _of_item(
        "Subtypes", "typeHierarchy/subtypes", "Find the subtypes of a type hierarchy item."
    )

    # --- inside ------------------------------------------------------------------------------------

    async def _of_client(
        self, call: Call, connection_id: str | None, client: str | None, method: str, params: Json, provider: str
    ) -> str:
        """The answer to a request without a document, or about an item of an earlier answer."""
        sessions = await self._sessions(connection_id)
        passing = PassThrough(sessions, self._base)
        checked = await passing.checked(method, params)
        path = await self._document_of(sessions, checked or {})
        session = await self._neovims.session(sessions, path, client, provider)
        return self._result_text(call, passing.fitted(await passing.send(call, session, method, checked)))

    async def _diagnostics(self, target: DocumentClient, start: Json, end: Json) -> list[Any]:
        """The server's diagnostics that touch a range, in the caller's numbers."""
        text = await target.session.documents.open(target.path)
        raw = target.session.problems.diagnostics(target.path)
        shown = Walker({target.uri: text}, target.session.encoding, self._base).outward(raw, target.uri)
        return [
            one
            for one in shown
            if _order(one["range"]["start"]) <= _order(end) and _order(start) <= _order(one["range"]["end"])
        ]


def _order(position: Json) -> tuple[int, int]:
    return position["line"], position["character"]
