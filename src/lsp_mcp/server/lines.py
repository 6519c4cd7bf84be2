"""MCP over a stream of bytes, one message per line: `MessageLines`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from lsp_mcp.server.batches import Batches
from lsp_mcp.server.messages import Refusal, read_message

log = logging.getLogger(__name__)


class MessageLines:
    """One client, one message per line. Every message with an id is answered, even if the SDK cannot read it."""

    def __init__(
        self,
        server: Server[dict[str, Any]],
        read: Callable[[], Awaitable[bytes]],
        write: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """`read` returns the next line, empty at the end; `write` raises BrokenPipeError if the client is gone."""
        self._server = server
        self._read, self._write = read, write
        self._batches = Batches()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Answer until the input ends or the client stops reading."""
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            async with to_server:
                while line := await self._read():
                    if not line.isspace():
                        await self._take_in(line, to_server)

        async def write() -> None:
            async with from_server:
                async for answer in from_server:
                    message = answer.message
                    text = message.model_dump_json(by_alias=True, exclude_unset=True)
                    if isinstance(message, JSONRPCResponse | JSONRPCError):
                        text = self._batches.answered(message, text)
                    await self._send(text)

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(read)
                group.start_soon(write)
                await self._server.run(from_client, to_client, self._server.create_initialization_options())
                group.cancel_scope.cancel()
        except* BrokenPipeError:
            log.info("the client reads nothing more")

    async def _take_in(self, line: bytes, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        found = read_message(line)
        messages, refusals = self._batches.opened(found) if isinstance(found, list) else ([found], "")
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, Refusal):
                log.info("a message was refused (%d): %s", one.code, one.message)
        await self._send(refusals)
        for message in messages:
            if isinstance(message, Refusal):
                await self._send(json.dumps(message.json) if message.is_sent else "")
            else:
                await self._pass_on(message, to_server)

    async def _pass_on(self, message: JSONRPCMessage, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self._batches.introduced(message)
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            log.info("an answer without a request: id %s", str(message.id)[:200])
        await to_server.send(SessionMessage(message))
        if isinstance(message, JSONRPCNotification):
            await self._send(self._batches.cancelled(message))

    async def _send(self, text: str) -> None:
        if text:
            async with self._writing:
                await self._write(text.encode() + b"\n")
