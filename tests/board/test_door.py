"""Who may use a board's socket: programs of the same user, and who has the token, in each way in which it is sent."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from click.testing import CliRunner
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from board.boards import worktrees
from board.running import TOKEN, Running, WebSocketAgent, running
from fakes.bounded import bounded
from http_streams import try_to_resume
from lsp_mcp.cli import board as cli_board
from lsp_mcp.cli.main import main as program
from lsp_mcp.server.admission import IN_INITIALIZE, TellingProtocol
from lsp_mcp.server.websocket import serve_websocket
from mcp_process import BOUND, PROGRAM

NOBODY = 65534
BEARER = {"Authorization": f"Bearer {TOKEN}"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as a second user")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("project"), "--port", "0", "--log-level", "debug") as board:
        yield board
        assert TOKEN not in board.told
        assert TOKEN not in board.said()
        assert "Traceback" not in board.said(), board.said()


def connected_as(uid: int, port: int, host: str = "127.0.0.1", family: int = socket.AF_INET) -> socket.socket:
    """A connection that a process of the user `uid` has made."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            made = socket.socket(family)
            made.connect((host, port))
            socket.send_fds(theirs, [b"x"], [made.fileno()])
        finally:
            os._exit(0)
    theirs.close()
    ours.settimeout(BOUND)
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(child, 0)
    ours.close()
    return socket.socket(fileno=descriptors[0])


@contextmanager
def stranger(board: Running, path: str = "/", uid: int = NOBODY, **more: Any) -> Iterator[WebSocketAgent]:
    """A WebSocket of another user's."""
    made = connected_as(uid, board.port)
    with connect(f"ws://localhost:{board.port}{path}", sock=made, open_timeout=BOUND, **more) as one:
        yield WebSocketAgent(one)


def refusal(one: WebSocketAgent, method: str, params: Any = None) -> str:
    """What a first message is refused with; the connection is closed after it."""
    answer = one.request(method, params)
    with pytest.raises(ConnectionClosed) as closed:
        one.receive()
    assert closed.value.rcvd
    assert closed.value.rcvd.code == 4003
    return str(answer["error"]["message"])


def with_token(token: Any) -> dict[str, Any]:
    return {"_meta": {IN_INITIALIZE: token}}


@needs_root
@pytest.mark.parametrize("first", ["initialize", "tools/call", "tools/list", "ping"])
def test_another_user_without_the_token_can_do_nothing_and_is_told_how_to_send_it(board: Running, first: str) -> None:
    with stranger(board) as one:
        params = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "x", "version": "1"}}
        told = refusal(one, first, params if first == "initialize" else {"name": "create_task", "arguments": {}})
    assert IN_INITIALIZE in told
    assert "?token=" in told
    assert "Authorization: Bearer" in told


@needs_root
def test_another_user_with_the_token_may_in_each_way_of_sending_it(board: Running) -> None:
    with stranger(board, additional_headers=BEARER) as one:
        assert one.initialize()["assignedId"]
    with stranger(board, f"/?token={TOKEN}") as one:
        assert one.initialize()["assignedId"]
    with stranger(board) as one:
        assert one.initialize(**with_token(TOKEN))["assignedId"]
        assert "create_task" in [tool["name"] for tool in one.tools()]


@needs_root
def test_another_user_has_few_connections_until_it_shows_the_token(board: Running) -> None:
    with ExitStack() as opened:
        waiting = [opened.enter_context(stranger(board)) for _ in range(16)]
        with pytest.raises(InvalidStatus) as refused, stranger(board):
            pass
        assert refused.value.response.status_code == 429
        assert b"too many connections of your user" in refused.value.response.body
        with stranger(board, uid=NOBODY - 1) as third, stranger(board, additional_headers=BEARER) as known:
            assert IN_INITIALIZE in refusal(third, "ping")
            assert known.initialize()["assignedId"]
        # One that is admitted makes room, and so does one that leaves.
        assert waiting[0].initialize(**with_token(TOKEN))["assignedId"]
        assert refusal(waiting[1], "ping")
        for _ in range(2):
            assert IN_INITIALIZE in refusal(opened.enter_context(stranger(board)), "ping")


@bounded
async def test_a_websocket_without_the_token_is_closed_after_its_time() -> None:
    left: list[str] = []

    async def leave(key: str) -> None:
        left.append(key)

    async def agent(websocket: WebSocket) -> None:
        await websocket.accept()
        server: Server[dict[str, Any]] = Server("board")
        await serve_websocket(websocket, server, no_one, leave, no_one, patience=0.05, admitted=no_one)

    def no_one(*_: object) -> Any:
        raise AssertionError("nobody is admitted")

    app = Starlette(routes=[WebSocketRoute("/", agent)])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_config=None))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with connect_async(f"ws://127.0.0.1:{listening.getsockname()[1]}") as one:
                await one.wait_closed()
                assert (one.close_code, one.close_reason) == (4003, "no initialize was received")
        finally:
            server.should_exit = True
            await serving
    assert left


