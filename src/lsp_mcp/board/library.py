"""Snippets and standards: texts that agents look up."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy import Table
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import fields, history, trash
from lsp_mcp.board.history import Kind
from lsp_mcp.board.ids import kebab_id, slug_of
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import snippets, standards
from lsp_mcp.errors import CallerError

_MOST_LINE = 300  # characters of a description


# --- standards -------------------------------------------------------------------------------------


def list_standards(at: Transaction, limit: int = 100) -> tuple[list[dict[str, Any]], int]:
    """The standards without their texts, by id, at most `limit`; and how many there are."""
    return _listed(at, standards, ("id", "description", "revision", "updated_at", "updated_by"), limit)


def get_standard(at: Transaction, id_: str) -> dict[str, Any]:
    """A standard with its text. Raises CallerError if there is none."""
    return dict(_row(at, standards, "standard", id_))


def create_standard(at: Transaction, id_: str, content: str = "", description: str = "") -> dict[str, Any]:
    """A new standard.

    Raises:
        CallerError: the id is not kebab-case or is there already, or a text cannot be used.
    """
    kebab_id(id_, "standard")
    _unused(at, standards, "standard", id_)
    values = {"description": _line(description), "content": fields.body(content, "content")}
    return _insert(at, standards, "standard", id_, values)


def update_standard(
    at: Transaction,
    id_: str,
    content: str,
    description: str | None = None,
    expected_revision: int | None = None,
    message: str | None = None,
) -> dict[str, Any]:
    """A standard with another text, and another description if one is given.

    Raises:
        CallerError: there is none, a text cannot be used, or it has another revision than the expected one.
    """
    values = {"content": fields.body(content, "content")}
    if description is not None:
        values["description"] = _line(description)
    return _update(at, standards, "standard", id_, values, expected_revision, message)


def delete_standard(at: Transaction, id_: str) -> dict[str, Any]:
    """Move a standard to the trash; returns what it was. Raises CallerError if there is none."""
    return _delete(at, standards, "standard", id_)


# --- snippets --------------------------------------------------------------------------------------


def list_snippets(at: Transaction, tag: str | None = None, limit: int = 100) -> tuple[list[dict[str, Any]], int]:
    """The snippets without their texts, by id, at most `limit`, only those with `tag` if given; and how many."""
    rows, total = _listed(at, snippets, ("id", "title", "tags", "revision", "updated_at"), None if tag else limit)
    if tag:
        wanted = " ".join(tag.split()).casefold()
        rows = [row for row in rows if wanted in (one.casefold() for one in row["tags"])]
        total = len(rows)
    return rows[:limit], total


def get_snippet(at: Transaction, id_: str) -> dict[str, Any]:
    """A snippet with its text. Raises CallerError if there is none."""
    return dict(_row(at, snippets, "snippet", id_))


def create_snippet(
    at: Transaction, title: str, content: str, tags: list[str], id_: str | None = None
) -> dict[str, Any]:
    """A new snippet; its id is made of the title if none is given. Raises as `create_standard`."""
    title = fields.title(title)
    id_ = kebab_id(id_ if id_ is not None else slug_of(title) or "snippet", "snippet")
    _unused(at, snippets, "snippet", id_)
    values = {"title": title, "content": fields.body(content, "content"), "tags": fields.tags(tags)}
    return _insert(at, snippets, "snippet", id_, values)


def update_snippet(
    at: Transaction,
    id_: str,
    *,
    title: str | None = None,
    content: str | None = None,
    tags: list[str] | None = None,
    expected_revision: int | None = None,
    message: str | None = None,
) -> dict[str, Any]:
    """A snippet with what was given changed. Raises as `update_standard`."""
    values: dict[str, Any] = {}
    if title is not None:
        values["title"] = fields.title(title)
    if content is not None:
        values["content"] = fields.body(content, "content")
    if tags is not None:
        values["tags"] = fields.tags(tags)
    return _update(at, snippets, "snippet", id_, values, expected_revision, message)


def delete_snippet(at: Transaction, id_: str) -> dict[str, Any]:
    """Move a snippet to the trash; returns what it was. Raises CallerError if there is none."""
    return _delete(at, snippets, "snippet", id_)


# --- inside ----------------------------------------------------------------------------------------


def _listed(
    at: Transaction, table: Table, columns: tuple[str, ...], limit: int | None
) -> tuple[list[dict[str, Any]], int]:
    total = at.connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() or 0
    found = sa.select(*(table.c[name] for name in columns)).order_by(table.c.id).limit(limit)
    return [dict(row) for row in at.connection.execute(found).mappings()], total


def _row(at: Transaction, table: Table, kind: Kind, id_: str) -> RowMapping:
    sought = fields.sought(id_, f"id of the {kind}").lower()
    row = at.connection.execute(sa.select(table).where(table.c.id == sought)).mappings().first()
    if row is None:
        rows, total = _listed(at, table, ("id",), 10)
        there = ", ".join(one["id"] for one in rows) or "none"
        more = f" and {total - len(rows)} more" if total > len(rows) else ""
        raise CallerError(f"unknown {kind} {id_[:80]!r}; available: {there}{more}")
    return row


def _unused(at: Transaction, table: Table, kind: Kind, id_: str) -> None:
    if at.connection.execute(sa.select(table.c.id).where(table.c.id == id_)).first():
        raise CallerError(f"the {kind} {id_!r} exists already; change it with update_{kind}.")


def _insert(at: Transaction, table: Table, kind: Kind, id_: str, values: dict[str, Any]) -> dict[str, Any]:
    revision = history.last_revision(at, kind, id_) + 1  # more than 1 if there once was another of that id
    made = {"id": id_, "revision": revision, "updated_at": at.now, "updated_by": at.actor.name, **values}
    at.connection.execute(sa.insert(table).values(**made))
    history.remember(at, kind, id_, revision, history.CREATED)
    at.change("created", kind, id_, values.get("title") or values.get("description") or id_)
    return made


def _update(
    at: Transaction,
    table: Table,
    kind: Kind,
    id_: str,
    values: dict[str, Any],
    expected: int | None,
    message: str | None,
) -> dict[str, Any]:
    row = _row(at, table, kind, id_)
    history.expect(at, kind, row["id"], row["revision"], expected)
    said = {name: [row[name], value] for name, value in values.items() if row[name] != value}
    if not said:
        return dict(row)
    values |= {"revision": row["revision"] + 1, "updated_at": at.now, "updated_by": at.actor.name}
    at.connection.execute(sa.update(table).where(table.c.id == row["id"]).values(**values))
    history.remember(at, kind, row["id"], values["revision"], message or f"changed {', '.join(said)}", said)
    at.change("updated", kind, row["id"], values.get("title") or values.get("description") or row["id"])
    return {**row, **values}


def _delete(at: Transaction, table: Table, kind: Kind, id_: str) -> dict[str, Any]:
    row = _row(at, table, kind, id_)
    history.remember(at, kind, row["id"], row["revision"] + 1, "deleted")
    trash.put(at, kind, row["id"], row.get("title") or row.get("description") or row["id"])
    at.change("deleted", kind, row["id"], row["id"])
    return dict(row)


def _line(description: str) -> str:
    text = " ".join(fields.body(description, "description").split())
    if len(text) > _MOST_LINE:
        raise CallerError(f"the description has {len(text):,} characters; at most {_MOST_LINE} are allowed.")
    return text
