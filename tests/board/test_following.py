"""Several processes on one board hear of each other at once; and what a listener misses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import psycopg
import pytest

from board.child import child
from fakes.bounded import bounded
from lsp_mcp.board import agents, stages, tasks, views
from lsp_mcp.board.answers import Answers
from lsp_mcp.board.board import Board, Event, Listener
from lsp_mcp.board.participants import Participants
from lsp_mcp.board.store import Actor, Store

BOUND = 60  # seconds for whatever is waited for: a hang, not a measurement


@asynccontextmanager
async def boards(*urls: str) -> AsyncIterator[list[Board]]:
    """Boards that have begun."""
    made = [Board(Store(url)) for url in urls]
    try:
        for one in made:
            await one.begin()
        yield made
    finally:
        for one in made:
            await one.close()


async def heard(listener: Listener, wanted: Callable[[Event], bool]) -> Event:
    """The first event that is wanted."""
    async with asyncio.timeout(BOUND):
        async for event in listener:
            if wanted(event):
                return event
    raise AssertionError


def change(title: str) -> Callable[[Event], bool]:
    return lambda event: event.type == "change" and event.data["text"] == title


async def create(board: Board, title: str) -> str:
    return str((await board.write(lambda at: tasks.create(at, title)))["id"])


async def introduce(one: Board, other: Listener) -> None:
    """The follower behind a listener stands once it has heard of one change."""
    await create(one, "hello")
    await heard(other, change("hello"))


@bounded
async def test_a_listener_hears_its_own_process(store_url: str) -> None:
    async with boards(store_url) as (board,):
        with board.listening() as listener:
            id_ = await create(board, "new")
            event = await heard(listener, change("new"))
            assert (event.data["action"], event.data["kind"], event.data["ref"]) == ("created", "task", id_)
            assert event.data["seq"] == await board.newest()


@bounded
async def test_two_boards_on_one_database_hear_each_other(store_url: str) -> None:
    async with boards(store_url, store_url) as (one, two):
        with one.listening() as hears_two, two.listening() as hears_one:
            for number in range(5):
                await create(one, f"one {number}")
                await heard(hears_one, change(f"one {number}"))
                await create(two, f"two {number}")
                await heard(hears_two, change(f"two {number}"))


@bounded
async def test_all_changes_are_heard_once_and_in_order(store_url: str) -> None:
    async with boards(store_url, store_url) as (one, two):
        with one.listening() as listener:
            await asyncio.gather(*(create(board, "x") for _ in range(20) for board in (one, two)))
            await create(two, "end")
            seqs = []
            async with asyncio.timeout(BOUND):
                async for event in listener:
                    seqs.append(event.data["seq"])
                    if event.data["text"] == "end":
                        break
            assert len(seqs) == 41
            assert seqs == sorted(set(seqs))


@bounded
async def test_what_is_read_is_shown_to_the_others_and_written_nowhere(store_url: str) -> None:
    async with boards(store_url, store_url) as (one, two):
        participants = Participants(one)
        agent = await participants.actor("key", "claude")
        with two.listening() as listener, one.listening() as own:
            await introduce(one, listener)
            newest = await one.newest()
            one.looked_at(agent, "task", ["t-00001", "t-00002"])
            event = await heard(listener, lambda event: event.type == "activity")
            assert (event.data["who"], event.data["kind"], event.data["refs"]) == (
                "claude",
                "task",
                ["t-00001", "t-00002"],
            )
            again = await heard(own, lambda event: event.type == "activity")
            assert again.data == event.data
            one.looked_at(agent, "task", [f"t-{number:05}" for number in range(1_000)])
            assert len((await heard(listener, lambda event: event.type == "activity")).data["refs"]) == 100
            assert await one.newest() == newest
            # A person is not shown to themselves.
            two.looked_at(Actor("you"), "task", ["t-00003"])
            one.looked_at(agent, "task", [])
            await create(two, "end")
            assert (await heard(own, lambda event: event.type == "activity")).data["refs"][0] == "t-00000"
            assert (await heard(own, lambda event: True)).data["text"] == "end"


@bounded
async def test_the_activity_of_a_day_does_not_fill_the_disk(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'board.sqlite3'}"
    async with boards(url, url) as (one, two):
        agent = await Participants(one).actor("key", "claude")
        with two.listening() as listener:
            await introduce(one, listener)
            for number in range(60):
                refs = [f"{number}-{other:036}" for other in range(100)]
                one.looked_at(agent, "task", refs)
                await heard(listener, lambda event, refs=refs: event.data.get("refs") == refs)
                assert (tmp_path / "board.sqlite3-activity").stat().st_size < 128 * 1024


@bounded
async def test_another_process_is_followed_and_follows(store_url: str) -> None:
    Store(store_url).close()
    process = await asyncio.to_thread(child, "follow", store_url)
    loop = asyncio.get_running_loop()
    assert process.stdin
    assert process.stdout

    async def next_line() -> Any:
        assert process.stdout
        async with asyncio.timeout(BOUND):
            return json.loads(await loop.run_in_executor(None, process.stdout.readline))

    async def until(wanted: Callable[[Any], bool]) -> Any:
        while not wanted(found := await next_line()):
            pass
        return found

    def tell(line: str) -> None:
        assert process.stdin
        process.stdin.write(f"{line}\n")
        process.stdin.flush()

    try:
        assert await next_line() == "ready"
        async with boards(store_url) as (board,):
            agent = await Participants(board).actor("key", "reader")
            with board.listening() as listener:
                id_ = await create(board, "from here")
                await until(lambda said: said[0] == "change" and said[1]["text"] == "from here")
                tell("from there")
                event = await heard(listener, change("from there"))
                assert event.data["who"] == "follower"
                board.looked_at(agent, "task", [id_])
                said = await until(lambda said: said[0] == "activity")
                assert (said[1]["who"], said[1]["refs"]) == ("reader", [id_])
                tell(f"look {id_}")
                event = await heard(
                    listener, lambda event: event.type == "activity" and event.data["who"] == "follower"
                )
                assert event.data["refs"] == [id_]
                # It says goodbye for its agent.
                process.stdin.close()
                await heard(listener, lambda event: event.data.get("action") == "disconnected")
        assert await asyncio.to_thread(process.wait, BOUND) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@bounded
async def test_a_listener_that_is_too_slow_is_told_what_it_lost(store_url: str) -> None:
    async with boards(store_url) as (board,):
        with board.listening() as listener:
            for number in range(600):
                listener.put(Event("change", {"seq": number}))
            events = []
            async for event in listener:
                events.append(event)
                if event.data.get("seq") == 599:
                    break
            assert events[0].type == "lost"
            assert [event.data["seq"] for event in events[1:]] == list(range(500, 600))


@bounded
async def test_changes_that_are_forgotten_by_now_are_said_to_be_lost(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.board.store._MOST_CHANGES", 20)
    monkeypatch.setattr("lsp_mcp.board.store._PRUNE_EVERY", 1)
    async with boards(store_url) as (board,):
        for number in range(30):
            await create(board, str(number))
        newest = await board.newest()
        assert await board.changes_since(3) is None
        assert [one["text"] for one in await board.changes_since(newest - 2) or []] == ["28", "29"]
        assert await board.changes_since(newest) == []
        with board.listening() as listener:
            since = board.changes_since
            # As after a long sleep, whenever it looks: something may have told it to look already.
            monkeypatch.setattr(board, "changes_since", lambda _: since(3))
            await create(board, "end")
            await heard(listener, lambda event: event.type == "lost")


@bounded
async def test_a_follower_of_postgresql_whose_connection_is_killed_misses_nothing(
    postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.board.following._PAUSE", 0.01)
    url = postgres.database()
    async with boards(url, url) as (one, two):
        with two.listening() as listener:
            await introduce(one, listener)
            for number in range(3):
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute(
                        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                await create(one, f"after {number}")
                await heard(listener, change(f"after {number}"))


@bounded
async def test_beginning_and_closing_twice_is_harmless(store_url: str) -> None:
    board = Board(Store(store_url))
    await asyncio.gather(board.begin(), board.begin())
    assert len(await board.read(stages.listed)) == 5
    await board.close()
    await board.close()
    never = Board(Store(store_url))
    await never.close()


@bounded
async def test_a_write_is_carried_out_though_its_caller_is_cancelled(store_url: str) -> None:
    async with boards(store_url) as (board,):
        with board.listening() as listener:
            writing = asyncio.create_task(create(board, "kept"))
            await asyncio.sleep(0)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
            await create(board, "next")
            await heard(listener, change("kept"))  # before "next" or after it: PostgreSQL has both at the same time
            assert sorted(one["title"] for one in (await board.read(views.listed))[0]) == ["kept", "next"]


@bounded
async def test_a_connection_is_one_agent_until_it_leaves(store_url: str) -> None:
    async with boards(store_url) as (board,):
        participants = Participants(board)
        same = await asyncio.gather(*(participants.actor("a", "claude") for _ in range(5)))
        assert len(set(same)) == 1
        other = await participants.actor("b", "claude")
        assert [one["name"] for one in await board.read(agents.connected)] == ["claude", "claude-2"]
        named = await participants.register("b", "claude", "Ada")
        assert (named.name, named.id) == ("Ada", other.id)
        assert await participants.actor("b", "claude") == named
        await participants.leave("a")
        await participants.leave("a")
        await participants.leave("never")
        assert [one["name"] for one in await board.read(agents.connected)] == ["Ada"]
    store = Store(store_url)
    assert store.read(agents.connected) == []
    store.close()


@bounded
async def test_an_agent_is_told_of_what_others_did_before_its_call(store_url: str) -> None:
    async def unreachable(*_: Any) -> None:
        raise ConnectionError

    async with boards(store_url, store_url) as (here, elsewhere):
        participants = Participants(here)
        answers = Answers(here, participants)
        ada = await participants.actor("key", "ada")
        answers.called("key", unreachable)
        for board, name in ((here, "lovelace"), (elsewhere, "byron")):
            await board.write(partial(agents.rename, agent=str(ada.id), name=name))
            await answers.caught_up()
            assert participants.news("key") == [f"the user renamed you: you are {name} now"]
        await answers.close()
