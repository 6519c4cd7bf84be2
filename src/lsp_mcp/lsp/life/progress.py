"""The work that a server reports: `Progress` folds `$/progress` (LSP 3.17, "Work Done Progress")."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any

from msgspec import Struct

_COUNT = re.compile(r"(\d+)\s*/\s*(\d+)")


class Work(Struct):
    """One piece of work in progress."""

    title: str
    message: str = ""
    percentage: float | None = None
    since: float = 0.0  # seconds, of the clock of `Progress`

    def __str__(self) -> str:
        """Its text in a status: `indexing 45/120`, or the server's own words."""
        if count := _COUNT.search(self.message):
            return f"indexing {count[1]}/{count[2]}"
        if self.percentage is not None:
            return f"indexing {self.percentage:.0f} %"
        words = self.message or self.title
        return "indexing" if words == "indexing" else f"indexing ({words})"


class Progress:
    """All work of one server.

    `changed` is set at the next message, and replaced by a new event: take it, look, then wait for it.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.changed = asyncio.Event()
        self._now = now
        self._active: dict[str | int, Work] = {}
        self._ended: dict[str, str] = {}  # title → the last message of the work
        self._took: dict[str, float] = {}  # title → seconds, the last time
        self.begun: Counter[str] = Counter()  # how often each work has begun, by its title

    def update(self, token: str | int, value: Any) -> None:
        """Process the `value` of one `$/progress`; other kinds of progress are ignored."""
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin":
            title, message = str(value.get("title", "")), str(value.get("message", ""))
            self._active[token] = Work(title, message, _number(value.get("percentage")), self._now())
            self.begun[title] += 1
        elif kind == "report" and (work := self._active.get(token)):
            work.message = str(value.get("message", work.message))
            work.percentage = _number(value.get("percentage", work.percentage))
        elif kind == "end" and (work := self._active.pop(token, None)):
            self._ended[work.title] = str(value.get("message", ""))
            self._took[work.title] = self._now() - work.since
        self.wake()

    @property
    def goes_on(self) -> bool:
        """Whether any work is in progress."""
        return bool(self._active)

    def wake(self) -> None:
        """Wake everyone who waits for `changed`."""
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def expect(self, title: str) -> None:
        """The work `title` is about to begin again."""
        self._ended.pop(title, None)

    def pending(self, title: str) -> Work | None:
        """The work `title` if it is in progress, or has not begun; None once it has ended."""
        for work in self._active.values():
            if work.title == title:
                return work
        return None if title in self._ended else Work(title)

    def took(self, title: str) -> float:
        """The seconds that the work `title` took the last time that it ended; 0 if it has not."""
        return self._took.get(title, 0.0)

    def last_words(self, title: str) -> str:
        """The server's message when the work `title` ended, or nothing."""
        return self._ended.get(title, "")


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None
