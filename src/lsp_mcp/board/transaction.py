"""The context of one transaction: `Transaction`. `store` decides when it is committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from lsp_mcp.board import fields, tables
from lsp_mcp.board.migrating import SCHEMA, VERSION

Result = TypeVar("Result")


@dataclass(frozen=True)
class Actor:
    """The author of a change: an agent, or a person (who has no id)."""

    name: str
    id: str | None = None  # of an agent
    person: str | None = None  # the id of a person who is known


PERSON = Actor("you")


class Transaction:
    """One transaction; its changes are committed as a whole, or not at all.

    It sees one moment of the board. `attempt` counts from 0: a conflict with other writers makes it run again.
    """

    def __init__(self, connection: Connection, actor: Actor, attempt: int = 0) -> None:
        self.actor = actor
        self.attempt = attempt
        self.now = fields.now()
        self.changes: list[dict[str, Any]] = []  # recorded changes, committed with the rest
        self._connection = connection
        self._puts: list[sa.Executable] = []
        self._is_local = connection.dialect.name == "sqlite"

    @property
    def connection(self) -> Connection:
        """The connection for queries; they see everything that was put before."""
        self.flush()
        return self._connection

    def flush(self) -> None:
        """Execute all statements that were put."""
        if self._puts:
            together(self._connection, self.taken())

    def put(self, statement: sa.Executable) -> None:
        """Queue a statement until the end or the next query, so that its row is locked only briefly.

        Over a network they are sent together. The number of rows is not reported.
        """
        if self._is_local:
            self._connection.execute(statement)
        else:
            # Not asked for the key of the new row, or the answer would have to be waited for.
            self._puts.append(statement.inline() if isinstance(statement, sa.Insert) else statement)

    def insert(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """`put` these new rows, all with the same columns, in one statement."""
        if rows:
            self.put(sa.insert(table).values([dict(row) for row in rows]))

    def go_alone(self) -> None:
        """If two transactions call this at once, the second runs again after the first has committed.

        For conditions over several rows: PostgreSQL only detects conflicts on one row.
        """
        if not self._is_local:
            self.put(sa.update(SCHEMA).values({VERSION: VERSION}))

    def taken(self) -> list[sa.Executable]:
        """The queued statements, which are removed."""
        puts, self._puts = self._puts, []
        return puts

    def change(self, action: str, kind: str, ref: str, text: str = "") -> None:
        """Record the change for all followers."""
        self.changes.append(
            {
                "at": self.now,
                "who": self.actor.name,
                "agent": self.actor.id,
                "action": action,
                "kind": kind,
                "ref": ref,
                "text": text,
            }
        )

    def recorded(self, *before: sa.CTE) -> list[sa.Executable]:
        """What writes down its changes, `before` which something is to be done."""
        if not self.changes:
            return []
        first, others = self.changes[0], self.changes[1:]
        columns = tables.changes.c
        values = sa.select(*(sa.literal(value, columns[name].type).label(name) for name, value in first.items()))
        inserted = sa.insert(tables.changes).from_select(list(first), values.select_from(*before)).inline()
        return [inserted, *([sa.insert(tables.changes).values(others).inline()] if others else [])]


Work = Callable[[Transaction], Result]


def together(connection: Connection, statements: Sequence[sa.Executable], *, commit: bool = False) -> None:
    """Execute these on PostgreSQL, sent together, so that nothing is locked during a round trip.

    Raises:
        DBAPIError: one of them failed, and none after it was executed.
    """
    import psycopg

    driver: Any = connection.connection.driver_connection
    try:
        with driver.pipeline():
            for statement in statements:
                connection.execute(statement)
            if commit:
                driver.commit()
    except psycopg.Error as error:
        raise DBAPIError(None, None, error, connection_invalidated=driver.closed) from None