@needs_root
@pytest.mark.parametrize("wrong", ["", "wrong", f"{TOKEN}x", TOKEN[:-1], None, 5, [TOKEN], {"a": TOKEN}], ids=str)
def test_a_wrong_token_in_initialize_is_refused(board: Running, wrong: Any) -> None:
    with stranger(board) as one:
        params = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "x", "version": "1"}, **with_token(wrong)}
        refusal(one, "initialize", params)


@needs_root
def test_another_user_who_reaches_ipv4_through_ipv6_is_another_user_too(board: Running) -> None:
    made = connected_as(NOBODY, board.port, "::ffff:127.0.0.1", socket.AF_INET6)
    with connect(f"ws://localhost:{board.port}", sock=made, open_timeout=BOUND) as one:
        refusal(WebSocketAgent(one), "ping")


@needs_root
def test_another_user_is_not_told_what_the_board_is_of(board: Running) -> None:
    made = connected_as(NOBODY, board.port)
    made.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = b"".join(iter(lambda: made.recv(4096), b""))
    made.close()
    assert b'"ok"' in answer
    assert str(board.root).encode() not in answer


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_the_same_user_needs_no_token_whichever_way_localhost_is_read(board: Running, host: str) -> None:
    try:
        made = socket.create_connection((host, board.port), BOUND)
    except OSError as error:
        pytest.skip(f"this machine has no {host}: {error}")
    with connect(f"ws://localhost:{board.port}", sock=made, open_timeout=BOUND) as one:
        assert WebSocketAgent(one).initialize()["assignedId"]


@pytest.mark.parametrize("path", ["/?token=wrong", "/?token=", f"/?token={TOKEN}x&token=wrong"])
def test_a_wrong_token_in_the_address_is_refused_from_any_program(board: Running, path: str) -> None:
    with pytest.raises(InvalidStatus), connect(f"ws://localhost:{board.port}{path}", open_timeout=BOUND):
        pass


def test_a_wrong_token_in_initialize_is_refused_from_any_program(board: Running) -> None:
    with connect(f"ws://localhost:{board.port}", open_timeout=BOUND) as one:
        params = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "x", "version": "1"}, **with_token("wrong")}
        refusal(WebSocketAgent(one), "initialize", params)


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:9.evil.com", "http://localhost:{port}.evil.com", "http://localhost:{port}/", "http://localhost",
     "http://localhost:{port}@evil.com", "http://evil.com:{port}", "https://localhost:{port}", "http://localhost:0{port}9",
     "http://localhost :{port}", "HTTP://localhost:{port}", "http://[::1]]:{port}", "http://localhost:{port}?", ""],
)  # fmt: skip
def test_an_odd_origin_is_refused_even_with_the_token(board: Running, origin: str) -> None:
    headers = {**BEARER, "Origin": origin.format(port=board.port)}
    with (
        pytest.raises(InvalidStatus),
        connect(f"ws://localhost:{board.port}", additional_headers=headers, open_timeout=BOUND),
    ):
        pass
    assert httpx2.post(f"http://127.0.0.1:{board.port}/mcp", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "host", ["localhost:9.evil.com", "localhost.evil.com", "localhost@evil.com", "127.0.0.1.evil.com"]
)
def test_an_odd_host_is_refused(board: Running, host: str) -> None:
    answer = httpx2.get(f"http://127.0.0.1:{board.port}/health", headers={**BEARER, "Host": host})
    assert answer.status_code == 400


def test_a_new_link_is_asked_of_a_board_that_proves_to_be_this_users(board: Running) -> None:
    asked = [PROGRAM, "board", "--link", "--workspace-root", str(board.root), "--port", str(board.port)]
    done = subprocess.run(
        asked, env={**os.environ, "LSP_MCP_TOKEN": TOKEN}, capture_output=True, text=True, check=True, timeout=BOUND
    )
    assert "/open?key=" in done.stdout


def test_a_worktree_finds_the_board_that_runs_for_its_checkout(tmp_path: Path) -> None:
    main, other = worktrees(tmp_path)
    with running(main, "--port", "0") as board:
        asked = [PROGRAM, "board", "--link", "--workspace-root", str(other), "--port", str(board.port)]
        done = subprocess.run(
            asked, env={**os.environ, "LSP_MCP_TOKEN": TOKEN}, capture_output=True, text=True, check=True, timeout=BOUND
        )
        assert f"http://localhost:{board.port}/open?key=" in done.stdout


def test_a_second_board_of_a_database_opens_the_one_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main, other = worktrees(tmp_path)
    with running(main, "--port", "0") as board:
        monkeypatch.setattr(cli_board, "PORTS", range(board.port, board.port + 1))
        done = CliRunner().invoke(program, ["board", "--workspace-root", str(other)], env={"LSP_MCP_TOKEN": TOKEN})
        assert f"runs already:\n\n  http://localhost:{board.port}/open?key=" in done.stdout
        assert done.exit_code == 0


