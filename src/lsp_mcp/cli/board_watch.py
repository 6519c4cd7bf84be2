"""`lsp-mcp board watch`: agents' questions and notifications in a terminal, as they arrive."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from lsp_mcp.cli.board_exchange import opened
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.visible import visible

if TYPE_CHECKING:
    from lsp_mcp.board.store import Store, Transaction

_BELL = "\a"
_NEWEST = 20  # notifications that one look can miss at most


def watch_board(flags: ServerFlags, *, as_json: bool) -> None:
    """Print the open questions, then each question, answer and notification as it arrives, until a signal arrives.

    `as_json`: one object in each line, `{"event": "question" | "answered" | "notification", …}`.

    Raises:
        UnavailableError: the database cannot be used.
    """
    with opened(flags, new=True) as store:
        try:
            asyncio.run(_watch(store, as_json=as_json))
        except KeyboardInterrupt:
            click.echo("", err=True)


async def _watch(store: Store, *, as_json: bool) -> None:
    from lsp_mcp.board.board import Board

    board = Board(store)
    seen = _Seen()
    try:
        with board.listening() as listener:
            await board.begin()
            _print(seen.news(*await board.read(_state), first=True), as_json=as_json)
            if not as_json:
                click.echo("Watching; Ctrl-C ends it. Answer on the page: lsp-mcp board --link", err=True)
            async for _ in listener:
                _print(seen.news(*await board.read(_state)), as_json=as_json)
    finally:
        await board.close()


def _state(at: Transaction) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The open questions, and the newest notifications, the oldest first."""
    from lsp_mcp.board import talk

    return talk.waiting(at), talk.timeline(at, _NEWEST)[::-1]


class _Seen:
    """What has been printed."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Any]] = {}  # questions, by id
        self._last = 0  # notification

    def news(
        self, waiting: list[dict[str, Any]], timeline: list[dict[str, Any]], *, first: bool = False
    ) -> Iterator[dict[str, Any]]:
        """What is new since the last look; the first time only what waits."""
        now = {one["id"]: one for one in waiting}
        for key in self._open.keys() - now.keys():
            yield {"event": "answered", "id": key, "question": self._open[key]["question"]}
        for key in now.keys() - self._open.keys():
            one = now[key]
            kept = {name: one[name] for name in ("id", "who", "question", "options", "priority", "task", "asker_gone")}
            yield {"event": "question", **kept}
        self._open = now
        for one in timeline:
            if one["id"] > self._last:
                self._last = one["id"]
                if not first:
                    yield {"event": "notification", **{name: one[name] for name in ("who", "message", "level", "task")}}


def _print(news: Iterator[dict[str, Any]], *, as_json: bool) -> None:
    for one in news:
        if as_json:
            click.echo(json.dumps(one, ensure_ascii=False))
        else:
            click.echo((_BELL if one["event"] == "question" and sys.stdout.isatty() else "") + _line(one))
    sys.stdout.flush()


def _line(one: dict[str, Any]) -> str:
    """One event for a person, on one line."""
    match one["event"]:
        case "question":
            high = ", urgent" if one["priority"] == "high" else ""
            gone = ", has left" if one["asker_gone"] else ""
            options = " / ".join(option["label"] for option in one["options"])
            return visible(f"? {one['who']}{high}{gone}: {one['question']}{f'  [{options}]' if options else ''}")
        case "answered":
            return visible(f"✓ answered: {one['question']}")
    return visible(f"· {one['who']} ({one['level']}): {one['message']}")
