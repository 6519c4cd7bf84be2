"""Waiting until a server knows the workspace: by its own progress, never by a guess."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.bounded import bounded, steps
from fakes.gaps import missing, news_of
from fakes.workspace import FakeWorkspace, do, notification
from lsp_mcp.errors import SilentError, UnavailableError
from lsp_mcp.lsp.life.progress import Progress

READY = '[ready]\nprogress_title = "Indexing"\n'


def progress(kind: str, token: Any = "t", **value: Any) -> list[Any]:
    return notification("$/progress", {"token": token, "value": {"kind": kind, **value}})


class Reports:
    """What somebody who waits was told, each once the test has taken it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[tuple[float, float | None, str]] = asyncio.Queue()

    async def __call__(self, done: float, total: float | None, message: str) -> None:
        self.queue.put_nowait((done, total, message))

    async def next(self) -> str:
        return (await self.queue.get())[2]


@bounded
async def test_a_server_without_a_readiness_signal_is_ready_when_it_is_initialized(fake: FakeWorkspace) -> None:
    reports = Reports()
    async with fake.session() as session:
        await session.ready(reports)
        assert fake.methods()[0] == "initialize"
        assert await missing(session) == []
    assert reports.queue.empty()


@bounded
async def test_who_waits_is_told_how_far_it_is_and_goes_on_at_the_end(fake: FakeWorkspace) -> None:
    reports = Reports()
    async with fake.session(READY) as session:
        waiting = asyncio.create_task(session.ready(reports))
        assert await reports.next() == "fake: indexing (Indexing)"
        await session.request("fake/do", do(progress("begin", title="Indexing", percentage=0)))
        assert await reports.next() == "fake: indexing 0 %"
        await session.request("fake/do", do(progress("report", message="45/120", percentage=37)))
        assert await reports.next() == "fake: indexing 45/120"
        assert await missing(session) == ["indexing 45/120"]
        await session.request("fake/do", do(progress("report", message="linking")))
        assert await reports.next() == "fake: indexing 37 %"
        assert not waiting.done()
        await session.request("fake/do", do(progress("end", message="done")))
        await waiting
        assert await missing(session) == []
        await session.ready(reports)
    assert reports.queue.empty()


@bounded
async def test_progress_that_is_reported_grows_as_mcp_demands(fake: FakeWorkspace) -> None:
    reports = Reports()
    async with fake.session(READY) as session:
        waiting = asyncio.create_task(session.ready(reports))
        told = [await reports.queue.get()]
        await session.request("fake/do", do(progress("begin", title="Indexing")))
        told.append(await reports.queue.get())
        await session.request("fake/do", do(progress("report", message="1/2")))
        told.append(await reports.queue.get())
        await session.request("fake/do", do(progress("end")))
        await waiting
    steps_done = [done for done, _, _ in told]
    assert steps_done == sorted(set(steps_done))


@bounded
async def test_work_of_another_name_is_not_waited_for(fake: FakeWorkspace) -> None:
    fake.script(
        {
            "rules": {
                "initialized": [
                    progress("begin", 1, title="Indexing"),
                    progress("begin", 2, title="Something else"),
                    progress("end", 1),
                ]
            }
        }
    )
    async with fake.session(READY) as session:
        await session.ready(Reports())
        assert await missing(session) == []


@bounded
async def test_the_same_work_begun_again_is_waited_for_again(fake: FakeWorkspace) -> None:
    reports = Reports()
    async with fake.session(READY) as session:
        await session.request("fake/do", do(progress("begin", 1, title="Indexing"), progress("end", 1)))
        await session.ready(reports)
        await session.request("fake/do", do(progress("begin", 2, title="Indexing", message="7/9")))
        waiting = asyncio.create_task(session.ready(reports))
        assert await reports.next() == "fake: indexing 7/9"
        await session.request("fake/do", do(progress("end", 2)))
        await waiting


