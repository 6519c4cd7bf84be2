"""Nothing that was acknowledged is lost when the processes that write are killed in the middle."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
from typing import Any

import sqlalchemy as sa

from board.boards import World
from board.child import child
from lsp_mcp.board import tables, views
from lsp_mcp.board.store import Store, Transaction

WRITERS, EACH = 8, 63  # tasks; each is written twice: 1,008 writes
WRITES = 2 * WRITERS * EACH
PIPE = 4_096  # bytes
BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement


def acknowledged(url: str, firsts: list[int], kill_after: int | None = None) -> list[list[Any]]:
    """What the writers say was stored, until they end; all are killed once they have said that often."""
    launcher = child("write", url, str(EACH), *map(str, firsts))
    assert launcher.stdin
    assert launcher.stdout
    pipe = launcher.stdout.fileno()
    # So small that they cannot have said everything before somebody reads it.
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    found: list[Any] = []
    rest = b""
    try:
        while data := os.read(pipe, 256):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                found.append(json.loads(line))
                if len(found) == 1:
                    launcher.stdin.close()  # what all of them wait for
                if len(found) - 1 == kill_after:
                    for pid in found[0]:
                        os.kill(pid, signal.SIGKILL)  # they keep their numbers until all have ended
        assert rest == b""
        assert launcher.wait(BOUND) == 0
    finally:
        launcher.kill()
        launcher.wait(BOUND)
        launcher.stdout.close()
    pids, *said = found
    assert len(set(pids)) == WRITERS
    return said


def check(url: str, said: list[list[Any]]) -> None:
    """All that was acknowledged is there, and everything that is there fits together."""
    store = Store(url)

    def load(at: Transaction) -> tuple[dict[str, Any], dict[str, list[Any]], set[str]]:
        found = {row["id"]: row for row in at.connection.execute(sa.select(tables.tasks)).mappings()}
        done: dict[str, list[Any]] = {id_: [] for id_ in found}
        for row in at.connection.execute(
            sa.select(tables.history).where(tables.history.c.kind == "task").order_by(tables.history.c.id)
        ).mappings():
            done[row["ref"]].append(row)
        return found, done, {str(row.id) for row in at.connection.execute(sa.select(tables.notifications.c.id))}

    stored, history, notified = store.read(load)
    assert len(stored) <= WRITERS * EACH
    for id_, task in stored.items():
        assert [one["revision"] for one in history[id_]] == list(range(1, task["revision"] + 1))
    for number, what, id_ in said:
        if what == "notified":
            assert id_ in notified
            continue
        task, messages = stored[id_], [one["message"] for one in history[id_]]
        assert task["title"].endswith(f" {number}")
        if what == "appended":
            assert task["description"] == f"## Log\n\n{task['title']}"
            assert messages[1] == f"added {len(task['title'])} characters under Log"
        if what == "moved":
            assert (task["stage"], messages[1]) == ("done", "completed: moved to Done")
    with store._engine.connect() as connection:
        if store.is_sqlite:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall() == []
        # One change for each acknowledged write, and at most one more for each writer that was killed.
        changes = connection.execute(sa.text("SELECT count(*) FROM changes")).scalar_one()
        assert len(said) <= changes <= len(said) + WRITERS
    store.close()


def test_nothing_that_was_acknowledged_is_lost_when_all_writers_are_killed(store_url: str) -> None:
    World(Store(store_url)).store.close()
    first = acknowledged(store_url, [0] * WRITERS, random.randrange(WRITES // 5, WRITES * 3 // 4))
    assert len(first) < WRITES
    check(store_url, first)

    store = Store(store_url)
    begun = [0] * WRITERS
    for title in World(store).titles(limit=10_000):
        writer, number = title.removeprefix("writer-").split()
        begun[int(writer)] = max(begun[int(writer)], int(number) + 1)
    store.close()
    # Each goes on where it was; what it had half done then stays so.
    second = acknowledged(store_url, begun)
    assert len(first) + len(second) >= WRITES - 2 * WRITERS
    store = Store(store_url)
    assert World(store).read(views.listed)[1] == WRITERS * EACH
    store.close()
    check(store_url, [*first, *second])
