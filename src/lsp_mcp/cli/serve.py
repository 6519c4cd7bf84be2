"""`lsp-mcp` without a command: the MCP server on stdio."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import socket
import sys
from collections.abc import Iterator

import click

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.token import token
from lsp_mcp.errors import ConfigError
from lsp_mcp.sessions.running import Running
from lsp_mcp.wire.process import TOKEN_VARIABLE

log = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
"""The address that programs of this machine connect to."""

_SWITCH_INTERVAL = 0.0002  # seconds that an import may compute while the event loop wants to; Python's own is 0.005


def serve(flags: ServerFlags) -> None:
    """Run on stdio until stdin ends or a signal comes. Does not return.

    It also runs with flags that cannot be used: every tool then says what is wrong with them.
    """
    try:
        running = flags.running()
    except ConfigError as error:
        log.error("%s", error)
        asyncio.run(_refuse(error))
    else:
        asyncio.run(_serve(running, flags))


async def _refuse(reason: ConfigError) -> None:
    from lsp_mcp.server.serving import serve_refusals

    await serve_refusals(reason)


def serve_on(
    port: int,
    running: Running,
    flags: ServerFlags,
    *,
    given_token: str | None,
    host: str = LOCAL,
    bridges: bool = False,
) -> None:
    """Run on HTTP until a signal comes, or with `bridges` until Neovim is gone. Does not return.

    Raises:
        ConfigError: the address or the token cannot be used.
    """
    secret = token(given_token)
    if not given_token:
        click.echo(
            "Clients send the header `Authorization: Bearer TOKEN`; the token is printed by: lsp-mcp token "
            f"(set {TOKEN_VARIABLE} to choose another)",
            err=True,
        )
    from lsp_mcp.server.http import listen

    asyncio.run(_serve_http(listen(port, host), secret, running, flags, bridges=bridges))


async def _serve_http(
    listening: socket.socket,
    token: str,
    running: Running,
    flags: ServerFlags,
    *,
    bridges: bool,
) -> None:
    from lsp_mcp.server.serving import Served, serve_bridge, serve_http

    serving = serve_bridge if bridges else serve_http
    await serving(Served(running, flags.settings(), flags.form, flags.response_format), listening, token)


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """For the imports of a start, in a thread beside the event loop that talks to the servers.

    They make hundreds of thousands of objects that stay: looking for garbage among them is lost time. And the loop,
    which wakes for moments only, would wait for each of them as long as a thread may compute.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        gc.freeze()
        gc.enable()


async def _serve(running: Running, flags: ServerFlags) -> None:
    running.begin()
    # The SDK takes most of a second to import; in that time the servers load, and the loop answers them.
    with importing():
        serving = await asyncio.to_thread(importlib.import_module, "lsp_mcp.server.serving")
    await serving.serve_stdio(serving.Served(running, flags.settings(), flags.form, flags.response_format))
