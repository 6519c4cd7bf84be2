"""`lsp-mcp board`: the project board, for agents and in a browser (docs/contracts/board.md)."""

from __future__ import annotations

import asyncio
import errno
import getpass
import hmac
import json
import secrets
import socket
import sys
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.cli.serve import serve
from lsp_mcp.cli.token import token
from lsp_mcp.errors import ConfigError, UnavailableError
from lsp_mcp.server.board_proof import proof_of
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.offered import TOOLSETS
from lsp_mcp.workspace import from_home

PORTS, DEV_PORTS = range(21700, 21710), range(21710, 21720)
_NO_IPV6 = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.ENOPROTOOPT}
_LOOK_TIMEOUT = 1.0  # seconds for another board to identify itself


def run_board(
    flags: ServerFlags, given_token: str | None, *, port: int | None, dev: bool, opens: bool, name: str | None
) -> None:
    """Serve the page and agents until a signal arrives. Without a port, open a running board instead.

    Raises:
        ConfigError: the database cannot be used, or no port or token is available.
    """
    flags = alone(flags)
    secret = token(given_token)
    if port is None and (link := _link(flags, secret, DEV_PORTS if dev else PORTS, name)):
        click.echo(f"The board of this database runs already:\n\n  {link}\n\nFor a second process, pass --port.")
        _open(link, opens=opens)
        return
    running = flags.running()
    listening = _listen(port, DEV_PORTS if dev else PORTS)
    who = name or default_name(from_home(flags.workspace_root))
    asyncio.run(_serve(running, flags, listening, secret, who, opens=opens))


def run_stdio(flags: ServerFlags) -> None:
    """Serve one agent on stdio, on the same board as the page. Does not return."""
    serve(alone(flags))


def new_link(flags: ServerFlags, given_token: str | None, *, port: int | None, dev: bool, name: str | None) -> str:
    """A link to the page of the running board of the workspace root, for the person of that name.

    Raises:
        ConfigError: the database's URL cannot be used.
        UnavailableError: no board is running.
    """
    ports = [port] if port else DEV_PORTS if dev else PORTS
    if link := _link(flags, token(given_token), ports, name):
        return link
    root, database = _database(flags)
    where = f"port {port}" if port else f"ports {ports[0]} to {ports[-1]}; --port N looks on another"
    raise UnavailableError(
        f"no board is running for the database {database} (looked on {where}); start one with: lsp-mcp board "
        f"--workspace-root {root}"
    )


def _database(flags: ServerFlags) -> tuple[Path, str]:
    """The workspace root, and its database: all worktrees of a checkout have one, and the board may run in another."""
    from lsp_mcp.board.place import store_url
    from lsp_mcp.database.words import shown_url

    root = from_home(flags.workspace_root).resolve()
    return root, shown_url(store_url(root, flags.store))


def _link(flags: ServerFlags, secret: str, ports: Iterable[int], name: str | None) -> str | None:
    """A link to the board of the database that runs on one of the ports.

    The token goes only to a board that has proven to know it: anyone may listen on these ports.
    """
    _, database = _database(flags)
    headers = {"Authorization": f"Bearer {secret}"}
    for candidate in ports:
        nonce = secrets.token_hex(16)
        proof = str(_health(candidate, f"?challenge={nonce}").get("proof"))
        is_ours = hmac.compare_digest(proof.encode(), proof_of(secret, candidate, nonce).encode())
        if is_ours and _ask(candidate, "/health", headers).get("database") == database:
            return str(_ask(candidate, "/link", headers, method="POST", body={"as": name})["link"])
    return None


def _open(link: str, *, opens: bool) -> None:
    sys.stdout.flush()
    if opens and sys.stdout.isatty():
        webbrowser.open(link)


async def _serve(
    running: Running,
    flags: ServerFlags,
    listening: list[socket.socket],
    secret: str,
    name: str,
    *,
    opens: bool,
) -> None:
    from lsp_mcp.server.board_serving import serve_board
    from lsp_mcp.server.offer import Served

    port = listening[0].getsockname()[1]

    def ready(link: str) -> None:
        click.echo(f"Board of {running.code.workspace.root}\n")
        click.echo(f"  in a browser   {link}")
        again = "" if port in PORTS else " --dev" if port in DEV_PORTS else f" --port {port}"
        click.echo(f"                 (opens once; a new link: lsp-mcp board --link{again})")
        click.echo(f"  agents         ws://localhost:{port}, or on stdio: lsp-mcp board --mcp")
        click.echo(f"  agents, HTTP   http://127.0.0.1:{port}/mcp with Authorization: Bearer TOKEN (lsp-mcp token)\n")
        click.echo("Ctrl-C ends it; nothing is lost.")
        _open(link, opens=opens)

    await serve_board(
        Served(running, flags.settings(), flags.form, flags.response_format), listening, secret, name, ready
    )


def default_name(root: Path) -> str:
    """The name of who starts a board: git's `user.name` there, else that of the login."""
    from lsp_mcp.wire.git import git_output

    found = asyncio.run(git_output(root, "config", "--get", "user.name")) or ""
    try:
        return found.strip() or getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "Somebody"


def people_of(flags: ServerFlags, revoked: str | None) -> list[str]:
    """The names of the people of the board; ends the links and pages of the one that is `revoked` first.

    Raises:
        CallerError: there is no such person.
        ConfigError: the database cannot be used.
    """
    from lsp_mcp.board import people
    from lsp_mcp.board.place import store_url
    from lsp_mcp.board.store import Store

    with closing(Store(store_url(from_home(flags.workspace_root).resolve(), flags.store))) as store:
        if revoked is not None:
            store.write(lambda at: people.revoke(at, revoked))
        return [one["name"] for one in store.read(people.listed)]


def alone(flags: ServerFlags) -> ServerFlags:
    """Only the board's tools, unless code was asked for too."""
    wanted = {"board", *flags.toolsets}
    if flags.backends or flags.socket:
        return replace(flags, toolsets=tuple(wanted))
    without = tuple(name for name in TOOLSETS if name not in wanted)
    return replace(flags, toolsets=tuple(wanted), without_toolsets=(*flags.without_toolsets, *without), no_code=True)


def _listen(port: int | None, ports: range) -> list[socket.socket]:
    """Sockets on the first free port, for both addresses of `localhost`.

    Raises:
        ConfigError: no port is free; the message names the programs that use them.
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
    if found.get("program") != "lsp-mcp":
        return "another program"
    return f"the board of {found['board']}" if "board" in found else "a board of another user"


def _health(port: int, query: str = "") -> dict[str, Any]:
    try:
        return _ask(port, f"/health{query}", {})
    except (OSError, ValueError):
        return {}


def _ask(
    port: int, path: str, headers: dict[str, str], method: str = "GET", body: dict[str, Any] | None = None
) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_LOOK_TIMEOUT) as answer:  # noqa: S310 (this machine)
            found = json.load(answer)
    except urllib.error.HTTPError as error:
        raise UnavailableError(f"the board on port {port} refused: {error.read().decode(errors='replace')}") from None
    return found if isinstance(found, dict) else {}
