"""Ask a question so that its answer is consistent with one state of the workspace: `answer`, and `settled` below it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from lsp_mcp.backend import Backend, Report, Scope
from lsp_mcp.errors import CallerError, OutdatedEditError, RefusedError
from lsp_mcp.features.refusals import gaps_of, noting, without_told
from lsp_mcp.gaps import Gap

Value = TypeVar("Value")
_TRIES = 4  # a workspace that changes during each of them is being generated or checked out right now
_CHANGING = Gap("changing", "files kept changing while this was asked; ask again when they have settled")


class Answered(Struct, Generic[Value], frozen=True):
    """An answer and its gaps, both for one state of the workspace."""

    value: Value
    gaps: tuple[Gap, ...] = ()


async def answer(
    backend: Backend,
    ask: Callable[[], Awaitable[Value]],
    scope: Callable[[Value], Scope],
    *,
    report: Report | None,
    text_only: bool = False,
    to_check: bool = False,
) -> Answered[Value]:
    """The answer of `ask` and what it may lack, given the `scope` of what it depends on.

    With `report`, which is told of progress, the backend is waited for until it is ready. `text_only` and
    `to_check`: see `Backend.sync`.

    Raises:
        UnavailableError: the backend is missing, or dies while it starts.
        LspMcpError: what `ask` raises.
    """
    if report:
        await backend.ready(report)
    return await settled(backend, ask, lambda value: backend.gaps(scope(value)), text_only=text_only, to_check=to_check)


async def settled(
    backend: Backend,
    ask: Callable[[], Awaitable[Value]],
    gaps: Callable[[Value], Awaitable[Sequence[Gap]]] | None = None,
    *,
    text_only: bool = False,
    to_check: bool = False,
) -> Answered[Value]:
    """The answer of `ask` and its `gaps`, asked again while files change under them; with a gap if they never stop.

    It is asked again, too, if the server made an edit of a text of which it was told another version since, as a server
    that was started again is.

    Everything that `ask` and `gaps` read, the server's answer and the texts around it, is then of one state of the
    disk. So is an error that they raise. A file that the server refused to answer about on the way is a gap, too.
    """
    sync = partial(backend.sync, text_only=text_only, to_check=to_check)
    before = await sync()
    for last in (*[False] * (_TRIES - 1), True):
        failed: CallerError | RefusedError | OutdatedEditError | None = None
        try:
            with noting() as noted:
                value = await ask()
            found = tuple(await gaps(value)) if gaps else ()
            found = (*without_told(gaps_of(backend, noted), found), *found)
        except (CallerError, RefusedError, OutdatedEditError) as error:
            if last:
                raise
            failed = error
        after = await sync()
        if after == before:
            if failed is None:
                return Answered(value, found)
            if not (isinstance(failed, OutdatedEditError) or (isinstance(failed, RefusedError) and failed.asks_again)):
                raise failed
        before = after
    return Answered(value, (_CHANGING, *found))
