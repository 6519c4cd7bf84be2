"""HTTP is one more door: each of its sessions has one of its own in the daemon, beside those on stdio."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.requests import ClientDisconnect

from asking import skip_without
from fakes.bounded import bounded
from http_streams import try_to_resume
from lsp_mcp.server.http import _is_news
from mcp_process import BOUND, GO_ENV, MODES, PROGRAM, Mode
from shared_daemon import REFERENCES, SOURCES, Desk, ask

skip_without("gopls")

TOKEN = "t" * 32


@contextmanager
def listening(desk: Desk, *flags: str) -> Iterator[int]:
    """The port of `lsp-mcp --transport http`."""
    words = [PROGRAM, "--transport", "http", "--workspace-root", str(desk.root), *flags]
    env = {**os.environ, **GO_ENV, **desk.env, "LSP_MCP_TOKEN": TOKEN}
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline().rpartition(" ")[2])
        finally:
            process.terminate()


@asynccontextmanager
async def session(port: int, mode: Mode = "legacy") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=BOUND) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def becomes(condition: Callable[[], bool]) -> None:
    """Ask until it does: each time takes a process, and nothing tells of it."""
    for _ in range(BOUND):
        if await asyncio.to_thread(condition):
            return
    raise AssertionError("it does not become true")


async def called(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in result.content if block.type == "text")
    assert not result.is_error, text
    return text


@bounded
async def test_sessions_on_http_and_on_stdio_share_one_language_server_and_each_is_one_of_its_own(desk: Desk) -> None:
    name, arguments = REFERENCES
    with desk.client() as local, listening(desk) as port:
        await asyncio.to_thread(ask, local)
        async with session(port) as one, session(port) as other:
            for client in (one, other):
                assert "Found 2 references" in await called(client, name, **arguments)
            (about,) = await asyncio.to_thread(desk.status)
            assert len(about["clients"]) == 3
            servers = [server["pid"] for server in about["servers"] if server["name"] == "gopls"]
            assert servers and all(psutil.Process(pid).ppid() in (about["pid"], *servers) for pid in servers)

            # Anchors are followed for the one who got them.
            assert "3:6" in await called(one, "list_symbols_in_file", file_path="a.go", format="compact")
            (desk.root / "a.go").write_text(SOURCES["a.go"].replace("func One", "func Zero() {}\n\nfunc One"))
            at = {"symbol_anchor": "go://a.go#3:6", "format": "compact"}
            assert "5:6" in await called(one, name, **at)
            async with session(port) as third:
                assert "Found 1 ref" in await called(third, name, **at)
        await becomes(lambda: len(desk.status()[0]["clients"]) == 1)  # ended sessions have disconnected


def test_a_request_to_resume_a_stream_is_refused_and_a_new_stream_is_served(desk: Desk) -> None:
    with listening(desk) as port:
        try_to_resume(port, TOKEN)


@bounded
@pytest.mark.parametrize("mode", MODES)
async def test_a_client_on_http_goes_on_when_the_daemon_is_killed_between_its_calls(desk: Desk, mode: Mode) -> None:
    name, arguments = REFERENCES
    with listening(desk) as port:
        async with session(port, mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert "Found 2 references" in await called(client, name, **arguments)
            (await asyncio.to_thread(desk.daemon)).kill()
            told = await called(client, name, **arguments)
            assert "Found 2 references" in told and "lsp-mcp restarted" in told
            assert [tool.name for tool in (await client.list_tools()).tools] == tools
            assert await called(client, "rename_symbol_by_anchor", symbol_anchor="One", new_name="Eins")
            assert "Eins" in (desk.root / "a.go").read_text()


@bounded
async def test_a_call_that_a_client_on_http_cancels_ends_in_the_daemon(desk: Desk) -> None:
    name, arguments = REFERENCES
    with listening(desk) as port:
        async with session(port) as client:
            await called(client, name, **arguments)
            (about,) = await asyncio.to_thread(desk.status)
            servers = [psutil.Process(server["pid"]) for server in about["servers"]]
            for server in servers:
                server.suspend()
            heard = asyncio.Event()

            async def progressed(progress: float, total: float | None, message: str | None) -> None:
                heard.set()

            call = asyncio.create_task(client.call_tool(name, arguments, progress_callback=progressed))
            await heard.wait()
            call.cancel()
            await asyncio.wait([call])
            await becomes(lambda: not desk.status()[0]["calls"])
            for server in servers:
                server.resume()


def test_flags_that_mean_nothing_are_told_on_http_as_without_a_daemon(desk: Desk) -> None:
    words = ["--transport", "http", "--compile-commands", str(desk.root / "missing.json")]
    shared, alone = desk.run(*words), desk.run(*words, "--no-shared")
    assert (shared.returncode, shared.stderr) == (alone.returncode, alone.stderr)
    assert shared.returncode


@pytest.mark.parametrize(
    ("error", "is_logged"),
    [
        (ClientDisconnect(), False),
        (ExceptionGroup("of a task group", [anyio.ClosedResourceError()]), False),
        (ExceptionGroup("of a task group", [ExceptionGroup("inside", [anyio.BrokenResourceError()])]), False),
        (ExceptionGroup("of a task group", [anyio.ClosedResourceError(), KeyError("a defect")]), True),
        (KeyError("a defect"), True),
        (None, True),
    ],
    ids=repr,
)
def test_a_client_that_leaves_during_its_request_is_not_an_error_of_the_server(
    error: Exception | None, *, is_logged: bool
) -> None:
    caught = (type(error), error, None) if error else None
    record = logging.LogRecord("mcp.server.streamable_http", logging.ERROR, "", 0, "SSE response error", (), caught)
    assert _is_news(record) == is_logged
