"""One JSON-RPC peer, over streams in memory: every message that comes is written down by the test."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakes.bounded import bounded, steps
from lsp_mcp.errors import METHOD_NOT_FOUND, DiedError, RefusedError, SilentError
from lsp_mcp.wire.framing import Framer, frame
from lsp_mcp.wire.peer import Peer

LONG = 20.0  # seconds: never reached


class Line:
    """The other end of a peer's streams."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.framer = Framer()
        self.sent: list[dict[str, Any]] = []
        self.requests: list[tuple[str, Any]] = []
        self.notifications: list[tuple[str, Any]] = []
        self.clear = asyncio.Event()  # unset: the other end does not read
        self.clear.set()
        self.lost = False
        self.peer = Peer("fake", self.reader, self, self.on_request, self.on_notification)  # type: ignore[arg-type]

    # what a peer needs of an `asyncio.StreamWriter`

    def write(self, data: bytes) -> None:
        self.sent += map(json.loads, self.framer.feed(data))

    async def drain(self) -> None:
        await self.clear.wait()
        if self.lost:
            raise ConnectionResetError("Connection lost")

    # what a peer tells its owner

    def on_request(self, method: str, params: Any) -> Any:
        self.requests.append((method, params))
        if method == "unknown":
            raise RefusedError("never heard of", METHOD_NOT_FOUND)
        if method == "defect":
            raise KeyError("items")
        return {"echo": params}

    def on_notification(self, method: str, params: Any) -> None:
        self.notifications.append((method, params))
        if method == "defect":
            raise KeyError("token")

    # what the test says

    def says(self, *messages: Any) -> None:
        for message in messages:
            self.reader.feed_data(frame(message if isinstance(message, bytes) else json.dumps(message).encode()))

    def ask(self, method: str = "m", params: Any = None, timeout: float = LONG) -> asyncio.Task[Any]:
        return asyncio.create_task(self.peer.request(method, params, timeout=timeout))

    def methods(self) -> list[str | None]:
        return [message.get("method") for message in self.sent]


@contextlib.asynccontextmanager
async def line() -> AsyncIterator[Line]:
    """A peer that is being read, until its stream ends with the test."""
    there = Line()
    running = asyncio.create_task(there.peer.run())
    yield there
    there.reader.feed_eof()
    await running


@bounded
async def test_an_answer_goes_to_who_asked() -> None:
    async with line() as other:
        one, two = other.ask("one", {"x": 1}), other.ask("two", [2])
        await steps()
        assert other.sent == [
            {"jsonrpc": "2.0", "id": 1, "method": "one", "params": {"x": 1}},
            {"jsonrpc": "2.0", "id": 2, "method": "two", "params": [2]},
        ]
        other.says({"id": 2, "result": "second"}, {"id": 1, "result": None})
        assert await two == "second"
        assert await one is None


