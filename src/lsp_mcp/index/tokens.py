"""Tokens of the people who may ask a team's server: `add`, `listed`, `revoke`, `holder`. The store has only hashes."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.engine import Connection

from lsp_mcp.errors import CallerError
from lsp_mcp.index.tables import tokens
from lsp_mcp.prose import first_few
from lsp_mcp.secret_tokens import new_token, token_hash
from lsp_mcp.visible import quoted

_NAME = re.compile(r"[\w.@+-]{1,80}")
_LISTED = 20  # names in an error


class Holder(Struct, frozen=True):
    """Who has a token, since when (UTC)."""

    name: str
    added_at: str


def add(connection: Connection, name: str) -> str:
    """A new token for `name`, which nothing can tell again.

    Raises:
        CallerError: it is not a name, or has a token already.
    """
    if not _NAME.fullmatch(name):
        raise CallerError(f"{quoted(name)} is not a name for a token: letters, digits and . @ + - _ only, at most 80.")
    if connection.execute(sa.select(tokens.c.name).where(tokens.c.name == name)).first():
        raise CallerError(f"{name} has a token already: revoke it first, or add one as {name}-2.")
    made = new_token()
    at = datetime.now(UTC).isoformat(timespec="seconds")
    connection.execute(sa.insert(tokens).values(name=name, hash=token_hash(made), added_at=at))
    return made


def listed(connection: Connection) -> list[Holder]:
    """Everybody who has a token, by name."""
    rows = connection.execute(sa.select(tokens.c.name, tokens.c.added_at).order_by(tokens.c.name))
    return [Holder(row.name, row.added_at) for row in rows]


def revoke(connection: Connection, name: str) -> None:
    """End the token of `name`: the next request with it is refused.

    Raises:
        CallerError: there is none.
    """
    if not connection.execute(sa.delete(tokens).where(tokens.c.name == name)).rowcount:
        known = first_few([one.name for one in listed(connection)], _LISTED) or "nobody"
        raise CallerError(f"{quoted(name)} has no token; who has one: {known}.")


def holder(connection: Connection, token: str) -> str | None:
    """Whose token it is; None if nobody's."""
    found = sa.select(tokens.c.name).where(tokens.c.hash == token_hash(token))
    name: str | None = connection.execute(found).scalar()
    return name
