"""Tasks: reading, creating, changing, moving, claiming. Each change is in the task's history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import dependencies as waiting
from lsp_mcp.board import fields, markdown, stages, tables
from lsp_mcp.board.ids import new_id, read_id
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.tables import agents, anchors, dependencies, history, questions, task_tags, tasks
from lsp_mcp.errors import CallerError, ConflictError

Task = dict[str, Any]
Status = Literal["pending", "completed"]

MOST_LISTED = 1_000
_TRIES = 20  # for an id that nobody has
_SHOWN = 200  # characters of a value in the history
_NEAREST = 3
_LISTED = (
    tasks.c.id,
    tasks.c.title,
    tasks.c.stage,
    tasks.c.status,
    tasks.c.tags,
    tasks.c.position,
    tasks.c.revision,
    tasks.c.updated_at,
    tasks.c.claimed_by,
)


# --- reading ---------------------------------------------------------------------------------------


def listed(
    at: Transaction,
    *,
    stage: str | None = None,
    status: Status | None = None,
    tags: Sequence[str] = (),
    text: str | None = None,
    agent: str | None = None,
    ids: Sequence[str] | None = None,
    limit: int = 100,
) -> tuple[list[Task], int]:
    """The tasks without their bodies, in the order of the board, at most `limit`; and how many there are in all.

    Raises:
        CallerError: there is no such stage.
    """
    wanted = []
    if stage is not None:
        wanted.append(tasks.c.stage == stages.find(at, stage)["id"])
    if status is not None:
        wanted.append(tasks.c.status == status)
    if tags:
        folded = [fields.tag_key(fields.sought(tag, "tag")) for tag in tags]
        wanted.append(tasks.c.id.in_(sa.select(task_tags.c.task).where(task_tags.c.tag.in_(folded))))
    if text and (sought := fields.sought(text)):
        like = f"%{_escaped(sought)}%"
        wanted.append(tasks.c.title.ilike(like, escape="\\") | tasks.c.description.ilike(like, escape="\\"))
    if agent is not None:
        wanted.append(tasks.c.claimed_by == agent)
    if ids is not None:
        wanted.append(tasks.c.id.in_(ids))
    return _rows(at, sa.and_(sa.true(), *wanted), limit)


def ready(at: Transaction, limit: int = 100) -> tuple[list[Task], int]:
    """The pending tasks that nobody works on and that wait for no other, in the order of the board; and how many."""
    return _rows(at, waiting.is_ready(), limit)


def get(at: Transaction, typed: str) -> Task:
    """A task with everything: `description`, `history`, `depends_on`, `needed_by`, `anchors`, `questions`.

    Raises:
        CallerError: there is none; the message names some that are like it.
    """
    row = _row(at, typed)
    id_ = row["id"]
    connection = at.connection
    edges = sa.select(dependencies.c.depends_on, dependencies.c.task).where(
        (dependencies.c.task == id_) | (dependencies.c.depends_on == id_)
    )
    pairs = connection.execute(edges.order_by(dependencies.c.task, dependencies.c.depends_on)).all()
    asked = connection.execute(
        sa.select(questions).where(questions.c.task == id_).order_by(questions.c.asked_at)
    ).mappings()
    done = connection.execute(sa.select(history).where(history.c.task == id_).order_by(history.c.id)).mappings()
    return {
        **_shaped(at, [row])[0],
        "description": row["description"],
        "created_at": row["created_at"],
        "depends_on": [one.depends_on for one in pairs if one.task == id_],
        "needed_by": [one.task for one in pairs if one.depends_on == id_],
        "anchors": anchors_of(at, id_),
        "questions": [dict(one) for one in asked],
        "history": [{key: one[key] for key in ("revision", "at", "who", "message", "fields")} for one in done],
    }


def anchors_of(at: Transaction, id_: str) -> list[dict[str, Any]]:
    """The anchors of a task, in their order."""
    rows = at.connection.execute(
        sa.select(anchors).where(anchors.c.task == id_).order_by(anchors.c.position)
    ).mappings()
    return [{key: row[key] for key in ("anchor", "symbol", "code", "state")} for row in rows]


# --- changing --------------------------------------------------------------------------------------


def create(
    at: Transaction,
    title: str,
    *,
    description: str = "",
    tags: Iterable[str] = (),
    stage: str | None = None,
    depends_on: Iterable[str] = (),
    anchored: Sequence[Mapping[str, Any]] = (),
) -> Task:
    """A new task, at the end of its stage.

    Raises:
        CallerError: there is no such stage or task to depend on, or a text cannot be used.
    """
    place = stages.find(at, stage) if stage is not None else stages.default(at)
    tag_list = fields.tags(tags)
    id_ = _free_id(at)
    at.connection.execute(
        sa.insert(tasks).values(
            id=id_,
            title=fields.title(title),
            description=fields.body(description),
            status="pending",
            stage=place["id"],
            position=_last(at, place["id"]) + 1.0,
            tags=tag_list,
            revision=1,
            created_at=at.now,
            updated_at=at.now,
        )
    )
    _set_tags(at, id_, tag_list)
    _set_dependencies(at, id_, depends_on)
    _set_anchors(at, id_, anchored)
    _remember(at, id_, 1, f"created in {place['name']}", {})
    at.change("created", "task", id_, fields.title(title))
    return get(at, id_)


def update(
    at: Transaction,
    typed: str,
    *,
    title: str | None = None,
    description: str | None = None,
    tags: Iterable[str] | None = None,
    stage: str | None = None,
    status: Status | None = None,
    depends_on: Iterable[str] | None = None,
    anchored: Sequence[Mapping[str, Any]] | None = None,
    expected_revision: int | None = None,
) -> Task:
    """A task with what was given changed, the rest as it was.

    Raises:
        CallerError: there is no such task or stage, a value cannot be used, or the task has another revision than
            the expected one: the message says what changed since.
    """
    row = _row(at, typed)
    _expect(at, row, expected_revision)
    values: dict[str, Any] = {}
    if title is not None:
        values["title"] = fields.title(title)
    if description is not None:
        values["description"] = fields.body(description)
    if tags is not None:
        values["tags"] = fields.tags(tags)
    if status is not None:
        values["status"] = status
        if status == "completed":
            values |= {"claimed_by": None, "claimed_at": None}
    if stage is not None:
        place = stages.find(at, stage)
        if place["id"] != row["stage"]:
            values |= {"stage": place["id"], "position": _last(at, place["id"]) + 1.0}
    changed = {name: value for name, value in values.items() if row[name] != value}
    said = {name: [row[name], value] for name, value in changed.items() if name not in ("position", "claimed_at")}
    if depends_on is not None:
        said |= _changed("depends_on", get(at, row["id"])["depends_on"], _set_dependencies(at, row["id"], depends_on))
    if anchored is not None:
        before = [one["anchor"] for one in anchors_of(at, row["id"])]
        said |= _changed("anchors", before, _set_anchors(at, row["id"], anchored))
    if not said:
        return get(at, row["id"])
    if "tags" in changed:
        _set_tags(at, row["id"], changed["tags"])
    message = f"moved to {stages.find(at, values['stage'])['name']}" if set(said) == {"stage"} else _message(said)
    _store(at, row, changed, message, said)
    at.change("moved" if set(said) == {"stage"} else "updated", "task", row["id"], changed.get("title", row["title"]))
    return get(at, row["id"])


def append(at: Transaction, typed: str, content: str, section: str | None = None) -> Task:
    """A task with `content` at the end of its description, or under the heading `section`, which is made if missing.

    Raises:
        CallerError: there is no such task, or the text cannot be used.
    """
    row = _row(at, typed)
    text = fields.body(content, "content")
    if not text.strip():
        raise CallerError("the content is empty.")
    heading = fields.title(section, "section") if section is not None else None
    after = fields.body(markdown.appended(row["description"], text, heading))
    where = f" under {heading}" if heading else ""
    _store(at, row, {"description": after}, f"added {len(text):,} characters{where}", {"added": [None, text]})
    at.change("updated", "task", row["id"], row["title"])
    return get(at, row["id"])


def move(
    at: Transaction,
    typed: str,
    stage: str,
    *,
    before: str | None = None,
    expected_revision: int | None = None,
) -> Task:
    """A task in another stage, or at another place in its own: before the task `before`, else at the end.

    A place in the same stage is in the history, but makes no new revision: what agents have read still holds.

    Raises:
        CallerError: as `update`; or `before` is in another stage.
    """
    row = _row(at, typed)
    _expect(at, row, expected_revision)
    place = stages.find(at, stage)
    if place["id"] == row["stage"] and _is_there(at, row, before):
        return get(at, row["id"])
    position = _last(at, place["id"]) + 1.0 if before is None else _before(at, place, before, row["id"])
    values: dict[str, Any] = {"position": position}
    if place["id"] != row["stage"]:
        values["stage"] = place["id"]
        said = {"stage": [row["stage"], place["id"]]}
        _store(at, row, values, f"moved to {place['name']}", said)
    else:
        at.connection.execute(sa.update(tasks).where(tasks.c.id == row["id"]).values(**values))
        where = f"before {_row(at, before)['id']}" if before is not None else "to the end"
        _remember(at, row["id"], row["revision"], f"moved {where} in {place['name']}", {})
    at.change("moved", "task", row["id"], row["title"])
    return get(at, row["id"])


def delete(at: Transaction, typed: str, expected_revision: int | None = None) -> Task:
    """Remove a task and its history; returns what it was. Raises as `update`."""
    task = get(at, typed)
    _expect(at, _row(at, typed), expected_revision)
    for table, column in ((task_tags, task_tags.c.task), (dependencies, dependencies.c.task),
                          (dependencies, dependencies.c.depends_on), (anchors, anchors.c.task),
                          (history, history.c.task)):  # fmt: skip
        at.connection.execute(sa.delete(table).where(column == task["id"]))
    at.connection.execute(sa.delete(tasks).where(tasks.c.id == task["id"]))
    at.change("deleted", "task", task["id"], task["title"])
    return task


def claim(at: Transaction, actor: Actor, typed: str | None) -> Task:
    """A task that from now on is the actor's: `typed`, else the first that is ready. Two never get the same one.

    Raises:
        CallerError: there is none, it is completed, waits for others, or somebody works on it.
    """
    if typed is None:
        found, _ = ready(at, 1)
        if not found:
            raise CallerError("no task is ready: all are completed, claimed, or wait for others. See list_tasks.")
        typed = found[0]["id"]
    row = _row(at, typed)
    if row["claimed_by"] == actor.id:
        return get(at, row["id"])
    if row["status"] == "completed":
        raise CallerError(f"{row['id']} is completed; set its status to pending first, with update_task.")
    if waits := waiting.waits_for(at, row["id"]):
        raise CallerError(f"{row['id']} waits for {', '.join(waits)}; complete those first.")
    holder = _holder(at, row["claimed_by"])
    if holder and holder["connected"]:
        raise CallerError(
            f"{holder['name']} works on {row['id']} since {row['claimed_at'][:16]}Z. See list_ready_tasks."
        )
    _store(
        at,
        row,
        {"claimed_by": actor.id, "claimed_at": at.now},
        f"claimed by {actor.name}" + (f", who takes over from {holder['name']}" if holder else ""),
        {},
    )
    at.change("claimed", "task", row["id"], row["title"])
    return get(at, row["id"])


def release(at: Transaction, actor: Actor, typed: str) -> Task:
    """A task that nobody works on any more.

    Raises:
        CallerError: there is none, or it is another agent's that is connected.
    """
    row = _row(at, typed)
    holder = _holder(at, row["claimed_by"])
    if holder is None:
        return get(at, row["id"])
    if actor.id is not None and holder["id"] != actor.id and holder["connected"]:
        raise CallerError(
            f"{holder['name']} works on {row['id']}, and only {holder['name']} or a person can release it."
        )
    _store(at, row, {"claimed_by": None, "claimed_at": None}, f"released by {actor.name}", {})
    at.change("released", "task", row["id"], row["title"])
    return get(at, row["id"])


# --- inside ----------------------------------------------------------------------------------------


def _row(at: Transaction, typed: str) -> RowMapping:
    sought = fields.sought(typed, "id of the task")
    if not sought:
        raise CallerError("the id of the task is empty. See list_tasks.")
    id_ = read_id("t", sought)
    row = at.connection.execute(sa.select(tasks).where(tasks.c.id == id_)).mappings().first()
    if row is None:
        like = at.connection.execute(
            sa.select(tasks.c.id, tasks.c.title)
            .where(
                tasks.c.id.like(f"%{_escaped(id_[-3:])}", escape="\\")
                | tasks.c.title.ilike(f"%{_escaped(sought)}%", escape="\\")
            )
            .limit(_NEAREST)
        ).all()
        near = "; like it: " + ", ".join(f"{one.id} ({one.title[:40]})" for one in like) if like else ""
        raise CallerError(f"unknown task {sought[:40]!r}{near}. See list_tasks.")
    return row


def _rows(at: Transaction, wanted: Any, limit: int) -> tuple[list[Task], int]:
    total = at.connection.execute(sa.select(sa.func.count()).select_from(tasks).where(wanted)).scalar() or 0
    rows = at.connection.execute(
        sa.select(*_LISTED)
        .join(tables.stages, tables.stages.c.id == tasks.c.stage)
        .where(wanted)
        .order_by(tables.stages.c.position, tasks.c.position, tasks.c.id)
        .limit(limit)
    ).mappings()
    return _shaped(at, list(rows)), total


def _shaped(at: Transaction, rows: Sequence[RowMapping]) -> list[Task]:
    """What a list says of each: names instead of ids, and how many of its questions wait for an answer."""
    names = {stage["id"]: stage["name"] for stage in at.connection.execute(sa.select(tables.stages)).mappings()}
    holders = {one.id: one.name for one in at.connection.execute(sa.select(agents.c.id, agents.c.name))}
    asked = {
        one.task: one.count_
        for one in at.connection.execute(
            sa.select(questions.c.task, sa.func.count().label("count_"))
            .where(questions.c.answered_at.is_(None), questions.c.task.is_not(None))
            .group_by(questions.c.task)
        )
    }
    return [
        {
            "id": row["id"],
            "title": row["title"],
            "stage": names[row["stage"]],
            "status": row["status"],
            "tags": row["tags"],
            "claimed_by": holders.get(row["claimed_by"]) if row["claimed_by"] else None,
            "questions_waiting": asked.get(row["id"], 0),
            "position": row["position"],
            "revision": row["revision"],
            "updated_at": row["updated_at"],
        }
        for row in rows
    ]


def _holder(at: Transaction, id_: str | None) -> RowMapping | None:
    return at.connection.execute(sa.select(agents).where(agents.c.id == id_)).mappings().first() if id_ else None


def _free_id(at: Transaction) -> str:
    for _ in range(_TRIES):
        id_ = new_id("t")
        if at.connection.execute(sa.select(tasks.c.id).where(tasks.c.id == id_)).first() is None:
            return id_
    raise CallerError("no free id was found; the board is full.")


def _last(at: Transaction, stage: str) -> float:
    last = at.connection.execute(sa.select(sa.func.max(tasks.c.position)).where(tasks.c.stage == stage)).scalar()
    return float(last or 0.0)


def _is_there(at: Transaction, row: RowMapping, before: str | None) -> bool:
    """Whether a task is at that place of its stage already: right before the task `before`, else the last."""
    behind = (tasks.c.stage == row["stage"]) & (tasks.c.position > row["position"]) & (tasks.c.id != row["id"])
    following = at.connection.execute(sa.select(tasks.c.id).where(behind).order_by(tasks.c.position).limit(1)).scalar()
    return following is None if before is None else _row(at, before)["id"] in (following, row["id"])


def _before(at: Transaction, place: Mapping[str, Any], before: str, moved: str) -> float:
    """A position right before a task; the stage's are spread anew once there is no room."""
    row = _row(at, before)
    if row["stage"] != place["id"]:
        raise CallerError(f"{row['id']} is not in {place['name']}.")
    in_stage = (tasks.c.stage == place["id"]) & (tasks.c.id != moved)
    previous = at.connection.execute(
        sa.select(sa.func.max(tasks.c.position)).where(in_stage, tasks.c.position < row["position"])
    ).scalar()
    position = (
        float(row["position"]) + (float(previous) if previous is not None else float(row["position"]) - 2.0)
    ) / 2
    if previous is not None and not float(previous) < position < float(row["position"]):
        order = at.connection.execute(
            sa.select(tasks.c.id).where(tasks.c.stage == place["id"]).order_by(tasks.c.position, tasks.c.id)
        ).scalars()
        for number, id_ in enumerate(list(order)):
            at.connection.execute(sa.update(tasks).where(tasks.c.id == id_).values(position=float(number + 1)))
        at.change("updated", "stage", place["id"], place["name"])  # whoever shows it has old positions
        return _before(at, place, before, moved)
    return position


