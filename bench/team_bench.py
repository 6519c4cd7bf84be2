"""The part of `--backend board` about a team: many agents at once on one board, on each database. See `teams`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from board_server import Call, agent, served
from measures import Progress
from report import Table

AGENTS, OPERATIONS = 20, 100
_DELAY = 0.005  # seconds that a network adds to each message to PostgreSQL
_TARGETS = {"SQLite": 300, "PostgreSQL, here": 200, "PostgreSQL, 5 ms away": 60}  # operations a second


@dataclass(frozen=True)
class Team:
    """What 20 agents did on one database: operations a second, the slowest hundredth in ms, what was refused."""

    database: str
    rate: float
    p99: float
    refused: int


async def teams(folder: Path, *, quick: bool, progress: Progress) -> list[Team]:
    """Measure on new boards in `folder`; on PostgreSQL where its programs are found."""
    operations = OPERATIONS // 5 if quick else OPERATIONS
    found: list[Team] = []
    with ExitStack() as stack:
        for database, store in [("SQLite", ""), *_postgres(stack)]:
            progress(f"{AGENTS} agents on {database}")
            place = folder / f"team-{len(found)}"
            place.mkdir()
            async with served(place, *(["--store", store] if store else [])) as (port, _):
                found.append(await _measured(database, port, operations))
    return found


def table_of_teams(found: list[Team]) -> Table:
    """What is printed."""
    rows = [
        [one.database, f"{one.rate:.0f}", f"{_TARGETS[one.database]}", f"{one.p99:.0f}", "500", str(one.refused)]
        for one in found
    ]
    head = ["", "operations/s", "target", "p99, ms", "target", "refused"]
    return Table(f"{AGENTS} agents at once over WebSocket", head, rows)


def _postgres(stack: ExitStack) -> list[tuple[str, str]]:
    """A database on a server of our own, near and at a distance; none if there is no PostgreSQL."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    import pytest

    from board.postgres import PostgresServer
    from board.proxy import Proxy

    try:
        server = stack.enter_context(PostgresServer())
    except pytest.skip.Exception:
        return []
    away = stack.enter_context(Proxy(server.database(), _DELAY))
    return [("PostgreSQL, here", server.database()), ("PostgreSQL, 5 ms away", away.url)]


async def _measured(database: str, port: int, operations: int) -> Team:
    took: list[float] = []
    counts: Counter[str] = Counter()
    async with AsyncExitStack() as stack:
        calls = [await stack.enter_async_context(agent(port)) for _ in range(AGENTS)]
        began = perf_counter()
        await asyncio.gather(*(_work(call, number, operations, took, counts) for number, call in enumerate(calls)))
        seconds = perf_counter() - began
    return Team(database, len(took) / seconds, quantiles(took, n=100)[98] * 1000, counts["refused"])


async def _work(call: Call, number: int, operations: int, took: list[float], counts: Counter[str]) -> None:
    """What an agent does all day: of ten operations one makes a task, two read, the others change one."""
    task = ""
    arguments: dict[str, object]
    for step in range(operations):
        match step % 10:
            case 0:
                name, arguments = (
                    "create_task",
                    {"title": f"Task {step} of agent {number}", "description": "Do it.\n" * 5},
                )
            case 1:
                name, arguments = "claim_task", {"id": task}
            case 2 | 6:
                name, arguments = "list_tasks", {"limit": 20}
            case 3 | 4 | 7:
                name, arguments = "add_to_task", {"id": task, "content": f"Note {step}"}
            case 5:
                name, arguments = "update_task", {"id": task, "title": f"Task {step} of agent {number}, renamed"}
            case 8:
                name, arguments = "move_to_stage", {"id": task, "stage": "Implement"}
            case _:
                name, arguments = "complete_task", {"id": task}
        began = perf_counter()
        try:
            answer = await call(name, arguments)
            if name == "create_task":
                task = _id_in(answer)
        except RuntimeError:
            counts["refused"] += 1
        took.append(perf_counter() - began)


def _id_in(answer: str) -> str:
    found = json.loads(answer)
    return str(found["id"])
