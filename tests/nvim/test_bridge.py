"""`lsp-mcp bridge`, a process that serves one Neovim's tools over HTTP: who may, how it starts, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from asking import skip_without
from fakes.bounded import bounded
from mcp_process import PROGRAM, descendants
from nvim.lua_tools import (
    BOUND,
    SENT,
    TOKEN,
    Bridge,
    Shared,
    all_gone,
    begun,
    bridge,
    cancelled,
    on_http,
    on_sse,
    shared,
    spawned,
    texts,
    with_tools,
)
from nvim.neovims import Neovim, neovim, skip_without_nvim
from nvim.nvim_tools import short_folder
from nvim.truth_helpers import GO

skip_without_nvim()

LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
)


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[tuple[Neovim, Bridge]]:
    async with with_tools(folder) as nv, bridge(nv, folder) as one:
        yield nv, one


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A Neovim and its bridge, for tests that leave both as they are."""
    with shared(_served(tmp_path_factory.mktemp("served"))) as one:
        yield one


def on_served(test: Callable[[Neovim, Bridge], Coroutine[Any, Any, None]]) -> Callable[[Shared], None]:
    def run(served: Shared) -> None:
        served.run(test(*served.value))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


# --- who may ---------------------------------------------------------------------------------------


def test_health_needs_no_token_and_tells_no_secret(served: Shared) -> None:
    nv, one = served.value
    answer = one.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "nvim": nv.socket, "pid": nv.pid}
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"X-Token": TOKEN},
        {"Cookie": f"token={TOKEN}"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/", "/", "/health/", "//health", "/nowhere"])
def test_without_the_token_nothing_is_served_and_the_answer_says_what_to_send(
    served: Shared, path: str, headers: dict[str, str]
) -> None:
    _, one = served.value
    for answer in (one.get(path, **headers), one.post(path, INITIALIZE, **headers)):
        assert answer.status_code == 401
        assert "Authorization: Bearer TOKEN" in answer.text
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert TOKEN not in answer.text


def test_a_token_in_the_address_does_not_do(served: Shared) -> None:
    _, one = served.value
    for query in (f"?token={TOKEN}", f"?access_token={TOKEN}", f"?Authorization=Bearer%20{TOKEN}"):
        assert one.post(f"/mcp{query}", INITIALIZE).status_code == 401


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://evil.example", "null", "file://", "http://127.0.0.1.evil.example:80",
     "http://localhost.evil.example", "http://evil.example:80/127.0.0.1", "https://127.0.0.1:1"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_a_foreign_origin_is_refused_even_with_the_token(served: Shared, path: str, origin: str) -> None:
    _, one = served.value
    answer = (
        one.post(path, INITIALIZE, Origin=origin, **SENT) if path == "/mcp" else one.get(path, Origin=origin, **SENT)
    )
    assert answer.status_code == 403, answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:1"]
)
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/health"])
def test_a_foreign_host_is_refused_even_with_the_token(served: Shared, path: str, host: str) -> None:
    _, one = served.value
    for answer in (one.get(path, Host=host, **SENT), one.post(path, INITIALIZE, Host=host, **SENT)):
        assert answer.status_code in (400, 421), answer.text


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_a_refusal_is_not_a_failure_in_the_log(served: Shared, path: str) -> None:
    _, one = served.value
    before = len(one.stderr)
    for headers in ({"Origin": "null"}, {"Host": "localhost"}):
        assert one.get(path, **headers, **SENT).status_code >= 400
    assert "Traceback" not in one.stderr[before:]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_pages_and_programs_of_this_machine_are_served(served: Shared, name: str) -> None:
    _, one = served.value
    headers = {"Origin": f"http://{name}:3000", "Host": f"{name}:{one.port}", **SENT}
    assert one.post("/mcp", INITIALIZE, **headers).status_code == 200


