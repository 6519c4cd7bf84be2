"""One bound for all that a call waits for, and progress while it waits."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bounded import bounded as bounded_test
from lsp_mcp import waiting
from lsp_mcp.errors import SilentError
from lsp_mcp.waiting import allow, bounded, dispensable, phase, rest_unhurried, unhurried, within


async def _unheard(done: float, total: float | None, message: str) -> None:
    pass


async def _later() -> None:
    """Something that takes longer than the bounds of these tests."""
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(0.3, event.set)
    await event.wait()


@bounded_test
async def test_a_call_that_takes_too_long_says_what_it_waited_for_and_what_to_do() -> None:
    with pytest.raises(SilentError, match=r"^find was given up after 0\.05 s \(x: reading\)\. Ask again, or raise"):
        async with bounded(0.05, "find", _unheard):
            with phase(lambda: "x: starting"):
                pass
            with phase(lambda: "x: reading"):
                await asyncio.Event().wait()


@bounded_test
async def test_what_can_be_done_is_said_by_who_knows() -> None:
    with pytest.raises(SilentError, match=r"\(x\)\. Restart it\.$"):
        async with bounded(0.05, "find", _unheard):
            with phase(lambda: "x", lambda: "Restart it."):
                await asyncio.Event().wait()


@bounded_test
async def test_what_is_unhurried_or_was_asked_for_may_take_longer() -> None:
    async with bounded(0.1, "find", _unheard):
        with unhurried():
            await _later()
        allow(20)
        await _later()


@bounded_test
@pytest.mark.parametrize(("seconds", "least", "most"), [(10, 20, 30), (35, 10, 20)])
async def test_what_is_unhurried_counts_but_leaves_the_call_half_of_its_limit(
    seconds: float, least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, time, ahead = asyncio.get_running_loop(), asyncio.get_running_loop().time, [0.0]
    monkeypatch.setattr(loop, "time", lambda: time() + ahead[0])
    async with bounded(40, "find", _unheard):
        with unhurried():
            ahead[0] = seconds
        assert least < within(60) <= most


@bounded_test
async def test_what_is_unhurried_has_one_limit_for_all_that_a_call_waits_for() -> None:
    assert rest_unhurried(30) == 30
    async with bounded(20, "find", _unheard):
        assert rest_unhurried(30) == 30
        for _ in range(2):
            with unhurried():
                await _later()
        assert rest_unhurried(30) <= 29.4
        assert rest_unhurried(0.5) == 0


@bounded_test
async def test_one_thing_that_is_waited_for_gets_no_more_than_what_the_call_has_left() -> None:
    assert within(60) == 60
    async with bounded(1, "find", _unheard):
        assert within(60) < 1
        assert within(0.01) == 0.01


@bounded_test
async def test_what_a_call_can_do_without_leaves_it_half_of_the_time() -> None:
    with dispensable():
        assert within(60) == 60
        async with bounded(60, "find", _unheard):
            assert within(60) <= 30
            assert within(1) == 1
    async with bounded(60, "find", _unheard):
        assert within(60) > 30


@bounded_test
async def test_a_timeout_of_somebody_else_is_not_the_calls() -> None:
    with pytest.raises(TimeoutError):
        async with bounded(20, "find", _unheard):
            raise TimeoutError


@bounded_test
async def test_work_in_the_background_goes_on_after_the_call_without_its_bound() -> None:
    begun = asyncio.Event()
    over = asyncio.Event()

    async def background() -> float:
        begun.set()
        await over.wait()
        with unhurried(), phase(lambda: "x"):
            return within(60)

    async with bounded(20, "find", _unheard):
        task = asyncio.create_task(background())
        await begun.wait()
    over.set()
    assert await task == 60


@bounded_test
async def test_progress_is_told_again_and_again_and_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_BEAT", 0.001)
    told: list[tuple[float, str]] = []
    enough = asyncio.Event()

    async def report(done: float, total: float | None, message: str) -> None:
        told.append((done, message))
        if len(told) == 4:
            enough.set()

    async with bounded(20, "find", report) as counted:
        await counted(0, None, "begun")
        with phase(lambda: f"x: {len(told)} read"):
            await enough.wait()
    assert [done for done, _ in told[:4]] == [1, 2, 3, 4]
    assert told[0][1] == "begun"
    assert told[3][1] == "x: 3 read"