@bounded
async def test_everyone_who_waits_goes_on_at_the_end_even_one_who_is_still_telling_his_client(
    fake: FakeWorkspace,
) -> None:
    told, go_on = asyncio.Event(), asyncio.Event()

    async def slow(done: float, total: float | None, message: str) -> None:
        told.set()
        await go_on.wait()

    async with fake.session(READY) as session:
        slow_one = asyncio.create_task(session.ready(slow))
        await told.wait()
        others = [asyncio.create_task(session.ready(Reports())) for _ in range(3)]
        await session.request("fake/do", do(progress("begin", title="Indexing"), progress("end")))
        await asyncio.gather(*others)
        await session.ready(Reports())
        go_on.set()
        await slow_one


@bounded
async def test_after_the_ready_timeout_the_notes_say_what_is_missing(fake: FakeWorkspace) -> None:
    begun = [progress("begin", title="Indexing", message="3/9")]
    fake.script({"rules": {"initialized": begun}})
    async with fake.session(READY, ready_timeout=0.05) as session:
        await session.request("fake/pid", {})
        await session.ready(Reports())
        assert await missing(session) == ["indexing 3/9"]


@bounded
async def test_a_request_without_an_answer_before_the_workspace_is_loaded_blames_the_loading(
    fake: FakeWorkspace,
) -> None:
    begun = [progress("begin", title="Indexing", message="3/9")]
    fake.script({"rules": {"initialized": begun, "test/slow": [["hold"]]}})
    async with fake.session(READY, ready_timeout=0.05, request_timeout=0.05) as session:
        await session.request("fake/pid", {}, timeout=20)
        with pytest.raises(SilentError, match=r" It is still indexing 3/9\. Ask again, or raise --ready-timeout\.$"):
            await session.request("test/slow", {})
        await session.request("fake/do", do(progress("end")), timeout=20)
        with pytest.raises(SilentError, match=r"cancelled\. Ask again, or raise --request-timeout\.$"):
            await session.request("test/slow", {})


@bounded
async def test_a_server_that_never_says_a_word_is_said_to_be_indexing(fake: FakeWorkspace) -> None:
    async with fake.session(READY, ready_timeout=0.05) as session:
        await session.ready(Reports())
        assert await missing(session) == ["indexing (Indexing)"]


@bounded
async def test_a_server_that_dies_while_it_is_waited_for_is_restarted_and_waited_for_again(
    fake: FakeWorkspace,
) -> None:
    fake.script(
        {"rules": {"initialized": [progress("begin", title="Indexing", message="1/9")]}},
        {"rules": {"initialized": [progress("begin", title="Indexing", message="2/9")]}},
    )
    reports = Reports()
    async with fake.session(READY) as session:
        waiting = asyncio.create_task(session.ready(reports))
        while "1/9" not in await reports.next():
            pass
        call = asyncio.create_task(session.request("fake/do", do(["in_life", 1, [["kill"]]])))
        while "2/9" not in await reports.next():
            pass
        await call
        await steps()
        assert not waiting.done()
        await session.request("fake/do", do(progress("end")))
        await waiting
        assert await news_of(session) == ["fake restarted"]


@bounded
async def test_an_answer_without_what_is_read_again_says_that_the_memory_limit_is_the_reason(
    fake: FakeWorkspace,
) -> None:
    begun = [progress("begin", title="Indexing", message="3/9")]
    fake.script(*[{"rules": {"initialized": begun}}] * 3)
    why = "fake was ended because servers took more than --memory-limit"
    async with fake.session(READY) as session:
        await session.request("fake/do", do())
        assert await missing(session) == ["indexing 3/9"]
        await session.rest()
        await session.request("fake/do", do())
        assert await missing(session) == ["indexing 3/9"]
        await session.rest(for_memory=True)
        await session.request("fake/do", do())
        assert await missing(session) == [f"indexing 3/9; {why}"]
        await session.request("fake/do", do(progress("end")))
        assert await missing(session) == []
        await session.request("fake/do", do(progress("begin", title="Indexing", message="1/2")))
        assert await missing(session) == ["indexing 1/2"]


