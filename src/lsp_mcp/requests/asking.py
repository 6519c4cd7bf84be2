"""Questions whose answer describes one state of the workspace: `answer`, and `settled` below it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct

from lsp_mcp.backend import Backend, Report, Scope
from lsp_mcp.errors import CallerError, OutdatedEditError, RefusedError, SilentError, UnavailableError
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import and_list
from lsp_mcp.requests.refusals import gaps_of, noting, without_told
from lsp_mcp.waiting import AGAIN, dispensable, ungrouped, within

Value = TypeVar("Value")
_TRIES = 4  # a workspace that changes this often is being generated or checked out right now
_NEARLY_ALL = 0.95  # of the time, so that the call can still say who was silent
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
    """The answer of `ask` and its gaps, given the `scope` that it depends on.

    With `report`, which receives progress, waits for the backend to be ready. `text_only` and `to_check`: see
    `Backend.sync`.

    Raises:
        UnavailableError: the backend is missing, or dies while it starts.
        LspMcpError: any error of `ask`.
    """
    if report:
        await backend.ready(report)
    return await settled(backend, ask, lambda value: backend.gaps(scope(value)), text_only=text_only, to_check=to_check)


async def ask_each(
    backends: Sequence[Backend], ask: Callable[[Backend], Awaitable[Value]], *, last: bool = False
) -> tuple[list[tuple[Backend, Value]], list[Gap]]:
    """What `ask` says of each of `backends`, all at the same time, and the gaps of those that cannot answer.

    Among several, one that is silent takes at most half of the time that the call has left; nearly all of it if this is
    the `last` that the call asks.

    Raises:
        UnavailableError, RefusedError: none of them can answer.
        LspMcpError: any other error of `ask`.
    """
    if len(backends) == 1:
        return [(backends[0], await ask(backends[0]))], []
    with nullcontext() if last else dispensable(), ungrouped():
        seconds = within(math.inf) * _NEARLY_ALL
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_answer_or_reason(backend, ask, seconds)) for backend in backends]
    answers = []
    unanswered = []
    for backend, outcome in zip(backends, (task.result() for task in tasks), strict=True):
        if isinstance(outcome, UnavailableError | RefusedError):
            unanswered.append((backend, outcome))
        else:
            answers.append((backend, outcome))
    if unanswered and not answers:
        raise unanswered[0][1]
    return answers, [not_searched(backend, error) for backend, error in unanswered]


async def _answer_or_reason(
    backend: Backend, ask: Callable[[Backend], Awaitable[Value]], seconds: float
) -> Value | UnavailableError | RefusedError:
    try:
        async with asyncio.timeout(seconds) as bound:
            return await ask(backend)
    except (UnavailableError, RefusedError) as error:
        return error
    except TimeoutError:
        if not bound.expired():
            raise
        return SilentError(f"{backend.plugin.name} did not answer in time. {AGAIN}")


def not_searched(backend: Backend, error: UnavailableError | RefusedError) -> Gap:
    """What an answer lacks for want of `backend`."""
    languages = and_list(backend.plugin.adapter.language_names)
    text = f"not searched: {languages}, because {error}"
    return Gap("not_searched", text, brief=f"not searched: {languages}", about=backend.plugin.name)


async def settled(
    backend: Backend,
    ask: Callable[[], Awaitable[Value]],
    gaps: Callable[[Value], Awaitable[Sequence[Gap]]] | None = None,
    *,
    text_only: bool = False,
    to_check: bool = False,
) -> Answered[Value]:
    """The answer of `ask` and its `gaps`, repeated while files change during the question; with a gap if they never
    stop.

    The question is also repeated if the server edited a text of which it has since received another version, as after a
    restart.

    Everything that `ask` and `gaps` read, the server's answer and the texts around it, belongs to one state of the
    disk; so does an error that they raise. Files that the server refused to answer about are a gap.
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
