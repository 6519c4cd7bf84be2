"""Answers to plain messages of clients without the MCP SDK: `PlainMessages`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from lsp_mcp import __version__
from lsp_mcp.server.envelope import Json
from lsp_mcp.server.offer import Offer
from lsp_mcp.server.tool_calls import UnknownToolError
from lsp_mcp.toolsets.tool import Client

# Protocol versions in which all messages handled here are the same.
VERSIONS = ("2025-06-18", "2025-11-25")
CANCELLED = b'"notifications/cancelled"'
# In a session that has begun: a call that has ended by now, and roots, which are not used here.
_WITHOUT_EFFECT = ("notifications/cancelled", "notifications/roots/list_changed")
INTRODUCTION = "lsp-mcp: introduction"  # the id under which the SDK gets it
_INVALID_PARAMS = -32602
_CLOSED = -32000
_RESERVED = "io.modelcontextprotocol/"  # names in `_meta` of newer versions
_MOST_NESTED = 100  # brackets in a message handled here
_UNUSUAL = (b"\\ud", b"\\uD", b"NaN", b"Infinity")  # text that may be invalid Unicode, and numbers that are not JSON

Send = Callable[[Json], Awaitable[None]]


class PlainMessages:
    """Answers `initialize`, `ping`, the lists and `tools/call` of plain sessions, exactly as the SDK does.

    Importing the SDK takes longer than most servers take to load, and 30 MiB. Unusual messages are left to it.
    """

    def __init__(self, offer: Offer, send: Send, tasks: asyncio.TaskGroup) -> None:
        """Calls run in `tasks`; a failing `send` ends them."""
        self._offer = offer
        self._send = send
        self._tasks = tasks
        self._client: Client | None = None  # once it has introduced itself
        self._initialize: Json = {}
        self._is_initialized = False
        self._running: dict[int | str, asyncio.Task[None]] = {}
        self._cancelled: set[int | str] = set()

    async def take(self, line: bytes) -> bool:
        """Handle a message; False if that is left to the SDK."""
        message = _plain(line)
        if message is None:
            return False
        method, params = message["method"], message.get("params", {})
        if "id" not in message:
            return self._noted(method, params) or (self._client is not None and method in _WITHOUT_EFFECT)
        if message["id"] in self._running:
            return False
        if method == "initialize":
            return await self._introduced(message, params)
        if self._client is None:
            return False
        if method == "ping" and not params:
            await self._answer(message["id"], {})
        elif not params and (listed := self._list(method)):
            await self._answer(message["id"], listed)
        elif method == "tools/call" and _is_call(params):
            call = self._call(message["id"], params, self._client)
            self._running[message["id"]] = self._tasks.create_task(call)
        else:
            return False
        return True

    def cancelled(self, line: bytes) -> bool:
        """End the call that this message cancels; False if it is not our call, or not a cancellation."""
        message = _plain(line)
        return bool(message and "id" not in message and self._noted(message["method"], message.get("params", {})))

    @property
    def introduction(self) -> list[Json]:
        """The messages to replay to the SDK: the client's introduction, without parts that have no meaning here."""
        if self._client is None:
            return []
        params = {name: self._initialize[name] for name in ("protocolVersion", "clientInfo")} | {"capabilities": {}}
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        first = {"jsonrpc": "2.0", "id": INTRODUCTION, "method": "initialize", "params": params}
        return [first, done] if self._is_initialized else [first]

    def end(self) -> None:
        """The client is gone: end its calls."""
        for task in self._running.values():
            task.cancel()

    # --- inside ------------------------------------------------------------------------------------

    def _list(self, method: str) -> Json | None:
        offer = self._offer
        match method:
            case "tools/list":
                return {"tools": offer.calls.listed()}
            case "prompts/list":
                return offer.prompts.listed() if offer.prompts else None
            case "resources/list":
                return offer.diagnostics.listed() if offer.diagnostics else None
            case "resources/templates/list":
                return offer.diagnostics.templates_listed() if offer.diagnostics else None
        return None

    def _capabilities(self) -> Json:
        offer = self._offer
        return {
            **({"completions": {}, "prompts": {"listChanged": False}} if offer.prompts else {}),
            **({"resources": {"listChanged": False, "subscribe": False}} if offer.diagnostics else {}),
            "tools": {"listChanged": False},
        }

    def _noted(self, method: str, params: Json) -> bool:
        if method == "notifications/initialized" and self._client and not params:
            self._is_initialized = True
            return True
        id_ = params.get("requestId")
        if method != "notifications/cancelled" or not isinstance(id_, int | str) or id_ not in self._running:
            return False
        self._cancelled.add(id_)
        self._running[id_].cancel()
        return True

    async def _introduced(self, message: Json, params: Json) -> bool:
        who = params.get("clientInfo")
        if (
            self._client
            or params.get("protocolVersion") not in VERSIONS
            or not isinstance(params.get("capabilities"), dict)
            or not isinstance(who, dict)
            or not all(isinstance(who.get(name), str) for name in ("name", "version"))
        ):
            return False
        self._client = Client(who["name"], "stdio")
        self._initialize = {**params, "clientInfo": {name: who[name] for name in ("name", "version")}}
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": self._capabilities(),
            "serverInfo": {"name": "lsp-mcp", "title": "lsp-mcp", "version": __version__},
            "instructions": self._offer.instructions,
        }
        await self._answer(message["id"], result)
        return True

    async def _call(self, id_: int | str, params: Json, client: Client) -> None:
        token = params.get("_meta", {}).get("progressToken")

        async def report(done: float, total: float | None, message: str) -> None:
            if token is None:
                return
            progress = {"progressToken": token, "progress": done, "message": message}
            if total is not None:
                progress["total"] = total
            await self._send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})

        response: Json = {"jsonrpc": "2.0", "id": id_}
        try:
            response["result"] = await self._offer.calls.call(
                params["name"], params.get("arguments", {}), client, report
            )
        except UnknownToolError as error:
            response["error"] = {"code": _INVALID_PARAMS, "message": str(error)}
        except asyncio.CancelledError:
            if id_ in self._cancelled:
                raise
            response["error"] = {"code": _CLOSED, "message": "Connection closed"}
        finally:
            # Not cancellable from here: half a message would end the whole connection.
            del self._running[id_]
            self._cancelled.discard(id_)
        await self._send(response)

    async def _answer(self, id_: int | str, result: Json) -> None:
        await self._send({"jsonrpc": "2.0", "id": id_, "result": result})


def _plain(line: bytes) -> Json | None:
    """The request or notification in `line`; None if it is anything else or contains anything unusual."""
    if any(part in line for part in _UNUSUAL) or line.count(b"{") + line.count(b"[") > _MOST_NESTED:
        return None
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.keys() - {"jsonrpc", "id", "method", "params"}:
        return None
    is_message = found.get("jsonrpc") == "2.0" and isinstance(found.get("method"), str)
    has_id = "id" not in found or type(found["id"]) in (int, str)
    return found if is_message and has_id and isinstance(found.get("params", {}), dict) else None


def _is_call(params: Json) -> bool:
    meta: Any = params.get("_meta", {})
    return (
        params.keys() <= {"name", "arguments", "_meta"}
        and isinstance(params.get("name"), str)
        and isinstance(params.get("arguments", {}), dict)
        and isinstance(meta, dict)
        and not any(name.startswith(_RESERVED) for name in meta)
        and type(meta.get("progressToken", 0)) in (int, str)
    )