def _expect(at: Transaction, row: RowMapping, expected: int | None) -> None:
    if expected is None or expected == row["revision"]:
        return
    since = at.connection.execute(
        sa.select(history).where(history.c.task == row["id"], history.c.revision > expected).order_by(history.c.id)
    ).mappings()
    told = "; ".join(f"{one['who']} {one['message']}" for one in since)
    raise ConflictError(
        f"{row['id']} has revision {row['revision']}, not {expected}"
        + (f"; since then: {told}" if told else "")
        + ". Nothing was changed: read it with get_task, then try again."
    )


def _store(at: Transaction, row: RowMapping, values: Mapping[str, Any], message: str, said: Mapping[str, Any]) -> None:
    revision = row["revision"] + 1
    at.connection.execute(
        sa.update(tasks).where(tasks.c.id == row["id"]).values(**values, revision=revision, updated_at=at.now)
    )
    _remember(at, row["id"], revision, message, said)


def _remember(at: Transaction, id_: str, revision: int, message: str, said: Mapping[str, Any]) -> None:
    at.connection.execute(
        sa.insert(history).values(
            task=id_,
            revision=revision,
            at=at.now,
            who=at.actor.name,
            message=message,
            fields={name: [_cut(value) for value in pair] for name, pair in said.items()},
        )
    )


