"""`lsp-mcp` without a command: the MCP server on stdio."""

from __future__ import annotations

import asyncio
import importlib
import logging
from typing import Any

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.sessions import Sessions


def serve(flags: ServerFlags, form: str, response_format: str) -> None:
    """Run until stdin ends or a signal comes. Does not return.

    Raises:
        ConfigError: see `ServerFlags.sessions`.
    """
    sessions = flags.sessions()
    logging.getLogger("mcp").setLevel(logging.WARNING)
    asyncio.run(_serve(sessions, form, response_format))


async def _serve(sessions: Sessions, form: Any, response_format: Any) -> None:
    sessions.begin()
    # The SDK takes most of a second to import: meanwhile the servers load, and the loop answers them.
    serving = await asyncio.to_thread(importlib.import_module, "lsp_mcp.server.serving")
    await serving.serve_stdio(sessions, form, response_format)
