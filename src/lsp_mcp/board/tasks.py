"""Tasks: creating, changing, moving, deleting. Each change is in the task's history. See `claims` and `views`, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import (
    claims,
    dependencies,
    fields,
    history,
    markdown,
    people,
    positions,
    proofs,
    proving,
    stages,
    tables,
    trash,
    views,
    workflow,
)
from lsp_mcp.board.ids import new_id
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import anchors, comments, task_tags, tasks
from lsp_mcp.board.views import Task
from lsp_mcp.board.workflow import Status
from lsp_mcp.errors import CallerError
from lsp_mcp.prose import count

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
    due: str | None = None,
    required_proof: Iterable[str] | None = None,
    depends_on: Iterable[str] = (),
    anchored: Sequence[Mapping[str, Any]] = (),
) -> Task:
    """A new task, at the end of its stage, in the form of `views.one`.

    Raises:
        CallerError: there is no such stage or task to depend on, a value cannot be used, or it would be completed
            without the proof that it requires.
    """
    places = stages.rows(at, held=True)
    place = workflow.destination(places, None, stage=None if stage is None else stages.named(places, stage))
    given = _checked(title=title, tags=tags, priority=priority, due=due, required_proof=required_proof)
    values = {**given, **_text(fields.body(description))}
    if place["completes"] and values.get("required_proof"):
        raise CallerError(f"a task in {place['name']} is completed; create one that requires a proof in another stage.")
    id_, position = _new_place(at, place["id"])
    row = {
        **{"branch": None, "completed_at": None, "archived_at": None, "priority": fields.USUAL_PRIORITY},
        **{"due": None, "required_proof": [], "proof": []},
        **values,
        **workflow.entering(place, None, at.now),
        **{"id": id_, "position": position, "revision": 1, "created_at": at.now, "updated_at": at.now},
    }
    at.put(sa.insert(tasks).values(row))
    _add_tags(at, id_, values["tags"])
    if wanted := list(depends_on):
        _set_dependencies(at, id_, wanted)
    _add_anchors(at, id_, anchored)
    history.remember(at, "task", id_, 1, f"created in {place['name']}")
    at.change("created", "task", id_, values["title"])
    nobody = {"holder_name": None, "holder_connected": None, "questions_waiting": 0, "comment_count": 0}
    return views.after({**row, **nobody, "stage_name": place["name"]}, {})


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
    due: str | None = None,
    required_proof: Iterable[str] | None = None,
    proof: Iterable[str] | None = None,
    proven: Iterable[str] = (),
    archived: bool | None = None,
    tick: Sequence[str] = (),
    untick: Sequence[str] = (),
    depends_on: Iterable[str] | None = None,
    anchored: Sequence[Mapping[str, Any]] | None = None,
    expected_revision: int | None = None,
    message: str | None = None,
    force: bool = False,
    reason: str | None = None,
) -> Task:
    """A task with what was given changed, the rest as it was; `message` is what the history says of it,
    `proven` are proofs in addition to those there are.

    Raises:
        ConflictError: another agent works on it, and not `force`; or it is completed before it is done, without `force`
            and, for an agent, a `reason`.
        CallerError: there is no such task or stage, a value cannot be used, stage and status contradict each other, or
            the task has another revision than the expected one: the message says what changed since.
    """
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    overrode = claims.protect(at, row, force=force)
    values = _checked(title=title, tags=tags, priority=priority, branch=branch, due=due, required_proof=required_proof)
    text = row["description"] if description is None else fields.body(description)
    if tick or untick:
        text = markdown.ticked(markdown.ticked(text, tick), untick, done=False)
    if text != row["description"]:
        values |= _text(text)
    moved, place = "", None
    if stage is not None or status is not None:
        entering, moved, place = _entering(at, row, stage, status)
        values |= entering
    values |= _proof(row["proof"], proof, proven)
    if archived is not None:
        if archived and values.get("status", row["status"]) == "pending":
            raise CallerError(f"{row['id']} is pending; only completed tasks go to the archive.")
        values["archived_at"] = (row["archived_at"] or at.now) if archived else None
    changed = {name: value for name, value in values.items() if row[name] != value}
    if depends_on is not None:
        before = dependencies.both_ways(at, row["id"])[0]
        linked = _changed("depends_on", before, _set_dependencies(at, row["id"], depends_on))
    else:
        linked = {}
    if changed.get("status") == "completed":
        moved += proving.check(
            at, {**row, **changed}, is_waiting=row["is_waiting"] or bool(linked), force=force, reason=reason
        )
    said = {name: [row[name], value] for name, value in changed.items() if name not in _UNSAID}
    if "archived_at" in changed and "status" not in changed:
        said["archived"] = [row["archived_at"] is not None, changed["archived_at"] is not None]
    said |= linked
    if anchored is not None:
        before = [one["anchor"] for one in views.anchors_of(at, row["id"])]
        said |= _changed("anchors", before, _set_anchors(at, row["id"], anchored))
    if not said:
        return views.after(row, {})
    said.pop("claimed_by", None)
    if "tags" in changed:
        _set_tags(at, row["id"], changed["tags"])
    only_moved = not said.keys() - {"stage", "status"}
    history.advance(at, row, changed, message or (moved if only_moved else _message(said, moved)), said)
    at.change("moved" if only_moved else "updated", "task", row["id"], changed.get("title", row["title"]))
    stored = {**changed, "revision": row["revision"] + 1, "updated_at": at.now}
    return {**views.after(row, stored, stage=place), **overrode}


def append(at: Transaction, typed: str, content: str, section: str | None = None) -> Task:
    """A task with `content` appended to its description, or under the heading `section`, which is added if missing.

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
    values = _text(after)
    history.advance(at, row, values, f"added {count(len(text), 'character')}{where}", said)
    at.change("updated", "task", row["id"], row["title"])
    return views.after(row, {**values, "revision": row["revision"] + 1, "updated_at": at.now})


