"""What a client asks first is answered from a copy while its daemon starts, and compared with the daemon's answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_process import BOUND, Raw
from shared_daemon import Desk, Played, answer, played

CALL = {"id": 5, "method": "tools/call", "params": {"name": "check", "arguments": {}}}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, socket.socket, dict[str, Any]]]:
    desk = Desk(tmp_path_factory.mktemp("greetings"))
    with played(desk) as (listening, tools):
        yield desk, listening, tools


def test_the_first_questions_are_answered_before_the_daemon_serves_and_its_other_answer_is_told(
    place: tuple[Desk, socket.socket, dict[str, Any]],
) -> None:
    desk, listening, tools = place
    with desk.client() as client:
        assert client.request("tools/list")["result"] == tools
        client.send(CALL)
        daemon = Played(listening)
        assert daemon.heard()["served"].startswith(str(desk.root))
        daemon.say({"serves": "1", "writing": []})
        assert [daemon.heard().get("method") for _ in range(4)] == [
            *("initialize", "notifications/initialized", "tools/list", "tools/call")
        ]
        daemon.say({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}})
        daemon.say({"jsonrpc": "2.0", "id": 2, "result": {"tools": tools["tools"][1:]}})
        daemon.say({"jsonrpc": "2.0", "id": 5, "result": {"content": []}})
        assert client.receive() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        assert client.receive()["id"] == 5
    daemon.close()
    with desk.client() as client:
        assert client.request("tools/list")["result"] == {"tools": tools["tools"][1:]}, "the copy is the last answer"
        daemon = Played(listening)
        daemon.heard()
        daemon.say({"serves": "1", "writing": []})
        assert [daemon.heard().get("method") for _ in range(3)][-1] == "tools/list"
        daemon.say({"jsonrpc": "2.0", "id": 2, "result": tools})
        assert client.receive()["method"] == "notifications/tools/list_changed"
    daemon.close()


def test_a_daemon_that_still_starts_is_told_which_files_a_call_may_name(
    place: tuple[Desk, socket.socket, dict[str, Any]],
) -> None:
    desk, listening, _ = place
    with desk.client() as client:
        daemon = Played(listening)
        daemon.heard()
        arguments = {"symbol_anchor": "go://a.go#3:6", "format": "compact", "limit": 3}
        client.send({**CALL, "params": {"name": "find_symbol_references_by_anchor", "arguments": arguments}})
        beside = Played(listening)
        assert beside.heard() == {"expect": ["go://a.go#3:6"]}
        beside.close()
        daemon.say({"serves": "1", "writing": []})
        assert [daemon.heard().get("method") for _ in range(3)][-1] == "tools/call", "it still gets the call"
        daemon.say({"jsonrpc": "2.0", "id": 5, "result": {"content": []}})
        assert client.receive()["id"] == 5
    daemon.close()


def test_a_client_that_ends_while_its_daemon_starts_gets_an_answer_to_each_question(
    place: tuple[Desk, socket.socket, dict[str, Any]],
) -> None:
    desk, listening, _ = place
    with desk.client() as client:
        client.send(CALL)
        assert client.process.stdin
        client.process.stdin.close()
        told = client.receive()
        assert told["id"] == 5 and told["error"]["message"] == "Connection closed"
        assert client.process.wait(BOUND) == 0
        Played(listening).close()


def test_what_is_not_a_message_reaches_the_daemon_when_it_serves(
    place: tuple[Desk, socket.socket, dict[str, Any]],
) -> None:
    desk, listening, _ = place
    with desk.client() as client:
        client.write("{nonsense")
        daemon = Played(listening)
        daemon.heard()
        daemon.say({"serves": "1", "writing": []})
        assert [daemon.line() for _ in range(3)][-1] == b"{nonsense\n"
    daemon.close()


def test_a_client_that_was_greeted_hears_why_no_daemon_serves_it(
    place: tuple[Desk, socket.socket, dict[str, Any]],
) -> None:
    desk, listening, _ = place
    with desk.client() as client:
        for number in range(2):
            client.send(CALL)
            if not number:
                # Its answer says that the door has read the call, too: else only the next daemon hears of that.
                client.request("tools/list")
            daemon = Played(listening)
            assert "served" in daemon.heard()
            daemon.say({"refused": "cannot tell which language server it needs"})
            daemon.close()
            told = client.receive()
            assert told["id"] == 5 and "cannot tell which" in answer(told["result"])
    # Nobody is greeted by a copy that led there, until a daemon serves again.
    client = Raw("--workspace-root", str(desk.root), env=desk.env)
    client.send({"id": 1, "method": "initialize", "params": {}})
    daemon = Played(listening)
    daemon.heard()
    daemon.say({"serves": "1", "writing": []})
    assert daemon.heard()["method"] == "initialize"
    daemon.say({"jsonrpc": "2.0", "id": 1, "result": {}})
    assert client.receive()["id"] == 1
    client.kill()
    daemon.close()
