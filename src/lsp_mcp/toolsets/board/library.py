"""Snippets and standards."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from lsp_mcp.board import library
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.board.base import BoardToolset, Limit, Revision, Tags, all_ids, one_id, page, short
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool

StandardId = Annotated[str, Field(description="Standard ID, e.g. architecture")]
Kind = Literal["standard", "snippet"]
SnippetId = Annotated[str, Field(description="Snippet ID")]


class LibraryTools(BoardToolset):
    """Texts for agents to look up: two listed tools, and their parts under their published names."""

    @tool(title="Read standards and snippets", read_only=True)
    async def read_library(
        self,
        call: Call,
        kind: Kind,
        id: Annotated[str | None, Field(description="Default: list all")] = None,  # noqa: A002
        tag: Annotated[str | None, UNLISTED] = None,
        limit: Annotated[Limit, UNLISTED] = 100,
    ) -> str:
        """Get a standard or snippet with its content, or the list of them."""
        if id is not None:
            return await (self.get_standard(call, id) if kind == "standard" else self.get_snippet(call, id))
        return await (self.list_standards(call, limit) if kind == "standard" else self.list_snippets(call, tag, limit))

    @tool(title="Change standards and snippets", read_only=False, destructive=True)
    async def change_library(
        self,
        call: Call,
        kind: Kind,
        action: Literal["create", "update", "delete"],
        id: Annotated[str | None, Field(description="In kebab-case")] = None,  # noqa: A002
        content: Annotated[str | None, Field(description="Markdown")] = None,
        description: Annotated[str | None, Field(description="Of a standard: one line")] = None,
        title: Annotated[str | None, Field(description="Of a snippet")] = None,
        tags: Annotated[Tags | None, Field(description="Of a snippet")] = None,
        expected_revision: Annotated[Revision, UNLISTED] = None,
    ) -> str:
        """Create, change or delete a standard or snippet; only the given fields change."""
        if id is None and (action != "create" or kind == "standard"):
            raise CallerError(f"pass the id of the {kind}.")
        name = str(id)
        if action == "delete":
            return await (self.delete_standard(call, name) if kind == "standard" else self.delete_snippet(call, name))
        if kind == "standard":
            if action == "create":
                return await self.create_standard(call, name, content, description)
            if content is None:
                raise CallerError("pass the content of the standard.")
            return await self.update_standard(call, name, content, description, expected_revision)
        if action == "update":
            return await self.update_snippet(call, name, title, content, tags, expected_revision)
        if title is None or content is None:
            raise CallerError("a new snippet needs a title and a content.")
        return await self.create_snippet(call, title, content, tags, id)

    @tool(title="List snippets", read_only=True, listed=False)
    async def list_snippets(self, call: Call, tag: str | None = None, limit: Limit = 100) -> str:
        """List snippets without their contents."""
        found, total = await self._read(call, lambda at: library.list_snippets(at, tag, limit), "snippet", all_ids)
        shown = [_without_empty({name: one[name] for name in ("id", "title", "tags")}) for one in found]
        return page("snippets", shown, total, "filter by tag, or raise limit")

    @tool(title="Read a snippet", read_only=True, listed=False)
    async def get_snippet(self, call: Call, id: SnippetId) -> str:  # noqa: A002 (its published name)
        """Get a snippet with its content."""
        return _shown(await self._read(call, lambda at: library.get_snippet(at, id), "snippet", one_id))

    @tool(title="Create a snippet", read_only=False, listed=False)
    async def create_snippet(
        self,
        call: Call,
        title: str,
        content: str,
        tags: Tags | None = None,
        id: Annotated[str | None, Field(description="In kebab-case; default: from the title")] = None,  # noqa: A002
    ) -> str:
        """Create a snippet."""
        return _changed(await self._write(call, lambda at: library.create_snippet(at, title, content, tags or [], id)))

    @tool(title="Change a snippet", read_only=False, listed=False)
    async def update_snippet(
        self,
        call: Call,
        id: SnippetId,  # noqa: A002
        title: str | None = None,
        content: str | None = None,
        tags: Tags | None = None,
        expected_revision: Revision = None,
    ) -> str:
        """Change a snippet; only the given fields change."""
        return _changed(
            await self._write(
                call,
                lambda at: library.update_snippet(
                    at, id, title=title, content=content, tags=tags, expected_revision=expected_revision
                ),
            )
        )

    @tool(title="Delete a snippet", read_only=False, destructive=True, listed=False)
    async def delete_snippet(self, call: Call, id: SnippetId) -> str:  # noqa: A002
        """Delete a snippet."""
        gone = await self._write(call, lambda at: library.delete_snippet(at, id))
        return as_json({"deleted": gone["id"]})

    @tool(title="List standards", read_only=True, listed=False)
    async def list_standards(self, call: Call, limit: Limit = 100) -> str:
        """List all project standards with metadata."""
        found, total = await self._read(call, lambda at: library.list_standards(at, limit), "standard", all_ids)
        shown = [_without_empty({**one, "updated_at": short(one["updated_at"])}) for one in found]
        return page("standards", shown, total, "raise limit")

    @tool(title="Read a standard", read_only=True, listed=False)
    async def get_standard(self, call: Call, id: StandardId) -> str:  # noqa: A002
        """Get a project standard with its content."""
        return _shown(await self._read(call, lambda at: library.get_standard(at, id), "standard", one_id))

    @tool(title="Create a standard", read_only=False, listed=False)
    async def create_standard(
        self,
        call: Call,
        id: Annotated[str, Field(description="In kebab-case")],  # noqa: A002
        content: Annotated[str | None, Field(description="Markdown")] = None,
        description: Annotated[str | None, Field(description="One line")] = None,
    ) -> str:
        """Create a project standard."""
        return _changed(
            await self._write(call, lambda at: library.create_standard(at, id, content or "", description or ""))
        )

    @tool(title="Change a standard", read_only=False, listed=False)
    async def update_standard(
        self,
        call: Call,
        id: StandardId,  # noqa: A002
        content: Annotated[str, Field(description="Markdown; replaces the old one")],
        description: Annotated[str | None, Field(description="One line")] = None,
        expected_revision: Revision = None,
    ) -> str:
        """Change a project standard."""
        return _changed(
            await self._write(call, lambda at: library.update_standard(at, id, content, description, expected_revision))
        )

    @tool(title="Delete a standard", read_only=False, destructive=True, listed=False)
    async def delete_standard(self, call: Call, id: StandardId) -> str:  # noqa: A002
        """Delete a project standard."""
        gone = await self._write(call, lambda at: library.delete_standard(at, id))
        return as_json({"deleted": gone["id"]})


def _changed(one: dict[str, Any]) -> str:
    return as_json({"id": one["id"], "revision": one["revision"]})


def _shown(one: dict[str, Any]) -> str:
    return as_json({**_without_empty(one), "updated_at": short(one["updated_at"])})


def _without_empty(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if value not in (None, "", [])}
