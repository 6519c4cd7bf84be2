"""The stages of tasks: one listed tool, and its parts under their published names."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lsp_mcp.board import stages
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.board.base import BoardToolset, Revision
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool

COMPLETES = "Tasks in it are completed"
After = Annotated[str | None, Field(description="Place it after this stage; empty: first")]


class Activity(BaseModel):
    """A prompt that belongs to a stage."""

    model_config = ConfigDict(extra="ignore")

    name: str
    prompt: str


class StageTools(BoardToolset):
    """The workflow: creating, changing and deleting stages."""

    @tool(title="Change the workflow", read_only=False, destructive=True)
    async def change_stage(
        self,
        call: Call,
        action: Literal["create", "update", "delete"],
        stage: Annotated[str, Field(description="Its name")],
        name: Annotated[str | None, Field(description="Its new name")] = None,
        color: Annotated[str | None, Field(description="#rrggbb")] = None,
        after: After = None,
        is_default: Annotated[bool | None, Field(description="New tasks start here")] = None,
        completes: Annotated[bool | None, Field(description=COMPLETES)] = None,
        activities: list[Activity] | None = None,
        move_tasks_to: Annotated[str | None, Field(description="Stage for the tasks of a deleted one")] = None,
        expected_revision: Annotated[Revision, UNLISTED] = None,
    ) -> str:
        """Create, change or delete a workflow stage; only the given fields change."""
        if action == "delete":
            return await self.delete_stage(call, stage, move_tasks_to)
        if move_tasks_to is not None:
            raise CallerError("move_tasks_to goes with action=delete.")
        if action == "update":
            return await self.update_stage(
                call, stage, name, color, after, is_default, activities, completes, expected_revision
            )
        if name is not None:
            raise CallerError("stage is the name of a new stage; name is for action=update.")
        return await self.create_stage(
            call, stage, color, after, bool(is_default), activities, completes=bool(completes)
        )

    @tool(title="Create a stage", read_only=False, listed=False)
    async def create_stage(
        self,
        call: Call,
        name: str,
        color: Annotated[str | None, Field(description="#rrggbb")] = None,
        after: After = None,
        is_default: Annotated[bool, Field(description="New tasks start here")] = False,
        activities: list[Activity] | None = None,
        completes: Annotated[bool, Field(description=COMPLETES), UNLISTED] = False,
    ) -> str:
        """Create a workflow stage."""
        prompts = [one.model_dump() for one in activities or []]
        made = await self._write(
            call,
            lambda at: stages.create(
                at,
                name,
                color=color,
                after=after,
                is_default=is_default,
                completes=completes,
                activities=prompts,
            ),
        )
        return _stage(made)

    @tool(title="Change a stage", read_only=False, listed=False)
    async def update_stage(
        self,
        call: Call,
        stage: Annotated[str, Field(description="Its current name")],
        name: Annotated[str | None, Field(description="Its new name")] = None,
        color: Annotated[str | None, Field(description="#rrggbb")] = None,
        after: After = None,
        is_default: bool | None = None,
        activities: list[Activity] | None = None,
        completes: Annotated[bool | None, Field(description=COMPLETES), UNLISTED] = None,
        expected_revision: Annotated[Revision, UNLISTED] = None,
    ) -> str:
        """Change a workflow stage; only the given fields change."""
        prompts = None if activities is None else [one.model_dump() for one in activities]
        made = await self._write(
            call,
            lambda at: stages.update(
                at,
                stage,
                new_name=name,
                color=color,
                after=after,
                is_default=is_default,
                completes=completes,
                activities=prompts,
                expected_revision=expected_revision,
            ),
        )
        return _stage(made)

    @tool(title="Delete a stage", read_only=False, destructive=True, listed=False)
    async def delete_stage(
        self,
        call: Call,
        stage: str,
        move_tasks_to: Annotated[str | None, Field(description="Stage for its tasks")] = None,
    ) -> str:
        """Delete a workflow stage and move its tasks to another."""
        moved = await self._write(call, lambda at: stages.delete(at, stage, move_tasks_to))
        return as_json({"deleted": stage, "tasks_moved": moved})


def _stage(made: dict[str, Any]) -> str:
    shown = {name: made[name] for name in ("name", "color", "is_default")}
    return as_json({**shown, "completes": True} if made["completes"] else shown)
