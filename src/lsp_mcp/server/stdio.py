"""MCP on stdio, from the first byte to a clean end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import BinaryIO

from lsp_mcp.errors import ConfigError, LspMcpError
from lsp_mcp.server.client_session import ClientSession
from lsp_mcp.server.imports import SDK
from lsp_mcp.server.offer import Offer, Served, offer_of, refusing_offer
from lsp_mcp.sessions.running import Running

log = logging.getLogger(__name__)

END_TIMEOUT = 2.5  # seconds for all servers to shut down


async def serve_stdio(served: Served) -> None:
    """Serve on stdio. Does not return."""
    try:
        offer = offer_of(served)
    except ConfigError as error:
        await serve_refusals(error, served.running)
    else:
        await _serve(offer, served.running)


async def serve_refusals(reason: LspMcpError, running: Running | None = None) -> None:
    """See `refusing_offer`; `running` is ended with it. Does not return."""
    await _serve(refusing_offer(reason), running)


async def _serve(offer: Offer, served: Running | None) -> None:
    """Answer on stdin and stdout until stdin ends, stdout is closed or a signal comes; then end every language server.

    Does not return: the thread that reads would wait for stdin for ever.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.create_task(_lines(ClientSession(offer, SDK)))
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
    """End every language server within 3 s in any case."""
    try:
        async with asyncio.timeout(END_TIMEOUT):
            await running.close()
    except TimeoutError:
        log.warning("language servers did not end in time and were killed")
    finally:
        running.kill()


async def _lines(session: ClientSession) -> None:
    stdin, stdout = _take(0), _take(1)

    async def read() -> bytes:
        return await asyncio.to_thread(stdin.readline)

    async def write(data: bytes) -> None:
        await asyncio.to_thread(_write, stdout, data)

    await session.run(read, write)


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(data)
    stream.flush()


def _take(descriptor: int) -> BinaryIO:
    """Standard input or output, for the protocol alone: other code in this process reads nothing and
    prints to stderr.
    """
    ours = os.dup(descriptor)
    if descriptor == 0:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
    else:
        os.dup2(2, descriptor)
    # Never closed: a thread may be waiting on it at the end.
    return os.fdopen(ours, "rb" if descriptor == 0 else "wb", closefd=False)
