"""Renames, formatting and workspace edits, done in Neovim's buffers (docs/contracts/nvim.md)."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.backend import Json
from lsp_mcp.edits.plan import EditPlan, plan_workspace_edit
from lsp_mcp.edits.workspace_edit import workspace_edit as as_workspace_edit
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.features.finding.passthrough import read_texts
from lsp_mcp.lsp.session import Session
from lsp_mcp.objects.params import checked_params
from lsp_mcp.objects.walker import Walker, documents
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Span, numbers_point
from lsp_mcp.toolsets.answers import Confirmed
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
    Save,
)
from lsp_mcp.toolsets.passing import PassedThrough, PassThrough
from lsp_mcp.toolsets.questions import Questions
from lsp_mcp.toolsets.renaming import ask_rename
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import Call, tool

Options = Annotated[
    Object | None,
    Field(description='FormattingOptions, e.g. {"tabSize":4,"insertSpaces":true}; default: Neovim\'s'),
]
Apply = Annotated[bool, Field(description="Apply the edits instead of returning them")]


class EditTools(NvimToolset):
    """Each applies all of its edits or none."""

    @tool(title="Apply a workspace edit", read_only=False, destructive=True)
    async def lsp_apply_edit(
        self,
        call: Call,
        workspace_edit: Annotated[Object, Field(description="LSP WorkspaceEdit returned by a tool")],
        save: Save = True,
        confirmed: Confirmed = False,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Apply a workspace edit: in buffers where files are open, one undo step each, else on disk."""
        sessions = await self._sessions(connection_id)
        checked_params("workspace/applyEdit", {"edit": workspace_edit})
        path = await self._document_of(sessions, workspace_edit)
        session = await self._neovims.session(sessions, path, lsp_client_name)
        await session.ready(call.report)
        await session.sync()
        plan = await self._plan(sessions, session, workspace_edit, "workspace_edit")
        return await self._applied(call, sessions, plan, save=save, confirmed=confirmed)

    @tool(title="Rename", read_only=False, destructive=True)
    async def lsp_rename(
        self,
        call: Call,
        document: Document,
        line: Line,
        character: Character,
        new_name: str,
        prepare_first: Annotated[bool, Field(description="Ask first whether it can be renamed")] = True,
        apply_edits: Apply = False,
        save: Save = True,
        confirmed: Confirmed = False,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Rename a symbol: returns the workspace edit for lsp_apply_edit, or applies it with apply_edits."""
        target = await self._target(connection_id, document, lsp_client_name, "renameProvider")
        at = self._at(target, line, character)
        checked_params("textDocument/rename", {**at, "newName": new_name})
        session = target.session
        await session.ready(call.report)

        async def find() -> SymbolTarget:
            text = await session.documents.open(target.path)
            Walker({target.uri: text}, session.encoding, self._base).inward(at, target.uri)  # or explains the problem
            point = numbers_point(at["position"], self._base)
            identifier = text.identifier_at(point) or Span(point, point)
            return await SymbolTarget(session, target.path, text, identifier).loaded()

        targets = Targets(target.sessions)
        asking = partial(Questions(targets, None).answer_found, call, session, find)
        renamed = await ask_rename(asking, targets, new_name, prepare=prepare_first)
        if apply_edits:
            way_out = "or look at the edits without apply_edits and hand them to lsp_apply_edit."
            renamed = await renamed.checked(targets, new_name, way_out)
            return await self._applied(call, target.sessions, renamed.plan, save=save, confirmed=confirmed)
        edit = as_workspace_edit(renamed.plan, session.documents.version, self._base)
        tell = partial(target.sessions.reported.take, call.client.key)
        return self._result_text(call, PassedThrough(edit, renamed.gaps, tell, target.sessions.workspace.display_path))

    @tool(title="Format a document", read_only=False, destructive=True)
    async def lsp_formatting(
        self,
        call: Call,
        document: Document,
        options: Options = None,
        apply_edits: Apply = False,
        save: Save = True,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Format a document: returns the text edits, or applies them with apply_edits."""
        target = await self._target(connection_id, document, lsp_client_name, "documentFormattingProvider")
        params = {"textDocument": {"uri": target.uri}, "options": await self._options(target, options)}
        return await self._edited(call, target, "textDocument/formatting", params, apply=apply_edits, save=save)

    @tool(title="Format a range", read_only=False, destructive=True)
    async def lsp_range_formatting(
        self,
        call: Call,
        document: Document,
        start_line: Line,
        start_character: Character,
        end_line: Line,
        end_character: Character,
        options: Options = None,
        apply_edits: Apply = False,
        save: Save = True,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Format a range: returns the text edits, or applies them with apply_edits."""
        target = await self._target(connection_id, document, lsp_client_name, "documentRangeFormattingProvider")
        range_ = {
            "start": {"line": start_line, "character": start_character},
            "end": {"line": end_line, "character": end_character},
        }
        params = {
            "textDocument": {"uri": target.uri},
            "range": range_,
            "options": await self._options(target, options),
        }
        return await self._edited(call, target, "textDocument/rangeFormatting", params, apply=apply_edits, save=save)

    @tool(title="Organize imports", read_only=False, destructive=True)
    async def lsp_organize_imports(
        self,
        call: Call,
        document: Document,
        apply_edits: Apply = True,
        save: Save = True,
        confirmed: Confirmed = False,
        lsp_client_name: ClientName = None,
        connection_id: ConnectionId = None,
    ) -> str:
        """Sort and organize imports; applies the edits, or returns them with apply_edits=false."""
        target = await self._target(connection_id, document, lsp_client_name, "codeActionProvider")
        passing = PassThrough(target.sessions, self._base)

        async def params() -> Json:
            return {
                "textDocument": {"uri": target.uri},
                "range": await passing.whole(target.session, target.uri),
                "context": {"diagnostics": [], "only": ["source.organizeImports"]},
            }

        passed = await self._send(call, target, "textDocument/codeAction", params)
        self._remark(call, passed)
        actions = [one for one in passed.result or [] if str(one.get("kind", "")).startswith("source.organizeImports")]
        if not actions:
            if apply_edits:
                return as_json({"applied": True, "files": []})
            return as_json([])
        action = actions[0]
        if not action.get("edit"):
            action = (await passing.send(call, target.session, "codeAction/resolve", action)).result or {}
        if not action.get("edit"):
            raise RefusedError(
                f"{target.session.name} organizes imports by a command, which is not run; use its editor."
            )
        if apply_edits:
            plan = await self._plan(target.sessions, target.session, action["edit"], "edit")
            return await self._applied(call, target.sessions, plan, save=save, confirmed=confirmed)
        return as_json(_text_edits(action["edit"], target.uri))

    # --- inside ------------------------------------------------------------------------------------

    async def _edited(
        self, call: Call, target: DocumentClient, method: str, params: Json, *, apply: bool, save: bool
    ) -> str:
        """The edits returned by `method`, or the result of applying them."""
        checked_params(method, params)
        passed = await self._send(call, target, method, params)
        if not apply:
            return self._result_text(call, passed)
        self._remark(call, passed)
        plan = await self._plan(target.sessions, target.session, {"changes": {target.uri: passed.result or []}}, "edit")
        return await self._applied(call, target.sessions, plan, save=save)

    async def _plan(self, sessions: Sessions, session: Session, edit: Json, name: str) -> EditPlan:
        """The plan for `edit`, which has the caller's numbers; errors refer to it as `name`."""
        assert sessions.host
        texts = await read_texts(session, documents(edit, None))
        raw = Walker(texts, session.encoding, self._base).inward(edit, None, name)
        return plan_workspace_edit(raw, sessions.host.buffers.text, session.encoding, session.documents.version)

    async def _applied(
        self, call: Call, sessions: Sessions, plan: EditPlan, *, save: bool, confirmed: bool = False
    ) -> str:
        """Apply `plan`; returns the result for each file."""
        done = await self._context.apply(sessions, plan, save=save, confirmed=confirmed)
        for leftover in sessions.leftovers(done):
            call.remark(f"status: {leftover}")
        files = [
            {
                "path": sessions.workspace.display_path(one.path),
                "where": one.where,
                "edits": one.edits,
                "saved": one.saved,
            }
            | ({"reason": one.reason} if one.reason else {})
            for one in done.files
        ]
        return as_json({"applied": True, "files": files})

    async def _options(self, target: DocumentClient, options: Json | None) -> Json:
        """`FormattingOptions`: the caller's, else Neovim's own for the file."""
        assert target.sessions.host
        own = await target.sessions.host.present().lua.call("formatting", str(target.path))
        if options is None:
            return dict(own)
        wrong = [name for name in ("tab_size", "insert_spaces") if name in options]
        if wrong:
            raise CallerError(f"options: {', '.join(wrong)} is spelled in camel case, as in {json.dumps(own)}.")
        return {**own, **options}


def _text_edits(edit: Json, uri: str) -> list[Any]:
    """The text edits in a workspace edit of one document."""
    found = [*(edit.get("changes") or {}).get(uri, ())]
    for change in edit.get("documentChanges") or []:
        found += change.get("edits", [])
    return found
