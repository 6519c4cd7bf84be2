"""The end of a session: orderly where the server is, bounded whatever it does, and nothing is left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.bounded import bounded, gone, steps, told, wait_gone
from fakes.launched import child_of
from fakes.workspace import FakeWorkspace, do, end_process
from lsp_mcp.errors import LspMcpError, UnavailableError
from lsp_mcp.lsp.process import connection as connection_module

DEAF = ["shut_ears"]
LOG = {"method": "window/logMessage", "params": {"type": 4, "message": "x" * 80}}
SLEEP = ["sleep", "1000"]


@bounded
async def test_an_orderly_server_is_asked_to_shut_down_and_exits_by_itself(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request("fake/pid", {})
    assert fake.methods()[-2:] == ["shutdown", "exit"]
    assert fake.log()[-1] == {"life": 1, "ended": "exit"}


@bounded
@pytest.mark.parametrize(
    "life",
    [
        {"rules": {"shutdown": [DEAF, ["stall"]]}},
        {"rules": {"shutdown": [DEAF, ["hold"]], "exit": []}},
        {"rules": {"exit": [DEAF, ["stall"]]}},
        {"rules": {"exit": [DEAF, ["close", 1], ["stall"]]}},
        {"rules": {"shutdown": [DEAF, ["close", 0], ["stall"]]}},
        {"rules": {"shutdown": [DEAF, ["refuse", -32603, "no"]], "exit": [["stall"]]}},
        {"rules": {"shutdown": [DEAF, ["spawn", SLEEP, False], ["stall"]]}},
        {"rules": {"shutdown": [DEAF, ["flood", 10_000, LOG], ["stall"]]}},
        {"rules": {"shutdown": [["kill"]]}},
        {"rules": {"shutdown": [["exit", 0]]}},
    ],
    ids=["stalls", "ignores", "stays", "mute", "deaf", "refuses", "has children", "floods", "dies", "leaves"],
)
async def test_closing_ends_within_three_seconds_whatever_the_server_does(fake: FakeWorkspace, life: Any) -> None:
    fake.script(life)
    async with fake.session() as session:
        await session.request("fake/pid", {})
        async with asyncio.timeout(3):
            await session.close()
        for pid in fake.pids() + fake.spawned():
            await gone(pid)


@bounded
async def test_closing_ends_though_a_runaway_child_of_the_server_holds_its_pipes(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"shutdown": [DEAF, ["spawn", SLEEP, True], ["stall"]]}})
    async with fake.session() as session:
        await session.request("fake/pid", {})
        async with asyncio.timeout(3.5):
            await session.close()
        for pid in fake.spawned():
            end_process(pid)


@bounded
async def test_a_server_that_closes_its_output_at_exit_may_finish_its_work(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "_EXIT_PATIENCE", 20.0)
    save = [["close", 1], ["wait_for_end_of_input"], ["note", "index saved"], ["exit", 0]]
    fake.script({"rules": {"exit": save}})
    async with fake.session() as session:
        await session.request("fake/pid", {})
    assert fake.log()[-1] == {"life": 1, "note": "index saved"}


@bounded
async def test_closing_twice_and_at_once_is_closing_once(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request("fake/pid", {})
        await asyncio.gather(session.close(), session.close())
        await session.close()
    assert len(fake.pids()) == 1
    assert fake.methods().count("exit") <= 2


@bounded
async def test_a_session_that_was_never_used_closes(fake: FakeWorkspace) -> None:
    async with fake.session():
        pass
    async with fake.session() as session:
        session.spawn()
        pid = child_of(session).pid
    await gone(pid)


@bounded
async def test_after_closing_nothing_is_started_again(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request("fake/pid", {})
        await session.close()
        for asking in (
            session.request("fake/pid", {}),
            session.sync(),
            session.documents.open(fake.write("a.txt", "x")),
        ):
            with pytest.raises(UnavailableError, match="fake is being shut down"):
                await asking
        session.begin()
        await steps()
    assert len(fake.pids()) == 1


@bounded
async def test_requests_under_way_when_a_session_closes_fail_and_are_not_asked_again(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/slow": [["hold"]]}})
    async with fake.session() as session:
        calls = [asyncio.create_task(session.request("test/slow", {})) for _ in range(3)]
        await session.request("fake/do", do())
        await session.close()
        for call in calls:
            with pytest.raises(UnavailableError, match="fake was shut down"):
                await call
    assert len(fake.pids()) == 1


@bounded
@pytest.mark.parametrize("moment", ["at_start", "initialize"])
async def test_closing_while_the_server_starts_kills_it_and_fails_who_waits(fake: FakeWorkspace, moment: str) -> None:
    fifo = fake.fifo()
    hang = [DEAF, ["tell", str(fifo)], ["stall"]]
    fake.script({"at_start": hang} if moment == "at_start" else {"rules": {"initialize": hang}})
    async with fake.session() as session:
        calls = [asyncio.create_task(session.request("fake/pid", {})), asyncio.create_task(session.sync())]
        await told(fifo)
        async with asyncio.timeout(3):
            await session.close()
        for call in calls:
            # No cancellation: nobody has cancelled these callers.
            with pytest.raises(UnavailableError, match="fake is being shut down"):
                await call
        await gone(fake.pids()[0])
    assert len(fake.pids()) == 1


@bounded
async def test_closing_while_the_watch_starts_kills_a_server_that_was_spawned_early(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    walking = asyncio.Event()
    fifo = fake.fifo()
    fake.script({"at_start": [DEAF, ["tell", str(fifo)], ["stall"]]})
    async with fake.session() as session:
        monkeypatch.setattr(session._feed, "start", walking.wait)
        session.spawn()
        session.begin()
        await told(fifo)
        await session.close()
        await gone(fake.pids()[0])


@bounded
async def test_closing_in_the_pause_between_two_tries_starts_nothing(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.lsp.life.lifetime._PAUSES", (0.0, 1000.0))
    fake.script({"rules": {"initialize": [["exit", 1]]}})
    async with fake.session() as session:
        call = asyncio.create_task(session.request("fake/pid", {}))
        while not fake.pids():
            await steps(1)
        await gone(fake.pids()[0])
        await session.close()
        with pytest.raises(UnavailableError):
            await call
    assert len(fake.pids()) == 1


@bounded
@pytest.mark.parametrize("moment", ["running", "initialize"])
async def test_killing_ends_the_server_at_once_without_a_loop(fake: FakeWorkspace, moment: str) -> None:
    fifo = fake.fifo()
    hang = [DEAF, ["spawn", SLEEP, False], ["tell", str(fifo)], ["stall"]]
    fake.script({"rules": {"initialize" if moment == "initialize" else "test/hang": hang}})
    async with fake.session() as session:
        call = asyncio.create_task(session.request("test/hang", {}))
        await told(fifo)
        session.kill()
        for pid in fake.pids() + fake.spawned():
            assert wait_gone(pid)
        with pytest.raises(LspMcpError):
            await call
    assert len(fake.pids()) == 1


@bounded
async def test_a_caller_that_is_cancelled_while_the_session_closes_is_cancelled(fake: FakeWorkspace) -> None:
    fifo = fake.fifo()
    fake.script({"rules": {"initialize": [["tell", str(fifo)], ["stall"]]}})
    async with fake.session() as session:
        call = asyncio.create_task(session.request("fake/pid", {}))
        await told(fifo)
        call.cancel()
        await session.close()
        await asyncio.wait([call])
        assert call.cancelled()
