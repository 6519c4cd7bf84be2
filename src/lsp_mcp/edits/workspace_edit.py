"""An `EditPlan` as an LSP 3.17 `WorkspaceEdit`, the inverse of `plan_workspace_edit`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.text import Base, Json, point_numbers
from lsp_mcp.uris import path_uri

_ID = "1"  # of the annotation that asks for all confirmations


def workspace_edit(plan: EditPlan, version: Callable[[Path], int | None], base: Base) -> Json:
    """`plan` with lines and characters from `base`; `version(path)` is that of the open document, or None.

    Required confirmations stay.
    """
    edit: Json = {"documentChanges": [_operation(step, version, base) for step in plan.steps]}
    if plan.confirmations:
        edit["changeAnnotations"] = {_ID: {"label": "; ".join(plan.confirmations), "needsConfirmation": True}}
        for operation in edit["documentChanges"]:
            for one in operation.get("edits", [operation]):
                one["annotationId"] = _ID
    return edit


def _operation(step: Step, version: Callable[[Path], int | None], base: Base) -> Json:
    match step:
        case FileChange():
            edits = [
                {
                    "range": {
                        "start": point_numbers(change.span.start, base),
                        "end": point_numbers(change.span.end, base),
                    },
                    "newText": change.new_text,
                }
                for change in step.changes
            ]
            return {"textDocument": {"uri": path_uri(step.path), "version": version(step.path)}, "edits": edits}
        case CreateFile():
            options = {"overwrite": step.overwrite, "ignoreIfExists": step.ignore_if_exists}
            return {"kind": "create", "uri": path_uri(step.path), "options": options}
        case RenameFile():
            options = {"overwrite": step.overwrite, "ignoreIfExists": step.ignore_if_exists}
            return {"kind": "rename", "oldUri": path_uri(step.old), "newUri": path_uri(step.new), "options": options}
        case DeleteFile():
            options = {"recursive": step.recursive, "ignoreIfNotExists": step.ignore_if_not_exists}
            return {"kind": "delete", "uri": path_uri(step.path), "options": options}
