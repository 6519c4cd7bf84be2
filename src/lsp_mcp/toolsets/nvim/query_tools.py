"""LSP requests through Neovim's own language clients that change nothing (seeds/000)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.backend import Json
from lsp_mcp.errors import RefusedError
from lsp_mcp.objects.walker import Walker
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.nvim.base import (
    Asked,
    Character,
    ClientName,
    ConnectionId,
    Document,
    DocumentId,
    Line,
    NvimToolset,
    Object,
)
from lsp_mcp.toolsets.passing import Passing
from lsp_mcp.toolsets.tool import Call, tool

_RESOLVE = "codeActionProvider.resolveProvider"
_METHOD_NOT_FOUND = -32601  # JSON-RPC
Item = Annotated[Object, Field(description="From the prepare step, as it was given")]


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
        asked = await self._asked(connection_id, document, lsp_client_name, "documentSymbolProvider")
        return await self._answer(call, asked, "textDocument/documentSymbol", {"textDocument": {"uri": asked.uri}})

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
        """Get the code actions for a range, fixes of its diagnostics among them."""
        asked = await self._asked(connection_id, document, lsp_client_name, "codeActionProvider")
        start = {"line": start_line, "character": start_character}
        end = {"line": end_line, "character": end_character}
        diagnosed = True

        async def params() -> Json:
            nonlocal diagnosed
            diagnosed = await asked.session.diagnosed(asked.path)
            within = await self._diagnostics(asked, start, end)
            range_ = {"start": start, "end": end}
            context = {"diagnostics": within}
            return {"textDocument": {"uri": asked.uri}, "range": range_, "context": context}

        answer = await self._answer(call, asked, "textDocument/codeAction", params)
        if not diagnosed:
            call.remark(f"status: {asked.session.name} has not looked at the present text yet: fixes may be missing")
        return answer

    @tool(title="Resolve a code action", read_only=True)
    async def lsp_resolve_code_action(
        self,
        call: Call,
        code_action: Annotated[Object, Field(description="From lsp_code_actions, as it was given")],
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Complete a code action that has no edit yet."""
        try:
            return await self._of_client(
                call, connection_id, lsp_client_name, "codeAction/resolve", code_action, _RESOLVE
            )
        except RefusedError as error:
            if error.code != _METHOD_NOT_FOUND or not code_action.get("edit"):
                raise
        return as_json(code_action)  # nothing is missing in it

    @tool(title="Hover", read_only=True)
    async def lsp_hover(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Get what the language server says about a place."""
        return await self._place(call, connection_id, document, lsp_client_name, line, character, "hover")

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
        """Find all uses of the symbol at a place."""
        asked = await self._asked(connection_id, document, lsp_client_name, "referencesProvider")
        params = {**self._at(asked, line, character), "context": {"includeDeclaration": include_declaration}}
        return await self._answer(call, asked, "textDocument/references", params)

    @tool(title="Definition", read_only=True)
    async def lsp_definition(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Find where the symbol at a place is defined."""
        return await self._place(call, connection_id, document, lsp_client_name, line, character, "definition")

    @tool(title="Type definition", read_only=True)
    async def lsp_type_definition(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Find where the type of the symbol at a place is defined."""
        return await self._place(call, connection_id, document, lsp_client_name, line, character, "typeDefinition")

    @tool(title="Implementations", read_only=True)
    async def lsp_implementations(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Find the implementations of the symbol at a place."""
        return await self._place(call, connection_id, document, lsp_client_name, line, character, "implementation")

    @tool(title="Declaration", read_only=True)
    async def lsp_declaration(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Find where the symbol at a place is declared."""
        return await self._place(call, connection_id, document, lsp_client_name, line, character, "declaration")

    @tool(title="Prepare a call hierarchy", read_only=True)
    async def lsp_call_hierarchy_prepare(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Get the call hierarchy item at a place, for incoming and outgoing calls."""
        return await self._place(
            call, connection_id, document, lsp_client_name, line, character, "prepareCallHierarchy"
        )

    @tool(title="Incoming calls", read_only=True)
    async def lsp_call_hierarchy_incoming_calls(
        self, call: Call, item: Item, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Find who calls a call hierarchy item."""
        return await self._of_item(call, connection_id, lsp_client_name, "callHierarchy/incomingCalls", item)

    @tool(title="Outgoing calls", read_only=True)
    async def lsp_call_hierarchy_outgoing_calls(
        self, call: Call, item: Item, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Find what a call hierarchy item calls."""
        return await self._of_item(call, connection_id, lsp_client_name, "callHierarchy/outgoingCalls", item)

    @tool(title="Prepare a type hierarchy", read_only=True)
    async def lsp_type_hierarchy_prepare(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Get the type hierarchy item at a place, for supertypes and subtypes."""
        return await self._place(
            call, connection_id, document, lsp_client_name, line, character, "prepareTypeHierarchy"
        )

    @tool(title="Supertypes", read_only=True)
    async def lsp_type_hierarchy_supertypes(
        self, call: Call, item: Item, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Find the supertypes of a type hierarchy item."""
        return await self._of_item(call, connection_id, lsp_client_name, "typeHierarchy/supertypes", item)

    @tool(title="Subtypes", read_only=True)
    async def lsp_type_hierarchy_subtypes(
        self, call: Call, item: Item, lsp_client_name: ClientName = None, connection_id: ConnectionId = None
    ) -> str:
        """Find the subtypes of a type hierarchy item."""
        return await self._of_item(call, connection_id, lsp_client_name, "typeHierarchy/subtypes", item)

    # --- inside ------------------------------------------------------------------------------------

    async def _place(
        self,
        call: Call,
        connection_id: str | None,
        document: DocumentId,
        client: str | None,
        line: int,
        character: int,
        what: str,
    ) -> str:
        """The answer to `textDocument/WHAT` at a place."""
        provider = f"{what.removeprefix('prepare')[:1].lower()}{what.removeprefix('prepare')[1:]}Provider"
        asked = await self._asked(connection_id, document, client, provider)
        return await self._answer(call, asked, f"textDocument/{what}", self._at(asked, line, character))

    async def _of_item(self, call: Call, connection_id: str | None, client: str | None, method: str, item: Json) -> str:
        provider = f"{method.partition('/')[0]}Provider"
        return await self._of_client(call, connection_id, client, method, {"item": item}, provider)

    async def _of_client(
        self, call: Call, connection_id: str | None, client: str | None, method: str, params: Json, provider: str
    ) -> str:
        """The answer to a request about no document, or about what an earlier answer was about."""
        sessions = await self._sessions(connection_id)
        passing = Passing(sessions, self._base)
        checked = await passing.checked(method, params)
        path = await self._document_of(sessions, checked or {})
        session = await self._neovims.session(sessions, path, client, provider)
        return self._passed(call, passing.fitted(await passing.send(call, session, method, checked)))

    async def _diagnostics(self, asked: Asked, start: Json, end: Json) -> list[Any]:
        """The server's diagnostics that touch a range, in the caller's numbers."""
        text = await asked.session.open(asked.path)
        raw = asked.session.diagnostics(asked.path)
        shown = Walker({asked.uri: text}, asked.session.encoding, self._base).outward(raw, asked.uri)
        return [
            one
            for one in shown
            if _order(one["range"]["start"]) <= _order(end) and _order(start) <= _order(one["range"]["end"])
        ]


def _order(position: Json) -> tuple[int, int]:
    return position["line"], position["character"]
