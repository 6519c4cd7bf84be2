"""HTTP as a door of the daemon that sessions share: `serve_shared`."""

from __future__ import annotations

import socket
from collections import OrderedDict
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolResult,
    CompleteResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceResult,
)
from pydantic import BaseModel

from lsp_mcp import __version__
from lsp_mcp.door.request import DaemonRequest
from lsp_mcp.errors import ConfigError
from lsp_mcp.server import http
from lsp_mcp.server.callers import caller
from lsp_mcp.server.daemon_client import DaemonClient, Json

_MOST_NAMES = 20  # clients without sessions, known by name only
_WITHOUT_SESSION = "http "  # prefix of their keys


async def serve_shared(request: DaemonRequest, listening: socket.socket, token: str) -> None:
    """Serve the daemon named by `request` on HTTP, for clients with `token`. Does not return.

    Raises:
        ConfigError: the daemon reports that its flags cannot be used.
    """
    first = DaemonClient(request, "lsp-mcp", __version__)
    try:
        introduced = await first.introduced()
    except MCPError as error:
        raise ConfigError(error.message) from None
    finally:
        first.close()
    server = _Forwarded(request).server(introduced)
    http.say_port(listening)
    await http.serve_app(http.app(server, token, {"root": request.root}), None, [listening])


class _Forwarded:
    """Each HTTP session has its own session in the daemon, with its own anchors and news.

    A client of the newer protocol has no session; it shares one with those of the same name, see `caller`.
    """

    def __init__(self, request: DaemonRequest) -> None:
        self._request = request
        self._clients: OrderedDict[str, DaemonClient] = OrderedDict()

    def server(self, introduced: Json) -> Server[dict[str, Any]]:
        """The server for clients; `introduced` is the daemon's introduction."""
        to, offered = self._to, introduced["capabilities"]
        has_resources, has_prompts = "resources" in offered, "prompts" in offered
        return Server(
            "lsp-mcp",
            version=__version__,
            title="lsp-mcp",
            instructions=introduced["instructions"],
            on_list_tools=to("tools/list", ListToolsResult),
            on_call_tool=to("tools/call", CallToolResult),
            on_list_resources=to("resources/list", ListResourcesResult) if has_resources else None,
            on_list_resource_templates=to("resources/templates/list", ListResourceTemplatesResult)
            if has_resources
            else None,
            on_read_resource=to("resources/read", ReadResourceResult) if has_resources else None,
            on_list_prompts=to("prompts/list", ListPromptsResult) if has_prompts else None,
            on_get_prompt=to("prompts/get", GetPromptResult) if has_prompts else None,
            on_completion=to("completion/complete", CompleteResult) if "completions" in offered else None,
        )

    def _to(self, method: str, kind: type[BaseModel]) -> Any:
        """A handler that forwards requests called `method`; its results are of that `kind`."""

        async def forward(context: ServerRequestContext, params: BaseModel | None) -> BaseModel:
            # `_meta` is between the client and this process.
            given = (
                params.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"meta"}) if params else {}
            )
            client = self._client(context)
            return kind.model_validate(await client.request(method, given, context.session.report_progress))

        return forward

    def _client(self, context: ServerRequestContext) -> DaemonClient:
        who = caller(context, self._left)
        client = self._clients.pop(who.key, None)
        if client is None:
            params = context.session.client_params
            client = DaemonClient(self._request, who.name, params.client_info.version if params else "")
        self._clients[who.key] = client
        nameless = [key for key in self._clients if key.startswith(_WITHOUT_SESSION)]
        for key in nameless[:-_MOST_NAMES]:
            self._clients.pop(key).close()
        return client

    async def _left(self, key: str) -> None:
        if client := self._clients.pop(key, None):
            client.close()
