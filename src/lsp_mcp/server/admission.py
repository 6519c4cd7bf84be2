"""Who may connect: `LocalOnly` judges the names in a request, `Visitors` its user or token, `Strangers` waits for it.

One policy for each TCP transport: the same user, if the system tells, or the token. Root is another user: it can read
the token, but requests that it forwards for others, as a proxy does, come as root as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

import h11
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from lsp_mcp.tcp_table import Connection

IN_INITIALIZE = "lsp-mcp/token"
"""The key in `_meta` of the parameters of `initialize` that may hold a token."""
HOW_TO_SEND = (
    "send the token that `lsp-mcp token` prints: as the header `Authorization: Bearer TOKEN`, in the address as "
    f'?token=TOKEN, or in the parameters of initialize as "_meta": {{"{IN_INITIALIZE}": TOKEN}}'
)
_CONNECTION, _IN_ADDRESS = "lsp_mcp_connection", "lsp_mcp_token"  # keys of a scope's state
_WHOLE_REQUEST = 20.0  # seconds for a complete request to arrive
_MOST_STRANGERS = 16  # of one user at a time
_FIRST_WORD = 10.0  # seconds for a stranger to show the token
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?")


class TellingProtocol(H11Protocol):
    """Records for `Visitors` the connection of a request, and ends one whose request does not complete.

    uvicorn (0.54) itself passes on only addresses, and waits for the rest of a request for ever.
    """

    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        self.app_state = {**self.app_state, _CONNECTION: Connection.from_socket(transport.get_extra_info("socket"))}
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._stop_expecting()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """Wait for the rest of a request from its beginning, or stop waiting if it is complete."""
        is_upgraded = self.transport.get_protocol() is not self  # a WebSocket, whose end h11 never sees
        if is_upgraded or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_expecting()
        elif self._overdue is None:
            self._overdue = self.loop.call_later(_WHOLE_REQUEST, self._give_up)

    def _stop_expecting(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _give_up(self) -> None:
        begun, _ = self.conn.trailing_data
        if begun and self.conn.our_state is h11.IDLE:
            self.transport.write(_TOO_SLOW)
        self.transport.close()


class Visitors:
    """Recognises who may connect without further proof."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    def has_token(self, headers: Headers) -> bool:
        """Whether a request has `Authorization: Bearer TOKEN`."""
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.is_token(sent.strip())

    def is_token(self, sent: object) -> bool:
        """Whether this is the token."""
        return isinstance(sent, str) and hmac.compare_digest(sent.encode("utf-8", "replace"), self._token)

    async def knows(self, request: HTTPConnection) -> bool:
        """Whether it has the token or comes from the same user."""
        return self.has_token(request.headers) or await user_of(request.scope) == os.geteuid()


class Strangers:
    """Places for clients that have yet to show the token: `most` for each user, each for `seconds`."""

    def __init__(self, most: int = _MOST_STRANGERS, seconds: float = _FIRST_WORD) -> None:
        self.seconds = seconds
        self._most = most
        self._taken: Counter[int | None] = Counter()

    @contextlib.contextmanager
    def place(self, user: int | None) -> Iterator[bool]:
        """Take a place, which is free again at the end; False if all of that `user` are taken."""
        if self._taken[user] >= self._most:
            yield False
            return
        self._taken[user] += 1
        try:
            yield True
        finally:
            self._taken[user] -= 1
            self._taken += Counter()  # forgets users who have none


async def user_of(scope: Scope) -> int | None:
    """The id of the user whose program sent it; None if unknown."""
    connection = scope.get("state", {}).get(_CONNECTION)
    return await asyncio.to_thread(connection.peer_uid) if isinstance(connection, Connection) else None


def token_in_address(scope: Scope) -> str | None:
    """The token in a WebSocket's address, as in `ws://localhost:21700/?token=TOKEN`."""
    found: str | None = scope.get("state", {}).get(_IN_ADDRESS)
    return found


def _take_token(scope: Scope) -> None:
    """Remove the token from a WebSocket's address: uvicorn (0.54) logs it."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    sent = [value for name, value in pairs if name == "token"]
    if sent:
        scope["query_string"] = urlencode([pair for pair in pairs if pair[0] != "token"]).encode("ascii")
        scope.setdefault("state", {})[_IN_ADDRESS] = sent[-1]


class LocalOnly:
    """Admits requests that name this machine: always as Host, and as Origin if there is one.

    A web page elsewhere may make a browser send a request here (DNS rebinding, cross-site requests); it cannot choose
    these two headers. `ports`: the only ports allowed in an Origin; None: any.
    """

    def __init__(self, inner: ASGIApp, names: Collection[str], ports: Collection[int] | None = None) -> None:
        self._inner = inner
        self._names = names
        self._ports = ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "websocket":
            _take_token(scope)
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            refusal = None
            if not self._is_here(headers.getlist("host"), None):
                refusal = PlainTextResponse("Invalid host header: this server is for its own machine\n", 400)
            elif headers.getlist("origin") and not self._is_own_page(headers.getlist("origin")):
                refusal = PlainTextResponse("pages of other addresses may not use this server\n", 403)
            if refusal:
                await refusal(scope, receive, send)
                return
        await self._inner(scope, receive, send)

    def _is_own_page(self, origins: list[str]) -> bool:
        # RFC 6454: a scheme, a host and optionally a port, nothing else.
        return origins[0].startswith("http://") and self._is_here(
            [one.removeprefix("http://") for one in origins], self._ports
        )

    def _is_here(self, authorities: list[str], ports: Collection[int] | None) -> bool:
        match = _AUTHORITY.fullmatch(authorities[0]) if len(authorities) == 1 else None
        if not match or match["host"].lower() not in self._names:
            return False
        port = int(match["port"] or 80)
        return 0 < port < 2**16 and (ports is None or port in ports)
