"""Code and the tasks about it: `CodeLinks` reports tasks on a symbol, and moves anchors of tasks with edits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.anchors import Anchor, parse_anchor
from lsp_mcp.board import anchors
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import Transaction
from lsp_mcp.edits.plan import FileChange, RenameFile, Step
from lsp_mcp.errors import UnavailableError
from lsp_mcp.features.finding.anchor_memory import moved_point
from lsp_mcp.prose import first_few
from lsp_mcp.text import Point, Text
from lsp_mcp.toolsets.board.anchored import code_at, located

log = logging.getLogger(__name__)


class CodeLinks:
    """The interface between the code tools and the board: see `Links`."""

    def __init__(self, host: BoardHost) -> None:
        self._host = host

    async def tasks_on(self, path: Path, point: Point, name: str) -> str | None:
        """One line on the pending tasks about the symbol called `name` at `point` of `path`; None if there are none."""
        file = self._host.workspace.display_path(path)
        try:
            near = await self._host.board.read(lambda at: anchors.pending(at, file, name))
        except UnavailableError as error:
            return f"tasks on {name} are not known: {error}"
        here = await asyncio.to_thread(lambda: [row for row in near if self._is_at(row, point)])
        if not here:
            return None
        named = first_few([f"{row['task']} ({row['title'][:60]})" for row in here])
        return f"open tasks on {name}: {named}"

    async def edited(self, steps: Sequence[Step]) -> None:
        """These edits were made: move the anchors of tasks accordingly."""
        changed = [step for step in steps if isinstance(step, FileChange | RenameFile)]
        if not changed:
            return
        try:
            await self._host.board.write(lambda at: self._follow_all(at, changed))
        except UnavailableError as error:
            # The edit is done in any case; anchors not moved now are searched for when a task is read.
            log.warning("anchors of tasks were not taken along: %s", error)

    def _is_at(self, row: dict[str, Any], point: Point) -> bool:
        anchor = located(self._host, row).anchor
        return anchor is not None and anchor.point == point

    def _follow_all(self, at: Transaction, steps: Sequence[FileChange | RenameFile]) -> None:
        for step in steps:
            self._follow(at, step)

    def _follow(self, at: Transaction, step: FileChange | RenameFile) -> None:
        shown = self._host.workspace.display_path
        path = step.path if isinstance(step, FileChange) else step.old
        for row in anchors.in_file(at, shown(path)):
            anchor = parse_anchor(row["anchor"])
            if isinstance(step, RenameFile):
                values = {"anchor": str(Anchor(anchor.scheme, shown(step.new), anchor.point)), "file": shown(step.new)}
            else:
                values = _after(anchor, row, step)
            if any(row[name] != value for name, value in values.items()):
                anchors.change(at, row, values)


def _after(anchor: Anchor, row: Any, step: FileChange) -> dict[str, str]:
    """An anchor's values after `step`; none if its symbol was not there before, or is not after."""
    before, after = step.before, Text(step.after)
    lines = len(before.lines())
    if anchor.point.line > lines or anchor.point.character > len(before.line(anchor.point.line)) + 1:
        return {}
    span = before.identifier_at(anchor.point)
    if span is None or before.slice(span) != row["symbol"]:
        return {}
    point = moved_point(span.start, before, after, step.changes)
    now = after.identifier_at(point)
    if now is None:
        return {}
    return {
        "anchor": str(Anchor(anchor.scheme, anchor.file, now.start)),
        "symbol": after.slice(now),
        "code": code_at(after, now.start),
    }