@bounded
async def test_a_server_that_cannot_be_restarted_while_it_is_waited_for_is_unavailable(fake: FakeWorkspace) -> None:
    fake.script({}, {"at_start": [["exit", 4]]})
    reports = Reports()
    async with fake.session(READY) as session:
        waiting = asyncio.create_task(session.ready(reports))
        await reports.next()
        with pytest.raises(UnavailableError):
            await session.request("fake/do", do(["kill"]))
        with pytest.raises(UnavailableError, match="exited with status 4"):
            await waiting


@bounded
async def test_a_caller_that_stops_waiting_leaves_the_others_waiting(fake: FakeWorkspace) -> None:
    async with fake.session(READY) as session:
        one, two = (asyncio.create_task(session.ready(Reports())) for _ in range(2))
        await session.request("fake/do", do(progress("begin", title="Indexing")))
        one.cancel()
        await asyncio.wait([one])
        assert one.cancelled()
        assert not two.done()
        await session.request("fake/do", do(progress("end")))
        await two


@bounded
async def test_a_client_that_cannot_be_told_ends_only_its_own_call(fake: FakeWorkspace) -> None:
    async def broken(done: float, total: float | None, message: str) -> None:
        raise ConnectionResetError("the client is gone")

    async with fake.session(READY) as session:
        with pytest.raises(ConnectionResetError):
            await session.ready(broken)
        await session.request("fake/do", do(progress("begin", title="Indexing"), progress("end")))
        await session.ready(Reports())


# --- what is made of the messages --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"message": "45/120"}, "indexing 45/120"),
        ({"message": "file 4 / 9: a.go", "percentage": 44}, "indexing 4/9"),
        ({"percentage": 12.6}, "indexing 13 %"),
        ({"percentage": 0}, "indexing 0 %"),
        ({"message": "Reloading packages..."}, "indexing (Reloading packages...)"),
        ({}, "indexing (Indexing)"),
        ({"message": None, "percentage": "half"}, "indexing (None)"),
        ({"message": 7, "percentage": [1]}, "indexing (7)"),
    ],
)
def test_a_status_says_as_much_as_the_server_did(value: dict[str, Any], status: str) -> None:
    there = Progress()
    there.update("t", {"kind": "begin", "title": "Indexing", **value})
    assert str(there.pending("Indexing")) == status


def test_messages_about_unknown_work_are_passed_over() -> None:
    there = Progress()
    value: Any
    for value in ({"kind": "report", "message": "1/2"}, {"kind": "end"}, {"kind": "new"}, "text", None, [], 5):
        there.update("t", value)
    assert str(there.pending("Indexing")) == "indexing (Indexing)"
    there.update(1, {"kind": "begin", "title": "Indexing"})
    there.update("1", {"kind": "end"})
    assert there.pending("Indexing"), "a token is a number or a text, and they differ"
    there.update(1, {"kind": "end", "message": "all loaded"})
    assert there.pending("Indexing") is None
    assert there.last_words("Indexing") == "all loaded"
    assert there.last_words("Other") == ""


def test_work_that_is_expected_again_is_pending_again() -> None:
    there = Progress()
    there.update(1, {"kind": "begin", "title": "Indexing"})
    there.update(1, {"kind": "end"})
    there.expect("Indexing")
    assert there.pending("Indexing")
    there.expect("Never heard of")


def test_how_long_work_took_is_known_once_it_has_ended() -> None:
    times = iter([10.0, 12.5, 20.0, 21.0])
    there = Progress(lambda: next(times))
    there.update(1, {"kind": "begin", "title": "Loading"})
    assert there.took("Loading") == 0.0
    there.update(1, {"kind": "end"})
    assert there.took("Loading") == 2.5
    there.update(2, {"kind": "begin", "title": "Loading"})
    there.update(2, {"kind": "end"})
    assert there.took("Loading") == 1.0, "the last time counts"
