"""A server's workspace edits as plans, based on the texts that it had: `plan_of`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp.backend import Backend, Json
from lsp_mcp.edits.plan import EditPlan, in_order, plan_workspace_edit
from lsp_mcp.errors import PathError
from lsp_mcp.requests.places import text_or_none
from lsp_mcp.text import Text
from lsp_mcp.uris import uri_path


async def plan_of(backend: Backend, edits: Sequence[Json]) -> EditPlan:
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


def merge(edits: Sequence[Json]) -> Json:
    """Several edits merged into one, in order."""
    if len(edits) == 1:
        return edits[0]
    changes: list[Json] = []
    annotations: Json = {}
    for edit in edits:
        changes += edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": made}
            for uri, made in (edit.get("changes") or {}).items()
        ]
        annotations |= edit.get("changeAnnotations") or {}
    return {"documentChanges": changes, "changeAnnotations": annotations}


def touched_by(edit: Json) -> Iterator[Path]:
    """Every file that a `WorkspaceEdit` names."""
    for uri in edit.get("changes") or {}:
        yield uri_path(uri)
    for change in edit.get("documentChanges") or []:
        document = change.get("textDocument") or {}
        for uri in (document.get("uri"), change.get("uri"), change.get("oldUri"), change.get("newUri")):
            if uri:
                yield uri_path(uri)