@bounded
async def test_a_request_without_parameters_has_no_params() -> None:
    async with line() as other:
        asked = other.ask("shutdown", None)
        await steps()
        assert other.sent == [{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]
        other.says({"id": 1, "result": None})
        await asked


@bounded
async def test_fifty_requests_are_answered_out_of_order() -> None:
    async with line() as other:
        asked = [other.ask("m", number) for number in range(50)]
        await steps()
        for message in reversed(other.sent):
            other.says({"id": message["id"], "result": message["params"] * 10})
        assert await asyncio.gather(*asked) == [number * 10 for number in range(50)]


@bounded
async def test_an_error_is_raised_with_its_code() -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        other.says({"id": 1, "error": {"code": -32801, "message": "content modified"}})
        with pytest.raises(RefusedError, match="content modified") as refusal:
            await asked
        assert refusal.value.code == -32801
        assert "$/cancelRequest" not in other.methods()


@bounded
async def test_a_method_that_the_other_side_does_not_know_is_named() -> None:
    async with line() as other:
        asked = other.ask("textDocument/codeLens")
        await steps()
        other.says({"id": 1, "error": {"code": METHOD_NOT_FOUND, "message": "Unhandled method"}})
        with pytest.raises(RefusedError, match="it does not support textDocument/codeLens") as refusal:
            await asked
        assert refusal.value.code == METHOD_NOT_FOUND


@bounded
@pytest.mark.parametrize("error", ["no", {"code": "E1"}, {"message": 7}, [1]])
async def test_an_error_in_another_form_is_a_refusal_too(error: Any) -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        other.says({"id": 1, "error": error})
        with pytest.raises(RefusedError):
            await asked


@bounded
async def test_a_null_error_is_none() -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        other.says({"id": 1, "error": None, "result": 5})
        assert await asked == 5


@bounded
@pytest.mark.parametrize(
    "answer",
    [
        b'{"id": 1, "result": [1, 2}',
        b'{"id":1,"result":',
        b'{"jsonrpc":"2.0", "id" : 1, "result": nul}',
        b'{"id": 1, "result": "\xff\xfe"}',
        b'{"id": 1, "result": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ],
    ids=["bracket", "cut", "word", "no utf-8", "too deep"],
)
async def test_a_malformed_answer_fails_who_asked_and_nobody_else(answer: bytes) -> None:
    async with line() as other:
        first, second = other.ask(), other.ask()
        await steps()
        other.says(answer, {"id": 2, "result": "fine"})
        with pytest.raises(RefusedError, match="not JSON"):
            await first
        assert await second == "fine"


@bounded
@pytest.mark.parametrize(
    "rubbish",
    [b"", b"null", b"[]", b'"text"', b"{", b"{}", b'{"id": ' + b"9" * 5000 + b", x}", b"\xff\xff", b'{"method": 3}'],
)
async def test_rubbish_between_messages_is_passed_over(rubbish: bytes) -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        other.says(rubbish, {"id": 1, "result": "fine"})
        assert await asked == "fine"


@bounded
@pytest.mark.parametrize("identifier", [2, 0, -1, "1", None, 1.5, [1], {"id": 1}, True])
async def test_an_answer_that_nobody_asked_for_is_dropped(identifier: Any) -> None:
    async with line() as other:
        other.says({"id": 1, "result": "too early"})
        await steps()
        asked = other.ask()
        await steps()
        if identifier is not True:  # Python's True is 1
            other.says({"id": identifier, "result": "not this one"})
        other.says({"id": 1, "result": "this one"}, {"id": 1, "result": "once more"})
        assert await asked == "this one"


@bounded
async def test_cancelling_who_asked_cancels_the_request() -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert other.sent[1:] == [{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}]


@bounded
async def test_an_answer_after_its_cancel_is_dropped() -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        asked.cancel()
        await steps()
        again = other.ask()
        await steps()
        other.says({"id": 1, "error": {"code": -32800, "message": "cancelled"}}, {"id": 2, "result": "new"})
        assert await again == "new"
        assert asked.cancelled()


@bounded
async def test_a_request_that_is_never_answered_ends_with_a_cancel() -> None:
    async with line() as other:
        with pytest.raises(SilentError, match=r"fake did not answer slow within 0\.01 s"):
            await other.peer.request("slow", None, timeout=0.01)
        assert other.methods() == ["slow", "$/cancelRequest"]
        asked = other.ask()
        await steps()
        other.says({"id": 1, "result": "too late"}, {"id": 2, "result": "in time"})
        assert await asked == "in time"


@bounded
async def test_another_end_that_does_not_read_is_silent() -> None:
    async with line() as other:
        other.clear.clear()
        with pytest.raises(SilentError):
            await other.peer.request("m", "x" * 100_000, timeout=0.01)


@bounded
async def test_closing_fails_everyone_who_waits_and_all_who_ask_later() -> None:
    async with line() as other:
        asked = [other.ask() for _ in range(3)]
        await steps()
        death = DiedError("fake exited with status 3")
        other.peer.close(death)
        other.peer.close(DiedError("a second time"))
        assert await asyncio.gather(*asked, return_exceptions=True) == [death] * 3
        sent = len(other.sent)
        with pytest.raises(DiedError, match="status 3"):
            await other.peer.request("m", None, timeout=LONG)
        other.peer.notify("n", None)
        assert len(other.sent) == sent


@bounded
async def test_a_caller_that_leaves_in_the_moment_of_closing_leaves_nothing_behind() -> None:
    async with line() as other:
        cancelled, unread = other.ask(), other.ask()
        await steps()
        other.clear.clear()
        blocked = other.ask()
        await steps()
        other.peer.close(DiedError("fake died"))
        cancelled.cancel()
        blocked.cancel()
        outcomes = await asyncio.gather(cancelled, unread, blocked, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError, DiedError, asyncio.CancelledError]
        # `bounded` fails the test if the error of a waiter that nobody awaited is reported later.


@bounded
async def test_a_lost_input_is_told_and_an_answer_that_came_before_still_counts() -> None:
    async with line() as other:
        other.lost = True
        asked, never = other.ask(), other.ask()
        await other.peer.deaf.wait()
        other.says({"id": 1, "result": "said before it closed"})
        assert await asked == "said before it closed"
        other.peer.close(DiedError("fake exited with status 1"))
        with pytest.raises(DiedError, match="status 1"):
            await never


@bounded
async def test_its_requests_are_answered() -> None:
    async with line() as other:
        other.says(
            {"id": "a", "method": "known", "params": {"x": 1}},
            {"id": 7, "method": "unknown"},
            {"id": 0, "method": "defect"},
            {"id": 8, "method": "known"},
        )
        await steps()
        assert other.requests == [("known", {"x": 1}), ("unknown", None), ("defect", None), ("known", None)]
        first, second, third, fourth = other.sent
        assert first == {"jsonrpc": "2.0", "id": "a", "result": {"echo": {"x": 1}}}
        assert (second["id"], second["error"]["code"]) == (7, METHOD_NOT_FOUND)
        assert (third["id"], third["error"]["code"]) == (0, -32603)
        assert fourth["id"] == 8


@bounded
async def test_a_notification_that_cannot_be_read_does_not_end_the_reading(caplog: pytest.LogCaptureFixture) -> None:
    async with line() as other:
        other.says({"method": "defect", "params": 1}, {"method": "next", "params": 2})
        await steps()
        assert other.notifications == [("defect", 1), ("next", 2)]
    assert "its notification defect failed here" in caplog.text


@bounded
async def test_a_flood_of_notifications_does_not_hold_up_an_answer() -> None:
    async with line() as other:
        asked = other.ask()
        await steps()
        flood = frame(json.dumps({"method": "window/logMessage", "params": {"message": "x" * 80}}).encode()) * 20_000
        other.reader.feed_data(flood + frame(b'{"id": 1, "result": "here"}') + flood)
        assert await asked == "here"
        assert len(other.notifications) < 40_000, "the rest of the flood is read after the answer was handed over"
    assert len(other.notifications) == 40_000


@bounded
async def test_reading_ends_with_the_stream_and_says_how_it_broke() -> None:
    whole, broken = Line(), Line()
    whole.says({"method": "n"})
    whole.reader.feed_eof()
    assert await whole.peer.run() == ""
    assert whole.notifications == [("n", None)]
    broken.reader.feed_data(b"usage: server [options]\n" * 5000)
    assert "sent what is not a message" in await broken.peer.run()


@bounded
async def test_a_lost_stream_ends_the_reading() -> None:
    other = Line()
    other.reader.set_exception(ConnectionResetError("gone"))
    assert await other.peer.run() == ""


@bounded
async def test_a_lone_surrogate_is_sent_as_an_escape() -> None:
    async with line() as other:
        other.peer.notify("n", "\ud800 é 😀")
        assert other.sent[0]["params"] == "\ud800 é 😀"


@bounded
async def test_what_cannot_be_sent_leaves_the_line_as_it_was() -> None:
    async with line() as other:
        with pytest.raises(TypeError):
            await other.peer.request("m", {"x": object()}, timeout=LONG)
        asked = other.ask("next")
        await steps()
        assert other.sent[-1]["method"] == "next"
        other.says({"id": other.sent[-1]["id"], "result": 1})
        assert await asked == 1


@bounded
async def test_every_message_is_logged_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "lsp_mcp.wire.peer")
    async with line() as other:
        asked = other.ask("textDocument/hover", {"x": 1})
        await steps()
        other.says({"id": 1, "result": "found"})
        await asked
    assert "textDocument/hover" in caplog.text
    assert "found" in caplog.text
