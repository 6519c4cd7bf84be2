"""Tasks: creating, changing, moving, claiming, deleting. Each change is in the task's history. See `views`, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import dependencies, fields, history, markdown, positions, stages, trash, views, workflow
from lsp_mcp.board.ids import new_id
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.tables import agents, anchors, comments, task_tags, tasks
from lsp_mcp.board.views import Task
from lsp_mcp.board.workflow import Status
from lsp_mcp.errors import CallerError

_TRIES = 20  # for an id that nobody has
_UNSAID = ("position", "boxes", "ticked", "claimed_at", "completed_at", "archived_at")


# --- changing --------------------------------------------------------------------------------------


def create(
    at: Transaction,
    title: str,
    *,
    description: str = "",
    tags: Iterable[str] = (),
    stage: str | None = None,
    priority: str | int | None = None,
    depends_on: Iterable[str] = (),
    anchored: Sequence[Mapping[str, Any]] = (),
) -> Task:
    """A new task, at the end of its stage, as `views.one` has it.

    Raises:
        CallerError: there is no such stage or task to depend on, or a text cannot be used.
    """
    places = stages.rows(at)
    place = workflow.destination(places, None, stage=None if stage is None else stages.named(places, stage))
    values = {**_checked(title=title, tags=tags, priority=priority), **_text(fields.body(description))}
    id_ = _free_id(at)
    at.connection.execute(
        sa.insert(tasks).values(
            **values,
            **workflow.entering(place, None, at.now),
            id=id_,
            position=positions.last(at, place["id"]),
            revision=1,
            created_at=at.now,
            updated_at=at.now,
        )
    )
    _set_tags(at, id_, values["tags"])
    if wanted := list(depends_on):
        _set_dependencies(at, id_, wanted)
    _set_anchors(at, id_, anchored)
    history.remember(at, "task", id_, 1, f"created in {place['name']}")
    at.change("created", "task", id_, values["title"])
    return views.one(at, id_)


def update(
    at: Transaction,
    typed: str,
    *,
    title: str | None = None,
    description: str | None = None,
    tags: Iterable[str] | None = None,
    stage: str | None = None,
    status: Status | None = None,
    priority: str | int | None = None,
    branch: str | None = None,
    archived: bool | None = None,
    tick: Sequence[str] = (),
    untick: Sequence[str] = (),
    depends_on: Iterable[str] | None = None,
    anchored: Sequence[Mapping[str, Any]] | None = None,
    expected_revision: int | None = None,
    message: str | None = None,
) -> Task:
    """A task with what was given changed, the rest as it was; `message` is what the history says of it.

    Raises:
        CallerError: there is no such task or stage, a value cannot be used, stage and status contradict each other, or
            the task has another revision than the expected one: the message says what changed since.
    """
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    values = _checked(title=title, tags=tags, priority=priority, branch=branch)
    text = row["description"] if description is None else fields.body(description)
    if tick or untick:
        text = markdown.ticked(markdown.ticked(text, tick), untick, done=False)
    if text != row["description"]:
        values |= _text(text)
    moved = ""
    if stage is not None or status is not None:
        entering, moved = _entering(at, row, stage, status)
        values |= entering
    if archived is not None:
        if archived and values.get("status", row["status"]) == "pending":
            raise CallerError(f"{row['id']} is pending; only completed tasks go to the archive.")
        values["archived_at"] = (row["archived_at"] or at.now) if archived else None
    changed = {name: value for name, value in values.items() if row[name] != value}
    said = {name: [row[name], value] for name, value in changed.items() if name not in _UNSAID}
    if "archived_at" in changed and "status" not in changed:
        said["archived"] = [row["archived_at"] is not None, changed["archived_at"] is not None]
    if depends_on is not None:
        before = dependencies.of(at, row["id"])[0]
        said |= _changed("depends_on", before, _set_dependencies(at, row["id"], depends_on))
    if anchored is not None:
        before = [one["anchor"] for one in views.anchors_of(at, row["id"])]
        said |= _changed("anchors", before, _set_anchors(at, row["id"], anchored))
    if not said:
        return views.one(at, row["id"])
    said.pop("claimed_by", None)
    if "tags" in changed:
        _set_tags(at, row["id"], changed["tags"])
    only_moved = not said.keys() - {"stage", "status"}
    _store(at, row, changed, message or (moved if only_moved else _message(said, moved)), said)
    at.change("moved" if only_moved else "updated", "task", row["id"], changed.get("title", row["title"]))
    return views.one(at, row["id"])


def append(at: Transaction, typed: str, content: str, section: str | None = None) -> Task:
    """A task with `content` at the end of its description, or under the heading `section`, which is made if missing.

    Raises:
        CallerError: there is no such task, or the text cannot be used.
    """
    row = views.row(at, typed)
    text = fields.body(content, "content")
    if not text.strip():
        raise CallerError("the content is empty.")
    heading = fields.title(section, "section") if section is not None else None
    after = fields.body(markdown.appended(row["description"], text, heading))
    where = f" under {heading}" if heading else ""
    said = {"description": [row["description"], after]}
    _store(at, row, _text(after), f"added {len(text):,} characters{where}", said)
    at.change("updated", "task", row["id"], row["title"])
    return views.one(at, row["id"])


def comment(at: Transaction, typed: str, text: str) -> Task:
    """A task with another comment, which makes no new revision.

    Raises:
        CallerError: there is no such task, or the text cannot be used.
    """
    row = views.row(at, typed)
    said = fields.message(text, "comment")
    values = {"task": row["id"], "at": at.now, "who": at.actor.name, "agent": at.actor.id, "text": said}
    at.connection.execute(sa.insert(comments).values(**values))
    at.change("commented", "task", row["id"], said)
    return views.one(at, row["id"])


def move(
    at: Transaction,
    typed: str,
    stage: str,
    *,
    before: str | None = None,
    after: str | None = None,
    expected_revision: int | None = None,
) -> Task:
    """A task in another stage, or at another place in its own: before or behind another task, else at the end.

    A place in the same stage is in the history, but makes no new revision: what agents have read still holds.

    Raises:
        CallerError: as `update`; or the other task is in another stage.
    """
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    place = stages.find(at, stage)
    if after is not None and before is None:
        before = positions.behind(at, place, views.row(at, after), row["id"])
    next_ = None if before is None else views.row(at, before)
    if place["id"] == row["stage"] and positions.is_before(at, row, next_):
        return views.one(at, row["id"])
    position = positions.last(at, place["id"]) if next_ is None else positions.before(at, place, next_, row["id"])
    if place["id"] != row["stage"]:
        values, moved = _entering(at, row, stage, None)
        said = {name: [row[name], values[name]] for name in ("stage", "status") if row[name] != values[name]}
        _store(at, row, {**values, "position": position}, moved, said)
    else:
        at.connection.execute(sa.update(tasks).where(tasks.c.id == row["id"]).values(position=position))
        where = f"before {next_['id']}" if next_ is not None else "to the end"
        history.remember(at, "task", row["id"], row["revision"], f"moved {where} in {place['name']}")
    at.change("moved", "task", row["id"], row["title"])
    return views.one(at, row["id"])


def delete(at: Transaction, typed: str, expected_revision: int | None = None) -> Task:
    """Put a task into the trash; returns what it was. Raises as `update`."""
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    task = views.get(at, row["id"])
    history.remember(at, "task", row["id"], row["revision"] + 1, "deleted")
    trash.put(at, "task", row["id"], row["title"])
    at.change("deleted", "task", row["id"], row["title"])
    return task


# --- who works on it -------------------------------------------------------------------------------


def claim(at: Transaction, actor: Actor, typed: str | None, branch: str | None = None) -> Task:
    """A task that from now on is the actor's: `typed`, else the first that is ready. Two never get the same one.

    Raises:
        CallerError: there is none, it is completed, waits for others, or somebody works on it.
    """
    if typed is None and (typed := views.next_ready(at)) is None:
        raise CallerError("no task is ready: all are completed, claimed, or wait for others. See list_tasks.")
    row = views.row(at, typed)
    values: dict[str, Any] = {} if branch is None else {"branch": fields.branch(branch)}
    said = {name: [row[name], value] for name, value in values.items() if row[name] != value}
    if row["claimed_by"] == actor.id:
        if said:
            _store(at, row, values, f"works on the branch {branch}", said)
            at.change("claimed", "task", row["id"], row["title"])
        return views.one(at, row["id"])
    if row["status"] == "completed":
        raise CallerError(f"{row['id']} is completed; set its status to pending first, with update_task.")
    if waits := dependencies.waits_for(at, row["id"]):
        raise CallerError(f"{row['id']} waits for {', '.join(waits)}; complete those first.")
    holder = _holder(at, row["claimed_by"])
    if holder and holder["connected"]:
        raise CallerError(
            f"{holder['name']} works on {row['id']} since {row['claimed_at'][:16]}Z. See list_ready_tasks."
        )
    message = f"claimed by {actor.name}" + (f", who takes over from {holder['name']}" if holder else "")
    _store(at, row, {**values, "claimed_by": actor.id, "claimed_at": at.now}, message, said)
    at.change("claimed", "task", row["id"], row["title"])
    return views.one(at, row["id"])


def release(at: Transaction, actor: Actor, typed: str) -> Task:
    """A task that nobody works on any more.

    Raises:
        CallerError: there is none, or it is another agent's that is connected.
    """
    row = views.row(at, typed)
    holder = _holder(at, row["claimed_by"])
    if holder is None:
        return views.one(at, row["id"])
    if actor.id is not None and holder["id"] != actor.id and holder["connected"]:
        raise CallerError(
            f"{holder['name']} works on {row['id']}, and only {holder['name']} or a person can release it."
        )
    _store(at, row, {"claimed_by": None, "claimed_at": None}, f"released by {actor.name}", {})
    at.change("released", "task", row["id"], row["title"])
    return views.one(at, row["id"])


# --- inside ----------------------------------------------------------------------------------------


def _entering(at: Transaction, row: RowMapping, stage: str | None, status: Status | None) -> tuple[dict[str, Any], str]:
    """The values of a task's row that make stage and status as wanted, none if they are; and in words what it does."""
    places = stages.rows(at)
    by_id = {place["id"]: place for place in places}
    came_from = None
    if stage is None and status == "pending" and row["status"] == "completed":
        done = reversed(history.entries(at, "task", row["id"]))
        pairs = (one["fields"]["stage"] for one in done if "stage" in one["fields"])
        came_from = next((by_id.get(pair[0]) for pair in pairs if pair[1] == row["stage"]), None)
    wanted = None if stage is None else stages.named(places, stage)
    place = workflow.destination(places, by_id[row["stage"]], stage=wanted, status=status, came_from=came_from)
    if place["id"] == row["stage"]:
        return {}, ""
    values = workflow.entering(place, row["status"], at.now)
    verb = "moved"
    if values["status"] != row["status"]:
        verb = "completed: moved" if values["status"] == "completed" else "reopened: moved"
    return {**values, "position": positions.last(at, place["id"])}, f"{verb} to {place['name']}"


