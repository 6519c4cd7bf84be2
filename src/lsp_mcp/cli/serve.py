"""`lsp-mcp` without a command: the MCP server on stdio."""

from __future__ import annotations

import asyncio
import importlib
import logging
import socket

import click

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.token import token
from lsp_mcp.door.line import Line, RefusedError
from lsp_mcp.door.request import DaemonRequest
from lsp_mcp.errors import ConfigError
from lsp_mcp.server.imports import importing
from lsp_mcp.sessions.running import Running
from lsp_mcp.wire.process import TOKEN_VARIABLE

log = logging.getLogger(__name__)

LOCAL = "127.0.0.1"
"""The address that programs of this machine connect to."""


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
    from lsp_mcp.server.stdio import serve_refusals

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
    secret = _told_token(given_token)
    from lsp_mcp.server.http import listen

    asyncio.run(_serve_http(listen(port, host), secret, running, flags, bridges=bridges))


def _told_token(given: str | None) -> str:
    """The token that clients send; how to get it is printed unless it was `given`."""
    if not given:
        click.echo(
            "Clients send the header `Authorization: Bearer TOKEN`; the token is printed by: lsp-mcp token "
            f"(set {TOKEN_VARIABLE} to choose another)",
            err=True,
        )
    return token(given)


def share_on(port: int, request: DaemonRequest, *, given_token: str | None, host: str = LOCAL) -> None:
    """Run on HTTP until a signal comes, as a door of the daemon that sessions share.

    Returns if there can be no such daemon, which is told.

    Raises:
        ConfigError: the address, the token or the daemon's flags cannot be used.
    """
    try:
        line = Line(request)
        line.agree()
        line.close()
    except RefusedError as error:
        if error.is_told:
            raise ConfigError(str(error)) from None
        click.echo(f"lsp-mcp: not shared with other sessions: {error}", err=True)
        return
    secret = _told_token(given_token)
    from lsp_mcp.server.http import listen
    from lsp_mcp.server.shared_http import serve_shared

    asyncio.run(serve_shared(request, listen(port, host), secret))


async def _serve_http(
    listening: socket.socket,
    token: str,
    running: Running,
    flags: ServerFlags,
    *,
    bridges: bool,
) -> None:
    from lsp_mcp.server.offer import Served
    from lsp_mcp.server.serving import serve_bridge, serve_http

    serving = serve_bridge if bridges else serve_http
    await serving(Served(running, flags.settings(), flags.form, flags.response_format), listening, token)


async def _serve(running: Running, flags: ServerFlags) -> None:
    running.begin()
    # The tools take a while to import: in the meantime the servers load, and the loop answers them.
    with importing():
        stdio, offer = await asyncio.to_thread(
            lambda: [importlib.import_module(f"lsp_mcp.server.{one}") for one in ("stdio", "offer")]
        )
    await stdio.serve_stdio(offer.Served(running, flags.settings(), flags.form, flags.response_format))
