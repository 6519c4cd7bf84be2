"""A board that runs as a process, and agents on it: over WebSocket, stdio and Streamable HTTP, each with a real client.

The three have the same face, `Agent`, for tests that are not coroutines.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from mcp_process import BOUND, PROGRAM, text

TOKEN = "token-of-the-tests"
ENV = {**os.environ, "LSP_MCP_TOKEN": TOKEN}
TRANSPORTS = ("websocket", "stdio", "http", "http-2026")
Json = dict[str, Any]


class Agent(Protocol):
    """A client of one connection."""

    def answer(self, tool: str, /, **arguments: Any) -> Any:
        """The JSON that a call answers."""

    def error(self, tool: str, /, **arguments: Any) -> str:
        """The text of a call that fails."""

    def tools(self) -> list[Json]:
        """What tools/list has."""


class Running:
    """`lsp-mcp board` in a project."""

    def __init__(self, root: Path, *flags: str) -> None:
        self.root = root
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [PROGRAM, "board", "--workspace-root", str(root), "--no-open", *flags],
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            stdin=subprocess.DEVNULL,
            text=True,
            env=ENV,
        )
        self.told = ""
        assert self.process.stdout
        for line in self.process.stdout:
            self.told += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"ws://localhost:(\d+)", self.told)
        assert found, self.told + self.said()
        self.port = int(found[1])

    def said(self) -> str:
        """What stderr has until now."""
        self.stderr.seek(0)
        return self.stderr.read().decode("utf-8", "replace")

    def end(self) -> int:
        self.process.terminate()
        status = self.process.wait(BOUND)
        assert self.process.stdout
        self.process.stdout.close()
        self.stderr.close()
        return status


@contextmanager
def running(root: Path, *flags: str) -> Iterator[Running]:
    board = Running(root, *flags)
    try:
        yield board
    finally:
        board.end()


class WebSocketAgent:
    """JSON-RPC as docs/contracts/board.md has it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._id = 0

    def initialize(self, **params: Any) -> Json:
        """The handshake of the document, without capabilities; its result."""
        client = {"name": "my-agent", "version": "1.0.0"}
        result = self.request("initialize", {"protocolVersion": "2024-11-05", "clientInfo": client, **params})["result"]
        self.send({"method": "notifications/initialized"})
        return result

    def request(self, method: str, params: Any = None) -> Json:
        self._id += 1
        self.send({"id": self._id, "method": method, **({"params": params} if params is not None else {})})
        while (message := self.receive()).get("id") != self._id:
            pass
        return message

    def send(self, message: Json) -> None:
        self.connection.send(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self) -> Json:
        return json.loads(self.connection.recv(BOUND))

    def call(self, tool: str, arguments: Json) -> Json:
        return self.request("tools/call", {"name": tool, "arguments": arguments})["result"]

    def answer(self, tool: str, /, **arguments: Any) -> Any:
        result = self.call(tool, arguments)
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def error(self, tool: str, /, **arguments: Any) -> str:
        result = self.call(tool, arguments)
        assert result.get("isError"), result
        return str(result["content"][0]["text"])

    def tools(self) -> list[Json]:
        return self.request("tools/list")["result"]["tools"]


class SdkAgent:
    """A client of the MCP SDK."""

    def __init__(self, portal: Any, client: Client) -> None:
        self._portal = portal
        self.client = client

    def answer(self, tool: str, /, **arguments: Any) -> Any:
        result = self._portal.call(self.client.call_tool, tool, arguments)
        assert not result.is_error, text(result)
        return json.loads(text(result))

    def error(self, tool: str, /, **arguments: Any) -> str:
        result = self._portal.call(self.client.call_tool, tool, arguments)
        assert result.is_error, text(result)
        return text(result)

    def tools(self) -> list[Json]:
        found = self._portal.call(self.client.list_tools).tools
        return [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in found]


@contextmanager
def websocket(board: Running, **options: Any) -> Iterator[WebSocketAgent]:
    """A connection before its handshake."""
    with connect(f"ws://localhost:{board.port}", **options) as connection:
        yield WebSocketAgent(connection)


@contextmanager
def agent(board: Running, transport: str, name: str = "my-agent") -> Iterator[Agent]:
    """An agent on a board that runs."""
    if transport == "websocket":
        with websocket(board) as one:
            one.initialize(clientInfo={"name": name, "version": "1"})
            yield one
        return
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_client(board, transport, name)) as client,
    ):
        yield SdkAgent(portal, client)


@asynccontextmanager
async def _client(board: Running, transport: str, name: str) -> AsyncIterator[Client]:
    info = Implementation(name=name, version="1")
    if transport == "stdio":
        arguments = ["board", "--mcp", "--workspace-root", str(board.root), "--log-level", "error"]
        parameters = StdioServerParameters(command=PROGRAM, args=arguments, env=ENV)
        async with Client(parameters, mode="legacy", client_info=info) as client:
            yield client
        return
    url = f"http://127.0.0.1:{board.port}/mcp"
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=BOUND) as http:
        mode = "auto" if transport == "http-2026" else "legacy"
        async with Client(streamable_http_client(url, http_client=http), mode=mode, client_info=info) as client:
            yield client
