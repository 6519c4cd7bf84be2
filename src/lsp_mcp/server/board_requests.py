"""Reading requests from the board's page."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from lsp_mcp.errors import CallerError

_MOST_BODY = 1_000_000  # bytes

Handler = Callable[[Request], Awaitable[Any]]


class Body(BaseModel):
    """Data from a page; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


async def json_of(request: Request) -> Any:
    """The JSON that a page sends.

    Raises:
        CallerError: it is not JSON, or too large.
    """
    if int(request.headers.get("content-length") or 0) > _MOST_BODY:
        raise CallerError(f"a request can have at most {_MOST_BODY:,} bytes.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BODY:
            raise CallerError(f"a request can have at most {_MOST_BODY:,} bytes.")
    try:
        return json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise CallerError(f"this is not JSON: {error}") from None
