"""The output of a debugged program and its debugger: `Output`, bounded, and read from a cursor."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

_MOST_LINES = 2_000
_MOST_CHARACTERS = 500_000  # of all lines kept
_LONGEST = 2_000  # characters kept of one line
_COLORS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Adapters' categories of DAP's `output` event → names for callers.
_STREAMS = {"stdout": "stdout", "stderr": "stderr", "console": "debugger", "important": "debugger"}


@dataclass(frozen=True)
class Line:
    """One line, of the stream `stdout`, `stderr` or `debugger`."""

    number: int  # from 1, of everything printed so far
    stream: str
    text: str


class Output:
    """The last lines; partial lines are joined."""

    def __init__(self, chatter: Sequence[str] = (), chatter_goes_on: str = "") -> None:
        self._chatter = [re.compile(pattern) for pattern in chatter]
        self._goes_on = re.compile(chatter_goes_on) if chatter_goes_on else None
        self._lines: deque[Line] = deque()
        self._characters = 0
        self._open: dict[str, str] = {}  # an incomplete line of each stream
        self._inside: set[str] = set()  # streams in which the debugger's own lines continue
        self.count = 0  # total number of lines

    def add(self, category: str, text: str) -> None:
        """Add a piece of output, with DAP's category or one of our streams."""
        stream = _STREAMS.get(category, category or "debugger")
        if stream == "telemetry":
            return
        *whole, rest = (self._open.get(stream, "") + _COLORS.sub("", text)).split("\n")
        for line in whole:
            self._append(stream, line.rstrip("\r"))
        self._open[stream] = rest[:_LONGEST]

    def flush(self) -> None:
        """Complete all lines: nothing more will come."""
        for stream, text in self._open.items():
            if text:
                self._append(stream, text.rstrip("\r"))
        self._open.clear()

    @property
    def forgotten(self) -> int:
        """Lines that were dropped."""
        return self.count - len(self._lines)

    def lines(self, after: int = 0, stream: str | None = None) -> list[Line]:
        """The lines after number `after`, of one `stream` or of the program's two (None: all)."""
        unfinished = [Line(self.count, name, text) for name, text in self._open.items() if text]
        kept = [line for line in self._lines if line.number > after] + unfinished
        return [line for line in kept if stream is None or line.stream == stream]

    def of_program(self, after: int = 0) -> list[str]:
        """The texts of the program's own lines."""
        return [line.text for line in self.lines(after) if line.stream != "debugger"]

    def _append(self, stream: str, text: str) -> None:
        if self._is_chatter(stream, text):
            return
        self.count += 1
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"
        self._lines.append(Line(self.count, stream, text))
        self._characters += len(text)
        while len(self._lines) > _MOST_LINES or self._characters > _MOST_CHARACTERS:
            self._characters -= len(self._lines.popleft().text)

    def _is_chatter(self, stream: str, text: str) -> bool:
        begins = any(pattern.search(text) for pattern in self._chatter)
        goes_on = stream in self._inside and self._goes_on is not None and self._goes_on.search(text) is not None
        if begins or goes_on:
            self._inside.add(stream)
            return True
        self._inside.discard(stream)
        return False
