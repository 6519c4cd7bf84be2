"""One server for a team: `--backend index` on HTTP, for everybody who has a token in the index store. Read only.

No session is kept: each request is answered by itself, so a restart, a second server or a load balancer in between
costs a client nothing.
"""

from __future__ import annotations

import logging
import socket

from mcp.server.transport_security import TransportSecuritySettings
from msgspec.structs import replace
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lsp_mcp.errors import UnavailableError
from lsp_mcp.index.store import IndexStore
from lsp_mcp.server import http
from lsp_mcp.server.json_log import told
from lsp_mcp.server.mcp_server import mcp_server
from lsp_mcp.server.offer import Served, offer_of
from lsp_mcp.server.team_door import Guarded, TeamDoor
from lsp_mcp.server.team_metrics import TeamMetrics

log = logging.getLogger(__name__)

_MOST_CONNECTIONS = 2_000  # beyond them, 503


async def serve_team(served: Served, store: IndexStore, listening: socket.socket, most_requests: int) -> None:
    """Serve until a signal comes; `most_requests` of each person in a minute. Does not return."""
    door = TeamDoor(store, most_requests)
    metrics = TeamMetrics(door.indexes)
    # Nothing of this machine is served: no folder is watched, and no completions or diagnostics are offered.
    running = replace(served.running, usage=metrics)
    offer = offer_of(replace(served, running=running), root=store.shown)
    server = mcp_server(offer.calls, offer.instructions)

    async def health(_: Request) -> Response:
        try:
            indexes = await door.indexes()
        except (UnavailableError, TimeoutError):
            return JSONResponse({"status": "unavailable", "reason": "the index store does not answer"}, 503)
        return JSONResponse({"status": "ok", "repositories": len(indexes)})

    async def tell_metrics(_: Request) -> Response:
        return Response(await metrics.text(), media_type=CONTENT_TYPE_LATEST)

    application: ASGIApp = server.streamable_http_app(
        stateless_http=True,
        # Whatever the name of this server is: what DNS rebinding reaches has no token, and `Guarded` refuses pages.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=[
            Route("/health", health, methods=["GET"]),
            Route("/metrics", tell_metrics, methods=["GET"]),
        ],
    )
    http.say_port(listening)
    log.info("serving", extra=told(store=store.shown, port=listening.getsockname()[1]))
    await http.serve_app(
        Guarded(application, door, metrics.responded), running, [listening], most_connections=_MOST_CONNECTIONS
    )