def _checked(**values: Any) -> dict[str, Any]:
    """Those values of a task's row that are given, as the table has them."""
    checks: dict[str, Callable[[Any], Any]] = {
        "title": fields.title,
        "tags": fields.tags,
        "priority": fields.priority,
        "branch": fields.branch,
    }
    return {name: checks[name](value) for name, value in values.items() if value is not None}


def _text(description: str) -> dict[str, Any]:
    """The values of a task's row that its description makes."""
    boxes = markdown.checkboxes(description)
    return {"description": description, "boxes": len(boxes), "ticked": sum(box.ticked for box in boxes)}


def _holder(at: Transaction, id_: str | None) -> RowMapping | None:
    return at.connection.execute(sa.select(agents).where(agents.c.id == id_)).mappings().first() if id_ else None


def _free_id(at: Transaction) -> str:
    """One that no task has, and none in the trash had."""
    for _ in range(_TRIES):
        id_ = new_id("t")
        if not history.last_revision(at, "task", id_):
            return id_
    raise CallerError("no free id was found; the board is full.")


def _store(at: Transaction, row: RowMapping, values: Mapping[str, Any], message: str, said: Mapping[str, Any]) -> None:
    revision = row["revision"] + 1
    at.connection.execute(
        sa.update(tasks).where(tasks.c.id == row["id"]).values(**values, revision=revision, updated_at=at.now)
    )
    history.remember(at, "task", row["id"], revision, message, said)


