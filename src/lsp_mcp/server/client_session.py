"""One MCP client on a stream of lines, from its first message to its last: `ClientSession`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator

from lsp_mcp.server.envelope import Json
from lsp_mcp.server.imports import Sdk
from lsp_mcp.server.offer import Offer
from lsp_mcp.server.plain_messages import CANCELLED, INTRODUCTION, PlainMessages

log = logging.getLogger(__name__)

Read = Callable[[], Awaitable[bytes]]
Write = Callable[[bytes], Awaitable[None]]


class ClientSession:
    """A session with one client, of which `PlainMessages` answers what it can.

    From the first message on that only the SDK understands, which is when it is imported, the SDK answers.
    """

    def __init__(self, offer: Offer, sdk: Sdk) -> None:
        self._offer = offer
        self._sdk = sdk
        self.writing = tuple(offer.calls.writing)  # the names of the tools that change something

    async def run(self, read: Read, write: Write) -> None:
        """Answer until the input ends or the client stops reading.

        `read` returns the next line, empty at the end; `write` raises BrokenPipeError when the client stops reading.
        """
        if not self._offer.is_plain:
            self._sdk.begin()
        writing = asyncio.Lock()

        async def read_fairly() -> bytes:
            # Reading available data never yields: without giving others a turn between two messages, a thousand of one
            # client would be processed before another client's first.
            await asyncio.sleep(0)
            return await read()

        async def send(data: bytes) -> None:
            async with writing:
                await write(data)

        async def send_message(message: Json) -> None:
            await send(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

        try:
            async with asyncio.TaskGroup() as tasks:
                plain = PlainMessages(self._offer, send_message, tasks)
                try:
                    if line := await self._plain(plain, read_fairly):
                        await self._rest(plain, line, read_fairly, send)
                finally:
                    plain.end()
        except* BrokenPipeError:
            log.info("the client reads nothing more")

    async def _plain(self, plain: PlainMessages, read: Read) -> bytes:
        """The first line for the SDK; empty at the end."""
        while line := await read():
            if line.isspace() or _is_cancelled(plain, line):
                continue
            if not self._offer.is_plain or not await plain.take(line):
                return line
        return b""

    async def _rest(self, plain: PlainMessages, line: bytes, read: Read, send: Write) -> None:
        serving = await self._sdk.load()
        introduction = plain.introduction
        before: Iterator[bytes] = iter([*(json.dumps(one).encode() + b"\n" for one in introduction), line])
        waits = bool(introduction)  # for the SDK's answer to it, which the client has had

        async def next_line() -> bytes:
            if kept := next(before, b""):
                return kept
            while (more := await read()) and _is_cancelled(plain, more):
                pass
            return more

        async def send_rest(data: bytes) -> None:
            nonlocal waits
            if waits and _is_of_introduction(data):
                waits = False
            else:
                await send(data)

        await serving.MessageLines(serving.server_of(self._offer), next_line, send_rest).run()


def _is_cancelled(plain: PlainMessages, line: bytes) -> bool:
    """Whether this message cancels a call of `plain`; if so, the call has been ended."""
    return CANCELLED in line and plain.cancelled(line)


def _is_of_introduction(data: bytes) -> bool:
    found = json.loads(data)
    return isinstance(found, dict) and found.get("id") == INTRODUCTION
