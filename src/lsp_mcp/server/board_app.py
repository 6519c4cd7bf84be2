"""The board on one address: its page, the page's API, and MCP over WebSocket and Streamable HTTP.

Who may connect:

- the page, by a cookie that a one-time link sets (`BoardDoor.link`);
- agents, by the token; on WebSocket also programs of the same user without one, if they send no Origin: browsers
  always send theirs, so no web page can connect that way (docs/contracts/board.md has no token in its handshake). On
  WebSocket a token may be in the header, in the address or in `initialize`, before which nothing is done;
- nobody whose Host is another name than this machine's, or whose Origin is another page's or `null`.
"""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import ExitStack
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from lsp_mcp.board import people
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import Actor
from lsp_mcp.data import data_folder
from lsp_mcp.errors import CallerError
from lsp_mcp.server.admission import HOW_TO_SEND, LocalOnly, Strangers, Visitors, token_in_address, user_of
from lsp_mcp.server.board_api import BoardApi
from lsp_mcp.server.board_files import PageFiles
from lsp_mcp.server.board_people import Pass, Passes, Roster
from lsp_mcp.server.board_presence import Presence
from lsp_mcp.server.board_proof import proof_of
from lsp_mcp.server.board_requests import json_of
from lsp_mcp.server.http import mcp_app, no_token
from lsp_mcp.server.websocket import serve_websocket

log = logging.getLogger(__name__)

NAMES = ("localhost", "127.0.0.1", "[::1]")
_COOKIE = "lsp_mcp_board"
_FORBIDDEN = 4003  # WebSocket close code
_SAFE = ("GET", "HEAD")
_FULL = f"too many connections of your user have not shown the token yet; {HOW_TO_SEND}\n"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_HOW_TO_ENTER = (
    "This board opens by the link that `lsp-mcp board` prints, once for each link. A new one,\n"
    "in the project's folder (with the --store that the board has, if any):\n\n"
    "    lsp-mcp board --link --port {port}\n"
)


class BoardDoor:
    """Keeps the secrets of one running board: a client with one of them may connect."""

    def __init__(self, port: int, token: str, roster: Roster, host_name: str) -> None:
        self._token = token
        self._passes = Passes(token, port)
        self.roster = roster
        self.host_name = host_name  # who comes by a link that names nobody
        self.visitors = Visitors(token)
        self.port = port
        self._keys: dict[str, str | None] = {}  # of unused links, with the person that each names
        # Cookies belong to a host, whatever the port: each board has its own name.
        self.cookie_name = f"{_COOKIE}_{port}"

    def proof(self, challenge: str) -> str:
        """Proof that this board knows the token."""
        return proof_of(self._token, self.port, challenge)

    def link(self, name: str | None = None) -> str:
        """An address that opens the page, once, for the person of that name."""
        key = secrets.token_urlsafe(24)
        self._keys[key] = name
        return f"http://localhost:{self.port}/open?key={key}"

    async def open(self, key: str) -> Pass | None:
        """The pass for a link with this key; only once."""
        if key not in self._keys:
            return None
        name = self._keys.pop(key)
        found = await self.roster.come(name or self.host_name)
        return Pass(found["id"], found["links"], name is not None)

    def set_cookie(self, response: Response, visitor: Pass) -> None:
        """Admit the recipient of `response` from now on."""
        written = self._passes.written(visitor)
        response.set_cookie(self.cookie_name, written, httponly=True, samesite="strict", path="/")

    def visitor(self, connection: HTTPConnection) -> Pass | None:
        """The pass that it shows, which may have been revoked."""
        return self._passes.read(connection.cookies.get(self.cookie_name, ""))

    def person(self, connection: HTTPConnection) -> Actor | None:
        """Who is at the page; None if it has no cookie, or one that was revoked."""
        return self.roster.actor(self.visitor(connection))

    def knows_page(self, connection: HTTPConnection) -> bool:
        """Whether it has a valid cookie."""
        return self.person(connection) is not None

    def knows_agent(self, connection: HTTPConnection) -> bool:
        """Whether it has the token."""
        return self.visitors.has_token(connection.headers)


