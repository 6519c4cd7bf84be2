"""MCP on stdio, from the first byte to an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from lsp_mcp.sessions.running import Running

log = logging.getLogger(__name__)

END_TIMEOUT = 2.5  # seconds for all servers to shut down


async def serve(server: Server[dict[str, Any]], served: Running | None) -> None:
    """Answer on stdin and stdout until stdin ends or a signal comes; then end every language server.

    Does not return: the SDK's reader thread would wait for stdin for ever.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    running = asyncio.create_task(_run(server))
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


async def _run(server: Server[dict[str, Any]]) -> None:
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
