"""How a question is asked so that its answer holds: `settled`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from lsp_mcp.backend import Backend
from lsp_mcp.errors import CallerError, RefusedError

Answer = TypeVar("Answer")
_TRIES = 4  # a workspace that changes during each of them is being generated or checked out right now
# LSP 3.17, `LSPErrorCodes`: the server itself says that it should be asked again.
_CONTENT_MODIFIED, _SERVER_CANCELLED = -32801, -32802


async def settled(backend: Backend, ask: Callable[[], Awaitable[Answer]]) -> tuple[Answer, list[str]]:
    """The answer of `ask`, asked again while files change under it; and a note if they never stopped.

    Everything that `ask` reads, the server's answer and the texts around it, is then of one state of the disk.
    So is an error that it raises.
    """
    before = await backend.sync()
    for last in (*[False] * (_TRIES - 1), True):
        failed: CallerError | RefusedError | None = None
        try:
            answer = await ask()
        except (CallerError, RefusedError) as error:
            if last:
                raise
            failed = error
        after = await backend.sync()
        if after == before:
            if failed is None:
                return answer, []
            if not (isinstance(failed, RefusedError) and failed.code in (_CONTENT_MODIFIED, _SERVER_CANCELLED)):
                raise failed
        before = after
    return answer, ["files kept changing while this was asked; ask again when they have settled"]
