"""What a session survives of its server: wrong answers, silence, floods and death, each with the scripted fake."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from fakes.bounded import bounded, gone, steps
from fakes.gaps import news_of
from fakes.launched import child_of, launcher_of
from fakes.workspace import FakeWorkspace, do, end_process, notification, replies, request
from lsp_mcp.errors import DiedError, MissingProgramError, RefusedError, SilentError, UnavailableError
from lsp_mcp.lsp.life import lifetime as lifetime_module
from lsp_mcp.lsp.session import Session

REAL_PAUSES = lifetime_module._PAUSES

# --- what it says ------------------------------------------------------------------------------------


@bounded
async def test_a_malformed_answer_is_an_error_and_the_next_answer_is_right(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/bad": [["answer_body", '{"jsonrpc":"2.0","id":ID,"result":[1,2}']]}})
    async with fake.session() as session:
        with pytest.raises(RefusedError, match="fake sent an answer that is not JSON"):
            await session.request("test/bad", {})
        assert await session.request("fake/do", do(["answer", "fine"])) == "fine"
    assert len(fake.pids()) == 1


@bounded
@pytest.mark.parametrize(
    "body",
    [
        "",
        "nul",
        '{"jsonrpc":"2.0","id":ID,"result":',
        '{"jsonrpc":"2.0","result":{}',
        "[]",
        "\udcff\udcfe",
        '{"id":ID}',
    ],
)
async def test_rubbish_instead_of_an_answer_does_not_hold_up_the_next(fake: FakeWorkspace, body: str) -> None:
    fake.script({"rules": {"test/bad": [["answer_body", body]]}})
    async with fake.session() as session:
        bad = asyncio.create_task(session.request("test/bad", {}))
        await session.request("fake/do", do())
        bad.cancel()
        await asyncio.wait([bad])
        assert await session.request("fake/do", do(["answer", "fine"])) == "fine"
    assert len(fake.pids()) == 1


@bounded
async def test_unknown_enum_values_come_through(fake: FakeWorkspace) -> None:
    symbol = {"name": "x", "kind": 4711, "tags": ["new"], "range": None, "extension": {"of": "this server"}}
    diagnostics = {"uri": "file:///x", "diagnostics": [{"severity": 99, "tags": [7]}]}
    async with fake.session() as session:
        answer = await session.request(
            "fake/do",
            do(
                notification("textDocument/publishDiagnostics", diagnostics),
                notification("window/showMessage", {"type": 77, "message": "?"}),
                notification("window/logMessage", {"type": "loud", "message": "?"}),
                notification("$/progress", {"token": 1, "value": {"kind": "paused", "title": 3}}),
                ["answer", [symbol]],
            ),
        )
    assert answer == [symbol]


@bounded
async def test_an_unknown_completion_of_capabilities_is_kept_as_it_is(fake: FakeWorkspace) -> None:
    capabilities = {"hoverProvider": {"workDoneProgress": True}, "futureProvider": 9, "positionEncoding": "utf-16"}
    fake.script({"capabilities": capabilities})
    async with fake.session() as session:
        await session.request("fake/pid", {})
        assert session.capabilities == capabilities


@bounded
async def test_unknown_notifications_and_notifications_in_a_wrong_form_are_passed_over(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        answer = await session.request(
            "fake/do",
            do(
                notification("telemetry/event", [1]),
                notification("fake/news", {"x": 1}),
                notification("$/progress", None),
                notification("$/progress", {"value": {"kind": "begin"}}),
                notification("$/progress", {"token": {"no": "token"}, "value": {"kind": "begin"}}),
                notification("window/showMessage", "text"),
                notification("window/logMessage", None),
                ["answer", "fine"],
            ),
        )
        assert answer == "fine"


@bounded
async def test_a_megabyte_on_stderr_before_and_during_a_request_holds_nothing_up(fake: FakeWorkspace) -> None:
    megabyte = ["stderr", "x" * 1023 + "\n", 1024]
    fake.script({"at_start": [megabyte], "rules": {"test/loud": [megabyte, ["answer", "said"], megabyte]}})
    async with fake.session() as session:
        assert await session.request("test/loud", {}) == "said"
        assert await session.request("test/loud", {}) == "said"


@bounded
@pytest.mark.parametrize(
    "header",
    [
        "content-length: {}\r\n\r\n",
        "CONTENT-LENGTH:{}\r\n\r\n",
        "Content-Length: {}\n\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        "Content-Length: {}\r\ncontent-type: x\r\nX-More: 1\r\n\r\n",
        "Reloading workspace ...\nWarning: old configuration\n\nContent-Length: {}\r\n\r\n",
    ],
)
async def test_a_lower_case_header_or_another_odd_one_is_understood(fake: FakeWorkspace, header: str) -> None:
    odd = [["answer_framed", header, {"capabilities": {"odd": True}}]]
    fake.script({"rules": {"initialize": odd, "test/odd": [["answer_framed", header, "understood"]]}})
    async with fake.session() as session:
        assert await session.request("test/odd", {}) == "understood"
        assert session.capabilities == {"odd": True}


@bounded
async def test_lines_on_stdout_that_are_not_messages_are_passed_over(fake: FakeWorkspace) -> None:
    fake.script({"at_start": [["raw", "fake server 1.0\nlistening on stdio\n"]]})
    async with fake.session() as session:
        answer = await session.request("fake/do", do(["raw", "debug: " + "x" * 1000 + "\n"], ["answer", "fine"]))
    assert answer == "fine"


@bounded
async def test_output_that_is_not_a_protocol_at_all_ends_the_server_and_says_so(fake: FakeWorkspace) -> None:
    fake.script({"at_start": [["raw", "usage: fake [options]\n" * 5000], ["stall"]]})
    async with fake.session() as session:
        with pytest.raises(UnavailableError, match=r"in 4 tries: fake sent what is not a message \(no message"):
            await session.request("fake/pid", {})
    assert len(fake.pids()) == 4


@bounded
async def test_a_flood_of_notifications_holds_nothing_up(fake: FakeWorkspace) -> None:
    noise = {"method": "window/logMessage", "params": {"type": 4, "message": "x" * 200}}
    fake.script({"rules": {"test/flood": [["flood", 20_000, noise], ["answer", "fine"], ["flood", 20_000, noise]]}})
    async with fake.session() as session:
        assert await session.request("test/flood", {}) == "fine"
        assert await session.request("test/flood", {}) == "fine"


@bounded
async def test_a_flood_of_requests_of_the_server_is_answered(fake: FakeWorkspace) -> None:
    asked = {"id": 1, "method": "workspace/configuration", "params": {"items": [{"section": "x"}]}}
    async with fake.session() as session:
        await session.request("fake/do", do(["flood", 2_000, asked]))
        received = await session.request("fake/received", {})
    assert sum("method" not in message for message in received) == 2_000


@bounded
async def test_requests_of_the_server_that_nobody_knows_are_refused(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request(
            "fake/do",
            do(request("r1", "fake/question", {}), request(2, "workspace/configuration", {"items": None})),
        )
        answers = replies(await session.request("fake/received", {}))
    assert answers["r1"]["error"]["code"] == -32601
    assert answers[2]["error"]["code"] == -32603


@bounded
async def test_edits_that_nobody_asked_for_are_not_applied(fake: FakeWorkspace) -> None:
    path = fake.write("a.txt", "text")
    change = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 4}}, "newText": "gone"}
    async with fake.session() as session:
        edit = {"edit": {"changes": {path.as_uri(): [change]}}}
        await session.request("fake/do", do(request(1, "workspace/applyEdit", edit)))
        answers = replies(await session.request("fake/received", {}))
    assert answers[1]["result"]["applied"] is False
    assert path.read_text() == "text"


@bounded
async def test_what_a_server_may_ask_of_a_client_gets_an_answer(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        await session.request(
            "fake/do",
            do(
                request(1, "workspace/workspaceFolders", None),
                request(2, "window/workDoneProgress/create", {"token": "t"}),
                request(3, "window/showMessageRequest", {"type": 1, "message": "?", "actions": [{"title": "Yes"}]}),
                request(4, "workspace/semanticTokens/refresh", None),
                request(5, "client/registerCapability", {"registrations": [{"id": "x", "method": "fake/feature"}]}),
                request(6, "client/unregisterCapability", {"unregisterations": [{"id": "y", "method": "no"}]}),
            ),
        )
        answers = replies(await session.request("fake/received", {}))
    assert answers[1]["result"] == [{"uri": fake.root.as_uri(), "name": "root"}]
    assert [answers[number].get("result", "error") for number in range(2, 7)] == [None] * 5


# --- silence -----------------------------------------------------------------------------------------


@bounded
async def test_one_that_never_answers_is_silent_and_is_told_to_stop(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/slow": [["hold"]]}})
    async with fake.session(request_timeout=0.05) as session:
        await session.ready(_ignore)
        with pytest.raises(SilentError, match=r"fake did not answer test/slow within 0\.05 s"):
            await session.request("test/slow", {})
        received = await session.request("fake/received", {}, timeout=20)
    slow = next(message for message in received if message["method"] == "test/slow")
    assert received[-2] == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": slow["id"]}}
    assert len(fake.pids()) == 1, "silence is not a death"


@bounded
async def test_a_bound_given_with_the_request_goes_before_the_users(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/slow": [["hold"]]}})
    async with fake.session() as session:
        await session.ready(_ignore)
        with pytest.raises(SilentError, match=r"within 0\.01 s"):
            await session.request("test/slow", {}, timeout=0.01)


@bounded
async def test_cancelling_the_call_cancels_the_request_and_its_late_answer_is_dropped(fake: FakeWorkspace) -> None:
    fake.script(
        {
            "rules": {
                "test/slow": [["hold"]],
                "$/cancelRequest": [["answer_cancelled", "too late"], ["answer_cancelled", "and again"]],
            }
        }
    )
    async with fake.session() as session:
        calls = [asyncio.create_task(session.request("test/slow", {"n": n})) for n in range(3)]
        await session.request("fake/do", do())
        calls[1].cancel()
        await asyncio.wait([calls[1]])
        assert calls[1].cancelled()
        # Both late answers come before this one.
        assert await session.request("fake/do", do(["release"], ["answer", "fine"])) == "fine"
        assert await calls[0] == {"n": 0}
        assert await calls[2] == {"n": 2}
    cancelled = [params["id"] for params in fake.params("$/cancelRequest")]
    asked = [message["id"] for message in fake.received() if message.get("method") == "test/slow"]
    assert cancelled == [asked[1]]


@bounded
async def test_a_cancelled_first_call_does_not_end_the_start_for_the_others(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        first = asyncio.create_task(session.request("fake/pid", {}))
        second = asyncio.create_task(session.request("fake/pid", {}))
        await steps(1)
        first.cancel()
        assert await second == fake.pids()[0]
        assert first.cancelled()
    assert len(fake.pids()) == 1


@bounded
async def test_fifty_requests_at_once_are_answered_out_of_order(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/slow": [["hold"]]}})
    async with fake.session() as session:
        calls = [asyncio.create_task(session.request("test/slow", {"n": n})) for n in range(50)]
        await session.request("fake/do", do())
        await session.request("fake/do", do(["release"]))
        assert await asyncio.gather(*calls) == [{"n": n} for n in range(50)]
    assert len(fake.params("test/slow")) == 50


@bounded
async def test_a_server_that_stops_reading_is_silent_and_closing_does_not_wait_for_it(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/deaf": [["shut_ears"], ["stall"]]}})
    path = fake.write("a.txt", "x" * 900_000)
    async with fake.session(request_timeout=0.05) as session:
        await session.ready(_ignore)
        with pytest.raises(SilentError):
            await session.request("test/deaf", {})
        await session.documents.open(path)  # more than the pipe holds
        with pytest.raises(SilentError):
            await session.request("fake/pid", {})


# --- death -------------------------------------------------------------------------------------------


@bounded
@pytest.mark.parametrize("death", [["exit", 3], ["kill"]])
async def test_a_server_that_dies_during_a_request_is_restarted_and_asked_once_more(
    fake: FakeWorkspace, death: list[Any]
) -> None:
    fake.script({"rules": {"test/ask": [death]}}, {"rules": {"test/ask": [["answer", "second life"]]}})
    async with fake.session() as session:
        assert await session.request("test/ask", {"x": 1}) == "second life"
        assert await news_of(session) == ["fake restarted"]
    assert fake.params("test/ask", life=1) == fake.params("test/ask", life=2) == [{"x": 1}]
    assert len(fake.pids()) == 2


@bounded
async def test_a_server_that_dies_before_a_request_is_restarted_by_itself(fake: FakeWorkspace) -> None:
    async with fake.session() as session:
        pid = await session.request("fake/pid", {})
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        assert await session.request("fake/pid", {}) == fake.pids()[1] != pid
        assert await news_of(session) == ["fake restarted"]


@bounded
async def test_a_server_that_dies_after_an_answer_is_restarted_before_anybody_asks(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/last": [["answer", "last words"], ["exit", 0]]}}, {})
    async with fake.session() as session:
        assert await session.request("test/last", {}) == "last words"
        await _until_restarted(session)
        assert fake.methods(life=2)[0] == "initialize"
        assert await session.request("fake/pid", {}) == fake.pids()[1]


@bounded
async def test_many_requests_that_a_death_cut_off_are_all_asked_once_more(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/hold": [["hold"]]}}, {"rules": {"test/hold": [["answer_params"]]}})
    async with fake.session() as session:
        calls = [asyncio.create_task(session.request("test/hold", {"n": n})) for n in range(10)]
        pid = await session.request("fake/pid", {})
        os.kill(pid, signal.SIGKILL)
        assert await asyncio.gather(*calls) == [{"n": n} for n in range(10)]
    assert len(fake.pids()) == 2


@bounded
async def test_a_server_that_dies_twice_over_a_request_is_not_asked_a_third_time(fake: FakeWorkspace) -> None:
    deadly = {"rules": {"test/deadly": [["stderr", "panic: nil\n", 1], ["exit", 2]]}}
    fake.script(deadly)
    async with fake.session() as session:
        with pytest.raises(
            DiedError, match=r"fake exited with status 2; its last words: panic: nil\. It died twice over test/deadly"
        ):
            await session.request("test/deadly", {})
        assert await session.request("fake/pid", {}) == fake.pids()[-1]
    assert len(fake.pids()) == 3


@bounded
async def test_a_request_that_timed_out_is_not_asked_again(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/slow": [["hold"]]}})
    async with fake.session(request_timeout=0.05) as session:
        await session.ready(_ignore)
        with pytest.raises(SilentError):
            await session.request("test/slow", {})
    assert len(fake.params("test/slow")) == 1


@bounded
async def test_a_server_that_closes_its_output_but_lives_on_is_ended_and_restarted(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/ask": [["shut_ears"], ["close", 1], ["stall"]]}}, {})
    async with fake.session() as session:
        assert await session.request("test/ask", {}) is None
        await gone(fake.pids()[0])
    assert len(fake.pids()) == 2


@bounded
async def test_a_server_that_closes_its_input_but_lives_on_is_ended_and_restarted(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/ask": [["answer", "deaf now"], ["close", 0], ["stall"]]}}, {})
    async with fake.session() as session:
        assert await session.request("test/ask", {}) == "deaf now"
        pid = fake.pids()[0]
        # Until its end of the pipe is seen closed, a message may still be lost in it.
        while await _silent(session.request("fake/pid", {}, timeout=0.2)):
            pass
        await gone(pid)
    assert len(fake.pids()) == 2


@bounded
async def test_the_death_of_a_server_is_seen_though_a_child_of_it_holds_its_pipes(fake: FakeWorkspace) -> None:
    outlive = ["spawn", ["sleep", "1000"], True]
    fake.script({"rules": {"test/ask": [outlive, ["kill"]]}}, {"rules": {"test/ask": [["answer", "second life"]]}})
    try:
        async with fake.session() as session:
            session.spawn()
            first = child_of(session)
            assert await session.request("test/ask", {}) == "second life"
            await steps()
            assert first
            assert first.reader.at_eof(), "its pipe is let go"
    finally:
        for pid in fake.spawned():
            end_process(pid)


@bounded
async def test_the_children_of_a_dead_server_go_before_it_is_restarted(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"test/ask": [["spawn", ["sleep", "1000"], False], ["kill"]]}}, {})
    async with fake.session() as session:
        await session.request("test/ask", {})
        (child,) = fake.spawned()
        await gone(child)


@bounded
async def test_a_death_between_initialize_and_the_first_request_is_survived(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"initialized": [["exit", 1]]}}, {})
    async with fake.session() as session:
        assert await session.request("fake/pid", {}) == fake.pids()[1]
        assert await news_of(session) == ["fake restarted"]


@bounded
async def test_a_server_that_keeps_dying_after_initialize_is_not_started_for_ever(fake: FakeWorkspace) -> None:
    fake.script({"rules": {"initialized": [["exit", 1]]}})
    async with fake.session() as session:
        session.begin()
        await _until_idle(session)
        assert len(fake.pids()) == 4
        # Each question gets new tries, and a clear answer.
        with pytest.raises(UnavailableError):
            await session.request("test/ask", {})
        fake.script({})
        assert await session.request("fake/pid", {}) == fake.pids()[-1]


@bounded
async def test_a_document_that_kills_the_server_is_not_opened_for_ever(fake: FakeWorkspace) -> None:
    fake.script({}, {"rules": {"textDocument/didOpen": [["exit", 9]]}})
    poison, plain = fake.write("poison.txt", "x"), fake.write("plain.txt", "y")
    async with fake.session() as session:
        await session.documents.open(poison)
        await session.request("fake/do", do())
        os.kill(fake.pids()[0], signal.SIGKILL)
        await gone(fake.pids()[0])
        await _until_idle(session)
        fake.script({})
        await session.documents.open(plain)
        await session.request("fake/do", do())
    opened = [params["textDocument"]["uri"] for params in fake.params("textDocument/didOpen", len(fake.pids()))]
    assert opened == [plain.as_uri()]


@bounded
async def test_a_server_that_dies_in_initialize_is_tried_four_times_and_its_last_words_are_told(
    fake: FakeWorkspace,
) -> None:
    fake.script({"rules": {"initialize": [["stderr", "no such flag: --stdio\n", 1], ["exit", 2]]}})
    async with fake.session() as session:
        with pytest.raises(
            UnavailableError,
            match=r"fake could not be started in 4 tries: fake exited with status 2; "
            r"its last words: no such flag: --stdio\. Run: lsp-mcp doctor",
        ):
            await session.request("fake/pid", {})
        assert len(fake.pids()) == 4
        fake.script({})
        assert await session.request("fake/pid", {}) == fake.pids()[4]
        assert await news_of(session) == [], "a server that never ran did not restart"


@bounded
async def test_a_server_that_dies_before_it_reads_anything_is_tried_four_times(fake: FakeWorkspace) -> None:
    fake.script({"at_start": [["stderr", "bad configuration\n", 1], ["exit", 1]]})
    async with fake.session() as session:
        session.spawn()
        await gone(fake_pid(session))
        with pytest.raises(UnavailableError, match="in 4 tries: fake exited with status 1; its last words: bad conf"):
            await session.request("fake/pid", {})
    assert len(fake.pids()) == 4


@bounded
async def test_two_callers_at_once_start_one_server_and_get_the_same_reason(fake: FakeWorkspace) -> None:
    fake.script({"at_start": [["exit", 1]]})
    async with fake.session() as session:
        calls = [session.request("fake/pid", {}), session.sync(), session.ready(_ignore)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {UnavailableError}
        assert len(fake.pids()) == 4
        fake.script({})
        pids = await asyncio.gather(*(session.request("fake/pid", {}) for _ in range(5)))
        assert pids == [fake.pids()[4]] * 5


@bounded
async def test_a_start_that_fails_while_nobody_waits_is_tried_again_by_the_first_question(fake: FakeWorkspace) -> None:
    fake.script({"at_start": [["exit", 1]]})
    async with fake.session() as session:
        session.begin()
        await _until_idle(session)
        fake.script({})
        assert await session.request("fake/pid", {}) == fake.pids()[-1]
    # `bounded` fails the test if the error of the start that nobody awaited is reported as unseen.


def test_pauses_between_tries_grow_and_end() -> None:
    assert sorted(REAL_PAUSES) == list(REAL_PAUSES)
    assert REAL_PAUSES[0] == 0
    assert 2 <= len(REAL_PAUSES) <= 6
    assert sum(REAL_PAUSES) < 15


@bounded
async def test_each_try_waits_longer_than_the_one_before(fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float, result: Any = None) -> Any:
        if seconds:
            paused.append(seconds)
        return await real_sleep(0, result)

    monkeypatch.setattr(lifetime_module, "_PAUSES", (0.0, 1000.0, 2000.0, 3000.0))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    fake.script({"rules": {"initialize": [["exit", 1]]}})
    async with fake.session() as session:
        with pytest.raises(UnavailableError):
            await session.request("fake/pid", {})
    assert paused == [1000, 2000, 3000]


@bounded
async def test_an_answer_gives_the_next_death_all_tries_again(fake: FakeWorkspace) -> None:
    deadly = {"rules": {"test/die": [["answer", None], ["exit", 1]]}}
    fake.script(*[deadly] * 10)
    async with fake.session() as session:
        for _ in range(6):
            await session.request("test/die", {})
            await gone(fake.pids()[-1])
            await session.request("fake/pid", {})
    assert len(fake.pids()) == 7


@bounded
@pytest.mark.parametrize("result", [None, "yes", 5, ["capabilities"]])
async def test_a_malformed_answer_to_initialize_is_told_and_tried_again_by_the_next_question(
    fake: FakeWorkspace, result: Any
) -> None:
    fake.script({"rules": {"initialize": [["answer", result]]}}, {})
    async with fake.session() as session:
        with pytest.raises(UnavailableError, match="fake could not be started: it answered initialize with"):
            await session.request("fake/pid", {})
        await gone(fake.pids()[0])
        assert await session.request("fake/pid", {}) == fake.pids()[1]


@bounded
@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ([["refuse", -32803, "no licence"]], "no licence"),
        ([["answer_body", '{"id":ID,"result":{']], "not JSON"),
        ([["answer", {"capabilities": {"positionEncoding": "utf-9"}}]], "it counts positions in 'utf-9'"),
    ],
)
async def test_a_server_that_will_not_be_initialized_is_unavailable_and_its_reason_is_told(
    fake: FakeWorkspace, actions: list[Any], reason: str
) -> None:
    fake.script({"rules": {"initialize": actions}}, {})
    async with fake.session() as session:
        with pytest.raises(UnavailableError, match=f"fake could not be started: .*{reason}"):
            await session.documents.open(fake.write("a.txt", "x"))
        assert await session.request("fake/pid", {}) == fake.pids()[1]


@bounded
async def test_a_server_that_never_answers_initialize_is_unavailable_and_killed(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.lsp.process.connection.INITIALIZE_TIMEOUT", 0.05)
    fake.script({"at_start": [["shut_ears"]], "rules": {"initialize": [["hold"]]}})
    async with fake.session(request_timeout=0.05) as session:
        with pytest.raises(UnavailableError, match="fake could not be started: fake did not answer initialize"):
            await session.request("fake/pid", {})
        assert len(fake.pids()) <= 1, "one that is silent is not waited for four times"
        monkeypatch.setattr("lsp_mcp.lsp.process.connection.INITIALIZE_TIMEOUT", 20.0)
        fake.script({})
        assert await session.request("fake/pid", {}, timeout=20) == fake.pids()[-1]


# --- a missing program -------------------------------------------------------------------------------

INSTALL = """
[install]
version = "1.0"
command = ["get-it"]
"""


@bounded
async def test_a_missing_program_names_what_gets_it_and_works_once_it_is_there(
    fake: FakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = fake.folder / "servers"
    monkeypatch.setenv("LSP_MCP_SERVERS", str(servers))
    async with fake.session(INSTALL, command=("fake-lsp", "--stdio")) as session:
        session.spawn()
        for _ in range(6):
            with pytest.raises(MissingProgramError, match=r"fake-lsp is not installed .*lsp-mcp install fake"):
                await session.request("fake/pid", {})
        fake.program(servers / "fake-1.0" / "fake-lsp")
        assert await session.request("fake/pid", {}) == fake.pids()[0]


@bounded
async def test_a_named_program_that_does_not_exist_is_named(fake: FakeWorkspace) -> None:
    program = fake.folder / "my-server"
    async with fake.session(INSTALL, command=("unused",)) as session:
        launcher_of(session)._command = lambda: (str(program),)
        with pytest.raises(MissingProgramError, match="my-server cannot be started: No such file"):
            await session.request("fake/pid", {})
        fake.program(program)
        assert await session.request("fake/pid", {}) == fake.pids()[0]


@bounded
async def test_a_program_that_goes_missing_is_unavailable_until_it_is_back(fake: FakeWorkspace) -> None:
    program = fake.program(fake.folder / "my-server")
    async with fake.session(command=(str(program),)) as session:
        pid = await session.request("fake/pid", {})
        program.unlink()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(MissingProgramError):
            await session.request("fake/do", do(["answer", "x"]))
        fake.program(program)
        assert await session.request("fake/pid", {}) == fake.pids()[1]


# --- helpers -----------------------------------------------------------------------------------------


async def _ignore(done: float, total: float | None, message: str) -> None:
    """Nobody wants to know."""


async def _silent(asking: Any) -> bool:
    try:
        await asking
    except SilentError:
        return True
    return False


def fake_pid(session: Session) -> int:
    return child_of(session).pid


async def _until_restarted(session: Session) -> None:
    """Wait for a death and for the start after it, without asking anything."""
    assert session._lifetime.connection
    await asyncio.wait([session._lifetime.connection.dead])
    await steps()
    assert session._lifetime._starting, "the session starts its server again by itself"
    await asyncio.wait([session._lifetime._starting])


async def _until_idle(session: Session) -> None:
    """Wait until nothing is being started and nothing will be."""
    while True:
        if session._lifetime._starting:
            await asyncio.wait([session._lifetime._starting])
        elif session._lifetime.connection and not session._lifetime.connection.dead.done():
            await asyncio.wait([session._lifetime.connection.dead])
        else:
            return
        await steps()
