"""The workflow: stages in order, one of which new tasks enter; some complete tasks (see `workflow`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board import fields, history, trash, workflow
from lsp_mcp.board.ids import slug_of
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import history as history_table
from lsp_mcp.board.tables import stages, tasks
from lsp_mcp.errors import CallerError, unknown

Stage = dict[str, Any]

FIRST = (
    ("backlog", "Backlog", "#8a8f98"),
    ("prepare", "Prepare", "#b8860b"),
    ("implement", "Implement", "#2563eb"),
    ("verify", "Verify", "#7c3aed"),
    ("done", "Done", "#15803d"),
)
_COLOR = "#8a8f98"
_MOST = 30
_LONGEST_ID = 32


def fill(at: Transaction) -> None:
    """Give a board without stages the usual ones."""
    if at.connection.execute(sa.select(sa.func.count()).select_from(stages)).scalar():
        return
    for position, (id_, name, color) in enumerate(FIRST):
        at.connection.execute(
            sa.insert(stages).values(
                id=id_,
                name=name,
                color=color,
                position=position,
                is_default=position == 0,
                completes=position == len(FIRST) - 1,
                activities=[],
            )
        )


def rows(at: Transaction, *, held: bool = False) -> list[Stage]:
    """All stages, in order; `held`: nobody else can change them until this transaction ends."""
    found = sa.select(stages).order_by(stages.c.position)
    # Of SQLite's writers there is one at a time.
    found = found.with_for_update(read=True) if held else found
    return [dict(row) for row in at.connection.execute(found).mappings()]


def listed(at: Transaction) -> list[Stage]:
    """All, in order, each with how many tasks are in it (`tasks`), those in the archive left out, and `pending`."""
    here = sa.select(tasks.c.stage, sa.func.count().label("all")).where(tasks.c.archived_at.is_(None))
    counts = {row.stage: row.all for row in at.connection.execute(here.group_by(tasks.c.stage))}
    return [
        {**row, "tasks": counts.get(row["id"], 0), "pending": 0 if row["completes"] else counts.get(row["id"], 0)}
        for row in rows(at)
    ]


def find(at: Transaction, name: str) -> Stage:
    """The stage with that name, in any case, or id.

    Raises:
        CallerError: there is none; the message lists the existing ones.
    """
    return named(rows(at), name)


def named(there: Sequence[Stage], name: str) -> Stage:
    """The stage with that name, in any case, or id among `there`. Raises CallerError."""
    wanted = " ".join(name.split()).casefold()
    by_name = [row for row in there if row["name"].casefold() == wanted]
    for row in by_name or [row for row in there if row["id"] == wanted]:
        return row
    raise CallerError(unknown("stage", name, [row["name"] for row in there]))


def default(at: Transaction) -> Stage:
    """The stage that new tasks enter."""
    return next(row for row in rows(at) if row["is_default"])


def create(
    at: Transaction,
    name: str,
    *,
    color: str | None = None,
    after: str | None = None,
    is_default: bool = False,
    completes: bool = False,
    activities: Sequence[dict[str, str]] = (),
) -> Stage:
    """A new stage, after `after`, else the last.

    Raises:
        CallerError: there is one of that name, or a value cannot be used.
    """
    name = fields.name(name, "stage's name")
    there = rows(at)
    if len(there) >= _MOST:
        raise CallerError(f"there are {len(there)} stages already; delete one first.")
    _unused(there, name)
    id_ = _free_id(there, slug_of(name)[:_LONGEST_ID].strip("-") or "stage")
    order = _order(there, id_, after)
    revision = history.last_revision(at, "stage", id_) + 1  # more than 1 if there once was another of that id
    at.connection.execute(
        sa.insert(stages).values(
            id=id_,
            name=name,
            color=_color(color or _COLOR),
            position=len(there),
            is_default=False,
            completes=completes,
            revision=revision,
            activities=_activities(activities),
        )
    )
    _set_order(at, order)
    if is_default:
        _make_default(at, id_)
    workflow.check(rows(at))
    history.remember(at, "stage", id_, revision, history.CREATED)
    at.change("created", "stage", id_, name)
    return find(at, id_)


def update(
    at: Transaction,
    name: str,
    *,
    new_name: str | None = None,
    color: str | None = None,
    after: str | None = None,
    is_default: bool | None = None,
    completes: bool | None = None,
    activities: Sequence[dict[str, str]] | None = None,
    expected_revision: int | None = None,
    message: str | None = None,
) -> Stage:
    """Change a stage; `after` empty makes it the first. If it now completes tasks, the tasks in it are completed.

    Raises:
        CallerError: as `create`; or there is none, it has another revision than the expected one, or without it no
            stage would be the default or complete tasks.
    """
    there = rows(at)
    stage = named(there, name)
    history.expect(at, "stage", stage["id"], stage["revision"], expected_revision)
    values: dict[str, Any] = {}
    if new_name is not None:
        values["name"] = fields.name(new_name, "stage's name")
        _unused([row for row in there if row["id"] != stage["id"]], values["name"])
    if color is not None:
        values["color"] = _color(color)
    if is_default is False and stage["is_default"]:
        raise CallerError(f"{stage['name']} is the default stage; make another stage the default first.")
    if is_default:
        values["is_default"] = True
    if completes is not None:
        values["completes"] = completes
    if activities is not None:
        values["activities"] = _activities(activities)
    said = {name: [stage[name], value] for name, value in values.items() if stage[name] != value}
    if after is not None:
        before = [row["id"] for row in there]
        order = _order(there, stage["id"], after)
        if order != before:
            _set_order(at, order)
            said["order"] = [before, order]
    if not said:
        return stage
    if "is_default" in said:
        _make_default(at, stage["id"])
    values["revision"] = stage["revision"] + 1
    at.connection.execute(sa.update(stages).where(stages.c.id == stage["id"]).values(**values))
    workflow.check(rows(at))
    now = find(at, stage["id"])
    if "completes" in said:
        done = "completes" if completes else "no longer completes"
        _carry(at, stage, now, f"{workflow.status_in(now)}, since {now['name']} {done} tasks")
    history.remember(at, "stage", stage["id"], values["revision"], message or f"changed {', '.join(said)}", said)
    at.change("updated", "stage", stage["id"], str(values.get("name", stage["name"])))
    return now


def delete(at: Transaction, name: str, move_tasks_to: str | None = None) -> int:
    """Put a stage into the trash; its tasks go to another, which must be named if it has any. Returns how many went.

    Raises:
        CallerError: there is none, it has tasks and no other was named, or without it no stage would be the default or
            complete tasks.
    """
    there = rows(at)
    stage = named(there, name)
    others = [row for row in there if row["id"] != stage["id"]]
    if not others:
        raise CallerError(f"{stage['name']} is the only stage; create another first.")
    in_it = sa.select(sa.func.count()).where(tasks.c.stage == stage["id"])
    count = at.connection.execute(in_it).scalar() or 0
    if count and move_tasks_to is None:
        what = "1 task" if count == 1 else f"{count:,} tasks"
        raise CallerError(f"{stage['name']} has {what}; pass move_tasks_to, the stage for them.")
    if count and move_tasks_to is not None:
        other = named(there, move_tasks_to)
        if other["id"] == stage["id"]:
            raise CallerError(f"move_tasks_to is {stage['name']} itself.")
        _carry(at, stage, other, f"moved to {other['name']}, since {stage['name']} was deleted")
    if stage["is_default"]:
        pending = [row for row in others if not row["completes"]]
        if not pending:
            raise CallerError(f"{stage['name']} is the only stage for pending tasks; create another first.")
        _make_default(at, pending[0]["id"])
    history.remember(at, "stage", stage["id"], stage["revision"] + 1, "deleted")
    trash.put(at, "stage", stage["id"], stage["name"])
    workflow.check(rows(at))
    at.change("deleted", "stage", stage["id"], stage["name"])
    return int(count)


# --- inside ----------------------------------------------------------------------------------------


def _carry(at: Transaction, stage: Stage, other: Stage, message: str) -> None:
    """Move all tasks of a stage to another, after those there, or to its replacement."""
    here = tasks.c.stage == stage["id"]
    said: dict[str, list[Any]] = {}
    behind = 0.0
    if other["id"] != stage["id"]:
        said["stage"] = [stage["id"], other["id"]]
        positions = tasks.c.position
        last = at.connection.execute(sa.select(sa.func.max(positions)).where(tasks.c.stage == other["id"])).scalar()
        first = at.connection.execute(sa.select(sa.func.min(positions)).where(here)).scalar()
        behind = float(last or 0.0) + 1.0 - float(first or 0.0)
    before = workflow.status_in(stage)
    if workflow.status_in(other) != before:
        said["status"] = [before, workflow.status_in(other)]
    at.connection.execute(
        sa.insert(history_table).from_select(
            ["kind", "ref", "revision", "at", "who", "message", "fields"],
            sa.select(
                sa.literal("task"),
                tasks.c.id,
                tasks.c.revision + 1,
                sa.literal(at.now),
                sa.literal(at.actor.name),
                sa.literal(message),
                sa.literal(said, type_=sa.JSON),
            ).where(here),
        )
    )
    at.connection.execute(
        sa.update(tasks)
        .where(here)
        .values(
            **workflow.entering(other, before, at.now),
            position=tasks.c.position + behind,
            revision=tasks.c.revision + 1,
            updated_at=at.now,
        )
    )


def _unused(there: Sequence[Stage], name: str) -> None:
    if any(row["name"].casefold() == name.casefold() for row in there):
        raise CallerError(f"the stage {name!r} exists already.")


def _free_id(there: Sequence[Stage], id_: str) -> str:
    taken = {row["id"] for row in there}
    return next(
        found for number in range(1, len(taken) + 2) if (found := f"{id_}-{number}" if number > 1 else id_) not in taken
    )


def _order(there: Sequence[Stage], id_: str, after: str | None) -> list[str]:
    """The ids of those `there` with `id_` behind the stage `after`; empty: as the first; None: as the last."""
    others = [row["id"] for row in there if row["id"] != id_]
    if after is None:
        return [*others, id_]
    if not after.strip():
        return [id_, *others]
    before = named(there, after)["id"]
    if before == id_:
        return [row["id"] for row in there]
    place = others.index(before) + 1
    return [*others[:place], id_, *others[place:]]


def _set_order(at: Transaction, ids: Sequence[str]) -> None:
    place = sa.update(stages).where(stages.c.id == sa.bindparam("stage")).values(position=sa.bindparam("number"))
    at.connection.execute(place, [{"stage": id_, "number": number} for number, id_ in enumerate(ids)])


def _make_default(at: Transaction, id_: str) -> None:
    at.connection.execute(sa.update(stages).values(is_default=sa.case((stages.c.id == id_, True), else_=False)))


def _color(value: str) -> str:
    text = value.strip().lower()
    if len(text) in (4, 7) and text[0] == "#" and all(char in "0123456789abcdef" for char in text[1:]):
        return text
    raise CallerError(f"{value[:40]!r} is not a color; write it as #2563eb.")


def _activities(values: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [
        {
            "name": fields.name(str(one.get("name", "")), "activity's name"),
            "prompt": fields.body(str(one.get("prompt", "")), "activity's prompt", fields.MOST_MESSAGE),
        }
        for one in values
    ]
