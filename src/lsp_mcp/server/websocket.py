"""MCP over a WebSocket, one JSON-RPC message per frame (the SDK no longer has it)."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, JSONRPCMessage, JSONRPCRequest
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.server.admission import HOW_TO_SEND, IN_INITIALIZE
from lsp_mcp.server.messages import Refusal, read_message, too_long
from lsp_mcp.visible import quoted

log = logging.getLogger(__name__)

MOST_FRAME = 1_000_000  # bytes of a message
_UNSUPPORTED_DATA, _FORBIDDEN = 1003, 4003
_UNKNOWN = "agent"
_WAITING = 64  # pending messages of one client

_AGENT = "lsp-mcp/agent"  # in `_meta` of the parameters of `initialize`: the `agentToken` of an earlier answer

Introduce = Callable[[str, str, str | None], Awaitable[dict[str, Any]]]
"""Called with a connection's key, its client's name and the token that it presents, if any; returns additions to the
answer to `initialize`.
"""


async def serve_websocket(
    websocket: WebSocket,
    server: Server[dict[str, Any]],
    introduce: Introduce,
    left: Callable[[str], Awaitable[None]],
    is_token: Callable[[object], bool],
    *,
    patience: float | None,
    admitted: Callable[[], None],
) -> None:
    """Answer on an accepted `websocket` until it is closed; `left` is awaited then with the connection's key.

    With `patience` the client is unknown: its first message must be an `initialize` with the token, within that many
    seconds. `admitted` is called then.
    """
    websocket.state.caller = key = uuid.uuid4().hex
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    client = _Client(websocket, key, introduce, is_token, patience, admitted)

    async def read() -> None:
        async with to_server:
            async for message in client.messages():
                await to_server.send(SessionMessage(message, ServerMessageMetadata(request_context=websocket)))

    async def write() -> None:
        async with from_server:
            async for answer in from_server:
                shown = answer.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
                extra = client.introductions.pop(shown.get("id"), None)
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


class _Client:
    """The client: its messages, once it is admitted."""

    def __init__(
        self,
        websocket: WebSocket,
        key: str,
        introduce: Introduce,
        is_token: Callable[[object], bool],
        patience: float | None,
        admitted: Callable[[], None],
    ) -> None:
        self._websocket = websocket
        self._key = key
        self._introduce = introduce
        self._is_token = is_token
        self._patience = patience
        self._admitted = admitted
        self._is_known = patience is None
        self._is_begun = False
        self.introductions: dict[Any, dict[str, Any]] = {}  # by the id of a request `initialize`

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Its messages until it closes; invalid or forbidden ones are answered here."""
        while (text := await self._next_text()) is not None:
            line = text.encode("utf-8", "surrogatepass")
            message = read_message(line, _amend) if len(line) <= MOST_FRAME else too_long(line, MOST_FRAME)
            if isinstance(message, list):
                message = Refusal(None, INVALID_REQUEST, "send one JSON-RPC message in each frame")
            is_first = isinstance(message, JSONRPCRequest) and message.method == "initialize"
            if not self._admits(message if is_first else None):
                await self._refuse(Refusal(getattr(message, "id", None), INVALID_REQUEST, HOW_TO_SEND))
                await self._websocket.close(_FORBIDDEN, "the token is missing or wrong")
                return
            if is_first:
                self._is_begun = True
                message = await self._introduced(message)
            elif not self._is_begun and isinstance(message, JSONRPCRequest) and _needs_beginning(message):
                # The SDK's answer says that the parameters are wrong, but not which.
                message = Refusal(message.id, INVALID_REQUEST, f"send initialize before {quoted(message.method)}")
            if isinstance(message, Refusal):
                await self._refuse(message)
            else:
                yield message

    async def _next_text(self) -> str | None:
        try:
            async with asyncio.timeout(None if self._is_known else self._patience):
                frame = await self._websocket.receive()
        except TimeoutError:
            await self._websocket.close(_FORBIDDEN, "no initialize was received")
            return None
        if frame["type"] == "websocket.disconnect":
            return None
        text: str | None = frame.get("text")
        if text is None:
            await self._websocket.close(_UNSUPPORTED_DATA, "send JSON-RPC messages as text frames")
        return text

    def _admits(self, initialize: Any) -> bool:
        """Whether its message is allowed: the client is known, or this is an `initialize` that makes it known."""
        sent = _taken(initialize, IN_INITIALIZE) if initialize else None
        if sent is not None:
            self._is_known = self._is_token(sent)
            if self._is_known:
                self._admitted()
        return self._is_known

    async def _introduced(self, initialize: Any) -> JSONRPCRequest | Refusal:
        """`initialize`, once its client is registered; its refusal, if that fails now."""
        sent = _taken(initialize, _AGENT)
        token = sent if isinstance(sent, str) else None
        try:
            self.introductions[initialize.id] = await self._introduce(self._key, _client_of(initialize), token)
        except CallerError as error:
            return Refusal(initialize.id, INVALID_PARAMS, str(error))
        except LspMcpError as error:
            return Refusal(initialize.id, INTERNAL_ERROR, f"{error} Send initialize again then.")
        return initialize  # type: ignore[no-any-return]

    async def _refuse(self, refusal: Refusal) -> None:
        log.info("a message was refused (%d): %s", refusal.code, refusal.message)
        if refusal.is_sent:
            await self._websocket.send_text(json.dumps(refusal.json))


async def _until_closed(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except (WebSocketDisconnect, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
        log.debug("a WebSocket is closed: %s", error)


def _client_of(initialize: JSONRPCRequest) -> str:
    return str((initialize.params or {})["clientInfo"]["name"] or _UNKNOWN)


def _needs_beginning(request: JSONRPCRequest) -> bool:
    """Whether it uses an MCP version that begins with `initialize`; later ones name theirs in each request."""
    return request.method.startswith("tools/") and "_meta" not in (request.params or {})


def _taken(initialize: JSONRPCRequest, name: str) -> object:
    """The value of `name` in an `initialize` request, which is removed from it; None if there is none."""
    meta = (initialize.params or {}).get("_meta")
    return meta.pop(name, None) if isinstance(meta, dict) else None


def _amend(params: dict[str, Any]) -> None:
    """A published handshake (docs/contracts) has no capabilities, but MCP requires some."""
    params.setdefault("capabilities", {})
