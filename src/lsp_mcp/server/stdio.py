"""MCP on stdio, from the first byte to an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from typing import Any, BinaryIO

import anyio
from anyio import to_thread
from anyio.abc import ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from lsp_mcp.server.batches import Batches
from lsp_mcp.server.messages import Refusal, read_message
from lsp_mcp.sessions.running import Running

log = logging.getLogger(__name__)

END_TIMEOUT = 2.5  # seconds for all servers to shut down


async def serve(server: Server[dict[str, Any]], served: Running | None) -> None:
    """Answer on stdin and stdout until stdin ends, stdout is closed or a signal comes; then end every language server.

    Does not return: the thread that reads would wait for stdin for ever.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.create_task(_Stdio(server).run())
    stopping = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
    status = 0
    if running in done and (error := running.exception()):
        log.error("stdio ended: %s", error, exc_info=error)
        status = 1
    if served:
        await end(served)
    os._exit(status)


async def end(running: Running) -> None:
    """End every language server within 3 s, whatever they do."""
    try:
        async with asyncio.timeout(END_TIMEOUT):
            await running.close()
    except TimeoutError:
        log.warning("language servers did not end in time and were killed")
    finally:
        running.kill()


class _Stdio:
    """One client, a message a line. Each message that has an id is answered, also one that the SDK cannot read."""

    def __init__(self, server: Server[dict[str, Any]]) -> None:
        self._server = server
        self._in, self._out = _take(0), _take(1)
        self._batches = Batches()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Answer until stdin ends or nobody reads stdout."""
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def read() -> None:
            async with to_server:
                while line := await to_thread.run_sync(self._in.readline, abandon_on_cancel=True):
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
            log.info("the client has closed our stdout")

    async def _take_in(self, line: bytes, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        found = read_message(line)
        messages, told = self._batches.opened(found) if isinstance(found, list) else ([found], "")
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, Refusal):
                log.info("a message was refused (%d): %s", one.code, one.message)
        await self._send(told)
        for message in messages:
            if isinstance(message, Refusal):
                await self._send(json.dumps(message.json) if message.is_sent else "")
            else:
                await self._pass_on(message, to_server)

    async def _pass_on(self, message: JSONRPCMessage, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            self._batches.introduced(message)
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            log.info("an answer came to what was not asked: id %s", str(message.id)[:200])
        await to_server.send(SessionMessage(message))
        if isinstance(message, JSONRPCNotification):
            await self._send(self._batches.cancelled(message))

    async def _send(self, text: str) -> None:
        if text:
            async with self._writing:
                await to_thread.run_sync(_write, self._out, text.encode() + b"\n", abandon_on_cancel=True)


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(data)
    stream.flush()


def _take(descriptor: int) -> BinaryIO:
    """Standard input or output, for the protocol alone: others in this process read nothing and print to stderr."""
    ours = os.dup(descriptor)
    if descriptor == 0:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
    else:
        os.dup2(2, descriptor)
    # Never closed: a thread may be waiting on it at the end.
    return os.fdopen(ours, "rb" if descriptor == 0 else "wb", closefd=False)
