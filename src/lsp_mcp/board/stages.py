"""The workflow: stages, in order, one of which new tasks come into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board import fields
from lsp_mcp.board.ids import slug_of
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import history, stages, tasks
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
                id=id_, name=name, color=color, position=position, is_default=position == 0, activities=[]
            )
        )


def listed(at: Transaction) -> list[Stage]:
    """All, in order, each with how many tasks are in it (`tasks`) and how many of those are pending."""
    counts = {
        row.stage: (row.all, row.pending)
        for row in at.connection.execute(
            sa.select(
                tasks.c.stage,
                sa.func.count().label("all"),
                sa.func.sum(sa.case((tasks.c.status == "pending", 1), else_=0)).label("pending"),
            ).group_by(tasks.c.stage)
        )
    }
    rows = at.connection.execute(sa.select(stages).order_by(stages.c.position)).mappings()
    return [
        {**row, "tasks": counts.get(row["id"], (0, 0))[0], "pending": int(counts.get(row["id"], (0, 0))[1])}
        for row in rows
    ]


def find(at: Transaction, name: str) -> Stage:
    """The stage that is called `name`, in any case, or has that id.

    Raises:
        CallerError: there is none; the message lists those there are.
    """
    wanted = " ".join(name.split()).casefold()
    rows = list(at.connection.execute(sa.select(stages).order_by(stages.c.position)).mappings())
    by_name = [row for row in rows if row["name"].casefold() == wanted]
    for row in by_name or [row for row in rows if row["id"] == wanted]:
        return dict(row)
    raise CallerError(unknown("stage", name, [row["name"] for row in rows]))


def default(at: Transaction) -> Stage:
    """The one that new tasks come into."""
    row = (
        at.connection.execute(sa.select(stages).order_by(stages.c.is_default.desc(), stages.c.position).limit(1))
        .mappings()
        .one()
    )
    return dict(row)


def create(
    at: Transaction,
    name: str,
    *,
    color: str | None = None,
    after: str | None = None,
    is_default: bool = False,
    activities: Sequence[dict[str, str]] = (),
) -> Stage:
    """A new stage, behind `after`, else as the last.

    Raises:
        CallerError: there is one of that name, or a value cannot be used.
    """
    name = fields.name(name, "stage's name")
    rows = listed(at)
    if len(rows) >= _MOST:
        raise CallerError(f"there are {len(rows)} stages already; delete one first.")
    _unused(rows, name)
    id_ = _free_id(rows, slug_of(name)[:_LONGEST_ID].strip("-") or "stage")
    order = _order(at, rows, id_, after)
    at.connection.execute(
        sa.insert(stages).values(
            id=id_,
            name=name,
            color=_color(color or _COLOR),
            position=len(rows),
            is_default=False,
            activities=_activities(activities),
        )
    )
    _set_order(at, order)
    if is_default:
        _make_default(at, id_)
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
    activities: Sequence[dict[str, str]] | None = None,
) -> Stage:
    """A stage changed; `after` empty makes it the first.

    Raises:
        CallerError: as `create`; or there is none, or it would no longer be the default without another that is.
    """
    stage = find(at, name)
    values: dict[str, Any] = {}
    rows = [row for row in listed(at) if row["id"] != stage["id"]]
    if new_name is not None:
        values["name"] = fields.name(new_name, "stage's name")
        _unused(rows, values["name"])
    if color is not None:
        values["color"] = _color(color)
    if after is not None:
        _set_order(at, _order(at, [*rows, stage], stage["id"], after))
    if is_default is False and stage["is_default"]:
        raise CallerError(f"{stage['name']} is the default stage; make another one that instead.")
    if activities is not None:
        values["activities"] = _activities(activities)
    if values:
        at.connection.execute(sa.update(stages).where(stages.c.id == stage["id"]).values(**values))
    if is_default:
        _make_default(at, stage["id"])
    at.change("updated", "stage", stage["id"], str(values.get("name", stage["name"])))
    return find(at, stage["id"])


def delete(at: Transaction, name: str, move_tasks_to: str | None = None) -> int:
    """Remove a stage; its tasks go to another, whose name must be given if it has any. Returns how many went.

    Raises:
        CallerError: there is none, it is the last one, or it has tasks and no other was named.
    """
    stage = find(at, name)
    rows = listed(at)
    if len(rows) == 1:
        raise CallerError(f"{stage['name']} is the only stage; create another first.")
    count = next(row["tasks"] for row in rows if row["id"] == stage["id"])
    if count and move_tasks_to is None:
        what = "1 task" if count == 1 else f"{count:,} tasks"
        raise CallerError(f"{stage['name']} has {what}; say where to with move_tasks_to.")
    if count and move_tasks_to is not None:
        other = find(at, move_tasks_to)
        if other["id"] == stage["id"]:
            raise CallerError(f"move_tasks_to is {stage['name']} itself.")
        position = tasks.c.position
        last = at.connection.execute(sa.select(sa.func.max(position)).where(tasks.c.stage == other["id"])).scalar()
        first = at.connection.execute(sa.select(sa.func.min(position)).where(tasks.c.stage == stage["id"])).scalar()
        behind = float(last or 0.0) + 1.0 - float(first or 0.0)
        said = {"stage": [stage["id"], other["id"]]}
        at.connection.execute(
            sa.insert(history).from_select(
                ["task", "revision", "at", "who", "message", "fields"],
                sa.select(
                    tasks.c.id,
                    tasks.c.revision + 1,
                    sa.literal(at.now),
                    sa.literal(at.actor.name),
                    sa.literal(f"moved to {other['name']}, since {stage['name']} was deleted"),
                    sa.literal(said, type_=sa.JSON),
                ).where(tasks.c.stage == stage["id"]),
            )
        )
        at.connection.execute(
            sa.update(tasks)
            .where(tasks.c.stage == stage["id"])
            .values(
                stage=other["id"],
                position=position + behind,
                revision=tasks.c.revision + 1,
                updated_at=at.now,
            )
        )
    at.connection.execute(sa.delete(stages).where(stages.c.id == stage["id"]))
    if stage["is_default"]:
        _make_default(at, default(at)["id"])
    at.change("deleted", "stage", stage["id"], stage["name"])
    return int(count)


# --- inside ----------------------------------------------------------------------------------------


def _unused(rows: Sequence[Stage], name: str) -> None:
    if any(row["name"].casefold() == name.casefold() for row in rows):
        raise CallerError(f"there is a stage {name!r} already.")


def _free_id(rows: Sequence[Stage], id_: str) -> str:
    taken = {row["id"] for row in rows}
    return next(
        found for number in range(1, len(taken) + 2) if (found := f"{id_}-{number}" if number > 1 else id_) not in taken
    )


def _order(at: Transaction, rows: Sequence[Stage], id_: str, after: str | None) -> list[str]:
    """The ids of `rows` with `id_` behind the stage `after`; empty: as the first; None: as the last."""
    others = [row["id"] for row in rows if row["id"] != id_]
    if after is None:
        return [*others, id_]
    if not after.strip():
        return [id_, *others]
    before = find(at, after)["id"]
    if before == id_:
        return [row["id"] for row in listed(at)]
    place = others.index(before) + 1
    return [*others[:place], id_, *others[place:]]


def _set_order(at: Transaction, ids: Sequence[str]) -> None:
    for position, id_ in enumerate(ids):
        at.connection.execute(sa.update(stages).where(stages.c.id == id_).values(position=position))


def _make_default(at: Transaction, id_: str) -> None:
    at.connection.execute(sa.update(stages).values(is_default=sa.case((stages.c.id == id_, True), else_=False)))


def _color(value: str) -> str:
    text = value.strip().lower()
    if len(text) in (4, 7) and text[0] == "#" and all(char in "0123456789abcdef" for char in text[1:]):
        return text
    raise CallerError(f"{value[:40]!r} is no color; write it as #2563eb.")


def _activities(values: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [
        {
            "name": fields.name(str(one.get("name", "")), "activity's name"),
            "prompt": fields.body(str(one.get("prompt", "")), "activity's prompt", fields.MOST_MESSAGE),
        }
        for one in values
    ]
