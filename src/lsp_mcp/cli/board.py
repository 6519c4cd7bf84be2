"""`lsp-mcp board`: the project board, for agents and in a browser (docs/contracts/board.md)."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import secrets
import socket
import sys
import urllib.error
import urllib.request
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import platformdirs

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.serve import serve
from lsp_mcp.errors import ConfigError, UnavailableError
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.offered import TOOLSETS

PORTS, DEV_PORTS = range(21700, 21710), range(21710, 21720)
_TOKEN = "LSP_MCP_TOKEN"  # noqa: S105 (the name of a variable)
_NO_IPV6 = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.ENOPROTOOPT}
_LOOK_TIMEOUT = 1.0  # seconds for another board to say whose it is


def run_board(flags: ServerFlags, *, port: int | None, dev: bool, opens: bool) -> None:
    """Serve the page and agents until a signal comes. Does not return.

    Raises:
        ConfigError: the database cannot be used, or no port can be had.
    """
    flags = _alone(flags)
    running = flags.running()
    assert running.board
    listening = _listen(port, DEV_PORTS if dev else PORTS)
    asyncio.run(_serve(running, flags, listening, opens=opens))


def run_stdio(flags: ServerFlags) -> None:
    """Serve one agent on stdio, on the same board as the page. Does not return."""
    serve(_alone(flags))


def new_link(flags: ServerFlags, *, port: int | None, dev: bool) -> str:
    """A link that opens the page of the board that runs for the workspace root.

    Raises:
        UnavailableError: none runs.
    """
    root = str(Path(flags.workspace_root).expanduser().resolve())
    for candidate in [port] if port else DEV_PORTS if dev else PORTS:
        if candidate and _health(candidate).get("board") == root:
            headers = {"Authorization": f"Bearer {token()}"}
            return str(_ask(candidate, "/link", headers, method="POST")["link"])
    raise UnavailableError(f"no board runs for {root}; start it with: lsp-mcp board --workspace-root {root}")


def token() -> str:
    """What agents on HTTP send: this user's own, the same for all boards, kept where only they can read it."""
    if given := os.environ.get(_TOKEN):
        return given
    file = platformdirs.user_state_path("lsp-mcp", ensure_exists=True) / "board-token"
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    made = secrets.token_hex(32)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(f"{made}\n")
    return made


async def _serve(
    running: Running,
    flags: ServerFlags,
    listening: list[socket.socket],
    *,
    opens: bool,
) -> None:
    from lsp_mcp.server.serving import Served, serve_board

    assert running.board
    port = listening[0].getsockname()[1]

    def ready(link: str, secret: str) -> None:
        click.echo(f"Board of {running.code.workspace.root}\n")
        click.echo(f"  in a browser   {link}")
        click.echo("                 (opens once; a new link: lsp-mcp board --link)")
        click.echo(f"  agents         ws://localhost:{port}, or on stdio: lsp-mcp board --mcp")
        click.echo(f"  agents, HTTP   http://127.0.0.1:{port}/mcp with Authorization: Bearer {secret}\n")
        click.echo("Ctrl-C ends it; nothing is lost.")
        sys.stdout.flush()
        if opens and sys.stdout.isatty():
            webbrowser.open(link)

    await serve_board(Served(running, flags.settings(), flags.form, flags.response_format), listening, token(), ready)


def _alone(flags: ServerFlags) -> ServerFlags:
    """Only the board's tools, unless code was asked for too."""
    wanted = {"board", *flags.toolsets}
    if flags.backends or flags.socket:
        return replace(flags, toolsets=tuple(wanted))
    without = tuple(name for name in TOOLSETS if name not in wanted)
    return replace(flags, toolsets=tuple(wanted), without_toolsets=(*flags.without_toolsets, *without), no_code=True)


def _listen(port: int | None, ports: range) -> list[socket.socket]:
    """Sockets on the first port that is free, for both ways in which `localhost` may be read.

    Raises:
        ConfigError: there is none; the message says who has them.
    """
    for candidate in [port] if port is not None else ports:
        try:
            first = socket.create_server(("127.0.0.1", candidate))
        except OSError:
            continue
        try:
            actual = first.getsockname()[1]
            return [first, socket.create_server(("::1", actual), family=socket.AF_INET6)]
        except OSError as error:
            if error.errno in _NO_IPV6:
                return [first]
            first.close()
    taken = [port] if port is not None else ports
    holders = "; ".join(f"{one}: {_holder(one)}" for one in taken)
    raise ConfigError(f"no port is free for the board ({holders}). End one of them, or pass --port 0 for any other.")


def _holder(port: int) -> str:
    found = _health(port)
    return f"the board of {found['board']}" if "board" in found else "another program"


def _health(port: int) -> dict[str, Any]:
    try:
        return _ask(port, "/health", {})
    except (OSError, ValueError):
        return {}


def _ask(port: int, path: str, headers: dict[str, str], method: str = "GET") -> dict[str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_LOOK_TIMEOUT) as answer:  # noqa: S310 (this machine)
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        raise UnavailableError(f"the board on port {port} refused: {error.read().decode(errors='replace')}") from None
    return found if isinstance(found, dict) else {}