def test_it_listens_on_this_machine_only(served: Shared) -> None:
    _, one = served.value
    (address,) = {
        bytes.fromhex(fields[1].split(":")[0])[::-1]
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A" and int(fields[1].split(":")[1], 16) == one.port
    }
    assert socket.inet_ntoa(address) == "127.0.0.1"


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        ("", {400}),
        ("{", {400}),
        ("[]", {400}),
        ("null", {400}),
        ('{"jsonrpc": "2.0"}', {400}),
        ('{"jsonrpc": "2.0", "id": 1, "method": "nonsense"}', {400, 404}),
        (LIST, {400}),
        (b"\xff\xfe", {400}),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}', {400}),
        ("[" * 100_000, {400}),
    ],
    ids=[
        "empty",
        "cut",
        "list",
        "null",
        "no method",
        "nonsense",
        "no session",
        "no utf-8",
        "surrogate",
        "deep",
    ],
)
def test_what_is_not_a_message_is_refused_and_the_next_one_is_served(
    served: Shared, content: str | bytes, statuses: set[int]
) -> None:
    _, one = served.value
    answer = one.post("/mcp", content, **SENT)
    assert answer.status_code in statuses, answer.text
    assert one.post("/mcp", INITIALIZE, **SENT).status_code == 200


# --- its start -------------------------------------------------------------------------------------


