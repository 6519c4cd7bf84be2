"""How a database is named to people, and what it says about its failures. Pure."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError


def shown_url(url: str) -> str:
    """The place of the database of `url`, without a password."""
    file = url.removeprefix("sqlite:///")
    return sa.make_url(url).render_as_string(hide_password=True) if file == url else file


def words_of(error: Exception) -> str:
    """The database's own message."""
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]


def code_of(error: DBAPIError) -> str:
    """PostgreSQL's SQLSTATE; empty if it said none."""
    return getattr(error.orig, "sqlstate", None) or ""
