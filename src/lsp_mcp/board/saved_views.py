"""Views of the page that people have saved: a name, and what follows the # in the address."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from lsp_mcp.board import fields
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import saved_views
from lsp_mcp.errors import CallerError

_MOST = 50
_MOST_QUERY = 2_000  # characters


def listed(at: Transaction) -> list[dict[str, Any]]:
    """All, by name: `id`, `name`, `query`, `who`."""
    columns = (saved_views.c[name] for name in ("id", "name", "query", "who"))
    return [dict(row) for row in at.connection.execute(sa.select(*columns).order_by(saved_views.c.name)).mappings()]


def save(at: Transaction, name: str, query: str) -> dict[str, Any]:
    """A view under a name, in place of the one that has it.

    Raises:
        CallerError: there are too many, or a value cannot be used.
    """
    name, query = fields.name(name, "view's name"), fields.body(query, "view", _MOST_QUERY)
    there = listed(at)
    known = next((one for one in there if one["name"].casefold() == name.casefold()), None)
    values = {"name": name, "query": query, "who": at.actor.name, "at": at.now}
    if known is not None:
        at.put(sa.update(saved_views).where(saved_views.c.id == known["id"]).values(**values))
    elif len(there) >= _MOST:
        raise CallerError(f"there are {len(there)} saved views already; delete one first.")
    else:
        at.put(sa.insert(saved_views).values(**values))
    at.change("updated" if known else "created", "view", name, name)
    return next(one for one in listed(at) if one["name"] == name)


def delete(at: Transaction, id_: int) -> str:
    """Remove a view; returns its name. Raises CallerError if there is none of that number."""
    name = next((str(one["name"]) for one in listed(at) if one["id"] == id_), None)
    if name is None:
        raise CallerError(f"there is no saved view {id_}.")
    at.put(sa.delete(saved_views).where(saved_views.c.id == id_))
    at.change("deleted", "view", name, name)
    return name
