"""`--backend board`: the project board with 10,000 tasks, at the server and on the screen. See `run`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import sqlalchemy as sa
from board_server import agent, served
from measures import Progress
from page_bench import PageResults, measure, table_of
from report import Table
from team_bench import Team, table_of_teams, teams

from lsp_mcp.board import fields, tables
from lsp_mcp.board.place import store_url
from lsp_mcp.board.stages import FIRST, fill
from lsp_mcp.board.store import Store, Transaction

BACKEND = "board"
TASKS = 10_000
SERVER_TARGET = 20  # ms
_LOOKED_AT = 50  # a task that nothing else here moves, near the top of the first stage, so that its card is drawn


@dataclass(frozen=True)
class Results:
    """Milliseconds, medians; `page` is None without a browser."""

    tasks: int
    list_tasks: float
    move: float
    claim: float
    page: PageResults | None
    teams: list[Team]


async def run(folder: Path, *, quick: bool, progress: Progress) -> Results:
    """Measure on a board of its own in `folder`."""
    times = 7 if quick else 31
    progress(f"writing {TASKS:,} tasks")
    ids = await asyncio.to_thread(_seed, folder)
    async with served(folder) as (port, link), agent(port) as call:
        progress("asking the server")
        listed = await _median(times, lambda _: call("list_tasks", {"limit": 100}))
        names = [name for _, name, _ in FIRST]
        moved = await _median(times, lambda n: call("move_to_stage", {"id": ids[n], "stage": names[1 + n % 4]}))
        claimed = await _median(times, lambda n: call("claim_task", {"id": ids[-n - 1]}))
        progress("looking at the page")
        page = await measure(link, call, ids[TASKS // 2 :], ids[_LOOKED_AT], times)
    found = await teams(folder, quick=quick, progress=progress)
    return Results(TASKS, listed, moved, claimed, page, found)


def tables_of(results: Results) -> list[Table]:
    """What is printed."""
    rows = [
        ["list_tasks (100)", f"{results.list_tasks:.1f}", str(SERVER_TARGET)],
        ["move_to_stage", f"{results.move:.1f}", str(SERVER_TARGET)],
        ["claim_task", f"{results.claim:.1f}", ""],
    ]
    server = Table(f"A board with {results.tasks:,} tasks, ms (medians)", ["", "took", "target"], rows)
    return [server, table_of_teams(results.teams), table_of(results.page)]


async def _median(times: int, work: Callable[[int], Awaitable[Any]]) -> float:
    took = []
    for number in range(times + 2):
        began = perf_counter()
        await work(number)
        took.append((perf_counter() - began) * 1000)
    return median(took[2:])


def _seed(folder: Path) -> list[str]:
    """The ids of the tasks, written straight into a new board."""
    store = Store(store_url(folder, None))
    now = fields.now()
    stages = [id_ for id_, _, _ in FIRST]
    rows = [
        {
            "id": f"t-{number:05d}",
            "title": f"Task {number}: a change of part {number % 97}",
            "description": "What it is about, in a few words.\n" * 5,
            "status": "pending",
            "stage": stages[number % len(stages)],
            "position": float(number),
            "tags": [f"area-{number % 12}"],
            "revision": 1,
            "created_at": now,
            "updated_at": now,
        }
        for number in range(TASKS)
    ]

    def work(at: Transaction) -> None:
        fill(at)
        at.connection.execute(sa.insert(tables.tasks), rows)
        at.connection.execute(
            sa.insert(tables.task_tags),
            [{"task": row["id"], "tag": row["tags"][0]} for row in rows],  # type: ignore[index]
        )

    store.write(work)
    store.close()
    return [str(row["id"]) for row in rows]
