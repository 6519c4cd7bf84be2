"""`lsp-mcp` without a command: the MCP server on stdio."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import ConfigError
from lsp_mcp.sessions.sessions import Sessions

if TYPE_CHECKING:
    from lsp_mcp.sessions.neovims import Neovims

log = logging.getLogger(__name__)


def serve(flags: ServerFlags, form: str, response_format: str) -> None:
    """Run until stdin ends or a signal comes. Does not return.

    With flags that cannot be used it runs as well: every tool then says what is wrong with them.
    """
    logging.getLogger("mcp").setLevel(logging.WARNING)
    try:
        running = flags.running()
    except ConfigError as error:
        log.error("%s", error)
        asyncio.run(_refuse(error))
    else:
        asyncio.run(_serve(running, flags, form, response_format))


async def _refuse(reason: ConfigError) -> None:
    from lsp_mcp.server.serving import serve_refusals

    await serve_refusals(reason)


@contextlib.contextmanager
def _importing() -> Iterator[None]:
    """Imports make hundreds of thousands of objects that stay: looking for garbage among them is lost time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def _serve(running: Sessions | Neovims, flags: ServerFlags, form: Any, response_format: Any) -> None:
    running.begin()
    # The SDK takes most of a second to import: meanwhile the servers load, and the loop answers them.
    with _importing():
        serving = await asyncio.to_thread(importlib.import_module, "lsp_mcp.server.serving")
    await serving.serve_stdio(running, flags.settings(), form, response_format)
