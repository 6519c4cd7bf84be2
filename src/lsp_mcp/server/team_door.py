"""Who may ask a team's server, and how often: `TeamDoor`."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_mcp.errors import UnavailableError
from lsp_mcp.index import tokens
from lsp_mcp.index.store import IndexStore, Pushed, listed
from lsp_mcp.secret_tokens import token_hash
from lsp_mcp.server.json_log import told

log = logging.getLogger(__name__)
Result = TypeVar("Result")

_OPEN = "/health"  # served without a token
_MCP = "/mcp"
_PATIENCE = 10.0  # seconds for the store to say whose token it is
_HEALTH = 3.0  # seconds for it to say that it is there
_STRANGE = RateLimitItemPerMinute(60)  # requests without a valid token, from one address
_MOST_KNOWN = 10_000  # tokens that were valid lately
_BEARER = {"WWW-Authenticate": "Bearer"}
_UNKNOWN = (
    "send the header `Authorization: Bearer TOKEN`, with a token that the operator of this server made for you: "
    "lsp-mcp token add NAME\n"
)


class TeamDoor:
    """The tokens of an index store, and the number of requests that each person may make in a minute.

    Each request asks the store whose token it has, so one that was revoked is refused at once.
    """

    def __init__(self, store: IndexStore, most: int) -> None:
        self._store = store
        self._most = RateLimitItemPerMinute(most)
        self._limits = FixedWindowRateLimiter(MemoryStorage())
        self._valid: OrderedDict[str, None] = OrderedDict()  # hashes
        self._looking: asyncio.Task[list[Pushed]] | None = None

    async def admit(self, scope: Scope) -> str | Response:
        """The name of the sender of a request, or the refusal."""
        headers = Headers(scope=scope)
        address = scope["client"][0] if scope.get("client") else "unknown"
        try:
            name = await self._holder(headers, address)
        except (UnavailableError, TimeoutError):
            log.error("refused", extra=told(reason="the store does not answer", address=address))
            return PlainTextResponse("the index store does not answer; try again later\n", 503, {"Retry-After": "10"})
        if name is None:
            if not await self._limits.hit(_STRANGE, "address", address):
                return await self._too_many(_STRANGE, "address", address)
            log.warning("refused", extra=told(reason="no valid token", address=address))
            return PlainTextResponse(_UNKNOWN, 401, _BEARER)
        if not await self._limits.hit(self._most, "person", name):
            return await self._too_many(self._most, "person", name)
        return name

    async def indexes(self) -> list[Pushed]:
        """The newest index of each repository. Those who ask at the same time share one look.

        Raises:
            TimeoutError, UnavailableError: the store does not answer.
        """
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> list[Pushed]:
        return await self._asked(lambda at: listed(at, only_newest=True), _HEALTH)

    async def _holder(self, headers: Headers, address: str) -> str | None:
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not sent.strip():
            return None
        kept = token_hash(sent.strip())
        # Tokens cannot be guessed; this keeps those who try away from the store. Others may share their address.
        if kept not in self._valid and not await self._limits.test(_STRANGE, "address", address):
            return None
        name = await self._asked(lambda at: tokens.holder(at, sent.strip()), _PATIENCE)
        self._valid.pop(kept, None)
        if name is not None:
            self._valid[kept] = None
            if len(self._valid) > _MOST_KNOWN:
                self._valid.popitem(last=False)
        return name

    async def _asked(self, question: Callable[[Any], Result], seconds: float) -> Result:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(self._store.read, question)

    async def _too_many(self, limit: RateLimitItemPerMinute, kind: str, who: str) -> Response:
        until = (await self._limits.get_window_stats(limit, kind, who)).reset_time
        wait = max(1, round(until - time.time()))
        log.warning("refused", extra=told(reason="too many requests", **{kind: who}))
        text = f"more than {limit.amount:,} requests in a minute; try again in {wait} s\n"
        return PlainTextResponse(text, 429, {"Retry-After": str(wait)})


class Guarded:
    """Lets the requests through that `door` admits; `counted` gets the status of each response."""

    def __init__(self, inner: ASGIApp, door: TeamDoor, counted: Callable[[int], None]) -> None:
        self._inner = inner
        self._door = door
        self._counted = counted
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counted(message["status"])
            await send(message)

        if scope["path"] != _OPEN:
            admitted = _unsuitable(scope) or await self._door.admit(scope)
            if isinstance(admitted, Response):
                await admitted(scope, receive, counting)
                return
            # Nothing is remembered of a client between its requests: each is one of another caller. See `callers`.
            scope["state"] = {**scope.get("state", {}), "caller": f"{admitted}/{next(self._numbers)}"}
        await self._inner(scope, receive, counting)


def person(caller: str) -> str:
    """Whose request that caller's is."""
    return caller.rpartition("/")[0]


def _unsuitable(scope: Scope) -> Response | None:
    """The refusal of a request that nobody may send."""
    if "origin" in Headers(scope=scope):
        return PlainTextResponse("web pages may not use this server\n", 403)
    if scope["path"] == _MCP and scope["method"] != "POST":
        why = "no session is kept here, and nothing is sent outside answers: only POST is served\n"
        return PlainTextResponse(why, 405, {"Allow": "POST"})
    return None