def comment(at: Transaction, typed: str, text: str) -> Task:
    """A task with another comment, which makes no new revision.

    Raises:
        CallerError: there is no such task, or the text cannot be used.
    """
    row = views.row(at, typed)
    said = fields.message(text, "comment")
    values = {"task": row["id"], "at": at.now, "who": at.actor.name, "agent": at.actor.id, "text": said}
    at.put(sa.insert(comments).values(**values))
    at.change("commented", "task", row["id"], said)
    if f"@{row['holder_name']}".casefold() not in said.casefold():
        claims.tell_holder(at, row, f"{claims.who(at)} commented on {row['id']}: {said}")
    people.mention(at, said, row["id"], f"{claims.who(at)} mentions you on {row['id']} ({row['title']}): {said}")
    return views.one(at, row["id"])


def move(
    at: Transaction,
    typed: str,
    stage: str,
    *,
    before: str | None = None,
    after: str | None = None,
    expected_revision: int | None = None,
    force: bool = False,
) -> Task:
    """A task in another stage, or at another place in its own: before or behind another task, else at the end.

    A place in the same stage is in the history, but makes no new revision: what agents have read still holds.

    Raises:
        CallerError: as `update`; or the other task is in another stage.
    """
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    overrode = claims.protect(at, row, force=force)
    place = stages.find(at, stage)
    if after is not None and before is None:
        before = positions.behind(at, place, views.row(at, after), row["id"])
    next_ = None if before is None else views.row(at, before)
    if place["id"] == row["stage"] and positions.is_before(at, row, next_):
        return views.one(at, row["id"])
    position = positions.last(at, place["id"]) if next_ is None else positions.before(at, place, next_, row["id"])
    if place["id"] != row["stage"]:
        values, moved, _ = _entering(at, row, stage, None)
        if values["status"] == "completed" != row["status"]:
            moved += proving.check(at, row, is_waiting=row["is_waiting"], force=force, reason=None)
        said = {name: [row[name], new] for name, new in values.items() if name not in _UNSAID and row[name] != new}
        said.pop("claimed_by", None)
        history.advance(at, row, {**values, "position": position}, moved, said)
    else:
        at.put(sa.update(tasks).where(tasks.c.id == row["id"]).values(position=position))
        where = f"before {next_['id']}" if next_ is not None else "to the end"
        history.remember(at, "task", row["id"], row["revision"], f"moved {where} in {place['name']}")
    at.change("moved", "task", row["id"], row["title"])
    return {**views.one(at, row["id"]), **overrode}


def delete(at: Transaction, typed: str, expected_revision: int | None = None, *, force: bool = False) -> Task:
    """Move a task to the trash; returns what it was. Raises as `update`."""
    row = views.row(at, typed)
    history.expect(at, "task", row["id"], row["revision"], expected_revision)
    overrode = claims.protect(at, row, force=force)
    task = views.get(at, row["id"])
    history.remember(at, "task", row["id"], row["revision"] + 1, "deleted")
    trash.put(at, "task", row["id"], row["title"])
    at.change("deleted", "task", row["id"], row["title"])
    return {**task, **overrode}


# --- inside ----------------------------------------------------------------------------------------


