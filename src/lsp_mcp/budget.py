"""The time for proving an answer: `reading` and `thorough` begin it, and `left` tells how much remains.

A reading answer gets as long as the server's own answer took, at least `LEAST` and at most `MOST` seconds, or what its
caller allows. What writes gets most of its call's time. This is the only place that decides about it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lsp_mcp.waiting import within

LEAST, MOST = 0.5, 3.0  # seconds
_BESIDE = 1.0  # seconds
_SHARE = 0.75  # share of a call's remaining time: what is not proven is reported instead of a timeout
_LONGEST = 600.0  # seconds, where nothing else limits the call

Clock = Callable[[], float]


class Budget:
    """The time for the proof of one answer.

    `seconds` are what the caller allows for it; None: as long as the server's own answer took. `is_whole`: as long as
    the call has; `is_background`: nobody waits for it.
    """

    def __init__(
        self,
        seconds: float | None = None,
        *,
        is_whole: bool = False,
        is_background: bool = False,
        now: Clock = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self.is_whole = is_whole
        self.is_background = is_background
        self._now = now
        self._asked = now()
        self._until: float | None = None
        self._prepared: float | None = None
        self.is_cut = False

    def asked(self) -> None:
        """The server is asked now; its answer is to be proven."""
        self._asked, self._until = self._now(), None

    def answered(self) -> None:
        """The server's own answer is there: what follows is proof. Only the first time counts."""
        if self._until is None:
            now = self._now()
            self._until = now + self._allowed(now - self._asked)

    def left(self) -> float:
        """The seconds that remain for the proof; before the server's own answer, for all that prepares it."""
        rest = within(_LONGEST) * _SHARE
        if self.is_whole:
            return rest
        if self._until is None and self._prepared is None:
            self._prepared = self._now() + self._allowed(0)
        until = self._until or self._prepared or 0
        return min(rest, max(0.0, until - self._now()))

    def rest(self) -> float:
        """The seconds for what an answer tells beside its proof, which has come before."""
        return max(_BESIDE, self.left())

    def part(self) -> float:
        """The seconds for a step that may need them all, so that the steps after it have some, too."""
        return self.left() if self.is_whole else self.left() / 2

    def _allowed(self, took: float) -> float:
        return min(MOST, max(LEAST, took)) if self._seconds is None else self._seconds


_present: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def reading(seconds: float | None = None) -> Iterator[Budget]:
    """A budget for an answer that only reads, for the time of the block; `seconds`: see `Budget`."""
    with _as_present(Budget(seconds)) as budget:
        yield budget


@contextmanager
def thorough() -> Iterator[Budget]:
    """A budget for an answer that has to be proven, whatever time the call has left, for the time of the block."""
    with _as_present(Budget(is_whole=True)) as budget:
        yield budget


@contextmanager
def background() -> Iterator[Budget]:
    """A budget for a proof that nobody waits for, for the time of the block."""
    with _as_present(Budget(is_whole=True, is_background=True)) as budget:
        yield budget


def present() -> Budget:
    """The budget of the present answer; without one, all the time of the call."""
    return _present.get() or Budget(is_whole=True)


def left() -> float:
    """See `Budget.left`."""
    return present().left()


def cut() -> None:
    """Note that something was left out of the proof, for lack of time."""
    present().is_cut = True


@contextmanager
def _as_present(budget: Budget) -> Iterator[Budget]:
    token = _present.set(budget)
    try:
        yield budget
    finally:
        _present.reset(token)