def _changed(name: str, before: list[str], after: list[str]) -> dict[str, list[list[str]]]:
    return {} if sorted(before) == sorted(after) else {name: [before, after]}


def _message(said: Mapping[str, Any], moved: str) -> str:
    names = {"depends_on": "dependencies"}
    if set(said) == {"archived"}:
        return "put into the archive" if said["archived"][1] else "taken out of the archive"
    told = [names.get(name, name) for name in said if not (moved and name in ("stage", "status"))]
    return "; ".join(part for part in (f"changed {', '.join(told)}" if told else "", moved) if part)


def _set_tags(at: Transaction, id_: str, tags: Sequence[str]) -> None:
    at.connection.execute(sa.delete(task_tags).where(task_tags.c.task == id_))
    if found := dict.fromkeys(map(fields.tag_key, tags)):
        at.connection.execute(sa.insert(task_tags), [{"task": id_, "tag": tag} for tag in found])


def _set_anchors(at: Transaction, id_: str, anchored: Sequence[Mapping[str, Any]]) -> list[str]:
    at.connection.execute(sa.delete(anchors).where(anchors.c.task == id_))
    if anchored:
        rows = [{**one, "task": id_, "position": position} for position, one in enumerate(anchored)]
        at.connection.execute(sa.insert(anchors), rows)
    return [one["anchor"] for one in anchored]


def _set_dependencies(at: Transaction, id_: str, typed: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(views.row(at, one)["id"] for one in typed))
    dependencies.replace(at, id_, wanted)
    return wanted
