"""Which tasks wait for which others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import agents, dependencies, tasks
from lsp_mcp.errors import CallerError


def is_ready() -> Any:
    """The condition of a pending task that nobody works on and that waits for no other."""
    other = tasks.alias()
    waits = (
        sa.select(sa.literal(1))
        .select_from(dependencies.join(other, other.c.id == dependencies.c.depends_on))
        .where(dependencies.c.task == tasks.c.id, other.c.status != "completed")
    )
    held = sa.select(sa.literal(1)).where(agents.c.id == tasks.c.claimed_by, agents.c.connected)
    return sa.and_(tasks.c.status == "pending", ~waits.exists(), ~held.exists())


def waits_for(at: Transaction, id_: str) -> list[str]:
    """The tasks that are to be completed before this one can be begun."""
    rows = at.connection.execute(
        sa.select(dependencies.c.depends_on)
        .join(tasks, tasks.c.id == dependencies.c.depends_on)
        .where(dependencies.c.task == id_, tasks.c.status != "completed")
        .order_by(dependencies.c.depends_on)
    )
    return [row.depends_on for row in rows]


def replace(at: Transaction, id_: str, wanted: Sequence[str]) -> None:
    """Have a task wait for those `wanted`, and for no other.

    Raises:
        CallerError: they would wait for each other in a circle.
    """
    edges: dict[str, list[str]] = {}
    for row in at.connection.execute(sa.select(dependencies).where(dependencies.c.task != id_)).mappings():
        edges.setdefault(row["task"], []).append(row["depends_on"])
    for one in wanted:
        if circle := _path(edges, one, id_):
            raise CallerError(
                f"{id_} cannot depend on {one}: they would wait for each other ({' → '.join([id_, *circle])})."
            )
    at.connection.execute(sa.delete(dependencies).where(dependencies.c.task == id_))
    for one in wanted:
        at.connection.execute(sa.insert(dependencies).values(task=id_, depends_on=one))


def _path(edges: Mapping[str, Sequence[str]], start: str, end: str) -> list[str]:
    """A way from `start` to `end`, both included; empty if there is none."""
    came: dict[str, str | None] = {start: None}
    todo = [start]
    while todo:
        at = todo.pop()
        if at == end:
            way: list[str] = []
            step: str | None = at
            while step is not None:
                way.append(step)
                step = came[step]
            return way[::-1]
        for other in edges.get(at, ()):
            if other not in came:
                came[other] = at
                todo.append(other)
    return []
