"""How many calls of a client run at a time: `Turns`."""

from __future__ import annotations

import asyncio

import pytest

from fakes.bounded import bounded
from lsp_mcp.server import turns
from lsp_mcp.server.turns import ClientTurns, Turns


class Calls:
    """Calls of one client, which run until the test ends them."""

    def __init__(self, client: ClientTurns, number: int) -> None:
        self.running: list[asyncio.Event] = []
        self._client = client
        self.tasks = [asyncio.create_task(self._call()) for _ in range(number)]

    async def _call(self) -> None:
        async with self._client.turn():
            over = asyncio.Event()
            self.running.append(over)
            await over.wait()
            self.running.remove(over)

    async def end(self, number: int) -> None:
        for over in self.running[:number]:
            over.set()
        await settled()


async def settled() -> None:
    """Everything that can go on has gone on."""
    for _ in range(100):
        await asyncio.sleep(0)


@bounded
async def test_a_client_alone_has_eight_calls_at_a_time_and_two_while_another_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = Turns()
    many = Calls(shared.of_client(), 30)
    await settled()
    assert len(many.running) == 8
    await many.end(3)
    assert len(many.running) == 8
    one = Calls(shared.of_client(), 1)
    await settled()
    assert len(one.running) == 1, "it waits for nobody"
    for left in (6, 4, 2, 2, 2):
        await many.end(2)
        assert len(many.running) == left
    await one.end(1)
    await many.end(2)
    assert len(many.running) == 2, "it may ask again"
    monkeypatch.setattr(turns, "_LATELY", -1.0)
    await many.end(1)
    assert len(many.running) == 8
    while many.running:
        await many.end(8)
    assert all(task.done() and not task.exception() for task in [*many.tasks, *one.tasks])


@bounded
async def test_calls_that_take_long_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_LONG", 0.0)
    shared = Turns()
    one, many = Calls(shared.of_client(), 1), Calls(shared.of_client(), 30)
    while len(many.running) < 8:
        await asyncio.sleep(0)
    await settled()
    assert len(many.running) == 8, "but for more than eight of them"
    while many.running:
        await many.end(8)
    await one.end(1)


@bounded
async def test_a_call_that_is_cancelled_while_it_waits_or_runs_leaves_its_turn_to_the_next() -> None:
    shared = Turns()
    one, many = Calls(shared.of_client(), 1), Calls(shared.of_client(), 12)
    await settled()
    assert len(many.running) == 2
    for task in (*many.tasks[:5], *many.tasks[9:]):
        task.cancel()
    await settled()
    assert sum(not task.done() for task in many.tasks) == 4
    many.running = many.running[2:]  # those of cancelled ones
    assert len(many.running) == 2
    await many.end(2)
    await many.end(2)
    assert all(task.done() for task in many.tasks)
    await one.end(1)