def _cut(value: Any) -> Any:
    return value[:_SHOWN] + "…" if isinstance(value, str) and len(value) > _SHOWN else value


def _changed(name: str, before: list[str], after: list[str]) -> dict[str, list[list[str]]]:
    return {} if sorted(before) == sorted(after) else {name: [before, after]}


def _message(said: Mapping[str, Any]) -> str:
    if set(said) == {"status", "claimed_by"} or set(said) == {"status"}:
        return "completed it" if said["status"][1] == "completed" else "opened it again"
    names = {"claimed_by": "claim", "depends_on": "dependencies"}
    return "changed " + ", ".join(names.get(name, name) for name in said)


def _set_tags(at: Transaction, id_: str, tags: Sequence[str]) -> None:
    at.connection.execute(sa.delete(task_tags).where(task_tags.c.task == id_))
    for tag in dict.fromkeys(map(fields.tag_key, tags)):
        at.connection.execute(sa.insert(task_tags).values(task=id_, tag=tag))


def _set_anchors(at: Transaction, id_: str, anchored: Sequence[Mapping[str, Any]]) -> list[str]:
    at.connection.execute(sa.delete(anchors).where(anchors.c.task == id_))
    for position, one in enumerate(anchored):
        at.connection.execute(sa.insert(anchors).values(task=id_, position=position, **one))
    return [one["anchor"] for one in anchored]


def _set_dependencies(at: Transaction, id_: str, typed: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(_row(at, one)["id"] for one in typed))
    waiting.replace(at, id_, wanted)
    return wanted


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
