"""The anchors of tasks, by the file that they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import anchors, stages, tasks

Row = dict[str, Any]


def in_file(at: Transaction, file: str) -> list[Row]:
    """The anchors in `file`, those of tasks in the order of the board."""
    rows = at.connection.execute(
        sa.select(anchors)
        .join(tasks, tasks.c.id == anchors.c.task)
        .join(stages, stages.c.id == tasks.c.stage)
        .where(anchors.c.file == file)
        .order_by(stages.c.position, tasks.c.position, anchors.c.position)
    )
    return [dict(row) for row in rows.mappings()]


def pending(at: Transaction, file: str, symbol: str) -> list[Row]:
    """The anchors on a symbol in `file` of tasks that are not completed, each with its task's `title`; newest first."""
    rows = at.connection.execute(
        sa.select(anchors, tasks.c.title)
        .join(tasks, tasks.c.id == anchors.c.task)
        .where(anchors.c.file == file, anchors.c.symbol == symbol, tasks.c.status == "pending")
        .order_by(tasks.c.updated_at.desc())
    )
    return [dict(row) for row in rows.mappings()]


def change(at: Transaction, row: Row, values: Mapping[str, Any]) -> None:
    """Move an anchor with its symbol. This makes no new revision of the task, whose meaning is the same."""
    key = (anchors.c.task == row["task"]) & (anchors.c.position == row["position"])
    at.connection.execute(sa.update(anchors).where(key).values(**values))
    title = at.connection.execute(sa.select(tasks.c.title).where(tasks.c.id == row["task"])).scalar() or ""
    at.change("updated", "task", row["task"], title)
