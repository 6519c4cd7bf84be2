"""Deleted items, until they are restored: their rows, unchanged, and their history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board import fields
from lsp_mcp.board.history import Kind
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import (
    anchors,
    comments,
    dependencies,
    metadata,
    snippets,
    stages,
    standards,
    task_tags,
    tasks,
    trash,
)
from lsp_mcp.errors import CallerError

# By kind: the tables that have rows of it, and the columns that name it, in the order in which rows come back.
_ROWS: dict[Kind, tuple[sa.Column[Any], ...]] = {
    "task": (
        tasks.c.id,
        task_tags.c.task,
        anchors.c.task,
        comments.c.task,
        dependencies.c.task,
        dependencies.c.depends_on,
    ),
    "stage": (stages.c.id,),
    "standard": (standards.c.id,),
    "snippet": (snippets.c.id,),
}


def put(at: Transaction, kind: Kind, ref: str, title: str) -> None:
    """Remove all rows of an item from their tables and store them."""
    content: dict[str, list[dict[str, Any]]] = {}
    for column in _ROWS[kind]:
        rows = at.connection.execute(sa.select(column.table).where(column == ref)).mappings()
        content.setdefault(column.table.name, []).extend(_kept(column.table, row) for row in rows)
    for column in reversed(_ROWS[kind]):
        at.connection.execute(sa.delete(column.table).where(column == ref))
    values = {"kind": kind, "ref": ref, "title": title, "at": at.now, "who": at.actor.name}
    at.connection.execute(sa.insert(trash).values(**values, content=content))


def tables_of(kind: Kind) -> dict[str, sa.Table]:
    """The tables that have rows of such an item, by name."""
    return {column.table.name: column.table for column in _ROWS[kind]}


def is_number(column: sa.Column[Any]) -> bool:
    """Whether the database gives a row this value: by the time the row comes back, another may have it."""
    return column.primary_key and len(column.table.primary_key) == 1 and isinstance(column.type, sa.Integer)


def listed(at: Transaction, limit: int = 100) -> tuple[list[dict[str, Any]], int]:
    """The contents of the trash, most recently deleted first, at most `limit`; and the total number."""
    total = at.connection.execute(sa.select(sa.func.count()).select_from(trash)).scalar() or 0
    shown = [column for column in trash.c if column.name != "content"]
    rows = at.connection.execute(sa.select(*shown).order_by(trash.c.id.desc()).limit(limit)).mappings()
    return [dict(row) for row in rows], total


def take(at: Transaction, kind: Kind, ref: str) -> tuple[str, dict[str, list[dict[str, Any]]]] | None:
    """The id and the rows, by table, of the item most recently deleted under an id or the name of a stage; None if
    there is none.

    They are then no longer in the trash.
    """
    sought = fields.sought(ref, f"id of the {kind}")
    named = (trash.c.ref == sought) | ((trash.c.kind == "stage") & (sa.func.lower(trash.c.title) == sought))
    of_it = sa.select(trash).where(trash.c.kind == kind, named)
    row = at.connection.execute(of_it.order_by(trash.c.id.desc()).limit(1)).mappings().first()
    if row is None:
        return None
    at.connection.execute(sa.delete(trash).where(trash.c.id == row["id"]))
    return row["ref"], dict(row["content"])


def put_back(at: Transaction, content: dict[str, list[dict[str, Any]]]) -> None:
    """Restore rows to their tables; rows of an older board lack columns."""
    for name, rows in content.items():
        table = metadata.tables[name]
        for row in rows:
            at.connection.execute(sa.insert(table).values(**_kept(table, row)))


def empty(at: Transaction, id_: int | None = None) -> int:
    """Permanently delete the entry of that number, or all; returns their number.

    Raises:
        CallerError: there is no such entry.
    """
    gone = sa.delete(trash) if id_ is None else sa.delete(trash).where(trash.c.id == id_)
    count = at.connection.execute(gone).rowcount
    if id_ is not None and not count:
        raise CallerError(f"the trash has no entry {id_}.")
    at.change("emptied", "trash", str(id_ or ""))
    return count


# --- inside ----------------------------------------------------------------------------------------


def _kept(table: sa.Table, row: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key in table.c and not is_number(table.c[key])}
