"""textDocument/prepareRename and textDocument/rename: a rename worked out as an `EditPlan` (LSP 3.17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lsp_mcp.backend import Backend, Json
from lsp_mcp.edits.plan import EditPlan, FileChange, Step, plan_workspace_edit
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import path_uri, uri_path


async def rename(backend: Backend, path: Path, identifier: Span, new_name: str) -> EditPlan:
    """What renaming the symbol at `identifier` of `path` to `new_name` changes; nothing is changed yet.

    Raises:
        RefusedError: the server's reason why it cannot be renamed, or not to that name.
        EditError: the server's edit cannot be carried out safely.
        PathError, UnavailableError: as `Backend.open` and `Backend.request`.
    """
    text = await backend.open(path)
    at = {
        "textDocument": {"uri": path_uri(path)},
        "position": text.point_position(identifier.start, backend.encoding),
    }
    if not isinstance(provider := backend.capabilities.get("renameProvider"), bool | dict):
        raise RefusedError(f"{backend.name} cannot rename")
    if isinstance(provider, dict) and provider.get("prepareProvider"):
        await _prepare(backend, at, text, identifier)
    edit = await backend.request("textDocument/rename", {**at, "newName": new_name})
    texts = {touched: await _text_or_none(backend, touched) for touched in set(_touched(edit or {}))}
    plan = plan_workspace_edit(edit or {}, lambda file: _known(texts, file), backend.encoding, backend.version)
    return replace(plan, steps=tuple(_in_order(plan.steps)))


def _in_order(steps: Iterable[Step]) -> Iterator[Step]:
    """`steps` with neighbouring changes of texts sorted by file: gopls 0.24 sends them in another order each time."""
    changes: list[FileChange] = []
    for step in (*steps, None):
        if isinstance(step, FileChange):
            changes.append(step)
            continue
        yield from sorted(changes, key=lambda change: change.path)
        changes.clear()
        if step:
            yield step


async def _prepare(backend: Backend, at: Json, text: Text, identifier: Span) -> None:
    """Raise the server's reason why nothing can be renamed here."""
    prepared = await backend.request("textDocument/prepareRename", at)
    if prepared is None:
        raise RefusedError("it sees no symbol of the workspace there")
    range_ = prepared.get("range") or (prepared if "start" in prepared else None)
    # A server may offer to change something wider, a whole signature for example: that was not asked for.
    if range_ and text.range_span(range_, backend.encoding) != identifier:
        offered = text.slice(text.range_span(range_, backend.encoding))
        raise RefusedError(f"it would change {offered[:80]!r} instead of that word")


def _touched(edit: Json) -> Iterator[Path]:
    """Every file that a `WorkspaceEdit` names."""
    for uri in edit.get("changes") or {}:
        yield uri_path(uri)
    for change in edit.get("documentChanges") or []:
        document = change.get("textDocument") or {}
        for uri in (document.get("uri"), change.get("uri"), change.get("oldUri"), change.get("newUri")):
            if uri:
                yield uri_path(uri)


async def _text_or_none(backend: Backend, path: Path) -> Text | None:
    try:
        return await backend.text(path)
    except PathError:
        return None


def _known(texts: dict[Path, Text | None], path: Path) -> Text:
    text = texts.get(path)
    if text is None:
        raise PathError(f"{path} is not there or cannot be read as text")
    return text
