"""A server's workspace edits as plans, based on the texts that it had: `plan_of`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import EditPlan, in_order, plan_workspace_edit
from lsp_mcp.errors import PathError
from lsp_mcp.protocol.lsp import (
    ChangeAnnotation,
    DocumentChange,
    TextDocumentEdit,
    TextDocumentPositionParams,
    WorkspaceEdit,
)
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path


async def asked_rename(server: Backend | Trial, at: TextDocumentPositionParams, new_name: str) -> WorkspaceEdit:
    """The server's edit that renames the symbol at a place; empty if it has none. Raises the errors of `request`."""
    return await server.request("textDocument/rename", {**at, "newName": new_name}) or WorkspaceEdit()


async def plan_of(backend: Backend, edits: Sequence[WorkspaceEdit]) -> EditPlan:
    """The combined plan of `edits` (LSP `WorkspaceEdit`), which refer to the server's present texts.

    Raises:
        EditError: they cannot be carried out safely.
        PathError: a file that they change is missing.
    """
    merged = merge(edits)
    texts = {touched: await text_or_none(backend, touched) for touched in set(touched_by(merged))}

    def read(path: Path) -> Text:
        if (text := texts.get(path)) is None:
            raise PathError(f"{path} does not exist or cannot be read as text")
        return text

    plan = plan_workspace_edit(merged, read, backend.encoding, backend.documents.version)
    return replace(plan, steps=tuple(in_order(plan.steps)))


def merge(edits: Sequence[WorkspaceEdit]) -> WorkspaceEdit:
    """Several edits merged into one, in order."""
    if len(edits) == 1:
        return edits[0]
    changes: list[DocumentChange] = []
    annotations: dict[str, ChangeAnnotation] = {}
    for edit in edits:
        by_file = (edit.get("changes") or {}).items()
        changes += edit.get("documentChanges") or [
            TextDocumentEdit(textDocument={"uri": uri}, edits=[*made]) for uri, made in by_file
        ]
        annotations |= edit.get("changeAnnotations") or {}
    return {"documentChanges": changes, "changeAnnotations": annotations}


def touched_by(edit: WorkspaceEdit) -> Iterator[Path]:
    """Every file that a `WorkspaceEdit` names."""
    yield from map(uri_path, edit.get("changes") or ())
    changes: list[Any] = [*(edit.get("documentChanges") or ())]  # not yet known to be well-formed
    for change in changes:
        document = change.get("textDocument") or {}
        for uri in (document.get("uri"), change.get("uri"), change.get("oldUri"), change.get("newUri")):
            if uri:
                yield uri_path(uri)
