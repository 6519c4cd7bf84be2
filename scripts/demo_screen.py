"""The output of the demo: `Screen`, and `Asker`, which calls a running lsp-mcp and prints question and answer."""

from __future__ import annotations

import asyncio
import json
import logging
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from mcp import Client
from rich.console import Console
from rich.text import Text

SHOWN = 8  # lines of an answer that are printed
_QUIET = 1.0  # seconds before a wait is shown
# The SDK warns about each call of a tool that is offered without being listed.
logging.getLogger("client").setLevel(logging.ERROR)


@dataclass
class Screen:
    """What is printed, at any width; without colour where nobody sees it."""

    console: Console = field(default_factory=lambda: Console(highlight=False))
    answers: int = 0
    incomplete: int = 0
    errors: int = 0

    def say(self, text: str, style: str = "") -> None:
        """Print `text`, cut at the edge of the screen."""
        self.console.print(Text(text, style), no_wrap=True, overflow="ellipsis")

    def wrapped(self, text: str, style: str) -> None:
        """Print `text` whole, indented."""
        for line in textwrap.wrap(text, self.console.width - 2):
            self.say(f"  {line}", style)

    def title(self, text: str) -> None:
        """Print a headline."""
        self.say(f"\n{text}\n", "bold cyan")

    def lines(self, lines: Iterable[str], most: int, style: Any = None) -> None:
        """Print the first `most` lines, and how many more there are; `style(line)` is a line's style."""
        every = list(lines)
        # One line alone is not worth hiding.
        first = every if len(every) <= most + 1 else every[:most]
        for line in first:
            self.say(f"    {line}", style(line) if style else "")
        if more := len(every) - len(first):
            self.say(f"    … {more:,} more lines", "dim")

    def sum_up(self) -> None:
        """Print how many answers are complete."""
        complete = self.answers - self.incomplete - self.errors
        rest = "; the status of the others says what may be missing" if self.incomplete else ""
        self.title(f"{complete} of {self.answers} answers are complete{rest}.")

    @contextmanager
    def waiting(self, text: str) -> Iterator[Any]:
        """Show a wait that lasts over a second; yields an MCP progress callback."""
        status = self.console.status(f"{text} …")
        start = perf_counter()
        current = text

        async def progress(_done: float, _total: float | None, message: str | None) -> None:
            nonlocal current
            current = message or current

        async def tick() -> None:
            await asyncio.sleep(_QUIET)
            status.start()
            while True:
                status.update(f"{current} … {perf_counter() - start:.0f} s")
                await asyncio.sleep(_QUIET)

        ticking = asyncio.create_task(tick()) if self.console.is_terminal else None
        try:
            yield progress
        finally:
            if ticking:
                ticking.cancel()
            status.stop()


@dataclass
class Asker:
    """Asks one running server, and shows questions and answers."""

    screen: Screen
    client: Client

    async def ask(self, tool: str, **arguments: Any) -> str:
        """The text of the answer; an error or an incomplete answer is shown as such and counted."""
        words = " ".join(
            f"{key}={value if isinstance(value, str) else _json(value)}" for key, value in arguments.items()
        )
        self.screen.say(f"  {tool}", "bold")
        if words:
            wrapped = textwrap.wrap(words, self.screen.console.width - 4, break_on_hyphens=False)
            self.screen.lines(wrapped, SHOWN, lambda _: "dim")
        start = perf_counter()
        with self.screen.waiting(tool) as progress:
            result = await self.client.call_tool(tool, arguments, progress_callback=progress)
        seconds = perf_counter() - start
        text = "\n".join(block.text for block in result.content if block.type == "text")
        self.screen.answers += 1
        if result.is_error:
            self.screen.errors += 1
            self.screen.wrapped(f"ERROR: {text}", "red")
        else:
            self.show(text)
        self.screen.say(f"  in {shown(seconds)}\n", "dim")
        return "" if result.is_error else text

    def show(self, text: str) -> None:
        """Print an answer, and count it if it is incomplete."""
        if text.startswith(("{", "[")):  # it has no status
            self.screen.lines(textwrap.wrap(text, self.screen.console.width - 4, break_on_hyphens=False), SHOWN)
            return
        message, *body, status = text.split("\n")
        complete = status.startswith("status: complete")
        self.screen.incomplete += not complete
        self.screen.lines(body, SHOWN)
        for line in (message, status):
            self.screen.wrapped(line, "green" if complete else "yellow")


def shown(seconds: float) -> str:
    """A duration for people."""
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
