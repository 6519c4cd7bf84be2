"""How a question is asked so that its answer holds: `settled`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from lsp_mcp.backend import Backend

Answer = TypeVar("Answer")
_TRIES = 4  # a workspace that changes during each of them is being generated or checked out right now


async def settled(backend: Backend, ask: Callable[[], Awaitable[Answer]]) -> tuple[Answer, list[str]]:
    """The answer of `ask`, asked again while files change under it; and a note if they never stopped.

    Everything that `ask` reads, the server's answer and the texts around it, is then of one state of the disk.
    """
    before = await backend.sync()
    for _ in range(_TRIES):
        answer = await ask()
        after = await backend.sync()
        if after == before:
            return answer, []
        before = after
    return answer, ["files kept changing while this was asked; ask again when they have settled"]