def board_app(server: Server[dict[str, Any]], host: BoardHost, door: BoardDoor) -> ASGIApp:
    """The ASGI application of one board."""
    files = PageFiles(data_folder("web") / "board")
    strangers = Strangers()
    how_to_enter = _HOW_TO_ENTER.format(port=door.port)

    async def page(request: Request) -> Response:
        if not door.knows_page(request):
            return PlainTextResponse(how_to_enter, status_code=401)
        return files.page()

    async def enter(request: Request) -> Response:
        visitor = await door.open(request.query_params.get("key", ""))
        if visitor is None:
            if door.knows_page(request):
                return RedirectResponse("/", status_code=303)
            return PlainTextResponse(f"This link has already been used.\n\n{how_to_enter}", status_code=403)
        # Not a redirect: after a click in another program the browser would not send a strict cookie with it.
        response = Response(_ENTERED, media_type="text/html")
        door.set_cookie(response, visitor)
        return response

    async def new_link(request: Request) -> Response:
        return await _new_link(request, door)

    async def become(request: Request) -> Response:
        return await _become(request, host, door)

    async def health(request: Request) -> Response:
        is_known = await door.visitors.knows(request)
        whose = {"board": str(host.workspace.root), "database": host.board.store.shown} if is_known else {}
        if challenge := request.query_params.get("challenge"):
            whose["proof"] = door.proof(challenge)
        return JSONResponse({"status": "ok", **whose, "program": "lsp-mcp"})

    async def introduce(key: str, client: str, agent_token: str | None) -> dict[str, Any]:
        actor: Actor = await host.participants.actor(key, client, agent_token)
        return {"assignedId": actor.id, "agentName": actor.name, "agentToken": host.participants.token(key)}

    async def agent(websocket: WebSocket) -> None:
        in_address = token_in_address(websocket.scope)
        has_header = "authorization" in websocket.headers
        if (has_header and not door.knows_agent(websocket)) or not (
            in_address is None or door.visitors.is_token(in_address)
        ):
            await websocket.close(_FORBIDDEN, "this is not the board's token")
            return
        is_known = has_header or in_address is not None
        if not is_known and "origin" in websocket.headers:
            if not door.knows_page(websocket):
                await websocket.close(_FORBIDDEN, "pages of other addresses may not use this board")
                return
            is_known = True
        user = None if is_known else await user_of(websocket.scope)
        is_known = is_known or user == os.geteuid()
        with ExitStack() as place:
            if not is_known and not place.enter_context(strangers.place(user)):
                await websocket.send_denial_response(PlainTextResponse(_FULL, 429))
                return
            offered = websocket.scope.get("subprotocols") or []
            await websocket.accept(subprotocol="mcp" if "mcp" in offered else None)
            await serve_websocket(
                websocket,
                server,
                introduce,
                host.participants.leave,
                door.visitors.is_token,
                patience=None if is_known else strangers.seconds,
                admitted=place.close,
            )

    hosts = [f"{name}:*" for name in NAMES]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"http://{name}:{door.port}" for name in NAMES],
    )
    routes: list[Any] = [
        WebSocketRoute("/", agent),
        Route("/", page, methods=["GET"]),
        Route("/open", enter, methods=["GET"]),
        Route("/link", new_link, methods=["POST"]),
        Route("/health", health, methods=["GET"]),
        Route("/api/me", become, methods=["POST"]),
        *BoardApi(host, door.person).routes(),
        files.route(),
    ]
    app = mcp_app(server, security, routes)
    return LocalOnly(_Guarded(app, door, Presence(host.participants.away)), NAMES, [door.port])


async def _become(request: Request, host: BoardHost, door: BoardDoor) -> Response:
    """Another name for the person at the page: that of another person, unless their link has named them."""
    visitor, me = door.visitor(request), door.person(request)
    wanted = str((await json_of(request)).get("name", ""))
    if visitor is None or me is None:
        return JSONResponse({"error": "this page is not signed in; open a new link"}, status_code=401)
    try:
        if visitor.is_named:
            await host.board.write(lambda at: people.rename(at, visitor.person, wanted), me)
            await door.roster.load()
            return JSONResponse({"id": visitor.person, "name": wanted})
        found = await door.roster.come(wanted)
    except CallerError as error:
        return JSONResponse({"error": str(error)}, status_code=400)
    response = JSONResponse({"id": found["id"], "name": found["name"]})
    door.set_cookie(response, Pass(found["id"], found["links"], is_named=False))
    return response


async def _new_link(request: Request, door: BoardDoor) -> Response:
    if not door.knows_agent(request):
        return PlainTextResponse("send the token\n", status_code=401)
    name = str((await json_of(request)).get("as") or "") or None
    if name is not None:
        try:
            await door.roster.come(name)
        except CallerError as error:
            return PlainTextResponse(str(error), status_code=400)
    return JSONResponse({"link": door.link(name)})


_ENTERED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Opening the board</title>
<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open the board</a></p></html>"""


class _Guarded:
    """Rejects requests to `/api` that are not from the page, to `/mcp` without a token, and changes from
    other pages.
    """

    def __init__(self, inner: ASGIApp, door: BoardDoor, presence: Presence) -> None:
        self._inner = inner
        self._door = door
        self._presence = presence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        request = Request(scope)
        if refusal := self._refusal(request):
            await refusal(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with self._presence.during(request):
            await self._inner(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        path = request.url.path
        origin = request.headers.get("origin")
        if path.startswith("/mcp") and not self._door.knows_agent(request):
            return no_token()
        if path.startswith("/api"):
            if not self._door.knows_page(request):
                return JSONResponse({"error": "this page is not signed in; open a new link"}, status_code=401)
            if request.method not in _SAFE and origin is None:
                return JSONResponse({"error": "changes come from the board's own page"}, status_code=403)
        return None
