"""The claims of agents that are gone, as a board in another process sees them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from board.running import TOKEN, agent, running
from board.test_people import enter
from fakes.bounded import bounded
from lsp_mcp.board import agents, claims, tasks, views
from lsp_mcp.board.board import Board, Event
from lsp_mcp.board.participants import Participants
from lsp_mcp.board.store import Store, Transaction
from lsp_mcp.board.tables import agents as agent_table

OVER_HTTP = """
import asyncio, httpx2, sys
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
async def main():
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + sys.argv[2]}) as http:
        async with Client(streamable_http_client(sys.argv[1], http_client=http), mode="legacy") as client:
            print((await client.call_tool("claim_task", {})).content[0].text, flush=True)
            while command := await asyncio.to_thread(sys.stdin.readline):
                print((await client.call_tool("list_tasks", {})).content[0].text, flush=True)
asyncio.run(main())
"""
PROCESS = "from lsp_mcp.board.processes import new_name; print(new_name(), flush=True); input()"


@asynccontextmanager
async def boards(url: str, number: int = 1) -> AsyncIterator[list[Board]]:
    """Boards that have begun, as in processes of their own."""
    made = [Board(Store(url)) for _ in range(number)]
    try:
        for board in made:
            await board.begin()
        yield made
    finally:
        for board in made:
            await board.close()


async def seen(listener: Any, action: str) -> Event:
    """The next change of that kind."""
    async with asyncio.timeout(15):
        async for event in listener:
            if event.type == "change" and event.data["action"] == action:
                return event
    raise AssertionError("unreachable")


@bounded
async def test_the_claim_of_a_killed_agent_lapses_when_the_kernel_reports_its_end(
    store_url: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("lsp_mcp.board.board._BEAT", 3_600.0)  # not found by a heartbeat
    async with boards(store_url) as (board,):
        child = subprocess.Popen([sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        assert child.stdout
        name = (await asyncio.to_thread(child.stdout.readline)).decode().strip()
        task = (await board.write(lambda at: tasks.create(at, "half done")))["id"]
        with board.listening() as listener:
            agent = await board.write(lambda at: agents.connect(at, "claude", name))
            await board.write(lambda at: claims.claim(at, agent, task), agent)
            await seen(listener, "claimed")
            child.kill()  # and nobody waits for it: it stays a zombie
            assert (await seen(listener, "lapsed")).data["ref"] == task
        (shown,), _ = await board.read(views.listed)
        assert (shown["claimed_by"], shown["claim_lapsed"]) == (None, agent.name)
        await asyncio.to_thread(child.communicate)


@bounded
async def test_after_the_end_of_an_agent_every_answer_says_that_its_claim_has_lapsed(
    store_url: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("lsp_mcp.board.board._BEAT", 3_600.0)
    async with boards(store_url) as (board,):
        for _ in range(5):
            child = subprocess.Popen([sys.executable, "-c", PROCESS], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
            assert child.stdout
            name = (await asyncio.to_thread(child.stdout.readline)).decode().strip()
            task = (await board.write(lambda at: tasks.create(at, "half done")))["id"]
            with board.listening() as listener:
                agent = await board.write(partial(agents.connect, client="claude", process=name))
                await board.write(partial(claims.claim, actor=agent, typed=task), agent)
                await seen(listener, "claimed")
            while name not in board._deaths._descriptors:  # until its end is watched
                await asyncio.sleep(0)
            child.kill()
            child.wait()  # the event loop stands still: it cannot know of the end yet
            listed, ready = await asyncio.gather(board.read(views.listed), board.read(views.ready))
            (shown,) = [one for one in listed[0] if one["id"] == task]
            assert (shown["claimed_by"], shown["claim_lapsed"]) == (None, agent.name)
            assert task in [one["id"] for one in ready[0]]
            other = await board.write(partial(agents.connect, client="codex", process=board.process))
            assert (await board.write(partial(claims.claim, actor=other, typed=task)))["claimed_by"] == other.name
            await asyncio.to_thread(child.communicate)


@bounded
async def test_a_process_that_was_taken_for_gone_gets_its_claims_back_for_all_to_see(
    new_store: Callable[[], str],
) -> None:
    async with boards(new_store(), 2) as (board, other):
        task = (await board.write(lambda at: tasks.create(at, "a task")))["id"]
        agent = await board.write(lambda at: agents.connect(at, "claude", other.process))
        await board.write(lambda at: claims.claim(at, agent, task), agent)
        gone = sa.update(agent_table).values(connected=False)

        def take_for_gone(at: Transaction) -> Any:
            at.connection.execute(gone)
            return views.get(at, task)["claim_lapsed"]

        with board.listening() as listener:
            assert await board.write(take_for_gone) == agent.name
            await other.write(lambda at: agents.beat(at, other.process))
            assert (await seen(listener, "claimed")).data["ref"] == task
        assert (await board.read(lambda at: views.get(at, task)))["claimed_by"] == agent.name


def test_the_claim_of_a_client_of_http_lapses_when_its_stream_ends(tmp_path: Path) -> None:
    with (
        running(tmp_path, "--port", "0") as board,
        agent(board, "websocket", "one") as one,
        closing(enter(board)) as page,
    ):
        task = one.answer("create_task", title="half done")["id"]
        command = [sys.executable, "-c", OVER_HTTP, f"http://127.0.0.1:{board.port}/mcp", TOKEN]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        assert child.stdout and child.stdin
        try:
            holder = json.loads(child.stdout.readline())["claimed_by"]
            child.stdin.write("\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["tasks"][0]["claimed_by"] == holder
            with page.stream("GET", "/api/events") as events:
                child.kill()
                for line in events.iter_lines():
                    if line.startswith("data:") and '"action": "lapsed"' in line:
                        break
        finally:
            child.kill()
            child.communicate()
        (listed,) = one.answer("list_tasks")["tasks"]
        assert (listed.get("claimed_by"), listed["claim_lapsed"]) == (None, holder)
        assert [each["id"] for each in one.answer("list_ready_tasks")["tasks"]] == [task]
        assert page.get(f"/api/tasks/{task}").json()["claim_lapsed"] == holder


@bounded
async def test_a_client_that_was_taken_for_gone_is_back_with_its_next_call(store_url: str) -> None:
    async with boards(store_url) as (board,):
        participants = Participants(board)
        agent_ = await participants.actor("key", "claude")
        task = (await board.write(lambda at: tasks.create(at, "a task")))["id"]
        await board.write(lambda at: claims.claim(at, agent_, task), agent_)
        await participants.away("key")
        await board.write(lambda at: agents.beat(at, board.process))  # which does not bring it back
        assert (await board.read(lambda at: views.get(at, task)))["claim_lapsed"] == agent_.name
        assert await participants.actor("key", "claude") == agent_
        assert (await board.read(lambda at: views.get(at, task)))["claimed_by"] == agent_.name
        await participants.away("key")
        await participants.leave("key")
        assert (await board.read(lambda at: views.get(at, task)))["claim_lapsed"] == agent_.name
