"""The order of the tasks in a stage: numbers with room between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import tasks
from lsp_mcp.errors import CallerError

Row = RowMapping | Mapping[str, Any]  # of the table of tasks, or of stages


def last(at: Transaction, stage: str) -> float:
    """A position after all tasks of the stage of that id."""
    found = at.connection.execute(sa.select(sa.func.max(tasks.c.position)).where(tasks.c.stage == stage)).scalar()
    return float(found or 0.0) + 1.0


def is_before(at: Transaction, row: Row, next_: Row | None) -> bool:
    """Whether a task is right before the task `next_` of its stage already, or is it; None: whether it is the last."""
    behind = (tasks.c.stage == row["stage"]) & (tasks.c.position > row["position"]) & (tasks.c.id != row["id"])
    following = at.connection.execute(sa.select(tasks.c.id).where(behind).order_by(tasks.c.position).limit(1)).scalar()
    return following is None if next_ is None else next_["id"] in (following, row["id"])


def before(at: Transaction, stage: Row, next_: Row, moved: str) -> float:
    """A position directly before the task `next_`; those of its stage are spread out once there is no room.

    Raises:
        CallerError: `next_` is in another stage.
    """
    if next_["stage"] != stage["id"]:
        raise CallerError(f"{next_['id']} is not in {stage['name']}.")
    here = float(next_["position"])
    in_stage = (tasks.c.stage == stage["id"]) & (tasks.c.id != moved)
    found = at.connection.execute(
        sa.select(sa.func.max(tasks.c.position)).where(in_stage, tasks.c.position < here)
    ).scalar()
    previous = here - 2.0 if found is None else float(found)
    position = (here + previous) / 2
    if previous < position < here:
        return position
    _spread(at, stage)
    row = at.connection.execute(sa.select(tasks).where(tasks.c.id == next_["id"])).mappings().one()
    return before(at, stage, row, moved)


def behind(at: Transaction, stage: Row, previous: Row, moved: str) -> str | None:
    """The id of the task right behind `previous`, `moved` left out; None if that is the last of its stage.

    Raises:
        CallerError: `previous` is in another stage.
    """
    if previous["stage"] != stage["id"]:
        raise CallerError(f"{previous['id']} is not in {stage['name']}.")
    later = (tasks.c.stage == stage["id"]) & (tasks.c.position > previous["position"]) & (tasks.c.id != moved)
    return at.connection.execute(sa.select(tasks.c.id).where(later).order_by(tasks.c.position).limit(1)).scalar()


def _spread(at: Transaction, stage: Row) -> None:
    order = sa.select(tasks.c.id).where(tasks.c.stage == stage["id"]).order_by(tasks.c.position, tasks.c.id)
    numbered = [
        {"task": id_, "number": float(number)} for number, id_ in enumerate(at.connection.execute(order).scalars(), 1)
    ]
    place = sa.update(tasks).where(tasks.c.id == sa.bindparam("task")).values(position=sa.bindparam("number"))
    at.connection.execute(place, numbered)
    at.change("updated", "stage", stage["id"], stage["name"])  # pages that show it have old positions
