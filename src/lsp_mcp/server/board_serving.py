"""Serving the board: its page to people, MCP to agents."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence

from lsp_mcp.board.host import BoardHost
from lsp_mcp.server import http
from lsp_mcp.server.board_app import BoardDoor, board_app
from lsp_mcp.server.board_people import Roster
from lsp_mcp.server.offer import Served, offer_of
from lsp_mcp.server.serving import server_of


async def serve_board(
    served: Served, listening: Sequence[socket.socket], token: str, name: str, ready: Callable[[str], None]
) -> None:
    """Serve the project board: its page, and MCP to agents. `ready` gets a link to the page, for the person `name`.

    Does not return.

    Raises:
        ConfigError: see `serve_http`.
        UnavailableError: the database cannot be used.
    """
    server, running = server_of(offer_of(served)), served.running
    host = running.parts["board"]
    assert isinstance(host, BoardHost)
    await host.board.begin()
    running.begin()
    roster = Roster(host.board)
    await roster.come(name)
    door = BoardDoor(listening[0].getsockname()[1], token, roster, name)
    following = asyncio.create_task(roster.follow())
    ready(door.link())
    try:
        await http.serve_app(board_app(server, host, door), running, listening, websockets=True)
    finally:
        following.cancel()
