"""textDocument/hover: the server's description of a place (LSP 3.17)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.text import WithheldText

_AT_ONCE = 8  # requests in flight; more would only queue in the server


async def hovers(backend: Backend, places: Sequence[Place]) -> list[str]:
    """The hover text of each place, empty where the server has none."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(place: Place) -> str:
        async with room:
            return await hover(backend, place)

    return await asyncio.gather(*map(one, places))


async def hover(backend: Backend, place: Place) -> str:
    """The hover text of `place`, Markdown or plain; empty if there is none."""
    if isinstance(place.text, WithheldText):
        return ""  # it would quote the declaration
    params = position_params(place.path, place.text, place.span.start, backend.encoding)
    try:
        await backend.documents.open(place.path)  # some servers know only open documents
        result = await backend.request("textDocument/hover", params)
    except (RefusedError, PathError):
        return ""  # no hover here: not a failed question
    return _text(result["contents"]).strip() if result else ""


def _text(contents: Any) -> str:
    """`MarkupContent`, `MarkedString` or a list of them as one text."""
    if isinstance(contents, list):
        return "\n\n".join(filter(None, map(_text, contents)))
    if isinstance(contents, dict):
        value = str(contents.get("value", ""))
        language = contents.get("language")
        return f"```{language}\n{value}\n```" if language else value
    return str(contents or "")
