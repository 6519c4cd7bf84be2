"""The caller of a tool: the connection of a request, and the name of the program at its other end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from lsp_mcp.toolsets.tool import Client

Left = Callable[[str], Awaitable[None]]

_UNKNOWN = "agent"
_SESSION = "mcp-session-id"  # a header of Streamable HTTP


def session_key(request: Any) -> str | None:
    """The key of the client whose session a request of Streamable HTTP names."""
    session = request.headers.get(_SESSION)
    return f"session {session}" if session else None


def caller(context: ServerRequestContext[Any, Any], left: Left | None) -> Client:
    """The client of a request; `left` is awaited with its key when its connection ends.

    Stdio has one client. HTTP of the newer protocol era has no connections, so all clients with one name count as one.
    """
    params = context.session.client_params
    name = params.client_info.name if params else _UNKNOWN
    if key := getattr(getattr(context.request, "state", None), "caller", None):
        return Client(name, key)  # a WebSocket
    if context.request is None:
        return Client(name, "stdio")
    if context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return Client(name, f"http {name}")
    # The SDK (2.3) has no public name for it.
    connection = getattr(context.session, "_connection", None)
    key = session_key(context.request) or f"{name} {id(connection)}"
    known = getattr(connection, "state", None)
    if left and connection is not None and isinstance(known, dict) and key not in known:
        known[key] = True
        connection.exit_stack.push_async_callback(left, key)
    return Client(name, key)
