"""The time limit of one tool call, and what it is waiting for: `bounded`, and `phase` for the code that waits.

The limit applies to the whole call, so it is set where calls begin; code further down only states what it waits for.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from msgspec import Struct

from lsp_mcp.errors import SilentError

_BEAT = 1.0  # seconds between two progress reports; MCP clients give up calls that do not report progress
_UNLIMITED = 60.0  # seconds that count as left in a call without a limit
_AHEAD = 0.1  # seconds, at most, by which waiting for one thing ends before its call does
AGAIN = "Ask again, or raise --request-timeout."

_Report = Callable[[float, float | None, str], Awaitable[None]]  # see `backend.Report`


def _again() -> str:
    return AGAIN


class Phase(Struct, frozen=True):
    """Something that a call waits for: its present progress message, and the advice if it takes too long."""

    now: Callable[[], str]
    advice: Callable[[], str]


class _Waiting:
    def __init__(self, bound: asyncio.Timeout, seconds: float) -> None:
        self.bound = bound
        self.seconds = seconds  # of the whole call
        self.phases: dict[int, Phase] = {}
        self.numbers = itertools.count()
        self.over = False  # background work goes on without it
        self.unhurried = 0.0  # seconds spent in such blocks so far

    @property
    def phase(self) -> Phase | None:
        """The phase that began last and has not ended."""
        return next(reversed(self.phases.values()), None)


_present: ContextVar[_Waiting | None] = ContextVar("waiting", default=None)
_is_dispensable: ContextVar[bool] = ContextVar("is_dispensable", default=False)


@asynccontextmanager
async def bounded(seconds: float | None, what: str, report: _Report) -> AsyncIterator[_Report]:
    """Limit the block to `seconds` (None: unlimited); yields the function for progress, which is reported each second.

    Raises:
        SilentError: it took longer; the message says at what, and what to do.
    """
    done = itertools.count(1)

    async def counted(_: float, total: float | None, message: str) -> None:
        # Progress must grow from one notification to the next (MCP, "Progress"), whatever reports it.
        await report(next(done), None, message)

    beating: asyncio.Task[None] | None = None
    waiting: _Waiting | None = None
    token = None
    try:
        async with asyncio.timeout(seconds) as bound:
            waiting = _Waiting(bound, seconds or 0)
            token = _present.set(waiting)
            beating = asyncio.create_task(_beat(waiting, what, counted))
            try:
                yield counted
            finally:
                beating.cancel()
                await asyncio.gather(beating, return_exceptions=True)
    except TimeoutError:
        if waiting is None or not waiting.bound.expired():
            raise
        raise SilentError(_given_up(waiting, what, seconds or 0)) from None
    finally:
        if waiting and token:
            waiting.over = True
            _present.reset(token)


@contextmanager
def phase(now: Callable[[], str], advice: Callable[[], str] = _again) -> Iterator[None]:
    """State what the present call waits for while the block runs; `advice` is called if it takes too long."""
    waiting = _now()
    if waiting is None:
        yield
        return
    number = next(waiting.numbers)
    waiting.phases[number] = Phase(now, advice)
    try:
        yield
    finally:
        # While a cancelled call unwinds, this phase is still the one that took too long.
        if not waiting.bound.expired():
            del waiting.phases[number]


@contextmanager
def unhurried() -> Iterator[None]:
    """The block is not cut off, and leaves the call what it had before, at most half of its limit.

    It must have a limit of its own. So a call takes little longer than its limit: many clients give up after 60 s.
    """
    waiting = _now()
    until = waiting.bound.when() if waiting else None
    if waiting is None or until is None:
        yield
        return
    loop = asyncio.get_running_loop()
    begun = loop.time()
    waiting.bound.reschedule(None)
    try:
        yield
    finally:
        now = loop.time()
        waiting.unhurried += now - begun
        if not waiting.bound.expired():
            kept = min(until - begun, waiting.seconds / 2)
            waiting.bound.reschedule(max(until, now + kept))


def rest_unhurried(seconds: float) -> float:
    """`seconds` less those that the present call has spent in `unhurried`: one limit, whatever it waits for there."""
    waiting = _now()
    return max(0.0, seconds - waiting.unhurried) if waiting else seconds


def allow(seconds: float) -> None:
    """Allow the present call at least `seconds` from now on, because its caller asked for that."""
    waiting = _now()
    if waiting and (until := waiting.bound.when()) is not None:
        waiting.bound.reschedule(max(until, asyncio.get_running_loop().time() + seconds + _AHEAD))


@contextmanager
def dispensable() -> Iterator[None]:
    """In this block, `within` gives half of the remaining time: the call can answer without its result."""
    token = _is_dispensable.set(True)
    try:
        yield
    finally:
        _is_dispensable.reset(token)


def within(seconds: float) -> float:
    """`seconds`, or a little less than what is left of the present call, so that the caller can still say what is slow.

    See `dispensable` for requests that the call can do without.
    """
    waiting = _now()
    until = waiting.bound.when() if waiting else None
    if until is None:
        return seconds
    left = until - asyncio.get_running_loop().time()
    if _is_dispensable.get():
        left /= 2
    return max(0.0, min(seconds, left - min(_AHEAD, left / 20)))


def _now() -> _Waiting | None:
    waiting = _present.get()
    return None if waiting is None or waiting.over else waiting


def share_of_rest(part: float) -> float:
    """Seconds: `part` of what is left of the present call, or of a minute if the call has no limit."""
    return within(_UNLIMITED) * part


@contextmanager
def ungrouped() -> Iterator[None]:
    """The first error of a task group in this block is raised by itself, as callers expect it."""
    try:
        yield
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _beat(waiting: _Waiting, what: str, report: _Report) -> None:
    """Report each second what the call waits for."""
    while True:
        await asyncio.sleep(_BEAT)
        await report(0, None, waiting.phase.now() if waiting.phase else what)


def _given_up(waiting: _Waiting, what: str, seconds: float) -> str:
    present = waiting.phase
    at, advice = (present.now(), present.advice()) if present else ("", AGAIN)
    return f"{what} was given up after {seconds:g} s{f' ({at})' if at else ''}. {advice}".strip()