@bounded
async def test_it_prints_one_line_and_no_secret_and_a_second_one_on_its_port_is_refused(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv, bridge(nv, tmp_path) as one:
        assert re.fullmatch(r"MCP server listening on port [1-9]\d*\n", one.line)
        async with spawned(tmp_path, "bridge", "--socket", nv.socket, "--port", str(one.port)) as other:
            status, printed = await other.ended()
            assert (status, printed) == (2, "")
            assert "Traceback" not in other.stderr
            assert str(one.port) in other.stderr
        assert await nv.lua("return vim.tbl_count(_G.lsp_mcp)") == 1
        one.terminate()
        assert await one.ended() == (0, "")
        assert TOKEN not in one.stderr


@bounded
async def test_without_a_token_one_is_made_that_is_printed_only_when_asked_for(tmp_path: Path) -> None:
    home = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with AsyncExitStack() as stack:
        nv = await stack.enter_async_context(with_tools(tmp_path))
        none, empty = [
            await stack.enter_async_context(bridge(nv, tmp_path, env={**home, "LSP_MCP_TOKEN": value}))
            for value in (None, "")
        ]
        environment = {name: value for name, value in os.environ.items() if name != "LSP_MCP_TOKEN"}
        asked = subprocess.run(
            [PROGRAM, "token"], env={**environment, **home}, capture_output=True, text=True, check=True, timeout=BOUND
        )
        token = asked.stdout.strip()
        assert len(token) >= 32
        for one in (none, empty):
            assert "lsp-mcp token" in one.stderr
            assert "LSP_MCP_TOKEN" in one.stderr
            assert token not in one.stderr + one.line
            assert one.post("/mcp", INITIALIZE, **SENT).status_code == 401
            async with on_http(nv, one.port, "auto", token=token) as face:
                assert "nvim_echo" in await face.tools()


@bounded
async def test_neovim_and_port_are_named_by_flags_else_by_the_environment(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv:
        tcp = await nv.lua("return vim.fn.serverstart('127.0.0.1:0')")
        wrong = str(tmp_path / "none")
        # Ports that are taken, and stay so: which one was tried is said.
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            port, unwanted = (str(taken.getsockname()[1]) for taken in (one, other))
            by_environment = {"NVIM_LISTEN_ADDRESS": nv.socket, "MCP_PORT": port}
            by_flags = {"NVIM_LISTEN_ADDRESS": wrong, "MCP_PORT": unwanted}
            async with (
                spawned(tmp_path, "bridge", env=by_environment) as first,
                spawned(tmp_path, "bridge", "--socket", tcp, "--port", port, env=by_flags) as second,
            ):
                for process in (first, second):
                    assert await process.ended() == (2, "")
                    assert f":{port}:" in process.stderr
                    assert f":{unwanted}:" not in process.stderr
            async with (
                spawned(tmp_path, "bridge", env={**by_environment, "MCP_PORT": None}) as first,
                spawned(tmp_path, "bridge", "--socket", tcp, "--port", "0", env=by_flags) as second,
            ):
                for process, name in ((first, nv.socket), (second, tcp)):
                    await process.started()
                    assert process.get("/health").json() == {"status": "ok", "nvim": name, "pid": nv.pid}


@bounded
async def test_the_folder_that_it_is_started_in_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "compile_commands.json").write_text("{")
    async with with_tools(tmp_path) as nv:
        for folder in (Path("/"), tmp_path / "broken"):
            async with spawned(tmp_path, "bridge", "--socket", nv.socket, cwd=folder) as one:
                await one.started()
                async with on_http(nv, one.port, "auto") as face:
                    assert set(await face.tools()) == {"nvim_echo", "nvim_open"}


@bounded
async def test_it_offers_the_code_tools_through_its_neovim_on_demand(tmp_path: Path) -> None:
    skip_without("gopls")
    GO.write(tmp_path, use=2)
    async with with_tools(tmp_path, servers=["gopls"]) as nv:
        await nv.open("lib.go")
        await nv.attached("gopls")
        async with (
            bridge(nv, tmp_path, "--toolset", "code", "--format", "json") as one,
            on_http(nv, one.port, "auto") as face,
        ):
            names = set(await face.tools())
            assert {"nvim_echo", "find_symbol_references_by_anchor"} <= names
            assert not {"connect", "lsp_hover", "read"} & names
            result = await face.client.call_tool("find_symbol_references_by_anchor", {"symbol_anchor": GO.anchor})
            answer = json.loads(texts(result)[0])
            found = [(use["location"]["file"], use["location"]["line"]) for use in answer["references"]]
            assert sorted(found) == sorted([*GO.also, *GO.uses("use.go", 2)])


@bounded
async def test_each_neovim_has_a_bridge_with_tools_of_its_own(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        faces = []
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            nv = await stack.enter_async_context(
                with_tools(tmp_path / name, f"tool('only_{name}', function() return '{name}' end)")
            )
            process = await stack.enter_async_context(bridge(nv, tmp_path / name))
            faces.append(await stack.enter_async_context(on_http(nv, process.port, "auto")))
        for name, face in zip(("one", "two"), faces, strict=True):
            tools = {tool for tool in await face.tools() if "only" in tool}
            assert tools == {f"nvim_only_{name}"}
            assert await face.call(f"only_{name}") == [name]
            assert await face.call("echo", n=name) == [f'{{"n":"{name}"}}']


@bounded
async def test_the_code_tools_of_a_language_server_are_served_the_same_way(tmp_path: Path) -> None:
    skip_without("gopls")
    GO.write(tmp_path, use=1)
    words = ["--transport", "http", "--port", "0", "--backend", "gopls", "--format", "json"]
    words += ["--workspace-root", str(tmp_path)]
    async with spawned(tmp_path, *words, "--log-level", "error") as one:
        await one.started()
        assert re.fullmatch(r"MCP server listening on port [1-9]\d*\n", one.line)
        assert one.get("/health").json() == {"status": "ok", "root": str(tmp_path)}
        assert one.post("/mcp", INITIALIZE).status_code == 401
        below: list[int] = []
        for mode in ("auto", "legacy"):
            async with on_http_code(one.port, mode) as client:
                result = await client.call_tool("find_symbol_references_by_anchor", {"symbol_anchor": GO.anchor})
                assert len(json.loads(texts(result)[0])["references"]) == 2
        below = descendants(one.process.pid)
        assert below
        one.terminate()
        assert await one.ended() == (0, "")
        await all_gone(below)


@asynccontextmanager
async def on_http_code(port: int, mode: Any) -> AsyncIterator[Any]:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=SENT, timeout=BOUND) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


# --- what cannot be served -------------------------------------------------------------------------


@asynccontextmanager
async def silent(path: Path) -> AsyncIterator[None]:
    """Something that listens at `path` and says nothing."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while await reader.read(65536):
                pass
        writer.close()

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield
    finally:
        server.close()
        await server.wait_closed()


@bounded
async def test_what_does_not_answer_as_neovim_is_named_in_a_bound_and_nothing_is_left(tmp_path: Path) -> None:
    with short_folder() as folder:
        (folder / "file").write_text("text")
        (folder / "folder").mkdir()
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(folder / "dead"))

        async def refused(name: str) -> None:
            (tmp_path / name).mkdir()
            async with spawned(tmp_path / name, "bridge", "--socket", str(folder / name)) as one:
                status, printed = await one.ended()
                assert (status in (1, 2), printed) == (True, "")
                assert "Traceback" not in one.stderr
                (line,) = [line for line in one.stderr.splitlines() if line.startswith("lsp-mcp: ")]
                assert str(folder / name) in line
                assert name != "prompt" or "hit-enter prompt" in line
                assert descendants(one.process.pid) == []

        async with (
            with_tools(tmp_path, ui=True) as nv,
            silent(folder / "silent"),
        ):
            (folder / "prompt").symlink_to(nv.socket)
            nv.type(':echo "one\\ntwo"\r')
            await nv.shows("Press ENTER")
            names = ("missing", "file", "folder", "dead", "silent", "prompt")
            await asyncio.gather(*map(refused, names))
            nv.type("\r")
            async with bridge(nv, tmp_path) as one:  # it serves as soon as Neovim answers
                assert one.get("/health").status_code == 200


@bounded
async def test_a_neovim_without_the_plugin_has_a_bridge_that_says_how_to_get_it(tmp_path: Path) -> None:
    async with (
        neovim(tmp_path, servers=()) as nv,
        bridge(nv, tmp_path) as one,
        on_http(nv, one.port, "auto") as face,
    ):
        assert await face.tools() == {}
        assert "lsp-mcp plugin" in await face.error("echo")


# --- its end ---------------------------------------------------------------------------------------


@asynccontextmanager
async def busy_clients(nv: Neovim, one: Bridge) -> AsyncIterator[tuple[list[asyncio.Task[Any]], dict[str, str]]]:
    """Clients of every transport, with streams open and calls under way; and the errors that these are answered."""
    told: dict[str, str] = {}

    async def use(client: Any, key: str) -> None:
        async with client as face:
            told[key] = await face.error("open", key=key)

    clients = {
        "auto": on_http(nv, one.port, "auto"),
        "legacy": on_http(nv, one.port, "legacy"),
        "sse": on_sse(nv, one.port),
    }
    tasks = [asyncio.create_task(use(client, key)) for key, client in clients.items()]
    try:
        for key in clients:
            await begun(nv, key)
        yield tasks, told
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@bounded
async def test_sigterm_ends_it_though_clients_have_streams_open_and_their_calls_are_cancelled(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv, bridge(nv, tmp_path) as one, busy_clients(nv, one):
        one.terminate()
        assert await one.ended() == (0, "")
        for key in ("auto", "legacy", "sse"):
            await cancelled(nv, key)
        assert descendants(one.process.pid) == []
        assert "Traceback" not in one.stderr, one.stderr
        with pytest.raises(httpx2.ConnectError):
            one.get("/health")
        assert await nv.lua("return vim.tbl_count(_G.lsp_mcp)") == 0


@pytest.mark.parametrize("how", ["quit", "kill"])
def test_it_ends_when_its_neovim_goes_and_calls_under_way_end(how: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with (
            with_tools(tmp_path) as nv,
            bridge(nv, tmp_path) as one,
            busy_clients(nv, one) as (tasks, told),
        ):
            await (nv.quit() if how == "quit" else nv.kill())
            assert await one.ended() == (0, "")
            assert "Traceback" not in one.stderr, one.stderr
            _, pending = await asyncio.wait(tasks, timeout=BOUND)
            assert not pending
            assert set(told) == {"auto", "legacy", "sse"}
            assert all(f"Neovim at {nv.socket} is gone" in text for text in told.values()), told

    run()


@bounded
async def test_kill_minus_nine_of_it_leaves_neovim_well(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv:
        async with bridge(nv, tmp_path) as one, busy_clients(nv, one):
            one.process.kill()
            await one.ended()
        await nv.lua("_G.open.auto.done('nobody hears') tool('more', function() end)")
        await nv.until("return vim.tbl_count(_G.lsp_mcp) == 0", "User")
        async with bridge(nv, tmp_path) as again, on_http(nv, again.port, "auto") as face:
            assert "nvim_more" in await face.tools()


# --- clients that go -------------------------------------------------------------------------------


async def half_way(one: Bridge, key: str, session: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A call of the tool `open` on a connection of its own, which the caller may drop."""
    modern = session is None
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {"name": "nvim_open", "arguments": {"key": key}}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {**params, **({"_meta": meta} if modern else {})}}
    )
    headers = {
        "Host": f"127.0.0.1:{one.port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        **SENT,
        "MCP-Protocol-Version": "2026-07-28" if modern else "2025-11-25",
        **({"Mcp-Method": "tools/call", "Mcp-Name": "nvim_open"} if modern else {"Mcp-Session-Id": str(session)}),
    }
    reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode())
    await writer.drain()
    return reader, writer


