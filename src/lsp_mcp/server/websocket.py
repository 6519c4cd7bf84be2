"""MCP over a WebSocket, one JSON-RPC message a frame (seeds/002, "WebSocket Connection"; the SDK has none any more)."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

log = logging.getLogger(__name__)

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
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
                message = _message(text)
                if isinstance(message, dict):
                    await websocket.send_text(json.dumps(message))
                    continue
                raw = json.loads(text)
                if raw.get("method") == "initialize":
                    introductions[raw.get("id")] = await introduce(key, _client_of(raw))
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


def _client_of(initialize: dict[str, Any]) -> str:
    params = initialize.get("params")
    info = params.get("clientInfo") if isinstance(params, dict) else None
    return str(info.get("name") or _UNKNOWN) if isinstance(info, dict) else _UNKNOWN


def _message(text: str) -> Any:
    """The JSON-RPC message in a frame, or the error that answers a frame that has none."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _refusal(None, _PARSE_ERROR, f"this frame is no JSON: {error}")
    if not isinstance(raw, dict):
        return _refusal(None, _INVALID_REQUEST, "send one JSON-RPC message, an object, in each frame")
    if raw.get("method") == "initialize" and isinstance(raw.get("params"), dict):
        # The document's own handshake has none, and MCP wants some.
        raw["params"].setdefault("capabilities", {})
    try:
        return jsonrpc_message_adapter.validate_python(raw, by_name=False)
    except ValidationError as error:
        what = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))} {one['msg']}" for one in error.errors()[:2])
        return _refusal(raw.get("id"), _INVALID_REQUEST, f"this is no JSON-RPC 2.0 message: {what}")


def _refusal(request: Any, code: int, message: str) -> dict[str, Any]:
    known = request if isinstance(request, str | int) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}
