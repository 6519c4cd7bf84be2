"""Reading and writing whole tables, with given times, histories and revisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Table

from lsp_mcp.anchors import parse_anchor
from lsp_mcp.board import fields, tables
from lsp_mcp.board.exchange import deleted, talk
from lsp_mcp.board.exchange.data import Contents, Snippet, Stage, Standard, Task
from lsp_mcp.board.markdown import checkboxes
from lsp_mcp.board.store import Transaction

_HISTORY = ("revision", "at", "who", "message", "fields")
_ANCHOR = ("anchor", "symbol", "code", "state")
_PLAIN = ("id", "title", "description", "stage", "status", "revision", "created_at", "updated_at", "priority")
_MAYBE = ("branch", "completed_at", "archived_at", "due")
_LISTS = ("tags", "required_proof", "proof")


def load(at: Transaction) -> Contents:
    """All of the board at one moment: stages and tasks in their order, the rest by id."""
    if at.connection.dialect.name == "postgresql":
        # Otherwise each query would see everything committed before it began.
        at.connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    return everything(at)


def everything(at: Transaction) -> Contents:
    """As `load`, in an open transaction without other writers."""
    found = Contents("board", stages=stages(at), talk=talk.load(at), trash=deleted.load(at))
    depends_on = _by_task(at, tables.dependencies, tables.dependencies.c.depends_on)
    anchors = _by_task(at, tables.anchors, tables.anchors.c.position)
    history = _by_task(at, tables.history, tables.history.c.id, "ref", tables.history.c.kind == "task")
    rank = {stage.id: number for number, stage in enumerate(found.stages)}
    rows = _rows(at, tables.tasks, tables.tasks.c.position, tables.tasks.c.id)
    for row in sorted(rows, key=lambda row: rank[row["stage"]]):
        found.tasks.append(
            Task(
                **{key: row[key] for key in _PLAIN} | {key: row[key] or "" for key in _MAYBE},
                tags=tuple(row["tags"]),
                required_proof=tuple(row["required_proof"]),
                proof=tuple(row["proof"]),
                position=float(row["position"]),
                depends_on=tuple(one["depends_on"] for one in depends_on[row["id"]]),
                anchors=tuple({key: one[key] for key in _ANCHOR} for one in anchors[row["id"]]),
                history=tuple({key: one[key] for key in _HISTORY} for one in history[row["id"]]),
            )
        )
    found.standards = [Standard(**row) for row in _rows(at, tables.standards, tables.standards.c.id)]
    for row in _rows(at, tables.snippets, tables.snippets.c.id):
        found.snippets.append(Snippet(**{**row, "tags": tuple(row["tags"])}))
    return found


def stages(at: Transaction) -> list[Stage]:
    """The stages, in their order."""
    return [
        Stage(**{**row, "position": float(row["position"]), "activities": tuple(row["activities"])})
        for row in _rows(at, tables.stages, tables.stages.c.position, tables.stages.c.id)
    ]


def insert_stages(at: Transaction, wanted: Iterable[Stage]) -> None:
    """New stages."""
    _insert(at, tables.stages, [{**asdict(one), "activities": list(one.activities)} for one in wanted])


def update_stage(at: Transaction, stage: Stage) -> None:
    """The stage of that id as given; if it is the default one, no other is."""
    if stage.is_default:
        at.connection.execute(sa.update(tables.stages).values(is_default=False))
    values = {**asdict(stage), "activities": list(stage.activities)}
    at.connection.execute(sa.update(tables.stages).where(tables.stages.c.id == stage.id).values(**values))


def insert_tasks(at: Transaction, tasks: Sequence[Task]) -> None:
    """New tasks, without what they depend on, which may be new too."""
    _insert(at, tables.tasks, [{**_plain(task), "id": task.id, "created_at": task.created_at} for task in tasks])
    _insert_parts(at, tasks)


def update_task(at: Transaction, task: Task) -> None:
    """Update the task of that id, except for its creation time, claim and dependencies."""
    values = _plain(task)
    if task.status == "completed":
        values |= {"claimed_by": None, "claimed_at": None}
    at.connection.execute(sa.update(tables.tasks).where(tables.tasks.c.id == task.id).values(**values))
    for table in (tables.task_tags, tables.anchors):
        at.connection.execute(sa.delete(table).where(table.c.task == task.id))
    of_it = (tables.history.c.kind == "task") & (tables.history.c.ref == task.id)
    at.connection.execute(sa.delete(tables.history).where(of_it))
    _insert_parts(at, [task])


def set_dependencies(at: Transaction, wanted: Mapping[str, Sequence[str]]) -> None:
    """Replace the dependencies of each of these tasks."""
    table = tables.dependencies
    at.go_alone()
    for task in wanted:
        at.connection.execute(sa.delete(table).where(table.c.task == task))
    _insert(at, table, [{"task": task, "depends_on": one} for task, several in wanted.items() for one in several])


def put(at: Transaction, one: Standard | Snippet, *, new: bool) -> None:
    """A standard or a snippet, `new` or in place of the one of that id."""
    table = tables.standards if isinstance(one, Standard) else tables.snippets
    values = asdict(one)
    if isinstance(one, Snippet):
        values["tags"] = list(one.tags)
    if new:
        _insert(at, table, [values])
    else:
        at.connection.execute(sa.update(table).where(table.c.id == one.id).values(**values))


# --- inside ----------------------------------------------------------------------------------------


def _plain(task: Task) -> dict[str, Any]:
    names = ("title", "description", "stage", "status", "position", "revision", "updated_at", "priority")
    boxes = checkboxes(task.description)
    done = task.status == "completed"
    return {
        **{name: getattr(task, name) for name in names},
        **{name: list(getattr(task, name)) for name in _LISTS},
        "boxes": len(boxes),
        "ticked": sum(box.ticked for box in boxes),
        "branch": task.branch or None,
        "due": task.due or None,
        "completed_at": (task.completed_at or task.updated_at) if done else None,
        "archived_at": (task.archived_at or None) if done else None,
    }


def _insert_parts(at: Transaction, tasks: Sequence[Task]) -> None:
    folded = [(task.id, tag) for task in tasks for tag in dict.fromkeys(map(fields.tag_key, task.tags))]
    _insert(at, tables.task_tags, [{"task": task, "tag": tag} for task, tag in folded])
    _insert(
        at,
        tables.anchors,
        [
            {**one, "task": task.id, "position": position, "file": parse_anchor(one["anchor"]).file}
            for task in tasks
            for position, one in enumerate(task.anchors)
        ],
    )
    _insert(at, tables.history, [{**one, "kind": "task", "ref": task.id} for task in tasks for one in task.history])


def _insert(at: Transaction, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
    if values:
        at.connection.execute(sa.insert(table), values)


def _rows(at: Transaction, table: Table, *order: Any, where: Any = None) -> list[dict[str, Any]]:
    found = sa.select(table).order_by(*order)
    return [dict(row) for row in at.connection.execute(found if where is None else found.where(where)).mappings()]


def _by_task(
    at: Transaction, table: Table, order: Any, task: str = "task", where: Any = None
) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _rows(at, table, order, where=where):
        found[row[task]].append(row)
    return found
