"""MCP over HTTP on 127.0.0.1: Streamable HTTP at `/mcp`, the older SSE at `/sse`, and `/health`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_mcp.errors import ConfigError
from lsp_mcp.server.admission import LocalOnly, TellingProtocol, Visitors
from lsp_mcp.server.stdio import end
from lsp_mcp.server.websocket import MOST_FRAME
from lsp_mcp.sessions.running import Running

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_OPEN = ("/health",)  # served without a token
_RESUMES = "last-event-id"  # a header
_MOST_FRAME = 16 * MOST_FRAME  # a message that is slightly too long still gets an answer; this limit protects memory
# Loggers of the SDK (2.3), which reports a client that leaves during its request as an error of the server.
_HEARING_DISCONNECTS = ("mcp.server.streamable_http", "mcp.server.streamable_http_manager", "mcp.server.sse")
_LEAVING = (ClientDisconnect, anyio.ClosedResourceError, anyio.BrokenResourceError)
_GRACE = 1  # seconds for answers under way when it ends


def listen(port: int, host: str = HOST) -> socket.socket:
    """A socket on `host`; with `port` 0, on a port that the system chooses.

    Raises:
        ConfigError: the address is not available.
    """
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen on {host}:{port}: {error}; pass --port 0 for a free port") from None


async def serve_app(
    application: ASGIApp,
    running: Running | None,
    listening: Sequence[socket.socket],
    over: asyncio.Future[Any] | None = None,
    *,
    websockets: bool = False,
    most_connections: int | None = None,
) -> None:
    """Serve until a signal arrives or `over` completes; then end `running`, if it belongs to this process.

    Does not return: a client's open stream must not keep the process alive.
    """
    for name in _HEARING_DISCONNECTS:
        logging.getLogger(name).addFilter(_is_news)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    http = _Uvicorn(
        uvicorn.Config(
            application,
            http=TellingProtocol,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_GRACE,
            ws="websockets-sansio" if websockets else "none",
            ws_max_size=_MOST_FRAME,
            limit_concurrency=most_connections,
        )
    )
    serving = asyncio.create_task(http.serve(sockets=list(listening)))
    waits = [serving, asyncio.create_task(stop.wait()), *([over] if over else [])]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    status = 1 if serving.done() else 0
    # It reports that it cancels running requests, which is expected.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    http.should_exit = True
    await asyncio.wait([serving], timeout=_GRACE + 1)
    if running:
        await end(running)
    os._exit(status)


def say_port(listening: socket.socket) -> None:
    """Notify the program that started us (docs/contracts/lua.md). Answers follow once the rest is up."""
    print(f"MCP server listening on port {listening.getsockname()[1]}", flush=True)


def app(server: Server[dict[str, Any]], token: str, health: dict[str, Any]) -> ASGIApp:
    """The ASGI application: it serves programs on this machine only, and requires `token`."""
    visitors = Visitors(token)
    hosts = [f"{name}:*" for name in _NAMES]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"http://{host}" for host in hosts],
    )
    sse = SseServerTransport("/messages/", security_settings=security)

    async def listen_sse(request: Request) -> Response:
        if refusal := await TransportSecurityMiddleware(security).validate_request(request):
            return refusal  # the SDK (2.3) answers too, and then raises
        async with sse.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return Response()

    async def tell_health(request: Request) -> Response:
        return JSONResponse({"status": "ok", **(health if await visitors.knows(request) else {})})

    routes: list[Any] = [
        Route("/health", tell_health, methods=["GET"]),
        Route("/sse", listen_sse, methods=["GET"]),
        Mount("/messages/", app=sse.handle_post_message),
    ]
    return LocalOnly(_Authorized(mcp_app(server, security, routes), visitors), _NAMES)


def mcp_app(server: Server[dict[str, Any]], security: TransportSecuritySettings, routes: list[Any]) -> ASGIApp:
    """Streamable HTTP at `/mcp`, next to `routes`."""
    return _NotResuming(server.streamable_http_app(transport_security=security, custom_starlette_routes=routes))


def no_token() -> Response:
    """The response to a request without the token."""
    return PlainTextResponse(
        "send the header `Authorization: Bearer TOKEN`; `lsp-mcp token` prints it, unless LSP_MCP_TOKEN chose one\n",
        status_code=401,
        headers={"WWW-Authenticate": "Bearer"},
    )


def _is_news(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    others = error.split(_LEAVING)[1] if isinstance(error, BaseExceptionGroup) else error
    if error is None or (others and not isinstance(others, _LEAVING)):
        return True
    log.debug("a client left during its request")
    return False


class _Authorized:
    """Admits requests with `Authorization: Bearer TOKEN`."""

    def __init__(self, inner: ASGIApp, visitors: Visitors) -> None:
        self._inner = inner
        self._visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = scope["type"] != "http" or scope["path"] in _OPEN
        if is_open or self._visitors.has_token(HTTPConnection(scope).headers):
            await self._inner(scope, receive, send)
        else:
            await no_token()(scope, receive, send)


class _NotResuming:
    """Refuses to resume a stream, since events are not kept; the SDK (2.3) does not respond then."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _RESUMES not in Headers(scope=scope):
            await self._inner(scope, receive, send)
            return
        is_answered = False

        async def noting(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        await self._inner(scope, receive, noting)
        if not is_answered:
            why = "a stream cannot be resumed here; for a new one send GET without Last-Event-ID\n"
            await PlainTextResponse(why, 405, {"Allow": "POST, DELETE"})(scope, receive, send)


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
