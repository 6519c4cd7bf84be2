"""A PostgreSQL that a team shares: few statements, nobody waits for another's network, and what is lost is said."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from board.boards import World
from board.child import child
from board.postgres import PostgresServer
from board.proxy import Proxy
from lsp_mcp.board import claims, stages, tables, talk, tasks, views
from lsp_mcp.board.store import Store
from lsp_mcp.errors import CallerError, UnavailableError

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement


@pytest.fixture
def proxy(postgres: Any) -> Iterator[Proxy]:
    with Proxy(postgres.database()) as one:
        yield one


@pytest.fixture
def team(proxy: Proxy) -> Iterator[World]:
    """A board behind the proxy."""
    with closing(Store(proxy.url)) as store:
        yield World(store)


def test_two_who_change_one_task_at_once_do_not_wait_for_each_other_and_lose_nothing(team: World) -> None:
    id_, steps = team.task("shared"), [threading.Event(), threading.Event()]
    reading, written = steps

    def slow(at: Any) -> Any:
        tasks.append(at, id_, "by the slow one")
        if not reading.is_set():
            reading.set()
            assert written.wait(BOUND)
        return at.attempt

    attempts: list[int] = []
    thread = threading.Thread(target=lambda: attempts.append(team.store.write(slow)))
    thread.start()
    assert reading.wait(BOUND)
    team.write(tasks.append, id_, "by the quick one")  # while the slow one is at it
    written.set()
    thread.join(BOUND)
    assert attempts == [1]
    assert team.get(id_)["description"].split("\n\n") == ["by the quick one", "by the slow one"]
    assert team.get(id_)["revision"] == 3


def test_of_two_dependencies_that_are_added_at_once_none_makes_a_circle(team: World) -> None:
    one, two, three = team.task("one"), team.task("two"), team.task("three")
    team.write(tasks.update, two, depends_on=[three])
    both_have_looked = threading.Barrier(2)

    def depend(at: Any, id_: str, other: str) -> Any:
        done = tasks.update(at, id_, depends_on=[other])
        if not at.attempt:
            both_have_looked.wait(BOUND)  # and each sees a board without what the other adds
        return done

    refusals: list[str] = []

    def add(id_: str, other: str) -> None:
        try:
            team.write(depend, id_, other)
        except CallerError as error:
            refusals.append(str(error))

    threads = [threading.Thread(target=add, args=pair) for pair in ((one, two), (three, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND)
    assert len(refusals) == 1
    assert "they would wait for each other" in refusals[0]
    assert [len(team.get(id_)["depends_on"]) for id_ in (one, two, three)] in ([1, 1, 0], [0, 1, 1])


def test_an_answer_that_is_lost_after_the_commit_is_looked_for(proxy: Proxy, team: World) -> None:
    team.task("before")
    proxy.loses_commit = True
    id_ = team.task("stored all the same")
    assert not proxy.loses_commit
    assert team.get(id_)["title"] == "stored all the same"
    assert team.titles() == ["before", "stored all the same"]


def test_what_cannot_be_looked_for_is_not_known(proxy: Proxy, team: World) -> None:
    team.task("before")
    proxy.loses_commit = proxy.is_cut = True
    with pytest.raises(UnavailableError, match="It is not known whether the change was stored: look before you repeat"):
        team.task("perhaps")
    proxy.is_cut = False
    assert team.titles() == ["before", "perhaps"]


def test_a_server_that_was_restarted_is_used_again_by_the_next_call(postgres: Any) -> None:
    url = postgres.database()
    with closing(Store(url)) as store:
        world = World(store)
        together = threading.Barrier(3)

        def read(at: Any) -> Any:
            found = views.listed(at)
            together.wait(BOUND)
            return found

        # Several connections, which all end.
        threads = [threading.Thread(target=store.read, args=[read]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(BOUND)
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        world.task("at once")
        assert world.titles() == ["at once"]


def test_a_board_that_another_release_has_changed_is_refused_and_left_as_it_is(store_url: str) -> None:
    with closing(Store(store_url)) as store:
        world = World(store)
        world.task("of this release")
        store.check()
        set_version(store, "9999")
        for refused in (lambda: world.task("by an old one"), store.check):
            with pytest.raises(UnavailableError, match=r"tables of another release .* Nothing was changed: update lsp"):
                refused()
        assert world.titles() == ["of this release"]


def set_version(store: Store, version: str) -> None:
    """As a newer release does when it has changed the tables."""
    with store._engine.connect() as connection:
        connection.exec_driver_sql(f"UPDATE board_version SET version_num = '{version}'")
        connection.commit()


def test_a_postgresql_that_is_read_only_says_so_and_is_read(postgres: Any) -> None:
    url = postgres.database()
    with closing(Store(url)) as store:
        world = World(store)
        world.task("before")
        name = url.rpartition("/")[2]
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        store._engine.dispose()
        with pytest.raises(UnavailableError, match=r"read-only transaction\. Nothing was changed\."):
            world.task("no")
        assert world.titles() == ["before"]


def test_a_postgresql_whose_disk_is_full_says_so_loses_nothing_and_goes_on_once_there_is_room() -> None:
    with PostgresServer() as server, closing(Store(server.database())) as store:
        world = World(store)
        kept = [world.task("before")]

        def write(length: int) -> str:
            text = "".join(chr(33 + byte % 90) for byte in random.randbytes(length))  # which is not compressed
            return world.task("a task", description=text)

        server.limit_files(2_000_000)
        store._engine.dispose()
        with pytest.raises(UnavailableError, match=r"could not extend file .* Nothing was changed"):
            while len(kept) < 100:
                kept.append(write(100_000))
        assert world.titles() == ["before", *["a task"] * (len(kept) - 1)]
        server.limit_files(None)
        store._engine.dispose()
        kept.append(write(100_000))
        assert world.order() == kept


def test_processes_that_write_to_sqlite_without_a_pause_take_turns(tmp_path: Any) -> None:
    url, writers, each = f"sqlite:///{tmp_path / 'b' / 'board.sqlite3'}", 6, 40
    with closing(Store(url)) as store:
        World(store)
        written, _ = child("write", url, str(each), *["0"] * writers).communicate("go\n", BOUND)
        assert written.count("created") == writers * each
        column = tables.changes.c
        order = store.read(lambda at: [*at.connection.scalars(sa.select(column.who).order_by(column.seq))])
    turns: dict[str, list[int]] = {}
    for number, who in enumerate(order):
        turns.setdefault(who, []).append(number)
    assert len(turns) == writers
    assert max(later - one for own in turns.values() for one, later in pairwise(own)) < 10 * writers


def test_of_writes_that_sqlite_makes_safe_together_each_fails_or_is_stored_by_itself(tmp_path: Any) -> None:
    with closing(Store(f"sqlite:///{tmp_path / 'b' / 'board.sqlite3'}")) as store:
        world = World(store)
        said: list[str] = []

        def write(number: int) -> None:
            def work(at: Any) -> Any:
                made = tasks.create(at, str(number))
                if number % 3 == 0:
                    raise CallerError(f"not {number}")
                return made["title"]

            try:
                said.append(store.write(work))
            except CallerError as error:
                said.append(str(error))

        with store._writing:  # all wait in line, so that they go together
            threads = [threading.Thread(target=write, args=[number]) for number in range(9)]
            for thread in threads:
                thread.start()
            while len(store._waiting) < len(threads):
                pass
        for thread in threads:
            thread.join(BOUND)
        assert sorted(said) == ["1", "2", "4", "5", "7", "8", "not 0", "not 3", "not 6"]
        assert sorted(world.titles()) == ["1", "2", "4", "5", "7", "8"]


def test_a_write_takes_at_most_eight_statements_and_few_round_trips(proxy: Proxy, team: World) -> None:
    agent, other = team.agent("one"), team.agent("two")
    id_, claimed = team.task("first", tags=["a"]), team.task("second")
    question = team.write(talk.ask, "?", by=agent)["id"]
    team.write(stages.update, "Done", color="#123456")
    writes = {
        "create": lambda: team.write(tasks.create, "new", description="d", tags=["a", "b"], stage="Verify", by=agent),
        "update": lambda: team.write(tasks.update, id_, title="t", description="d", tags=["c", "d"], by=agent),
        "append": lambda: team.write(tasks.append, id_, "more", "Findings", by=agent),
        "claim": lambda: team.write(claims.claim, agent, claimed, by=agent),
        "claim the next": lambda: team.write(claims.claim, other, None, by=other),
        "release": lambda: team.write(claims.release, other, id_, by=other),
        "move": lambda: team.write(tasks.update, id_, stage="Verify", by=agent),
        "complete": lambda: team.write(tasks.update, id_, status="completed", by=agent),
        "comment": lambda: team.write(tasks.comment, id_, "hm", by=agent),
        "notify": lambda: team.write(talk.notify, "x", by=agent),
        "answer": lambda: team.write(talk.answer, question, text="yes"),
    }
    proxy.counted()
    counts = {}
    for name, write in writes.items():
        write()
        counts[name] = proxy.counted()
    assert {name: count for name, count in counts.items() if count[0] > 8 or count[1] > 7} == {}
