"""Which tasks wait for which others, and how many for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import agents, dependencies, tasks
from lsp_mcp.errors import CallerError


@dataclass(frozen=True)
class Waiting:
    """What of pending tasks stands before a pending task, and behind it."""

    blocked_by: tuple[str, ...] = ()  # those that it depends on itself
    waits: int = 0  # how many must be completed before it, in all
    blocks: int = 0  # how many cannot be begun before it is completed, in all


NOTHING = Waiting()


def is_ready() -> Any:
    """The condition of a pending task that nobody works on and that waits for no other."""
    other = tasks.alias()
    waits = (
        sa.select(sa.literal(1))
        .select_from(dependencies.join(other, other.c.id == dependencies.c.depends_on))
        .where(dependencies.c.task == tasks.c.id, other.c.status == "pending")
    )
    holder = agents.alias()
    held = sa.select(sa.literal(1)).where(holder.c.id == tasks.c.claimed_by, holder.c.connected)
    return sa.and_(tasks.c.status == "pending", ~waits.exists(), ~held.exists())


def waiting(at: Transaction) -> dict[str, Waiting]:
    """Of all pending tasks that wait for another or that another waits for."""
    edges = at.connection.execute(
        sa.select(dependencies).order_by(dependencies.c.task, dependencies.c.depends_on)
    ).all()
    if not edges:
        return {}
    linked = sa.union(sa.select(dependencies.c.task), sa.select(dependencies.c.depends_on))
    is_pending = (tasks.c.status == "pending") & tasks.c.id.in_(linked)
    pending = set(at.connection.execute(sa.select(tasks.c.id).where(is_pending)).scalars())
    return waiting_in([(one, other) for one, other in edges if one in pending and other in pending])


def waiting_in(edges: Iterable[tuple[str, str]]) -> dict[str, Waiting]:
    """The same of edges, (task, what it depends on), without circles. Pure."""
    before: dict[str, list[str]] = {}
    for task, other in edges:
        before.setdefault(task, []).append(other)
        before.setdefault(other, [])
    order = list(TopologicalSorter(before).static_order())
    bit = {task: 1 << number for number, task in enumerate(order)}
    # Sets of tasks as the bits of numbers: long chains of thousands are counted in milliseconds.
    all_before = dict.fromkeys(order, 0)
    all_behind = dict.fromkeys(order, 0)
    for task in order:
        for other in before[task]:
            all_before[task] |= all_before[other] | bit[other]
    for task in reversed(order):
        for other in before[task]:
            all_behind[other] |= all_behind[task] | bit[task]
    return {
        task: Waiting(tuple(before[task]), all_before[task].bit_count(), all_behind[task].bit_count()) for task in order
    }


def with_related(at: Transaction, ids: Sequence[str]) -> list[str]:
    """The ids, and those of all tasks whose wait or what they block may change with them: what depends on one of them
    and what one of them depends on, through others too; nearest first."""
    before, behind = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for edge in at.connection.execute(sa.select(dependencies)):
        before[edge.task].append(edge.depends_on)
        behind[edge.depends_on].append(edge.task)
    found = dict.fromkeys(ids)
    for near in (before, behind):
        reached, last = set(ids), list(ids)
        while last:
            last = [
                other for other in dict.fromkeys(other for id_ in last for other in near[id_]) if other not in reached
            ]
            reached.update(last)
            found |= dict.fromkeys(last)
    return list(found)


def waits_for(at: Transaction, id_: str) -> list[str]:
    """The tasks that are to be completed before this one can be begun."""
    rows = at.connection.execute(
        sa.select(dependencies.c.depends_on)
        .join(tasks, tasks.c.id == dependencies.c.depends_on)
        .where(dependencies.c.task == id_, tasks.c.status == "pending")
        .order_by(dependencies.c.depends_on)
    )
    return [row.depends_on for row in rows]


def of(at: Transaction, id_: str) -> tuple[list[str], list[str]]:
    """The tasks that a task depends on, and those that depend on it, completed ones too."""
    edges = sa.select(dependencies.c.depends_on, dependencies.c.task).where(
        (dependencies.c.task == id_) | (dependencies.c.depends_on == id_)
    )
    pairs = at.connection.execute(edges.order_by(dependencies.c.task, dependencies.c.depends_on)).all()
    needs = [one.depends_on for one in pairs if one.task == id_]
    return needs, [one.task for one in pairs if one.depends_on == id_]


def add(at: Transaction, id_: str, other: str) -> bool:
    """Have a task wait for another as well; False if one of them is not there, or they would wait for each other."""
    there = at.connection.execute(sa.select(tasks.c.id).where(tasks.c.id.in_((id_, other)))).all()
    needs = of(at, id_)[0]
    if len(there) < 2 or other in needs:
        return other in needs
    try:
        replace(at, id_, [*needs, other])
    except CallerError:
        return False
    return True


def replace(at: Transaction, id_: str, wanted: Sequence[str]) -> None:
    """Have a task wait for those `wanted`, and for no other.

    Raises:
        CallerError: they would wait for each other in a circle.
    """
    edges: dict[str, list[str]] = {}
    if wanted:
        others = sa.select(dependencies).where(dependencies.c.task != id_)
        for row in at.connection.execute(others).mappings():
            edges.setdefault(row["task"], []).append(row["depends_on"])
    for one in wanted:
        if circle := _path(edges, one, id_):
            raise CallerError(
                f"{id_} cannot depend on {one}: they would wait for each other ({' → '.join([id_, *circle])})."
            )
    at.put(sa.delete(dependencies).where(dependencies.c.task == id_))
    if wanted:
        at.go_alone()
        at.insert(dependencies, [{"task": id_, "depends_on": one} for one in wanted])


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
