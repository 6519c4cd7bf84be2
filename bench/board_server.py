"""A running board with agents, for benchmarks: `served`, `agent`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import websockets

Call = Callable[[str, dict[str, Any]], Awaitable[str]]
_PROGRAM = Path(sys.executable).with_name("lsp-mcp")


@asynccontextmanager
async def served(folder: Path, *more: str) -> AsyncIterator[tuple[int, str]]:
    """A board in its own process: its port, and the link to its page."""
    process = await asyncio.create_subprocess_exec(
        str(_PROGRAM),
        "board",
        "--workspace-root",
        str(folder),
        "--port",
        "0",
        "--no-open",
        *more,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        printed = ""
        while not (found := re.search(r"http://localhost:(\d+)\S+", printed)):
            line = await process.stdout.readline()
            if not line:
                raise RuntimeError(f"the board did not start: {printed}")
            printed += line.decode()
        yield int(found[1]), found[0]
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def agent(port: int) -> AsyncIterator[Call]:
    """Calls tools over a WebSocket."""
    async with websockets.connect(f"ws://localhost:{port}", max_size=None) as socket:
        number = 0

        async def send(method: str, params: dict[str, Any]) -> Any:
            nonlocal number
            number += 1
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            while (answer := json.loads(await socket.recv())).get("id") != number:
                pass
            return answer["result"]

        async def call(tool: str, arguments: dict[str, Any]) -> str:
            result = await send("tools/call", {"name": tool, "arguments": arguments})
            text = str(result["content"][0]["text"])
            if result.get("isError"):
                raise RuntimeError(f"{tool}: {text}")
            return text

        await send("initialize", {"protocolVersion": "2024-11-05", "clientInfo": {"name": "bench", "version": "1"}})
        await socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        yield call
