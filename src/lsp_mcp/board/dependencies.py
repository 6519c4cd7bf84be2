"""Dependencies between tasks, and their number for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import agents, dependencies, people, tasks
from lsp_mcp.errors import CallerError


@dataclass(frozen=True)
class Waiting:
    """A pending task's place among the pending tasks before and after it."""

    blocked_by: tuple[str, ...] = ()  # its direct dependencies
    waits: int = 0  # total number to complete before it
    blocks: int = 0  # total number that cannot begin before it is completed


NOTHING = Waiting()


def is_waiting() -> Any:
    """The condition for a task that depends on a pending one."""
    other = tasks.alias()
    return (
        sa.select(sa.literal(1))
        .select_from(dependencies.join(other, other.c.id == dependencies.c.depends_on))
        .where(dependencies.c.task == tasks.c.id, other.c.status == "pending")
        .exists()
    )


def is_ready() -> Any:
    """The condition for a pending task that is unclaimed and not blocked."""
    holder = agents.alias()
    held = sa.select(sa.literal(1)).where(holder.c.id == tasks.c.claimed_by, holder.c.connected)
    person = people.alias()
    owned = sa.select(sa.literal(1)).where(person.c.id == tasks.c.claimed_by)  # a person's claim does not lapse
    return sa.and_(tasks.c.status == "pending", ~is_waiting(), ~held.exists(), ~owned.exists())


def waiting(at: Transaction) -> dict[str, Waiting]:
    """For all pending tasks with pending dependencies or dependents."""
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
    """What each task waits for, by acyclic `edges`: pairs of a task and its dependency."""
    before: dict[str, list[str]] = {}
    for task, other in edges:
        before.setdefault(task, []).append(other)
        before.setdefault(other, [])
    order = list(TopologicalSorter(before).static_order())
    bit = {task: 1 << number for number, task in enumerate(order)}
    # Sets of tasks are bits of integers: chains of thousands are counted in milliseconds.
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
    """The ids, and those of all tasks whose dependencies or dependents may change with them, directly or indirectly;
    nearest first.
    """
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
    """The tasks to complete before this one can begin."""
    rows = at.connection.execute(
        sa.select(dependencies.c.depends_on)
        .join(tasks, tasks.c.id == dependencies.c.depends_on)
        .where(dependencies.c.task == id_, tasks.c.status == "pending")
        .order_by(dependencies.c.depends_on)
    )
    return [row.depends_on for row in rows]


def both_ways(at: Transaction, id_: str) -> tuple[list[str], list[str]]:
    """The tasks that a task depends on, and those that depend on it, completed ones too."""
    edges = sa.select(dependencies.c.depends_on, dependencies.c.task).where(
        (dependencies.c.task == id_) | (dependencies.c.depends_on == id_)
    )
    pairs = at.connection.execute(edges.order_by(dependencies.c.task, dependencies.c.depends_on)).all()
    needs = [one.depends_on for one in pairs if one.task == id_]
    return needs, [one.task for one in pairs if one.depends_on == id_]


def add(at: Transaction, id_: str, other: str) -> bool:
    """Add a dependency to a task; False if either does not exist, or they would form a cycle."""
    there = at.connection.execute(sa.select(tasks.c.id).where(tasks.c.id.in_((id_, other)))).all()
    needs = both_ways(at, id_)[0]
    if len(there) < 2 or other in needs:
        return other in needs
    try:
        replace(at, id_, [*needs, other])
    except CallerError:
        return False
    return True


def replace(at: Transaction, id_: str, wanted: Sequence[str]) -> None:
    """Replace the dependencies of a task by those `wanted`.

    Raises:
        CallerError: they would form a cycle.
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
