"""Tasks and code: the symbols of tasks, found again in the present files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_mcp.anchors import Anchor, is_anchor, parse_anchor
from lsp_mcp.board import anchors, fields, views
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.errors import AnchorError, LspMcpError, PathError, PointError
from lsp_mcp.text import Point, Span, Text

_CODE = 120  # stored characters of a line


async def anchored(host: BoardHost, spelled: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of the table of anchors for anchors, other addresses or names that a caller gives.

    Raises:
        AnchorError: one is malformed, unknown, ambiguous, or on no identifier.
        PathError: its file is missing or outside the workspace.
    """
    found = await host.as_anchors(list(dict.fromkeys(spelled)))
    rows = await asyncio.to_thread(lambda: [_row(host, one) for one in found])
    return list({row["anchor"]: row for row in rows}.values())


async def looked_up(host: BoardHost, task: dict[str, Any]) -> list[dict[str, Any]]:
    """The anchors of a task at the present places of their symbols; missing symbols are marked."""
    return await asyncio.to_thread(lambda: [found_again(host, one) for one in task["anchors"]])


async def code_around(host: BoardHost, spelled: str, lines: int) -> list[tuple[int, str]]:
    """The line of an anchor with `lines` lines before and after it, numbered.

    Raises:
        AnchorError, PathError: as `anchored`.
    """

    def read() -> list[tuple[int, str]]:
        anchor = parse_anchor(spelled)
        text = _text(host.workspace.file(anchor.file))
        if anchor.point.line > text.line_count:
            raise AnchorError(f"{spelled}: {anchor.file} has {text.shown_line_count:,} lines.")
        return text.numbered(Span(anchor.point, anchor.point), lines)

    return await asyncio.to_thread(read)


async def tasks_at(host: BoardHost, spelled: str, actor: Actor) -> list[dict[str, Any]]:
    """The tasks with an anchor on the symbol at an anchor or of a name, or in the file if only that is named.

    Raises:
        AnchorError, PathError: as `anchored`.
    """
    wanted = (await anchored(host, [spelled]))[0] if is_anchor(spelled) else None
    missing: PathError | None = None
    try:
        file = wanted["file"] if wanted else host.workspace.display_path(host.workspace.file(spelled))
    except PathError as error:
        file, missing = fields.sought(spelled, "file"), error

    def work(at: Transaction) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return [(row, views.get(at, row["task"])) for row in anchors.in_file(at, file)]

    near = await host.board.read(work, actor)
    if missing and not near:  # a deleted file may still have tasks
        (anchor,) = await host.as_anchors([spelled])
        if not is_anchor(anchor):
            raise missing
        return await tasks_at(host, anchor, actor)
    found: dict[str, dict[str, Any]] = {}
    for row, task in near:
        now = await asyncio.to_thread(found_again, host, row)
        if wanted is None or now["anchor"] == wanted["anchor"]:
            found[task["id"]] = task
    return list(found.values())


# --- inside ----------------------------------------------------------------------------------------


def _row(host: BoardHost, spelled: str) -> dict[str, Any]:
    anchor = parse_anchor(spelled)
    path = host.workspace.file(anchor.file)
    text = _text(path)
    try:
        span = text.identifier_at(anchor.point)
    except PointError as error:
        raise AnchorError(f"{spelled}: {error}. Anchors count from 1, in characters.") from None
    if span is None:
        names = ", ".join(f"{text.slice(one)} at {one.start.character}" for one in text.identifiers(anchor.point.line))
        raise AnchorError(f"{spelled} is not on an identifier; on that line: {names or 'none'}.")
    shown = host.workspace.display_path(path)
    return {
        "anchor": str(Anchor(anchor.scheme, shown, span.start)),
        "file": shown,
        "symbol": text.slice(span),
        "code": code_at(text, span.start),
        "state": "known",
    }


def found_again(host: BoardHost, row: dict[str, Any]) -> dict[str, Any]:
    """The present state of an anchor: `anchor`, `symbol`, `code`, and `state` if anything is wrong."""
    now = located(host, row)
    shown = {"anchor": str(now.anchor) if now.anchor else row["anchor"], "symbol": row["symbol"], "code": now.code}
    return {**shown, "state": now.state} if now.state else shown


@dataclass(frozen=True)
class Located:
    """The present place of an anchor's symbol, None if it is gone; its line; and a note about that."""

    anchor: Anchor | None
    code: str
    state: str = ""


def located(host: BoardHost, row: dict[str, Any]) -> Located:
    """Find the symbol of an anchor in the present text of its file."""
    anchor, code = parse_anchor(row["anchor"]), row["code"]
    try:
        text = _text(host.workspace.file(anchor.file))
    except LspMcpError:
        return Located(None, code, "gone: the file is not there")
    if row["symbol"] is None:
        return Located(anchor, code, "unknown: nobody has looked at it")  # it was written by hand
    points = [span.start for span in text.words(row["symbol"])]
    if not points:
        return Located(None, code, f"gone: {anchor.file} no longer has {row['symbol']}")
    if anchor.point in points:
        return Located(anchor, code_at(text, anchor.point))
    same = [point for point in points if code_at(text, point) == code]
    point = min(same or points, key=lambda point: abs(point.line - anchor.point.line))
    several = len(same or points)
    state = f"moved: the nearest of {several} places that have {row['symbol']}" if several > 1 else ""
    return Located(Anchor(anchor.scheme, anchor.file, point), code_at(text, point), state)


def code_at(text: Text, point: Point) -> str:
    """The line of `point`, as stored with an anchor."""
    return text.line(point.line).strip()[:_CODE]


def _text(path: Path) -> Text:
    try:
        return Text(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PathError(f"{path} cannot be read as text: {error}") from None