@pytest.mark.parametrize(
    "half",
    [b"", b"GET /health HT", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab"],
    ids=["nothing", "head", "body"],
)
@bounded
async def test_a_request_that_does_not_come_to_its_end_is_ended(monkeypatch: pytest.MonkeyPatch, half: bytes) -> None:
    monkeypatch.setattr("lsp_mcp.server.admission._WHOLE_REQUEST", 0.05)

    async def never(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(never, http=TellingProtocol, lifespan="off", log_config=None))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(BOUND):
                reader, writer = await asyncio.open_connection("127.0.0.1", listening.getsockname()[1])
                writer.write(half)
                said = await reader.read()
                writer.close()
        finally:
            server.should_exit = True
            await serving
    assert said.startswith(b"HTTP/1.1 408 ") if half.startswith(b"GET") else said == b""


@bounded
async def test_a_websocket_that_says_nothing_is_not_taken_for_half_a_request() -> None:
    made: list[TellingProtocol] = []

    class Kept(TellingProtocol):
        def connection_made(self, transport: Any) -> None:
            made.append(self)
            super().connection_made(transport)

    async def accepts(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(accepts, http=Kept, ws="websockets-sansio", lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(BOUND), connect_async(f"ws://127.0.0.1:{listening.getsockname()[1]}"):
                assert [one._overdue for one in made] == [None]
        finally:
            server.should_exit = True
            await serving


def test_the_token_is_not_sent_to_a_program_that_only_claims_to_be_the_board(tmp_path: Path) -> None:
    """Anyone may listen on a board's port, and say of it what a board says."""
    liar = subprocess.Popen(
        [sys.executable, "-c", LIAR, str(tmp_path)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert liar.stdout
    try:
        port = int(liar.stdout.readline())
        done = subprocess.run(
            [PROGRAM, "board", "--link", "--workspace-root", str(tmp_path), "--port", str(port)],
            env={**os.environ, "LSP_MCP_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            check=False,
            timeout=BOUND,
        )
    finally:
        heard, _ = liar.communicate("", timeout=BOUND)
    assert done.returncode == 1
    assert "no board is running for the database" in done.stderr and f"(looked on port {port})" in done.stderr
    assert "/health" in heard
    assert TOKEN not in heard


LIAR = """
import http.server, json, sys, threading

class Liar(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, dict(self.headers), flush=True)
        body = json.dumps({"status": "ok", "program": "lsp-mcp", "board": sys.argv[1], "link": "x", "proof": "0" * 64})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    do_POST = do_GET

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Liar)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""


def test_a_database_that_fails_is_told_to_a_new_agent(tmp_path: Path) -> None:
    import sqlite3

    with running(tmp_path, "--port", "0") as board:
        (file,) = tmp_path.glob(".lsp-mcp/board.sqlite3")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("ALTER TABLE agents RENAME TO gone")
        with connect(f"ws://localhost:{board.port}", open_timeout=BOUND) as made:
            one = WebSocketAgent(made)
            params = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "x", "version": "1"}}
            assert "cannot be used" in one.request("initialize", params)["error"]["message"]
            other.execute("ALTER TABLE gone RENAME TO agents")
            other.close()
            assert one.initialize()["assignedId"]
        assert "Traceback" not in board.said(), board.said()


def test_odd_requests_of_the_page_are_errors_and_no_defects(board: Running) -> None:
    address = f"http://localhost:{board.port}"
    with httpx2.Client(base_url=address, headers={"Origin": address}, timeout=BOUND) as page:
        assert page.get(page.post("/link", headers=BEARER).json()["link"]).status_code == 200
        answer = page.post("/api/tasks", content="[" * 200_000)
        assert answer.status_code == 400
        assert "JSON" in answer.json()["error"]
        for name in ("nothing.js", "..", "%2e%2e%2fpyproject.toml"):
            assert page.get(f"/static/0/{name}").status_code in (401, 404)
        main = re.findall(r'src="(/static/\w+/main\.js)"', page.get("/").text)[0]
        assert "immutable" in page.get(main).headers["cache-control"]
        of_before = page.get("/static/0123456789abcdef/main.js")
        assert (of_before.content, of_before.headers["cache-control"]) == (page.get(main).content, "no-cache")
        for since in ("9" * 40, "-1", "٣", "x"):
            with page.stream("GET", f"/api/events?since={since}") as events:
                assert events.status_code == 200
                assert next(line for line in events.iter_lines() if line.startswith("event:"))


def test_a_request_to_resume_a_stream_is_refused_and_a_new_stream_is_served(board: Running) -> None:
    try_to_resume(board.port, TOKEN)
