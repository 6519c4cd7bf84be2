"""Each message on stdio that has an id is answered, whatever is wrong with it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_mcp.server.messages import Refusal, read_message
from mcp_process import BOUND, Raw, raw

Json = Any

PARSE, REQUEST, PARAMS, METHOD = -32700, -32600, -32602, -32601
PING = '"method": "ping"'


def nested(depth: int) -> str:
    return f'{{"jsonrpc": "2.0", "id": 7, {PING}, "params": {{"a": {"[" * depth}{"]" * depth}}}}}'


def call(arguments: str, id_: str = "7") -> str:
    params = f'{{"name": "list_symbols_in_file", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {id_}, "method": "tools/call", "params": {params}}}'


# The line, the id of its answer, and the code of its error; None for a result.
SHAPES: list[tuple[str, Json, int | None]] = [
    (f'{{"jsonrpc": "2.0", "id": 7, {PING}}}', 7, None),
    (f'{{"jsonrpc": "2.0", "id": "7", {PING}}}', "7", None),
    (f'{{"jsonrpc": "2.0", "id": "", {PING}}}', "", None),
    (f'{{"jsonrpc": "2.0", "id": -{"9" * 30}, {PING}}}', -int("9" * 30), None),
    (f'{{"jsonrpc": "2.0", "id": 7, {PING}, "params": null}}', 7, None),
    (f'\ufeff{{"jsonrpc": "2.0", "id": 7, {PING}}}', 7, None),
    (f'  {{"jsonrpc": "2.0", "id": 7, {PING}}}  \r', 7, None),
    (nested(100), 7, None),
    (nested(300), 7, PARAMS),
    (nested(2_000), 7, PARAMS),
    (nested(200_000), 7, PARAMS),
    (call('{"file_path": "\\ud83d.go"}'), 7, PARAMS),
    (call('{"\\ude00": 1}'), 7, PARAMS),
    (call("{}", '"\\ud83d"'), "\ud83d", PARAMS),
    (call("[1]"), 7, PARAMS),
    (call(f'{{"limit": {"9" * 5_000}}}'), 7, PARAMS),
    (f'{{"jsonrpc": "2.0", "id": 7, {PING}, "params": [1]}}', 7, PARAMS),
    (f'{{"jsonrpc": "2.0", "id": 7, {PING}, "params": "a"}}', 7, PARAMS),
    (f'{{"jsonrpc": "1.0", "id": 7, {PING}}}', 7, REQUEST),
    (f'{{"id": 7, {PING}}}', 7, REQUEST),
    ('{"jsonrpc": "2.0", "id": 7}', 7, REQUEST),
    ('{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, REQUEST),
    ('{"jsonrpc": "2.0", "id": 7, "method": null}', 7, REQUEST),
    ('{"jsonrpc": "2.0", "id": 7, "method": "nothing"}', 7, METHOD),
    ('{"jsonrpc": "2.0", "id": 7, "method": "\\ud83d"}', 7, PARAMS),
    (f'{{"jsonrpc": "2.0", "id": null, {PING}}}', None, REQUEST),
    (f'{{"jsonrpc": "2.0", "id": 1.5, {PING}}}', None, REQUEST),
    (f'{{"jsonrpc": "2.0", "id": true, {PING}}}', None, REQUEST),
    (f'{{"jsonrpc": "2.0", "id": {{}}, {PING}}}', None, REQUEST),
    (f'{{"jsonrpc": "2.0", "id": [7], {PING}}}', None, REQUEST),
    ("{}", None, REQUEST),
    ("7", None, REQUEST),
    ('"a"', None, REQUEST),
    ("null", None, REQUEST),
    ("[]", None, REQUEST),
    (f'[{{"jsonrpc": "2.0", "id": 7, {PING}}}]', 7, REQUEST),  # there are no batches in 2025-11-25
    ("{", None, PARSE),
    (f'{{"jsonrpc": "2.0", "id": 7, {PING}', None, PARSE),
    ("what?", None, PARSE),
    (f'{{"jsonrpc": "2.0", "id": NaN, {PING}}}', None, REQUEST),
    ("\x00", None, PARSE),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raw]:
    # Nothing is there to be served, so all tools say so; what is on the wire is the same.
    with raw("--workspace-root", str(tmp_path_factory.mktemp("empty"))) as server:
        server.initialize()
        yield server


def answers(server: Raw, *lines: str | bytes, count: int) -> list[Json]:
    """The `count` messages that come for `lines`; a later request shows that there are no more."""
    for line in lines:
        write(server, line)
    came = [server.receive() for _ in range(count)]
    server.send({"id": "end", "method": "ping"})
    assert server.receive() == {"jsonrpc": "2.0", "id": "end", "result": {}}
    return came


def write(server: Raw, line: str | bytes) -> None:
    assert server.process.stdin
    server.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
    server.process.stdin.flush()


@pytest.mark.parametrize(("line", "id_", "code"), SHAPES, ids=[line[:60] for line, *_ in SHAPES])
def test_a_message_is_answered_once_with_its_id_and_what_is_wrong(
    server: Raw, line: str, id_: Json, code: int | None
) -> None:
    (answer,) = answers(server, line, count=1)
    assert answer["id"] == id_
    assert answer.get("error", {}).get("code") == code
    assert (code is None) == ("result" in answer)
    if code:
        assert 5 < len(answer["error"]["message"]) < 300


def test_bytes_that_are_not_utf_8_are_refused_with_the_id(server: Raw) -> None:
    (answer,) = answers(server, b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\xff"}}', count=1)
    assert (answer["id"], answer["error"]["code"]) == (7, PARSE)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   \t ",
        '{"jsonrpc": "2.0", "method": "notifications/nothing"}',
        '{"jsonrpc": "2.0", "method": "x", "params": [1]}',
        '{"jsonrpc": "2.0", "id": 7, "result": {}}',
        '{"jsonrpc": "2.0", "id": 7, "result": [1]}',
        '{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no"}}',
    ],
)
def test_what_is_not_a_request_is_not_answered(server: Raw, line: str) -> None:
    answers(server, line, count=0)


def test_the_log_has_what_was_refused(tmp_path: Path) -> None:
    with raw("--workspace-root", str(tmp_path)) as server:
        server.initialize()
        answers(server, '{"jsonrpc": "2.0", "method": "x", "params": [1]}', "{", count=1)
        said = server.said()
    assert "a message was refused (-32602): params must be an object" in said
    assert "a message was refused (-32700): this is not JSON" in said


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}, "clientInfo.version"),
        ({"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"}}, "capabilities"),
        ({}, "protocolVersion"),
    ],
)
def test_an_introduction_that_lacks_something_is_told_what(tmp_path: Path, params: Json, words: str) -> None:
    with raw("--workspace-root", str(tmp_path)) as server:
        error = server.request("initialize", params)["error"]
    assert error["code"] == PARAMS
    assert words in error["message"]


# --- batches -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raw]:
    with raw("--workspace-root", str(tmp_path_factory.mktemp("empty"))) as server:
        client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert server.request("initialize", client)["result"]["protocolVersion"] == "2025-03-26"
        server.send({"method": "notifications/initialized"})
        yield server


def ask(id_: Json, method: str = "ping") -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method}


def test_a_batch_of_2025_03_26_is_answered_as_one(older: Raw) -> None:
    older.write(json.dumps([ask(1), ask("2", "nothing"), ask(3, "tools/list"), {"jsonrpc": "1.0", "id": 4}]))
    answer = older.receive_any()
    assert {one["id"] for one in answer} == {1, "2", 3, 4}
    codes = {one["id"]: one.get("error", {}).get("code") for one in answer}
    assert codes == {1: None, "2": METHOD, 3: None, 4: REQUEST}


def test_a_batch_without_requests_is_not_answered(older: Raw) -> None:
    answers(older, json.dumps([{"jsonrpc": "2.0", "method": "notifications/nothing"}]), count=0)


def test_an_id_that_is_in_a_batch_twice_is_refused_the_second_time(older: Raw) -> None:
    older.write(json.dumps([ask(1), ask(1)]))
    assert sorted("error" in one for one in older.receive_any()) == [False, True]


def test_a_cancelled_request_does_not_hold_back_its_batch(older: Raw) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}}
    older.write(json.dumps([ask("gone", "tools/list"), ask("kept"), cancel]))
    ids = {one["id"] for one in older.receive_any()}
    assert "kept" in ids and ids <= {"kept", "gone"}


def test_an_introduction_cannot_be_in_a_batch(older: Raw) -> None:
    older.write(json.dumps([ask(1, "initialize")]))
    (answer,) = older.receive_any()
    assert answer["error"]["code"] == REQUEST


# --- any line ----------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
METHODS = st.sampled_from(["ping", "tools/list", "tools/call", "initialize", "resources/list", "no", "server/discover"])
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "method": METHODS | VALUES,
        "params": VALUES
        | st.fixed_dictionaries(
            {}, optional={"name": st.just("list_symbols_in_file") | VALUES, "arguments": VALUES, "_meta": VALUES}
        ),
    },
)


@given(st.lists(MESSAGES, min_size=1, max_size=4), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_line_with_an_id_is_answered_exactly_once(server: Raw, messages: list[Json], escaped: bool) -> None:
    for number, message in enumerate(messages):
        text = json.dumps({**message, "id": number}, ensure_ascii=escaped)
        write(server, text.encode("utf-8", "surrogatepass"))  # half a pair is not even UTF-8
    came = answers(server, count=len(messages))
    assert sorted(answer["id"] for answer in came) == list(range(len(messages)))


# --- the end -----------------------------------------------------------------------------------------


def test_a_client_that_closes_its_end_is_left_without_a_traceback(tmp_path: Path) -> None:
    with raw("--workspace-root", str(tmp_path)) as server:
        server.initialize()
        assert server.process.stdout
        server.process.stdout.close()
        server.send({"id": "a", "method": "tools/list"})
        assert server.process.wait(BOUND) == 0
        assert "Traceback" not in server.said()


def test_a_client_that_goes_before_its_http_request_is_whole_makes_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module a\n")
    token = "x" * 32
    flags = ["--transport", "http", "--workspace-root", str(tmp_path), "--gopls-path", "/bin/cat"]
    with raw(*flags, "--log-level", "debug", env={"LSP_MCP_TOKEN": token}) as server:
        assert server.process.stdout
        port = int(server.process.stdout.readline().split()[-1])
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        with socket.create_connection(("127.0.0.1", port), BOUND) as one:
            one.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        end = time.monotonic() + BOUND
        while "a client left during its request" not in server.said():
            assert time.monotonic() < end, server.said()
            with socket.create_connection(("127.0.0.1", port), BOUND) as one:  # one more turn of its loop
                one.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
                one.recv(65536)
        assert "Traceback" not in server.said()


def test_http_on_all_addresses_still_wants_the_token_and_a_local_name(tmp_path: Path) -> None:
    """As in a container: what comes through its published port is not from 127.0.0.1."""
    (tmp_path / "go.mod").write_text("module a\n")
    token = "x" * 32
    flags = ["--transport", "http", "--host", "0.0.0.0", "--workspace-root", str(tmp_path), "--gopls-path", "/bin/cat"]
    with raw(*flags, env={"LSP_MCP_TOKEN": token}) as server:
        assert server.process.stdout
        port = int(server.process.stdout.readline().split()[-1])

        def status(host: str, authorization: str) -> int:
            head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\n{authorization}Content-Length: 0\r\n"
            with socket.create_connection(("0.0.0.0", port), BOUND) as one:
                one.sendall(f"{head}Connection: close\r\n\r\n".encode())
                return int(one.recv(65536).split()[1])

        bearer = f"Authorization: Bearer {token}\r\n"
        assert status("localhost", "") == 401
        assert status("localhost", "Authorization: Bearer wrong\r\n") == 401
        assert status("example.com", bearer) not in (200, 401)
        assert status("localhost", bearer) not in (401, 403, 421)


def test_a_long_line_that_is_not_json_is_refused_with_its_id() -> None:
    """The id is looked for in one pass: a search that goes back at each quote would take hours here."""
    found = read_message(b'{"id": 3, "a": "' + b'\\"' * 500_000 + b'\xff"}', None)
    assert isinstance(found, Refusal)
    assert (found.id, found.is_sent) == (3, True)
