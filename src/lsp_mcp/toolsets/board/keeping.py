"""The past: histories, earlier revisions, and the trash."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.board import trash, versions
from lsp_mcp.board.history import Kind
from lsp_mcp.board.text_changes import TextChange
from lsp_mcp.toolsets.board.base import BoardToolset, Limit, page, short
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import Call, tool

Ref = Annotated[str, Field(description="ID; of a stage its name")]
Of = Annotated[Kind, Field(description="Kind of the ID")]


class KeepingTools(BoardToolset):
    """Nothing is lost."""

    @tool(title="Take changes back", read_only=False)
    async def revert(
        self,
        call: Call,
        id: Ref,  # noqa: A002 (as the other tools have it)
        kind: Of = "task",
        revision: Annotated[
            int | None, Field(description="Default: before the last change, or before deletion")
        ] = None,
    ) -> str:
        """Bring a task, stage, standard or snippet back to an earlier revision, or back from the trash."""
        return as_json(await self._write(call, lambda at: versions.revert(at, kind, id, revision)))

    @tool(title="Earlier revisions", read_only=True, listed=False)
    async def get_history(
        self,
        call: Call,
        id: Ref,  # noqa: A002
        kind: Of = "task",
        revision: Annotated[int | None, Field(description="Read all as it was then")] = None,
    ) -> str:
        """Get who changed what and when, with whole texts, or all as it was at a revision."""
        if revision is not None:
            found = await self._read(call, lambda at: versions.as_of(at, kind, id, revision))
            return as_json({"id": id, "revision": revision, **found})
        found = await self._read(call, lambda at: versions.revisions(at, kind, id))
        return as_json({**found, "entries": [_entry(one) for one in found["entries"]]})

    @tool(title="What was deleted", read_only=True, listed=False)
    async def list_trash(self, call: Call, limit: Limit = 100) -> str:
        """List what was deleted; revert brings it back."""
        found, total = await self._read(call, lambda at: trash.listed(at, limit))
        shown = [
            {"kind": one["kind"], "id": one["ref"], "title": one["title"], "at": short(one["at"]), "who": one["who"]}
            for one in found
        ]
        return page("trash", shown, total, "raise limit")


def _entry(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "at": short(one["at"]), "fields": {name: _pair(kept) for name, kept in one["fields"].items()}}


def _pair(kept: list[Any] | TextChange) -> list[Any]:
    """[before, after]; for a long text, the removed and the inserted part."""
    return kept if isinstance(kept, list) else [kept["removed"], kept["added"]]
