"""Tasks and their stages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lsp_mcp.board import agents, claims, library, stages, talk, tasks, views
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.text_changes import TextChange
from lsp_mcp.board.workflow import Status
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.board.anchored import anchored, looked_up, tasks_at
from lsp_mcp.toolsets.board.base import (
    BoardToolset,
    Due,
    Limit,
    Priority,
    Revision,
    Tags,
    TaskId,
    all_ids,
    brief,
    changed,
    one_id,
    page,
    short,
)
from lsp_mcp.toolsets.board.places import Places
from lsp_mcp.toolsets.board.task_commits import check_commits
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.json_text import as_json
from lsp_mcp.toolsets.tool import UNLISTED, Call, tool
from lsp_mcp.visible import shortened

_MOST_HISTORY = 50  # changes shown
_MOST_TEXT = 200  # characters of a text in it
_MOST_FOLDERS = 50
_UNSHOWN = ("position", "questions_waiting", "comment_count", "boxes", "ticked", "waits")
BRANCH = "Git branch of the work"
Tick = Annotated[
    list[str], Field(max_length=100, description="Checkboxes of the description, by text or number from 1")
]
Anchors = Annotated[list[str], Field(max_length=50, description="Code it concerns: Type.Method, FILE:LINE or anchors")]
DependsOn = Annotated[list[str], Field(max_length=100, description="IDs of tasks to complete first")]


Reason = Annotated[
    str | None,
    Field(description="With force: why a task with open checkboxes or dependencies, or without proof, is done"),
    UNLISTED,
]
Proofs = Annotated[list[str], Field(max_length=10)]
Proof = Annotated[Proofs | None, Field(description="COMMAND => EXIT STATUS, commits, links")]
RequiredProof = Annotated[
    Proofs | None, Field(description="To be given when it is completed: commit, link, command, or one COMMAND")
]
Force = Annotated[bool, Field(description="Even if another agent works on it; that agent is notified"), UNLISTED]


class TaskTools(BoardToolset):
    """The tasks of the board: list, read, create, change, claim."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._host.as_anchors = Places(context.sessions).anchors

    @tool(title="Project and workflow", read_only=True)
    async def get_project_info(self, call: Call) -> str:
        """Get project metadata: paths, folders, workflow stages with their activities, standards, agents."""

        def work(at: Transaction) -> dict[str, Any]:
            standards, _ = library.list_standards(at, 1_000)
            _, count = library.list_snippets(at, None, 1)
            return {
                "stages": [
                    {
                        "name": stage["name"],
                        "tasks": stage["tasks"],
                        **({"default": True} if stage["is_default"] else {}),
                        **({"completes": True} if stage["completes"] else {}),
                        **({"activities": stage["activities"]} if stage["activities"] else {}),
                    }
                    for stage in stages.listed(at)
                ],
                "standards": [{"id": one["id"], "description": one["description"]} for one in standards],
                "snippets": count,
                "agents": [one["name"] for one in agents.connected(at)],
            }

        host = self._host
        folders = await asyncio.to_thread(_folders, host.workspace.root)
        paths = {"root": str(host.workspace.root), "board": host.board.store.shown, "folders": folders}
        return as_json({**paths, **await self._read(call, work, "project", lambda _: ["project"])})

    @tool(title="List tasks", read_only=True)
    async def list_tasks(
        self,
        call: Call,
        stage: Annotated[str | None, Field(description="Stage name")] = None,
        status: Status | None = None,
        tags: Annotated[list[str] | None, Field(description="Any of these")] = None,
        text: Annotated[str | None, Field(description="In title or description")] = None,
        limit: Limit = 100,
        ready: Annotated[bool, Field(description="Only those to begin: unclaimed, not blocked")] = False,
        archived: Annotated[bool, Field(description="Those in the archive instead"), UNLISTED] = False,
    ) -> str:
        """List tasks without their descriptions, in the order of the board; the ready ones by priority."""
        found, total = await self._read(
            call,
            lambda at: views.listed(
                at, stage=stage, status=status, tags=tags or (), text=text, archived=archived, ready=ready, limit=limit
            ),
            "task",
            all_ids,
        )
        return page(
            "tasks", [brief(one) for one in found], total, "filter by stage, status, tags or text, or raise limit"
        )

    @tool(title="List tasks that can be begun", read_only=True, listed=False)
    async def list_ready_tasks(self, call: Call, limit: Limit = 100) -> str:
        """List the pending tasks that are unclaimed and not blocked, most urgent first."""
        found, total = await self._read(call, lambda at: views.ready(at, limit), "task", all_ids)
        return page("tasks", [brief(one) for one in found], total, "raise limit")

    @tool(title="Read a task", read_only=True)
    async def get_task(self, call: Call, id: TaskId) -> str:  # noqa: A002 (its published name)
        """Get a task with its description (markdown), history, comments, anchors and questions."""
        task = await self._read(call, lambda at: views.get(at, id), "task", one_id)
        task["anchors"] = await looked_up(self._host, task)
        task["questions"] = [
            {
                "id": one["id"],
                "question": one["question"],
                **({"answer": talk.shown(one)} if one["answered_at"] else {}),
            }
            for one in task["questions"]
        ]
        task["priority"] = f"P{task['priority']}"
        task["comments"] = [
            {"at": short(one["at"]), "who": one["who"], "text": one["text"]} for one in task["comments"]
        ]
        for name in _UNSHOWN:
            del task[name]
        for when in ("created_at", "updated_at", "completed_at", "archived_at"):
            task[when] = task[when] and short(task[when])
        task["history"] = _history(task["history"])
        return as_json({name: value for name, value in task.items() if value not in (None, [], 0)})

    @tool(title="Create a task", read_only=False)
    async def create_task(
        self,
        call: Call,
        title: str,
        description: Annotated[str | None, Field(description="Markdown")] = None,
        tags: Tags | None = None,
        stage: Annotated[str | None, Field(description="Stage name; default: the default stage")] = None,
        depends_on: DependsOn | None = None,
        anchors: Anchors | None = None,
        priority: Priority | None = None,
        due: Due = None,
        required_proof: RequiredProof = None,
    ) -> str:
        """Create a task."""
        places = await anchored(self._host, anchors or [])
        return changed(
            await self._write(
                call,
                lambda at: tasks.create(
                    at,
                    title,
                    description=description or "",
                    tags=tags or (),
                    stage=stage,
                    priority=priority,
                    due=due,
                    required_proof=required_proof,
                    depends_on=depends_on or (),
                    anchored=places,
                ),
            )
        )

    @tool(title="Change a task", read_only=False)
    async def update_task(
        self,
        call: Call,
        id: TaskId,  # noqa: A002
        title: str | None = None,
        description: Annotated[str | None, Field(description="Markdown; replaces the old one")] = None,
        tags: Annotated[Tags | None, Field(description="Replace the old ones")] = None,
        stage: str | None = None,
        status: Status | None = None,
        depends_on: DependsOn | None = None,
        anchors: Anchors | None = None,
        priority: Priority | None = None,
        tick: Tick | None = None,
        due: Due = None,
        expected_revision: Revision = None,
        required_proof: Annotated[RequiredProof, UNLISTED] = None,
        proof: Annotated[Proof, UNLISTED] = None,
        untick: Annotated[Tick | None, Field(description="Checkboxes to clear"), UNLISTED] = None,
        archived: Annotated[bool | None, Field(description="Whether it is in the archive"), UNLISTED] = None,
        branch: Annotated[str | None, Field(description=BRANCH), UNLISTED] = None,
        force: Force = False,
        reason: Reason = None,
    ) -> str:
        """Change a task; only the given fields change."""
        places = None if anchors is None else await anchored(self._host, anchors)
        await check_commits(self._host.workspace.root, proof or ())
        return changed(
            await self._write(
                call,
                lambda at: tasks.update(
                    at,
                    id,
                    title=title,
                    description=description,
                    tags=tags,
                    stage=stage,
                    status=status,
                    priority=priority,
                    branch=branch,
                    due=due,
                    required_proof=required_proof,
                    proof=proof,
                    archived=archived,
                    tick=tick or (),
                    untick=untick or (),
                    depends_on=depends_on,
                    anchored=places,
                    expected_revision=expected_revision,
                    force=force,
                    reason=reason,
                ),
            )
        )

    @tool(title="Complete a task", read_only=False)
    async def complete_task(
        self,
        call: Call,
        id: TaskId,  # noqa: A002
        proof: Proof = None,
        force: Force = False,
        reason: Reason = None,
    ) -> str:
        """Mark a task as completed: it moves to Done, and tasks that waited for it become ready."""
        await check_commits(self._host.workspace.root, proof or ())
        return changed(
            await self._write(
                call,
                lambda at: tasks.update(at, id, status="completed", proven=proof or (), force=force, reason=reason),
            )
        )

    @tool(title="Move a task", read_only=False, listed=False)
    async def move_to_stage(
        self,
        call: Call,
        id: TaskId,  # noqa: A002
        stage: Annotated[str, Field(description="Target stage name")],
        force: Force = False,
        reason: Reason = None,
    ) -> str:
        """Move a task to another workflow stage; in Done it is completed."""
        return changed(
            await self._write(call, lambda at: tasks.update(at, id, stage=stage, force=force, reason=reason))
        )

    @tool(title="Append to a task", read_only=False)
    async def add_to_task(
        self,
        call: Call,
        id: TaskId,  # noqa: A002
        content: Annotated[str, Field(description="Markdown")],
        section: Annotated[str | None, Field(description='Heading to append under, e.g. "Findings"')] = None,
        as_comment: Annotated[bool, Field(description="Add a comment instead, for people and agents")] = False,
    ) -> str:
        """Append to a task's description without reading it first."""
        if as_comment:
            return changed(await self._write(call, lambda at: tasks.comment(at, id, content)))
        return changed(await self._write(call, lambda at: tasks.append(at, id, content, section)))

    @tool(title="Take a task", read_only=False)
    async def claim_task(
        self,
        call: Call,
        id: Annotated[str | None, Field(description="Leave it out to take the next ready task")] = None,  # noqa: A002
        release: Annotated[bool, Field(description="Give it back instead")] = False,
        branch: Annotated[str | None, Field(description=BRANCH)] = None,
    ) -> str:
        """Claim a task to work on it, without an id the next ready one: exclusive until completed or released."""
        actor = await self._actor(call)
        if release:
            if id is None:
                raise CallerError("name the task to release: pass its id.")
            return changed(await self._write(call, lambda at: claims.release(at, actor, id)))
        return changed(await self._write(call, lambda at: claims.claim(at, actor, id, branch)))

    @tool(title="Tasks about a symbol", read_only=True)
    async def find_tasks_by_anchor(
        self,
        call: Call,
        anchor: Annotated[str, Field(description="Type.Method, FILE:LINE, an anchor; FILE: all of it")],
    ) -> str:
        """Find the tasks about a symbol: plans and known problems."""
        actor = await self._actor(call)
        found = await tasks_at(self._host, anchor, actor)
        self._host.board.looked_at(actor, "task", [one["id"] for one in found])
        return page("tasks", [brief(one) for one in found], len(found), "")


def _history(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The changes of a task for an agent: without empty ones and, if there are many, without the oldest."""
    shown = [
        {
            "revision": one["revision"],
            "at": short(one["at"]),
            "who": one["who"],
            "message": one["message"],
            **({"fields": said} if (said := {name: _shown(kept) for name, kept in one["fields"].items()}) else {}),
        }
        for one in changes[-_MOST_HISTORY:]
    ]
    if len(changes) > _MOST_HISTORY:
        shown.insert(0, {"message": f"… {len(changes) - _MOST_HISTORY:,} older changes are not shown"})
    return shown


def _shown(kept: list[Any] | TextChange) -> list[Any]:
    """[before, after] of a field that changed; for a long text, the beginnings of the removed and inserted parts."""
    return (
        kept
        if isinstance(kept, list)
        else [shortened(kept["removed"], _MOST_TEXT), shortened(kept["added"], _MOST_TEXT)]
    )


def _folders(root: Path) -> list[str]:
    """The folders of a project, without hidden ones."""
    try:
        found = sorted(one.name for one in root.iterdir() if one.is_dir() and not one.name.startswith("."))
    except OSError:
        return []
    return found[:_MOST_FOLDERS]
