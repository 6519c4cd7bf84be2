"""MCP over a WebSocket, one JSON-RPC message a frame (the SDK has none any more)."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import INVALID_REQUEST, JSONRPCRequest
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from lsp_mcp.server.messages import Refusal, read_message

log = logging.getLogger(__name__)

_UNSUPPORTED_DATA = 1003
_UNKNOWN = "agent"
_WAITING = 64  # messages of one client that wait to be handled

Introduce = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Called with a connection's key and its client's name; what the answer to `initialize` has besides."""


async def serve_websocket(
    websocket: WebSocket,
    server: Server[dict[str, Any]],
    introduce: Introduce,
    left: Callable[[str], Awaitable[None]],
) -> None:
    """Answer on an accepted `websocket` until it is closed; `left` is awaited then with the connection's key."""
    websocket.state.caller = key = uuid.uuid4().hex
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    introductions: dict[Any, dict[str, Any]] = {}  # by the id of a request `initialize`

    async def read() -> None:
        async with to_server:
            while True:
                frame = await websocket.receive()
                if frame["type"] == "websocket.disconnect":
                    return
                text = frame.get("text")
                if text is None:
                    await websocket.close(_UNSUPPORTED_DATA, "send JSON-RPC messages as text frames")
                    return
                message = read_message(text.encode("utf-8", "surrogatepass"), _amend)
                if isinstance(message, list):
                    message = Refusal(None, INVALID_REQUEST, "send one JSON-RPC message in each frame")
                if isinstance(message, Refusal):
                    log.info("a message was refused (%d): %s", message.code, message.message)
                    if message.is_sent:
                        await websocket.send_text(json.dumps(message.json))
                    continue
                if isinstance(message, JSONRPCRequest) and message.method == "initialize":
                    introductions[message.id] = await introduce(key, _client_of(message))
                metadata = ServerMessageMetadata(request_context=websocket)
                await to_server.send(SessionMessage(message, metadata))

    async def write() -> None:
        async with from_server:
            async for answer in from_server:
                shown = answer.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
                extra = introductions.pop(shown.get("id"), None)
                if extra and isinstance(shown.get("result"), dict):
                    shown["result"].update(extra)
                await websocket.send_text(json.dumps(shown))

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_until_closed, write)
            group.start_soon(_until_closed, read)
            await server.run(from_client, to_client, server.create_initialization_options())
            group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await left(key)
        if websocket.application_state is WebSocketState.CONNECTED:
            await _until_closed(websocket.close)


async def _until_closed(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except (WebSocketDisconnect, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
        log.debug("a WebSocket is closed: %s", error)


def _client_of(initialize: JSONRPCRequest) -> str:
    return str((initialize.params or {})["clientInfo"]["name"] or _UNKNOWN)


def _amend(params: dict[str, Any]) -> None:
    """The published handshake of the board has no capabilities, and MCP wants some."""
    params.setdefault("capabilities", {})
