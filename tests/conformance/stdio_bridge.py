"""A server on stdio behind HTTP, because the conformance suite speaks only that: `stdio_bridge.py COMMAND…`.

Each MCP session is a process of its own. Messages pass as they are: what the server sends until it answers a request is
the stream of that request.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from lsp_mcp.server import http

SESSION = "mcp-session-id"


class Session:
    """One process, and the streams of the requests that it has not answered."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._open: dict[Any, asyncio.Queue[dict[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    async def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()

    async def answers(self, message: dict[str, Any]) -> AsyncIterator[bytes]:
        """The events for a request, the last with its answer."""
        said = self._open[message["id"]] = asyncio.Queue()
        try:
            await self.send(message)
            while True:
                one = await said.get()
                yield f"event: message\ndata: {json.dumps(one)}\n\n".encode()
                if one.get("id") == message["id"] and "method" not in one:
                    return
        finally:
            del self._open[message["id"]]

    async def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            answered = "method" not in message and self._open.get(message.get("id"))
            for stream in [answered] if answered else list(self._open.values())[-1:]:
                stream.put_nowait(message)


def bridge(command: list[str]) -> Starlette:
    sessions: dict[str, Session] = {}

    async def post(request: Request) -> Response:
        message = await request.json()
        key = request.headers.get(SESSION, "")
        if message.get("method") == "initialize":
            process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, limit=2**24)
            key = uuid.uuid4().hex
            sessions[key] = Session(process)
        if key not in sessions:
            return Response(status_code=404)
        if "id" not in message or "method" not in message:
            await sessions[key].send(message)
            return Response(status_code=202)
        return StreamingResponse(sessions[key].answers(message), headers={SESSION: key}, media_type="text/event-stream")

    async def delete(request: Request) -> Response:
        if session := sessions.pop(request.headers.get(SESSION, ""), None):
            await session.end()
        return Response(status_code=200)

    return Starlette(routes=[Route("/mcp", post, methods=["POST"]), Route("/mcp", delete, methods=["DELETE"])])


if __name__ == "__main__":
    listening = http.listen(0)
    http.say_port(listening)
    uvicorn.Server(uvicorn.Config(bridge(sys.argv[1:]), log_config=None)).run([listening])