@on_served
async def test_a_connection_that_is_dropped_cancels_its_call(nv: Neovim, one: Bridge) -> None:
    _, writer = await half_way(one, "modern", None)
    await begun(nv, "modern")
    writer.close()
    await cancelled(nv, "modern")
    async with on_http(nv, one.port, "auto") as face:
        assert await face.call("echo", n=1) == ['{"n":1}']


@on_served
async def test_in_the_older_protocol_a_dropped_connection_cancels_nothing_and_the_end_of_the_session_does(
    nv: Neovim, one: Bridge
) -> None:
    session = one.post("/mcp", INITIALIZE, **SENT).headers["Mcp-Session-Id"]
    initialized = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    named = {**SENT, "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
    assert one.post("/mcp", initialized, **named).status_code == 202
    _, writer = await half_way(one, "older", session)
    await begun(nv, "older")
    writer.close()
    # As its specification wants: only `notifications/cancelled` is a cancel.
    assert (await asyncio.to_thread(one.post, "/mcp", LIST, **named)).status_code == 200
    assert not await nv.lua("return _G.open.older.cancelled")
    answer = await asyncio.to_thread(httpx2.delete, f"{one.url}/mcp", headers=named, timeout=BOUND)
    assert answer.status_code == 200
    await cancelled(nv, "older")


@on_served
async def test_a_client_of_the_oldest_transport_that_goes_cancels_its_calls(nv: Neovim, one: Bridge) -> None:
    async with on_sse(nv, one.port) as face:
        call = asyncio.create_task(face.client.call_tool("nvim_open", {"key": "sse"}))
        await begun(nv, "sse")
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await cancelled(nv, "sse")


@on_served
async def test_clients_of_all_transports_at_once_get_their_own_answers_and_hear_of_changes(
    nv: Neovim, one: Bridge
) -> None:
    async with (
        on_http(nv, one.port, "auto") as auto,
        on_http(nv, one.port, "auto") as second,
        on_http(nv, one.port, "legacy") as legacy,
        on_sse(nv, one.port) as sse,
    ):
        faces = [auto, second, legacy, sse]
        for face in faces:
            await face.tools()  # who has asked for a list is told of changes
        answers = await asyncio.gather(
            *(face.call("echo", n=number, who=str(index)) for number in range(5) for index, face in enumerate(faces))
        )
        told = [json.loads(answer) for (answer,) in answers]
        assert told == [{"n": number, "who": str(index)} for number in range(5) for index in range(4)]
        await nv.lua("tool('for_all', function() end)")
        for face in faces:
            await face.listed(lambda tools: "nvim_for_all" in tools)


@on_served
async def test_many_clients_that_came_and_went_leave_nothing_in_neovim(nv: Neovim, one: Bridge) -> None:
    for mode in ("auto", "legacy") * 5:
        async with on_http(nv, one.port, mode) as face:
            assert "nvim_echo" in await face.tools()
    await nv.lua("tool('after', function() end)")
    async with on_http(nv, one.port, "auto") as face:
        assert "nvim_after" in await face.tools()
    assert await nv.lua("return vim.tbl_count(_G.lsp_mcp)") == 1