def _entering(
    at: Transaction, row: RowMapping, stage: str | None, status: Status | None
) -> tuple[dict[str, Any], str, str | None]:
    """The values of a task's row that make stage and status as wanted, none if they are; in words what that does; and
    the name of the stage."""
    places = stages.rows(at, held=True)
    by_id = {place["id"]: place for place in places}
    came_from = None
    if stage is None and status == "pending" and row["status"] == "completed":
        done = reversed(history.entries(at, "task", row["id"]))
        pairs = (one["fields"]["stage"] for one in done if "stage" in one["fields"])
        came_from = next((by_id.get(pair[0]) for pair in pairs if pair[1] == row["stage"]), None)
    wanted = None if stage is None else stages.named(places, stage)
    place = workflow.destination(places, by_id[row["stage"]], stage=wanted, status=status, came_from=came_from)
    if place["id"] == row["stage"]:
        return {}, "", None
    values = workflow.entering(place, row["status"], at.now)
    if values["status"] == "pending" != row["status"] and row["proof"]:
        values["proof"] = []  # of work that was not done after all; the history has it
    verb = "moved"
    if values["status"] != row["status"]:
        verb = "completed: moved" if values["status"] == "completed" else "reopened: moved"
    return {**values, "position": positions.last(at, place["id"])}, f"{verb} to {place['name']}", place["name"]


def _checked(**values: Any) -> dict[str, Any]:
    """Those values of a task's row that are given, as the table has them."""
    checks: dict[str, Callable[[Any], Any]] = {
        "title": fields.title,
        "tags": fields.tags,
        "priority": fields.priority,
        "branch": fields.branch,
        "due": fields.due,
        "required_proof": proofs.required,
    }
    return {name: checks[name](value) for name, value in values.items() if value is not None}


def _proof(before: list[str], proof: Iterable[str] | None, proven: Iterable[str]) -> dict[str, Any]:
    """The column of a task's proofs, if they change."""
    shown = [*(before if proof is None else proof), *proven]
    return {"proof": proofs.checked(shown)} if shown != before else {}


def _text(description: str) -> dict[str, Any]:
    """The columns of a task's row that follow from its description."""
    boxes = markdown.checkboxes(description)
    return {"description": description, "boxes": len(boxes), "ticked": sum(box.ticked for box in boxes)}


def _new_place(at: Transaction, stage: str) -> tuple[str, float]:
    """An id that no task has or had; and the position after all tasks of a stage."""
    newest = sa.select(sa.func.max(tasks.c.position)).where(tasks.c.stage == stage).scalar_subquery()
    for _ in range(_TRIES):
        id_ = new_id("t")
        known = sa.exists().where(tables.history.c.kind == "task", tables.history.c.ref == id_)
        last, is_known = at.connection.execute(sa.select(newest, known)).one()
        if not is_known:
            return id_, float(last or 0.0) + 1.0
    raise CallerError("no free ID was found; the board is full.")


def _changed(name: str, before: list[str], after: list[str]) -> dict[str, list[list[str]]]:
    return {} if sorted(before) == sorted(after) else {name: [before, after]}


def _message(said: Mapping[str, Any], moved: str) -> str:
    names = {"depends_on": "dependencies", "due": "due date", "required_proof": "required proof"}
    if set(said) == {"archived"}:
        return "put into the archive" if said["archived"][1] else "taken out of the archive"
    fields = [names.get(name, name) for name in said if not (moved and name in ("stage", "status"))]
    return "; ".join(part for part in (f"changed {', '.join(fields)}" if fields else "", moved) if part)


def _set_tags(at: Transaction, id_: str, tags: Sequence[str]) -> None:
    at.put(sa.delete(task_tags).where(task_tags.c.task == id_))
    _add_tags(at, id_, tags)


def _add_tags(at: Transaction, id_: str, tags: Sequence[str]) -> None:
    if found := dict.fromkeys(map(fields.tag_key, tags)):
        at.insert(task_tags, [{"task": id_, "tag": tag} for tag in found])


def _set_anchors(at: Transaction, id_: str, anchored: Sequence[Mapping[str, Any]]) -> list[str]:
    at.put(sa.delete(anchors).where(anchors.c.task == id_))
    return _add_anchors(at, id_, anchored)


def _add_anchors(at: Transaction, id_: str, anchored: Sequence[Mapping[str, Any]]) -> list[str]:
    if anchored:
        at.insert(anchors, [{**one, "task": id_, "position": position} for position, one in enumerate(anchored)])
    return [one["anchor"] for one in anchored]


def _set_dependencies(at: Transaction, id_: str, typed: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(views.row(at, one)["id"] for one in typed))
    dependencies.replace(at, id_, wanted)
    return wanted
