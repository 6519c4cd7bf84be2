"""What one transaction works with: `Transaction`. When it is committed is up to `store`."""

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
    """Who does something: an agent, or a person (who has no id)."""

    name: str
    id: str | None = None


PERSON = Actor("you")


class Transaction:
    """What one transaction works with; what it changes is committed as a whole, or not at all.

    It reads one moment of the board. `attempt` counts from 0: what others changed in between makes it run again.
    """

    def __init__(self, connection: Connection, actor: Actor, attempt: int = 0) -> None:
        self.actor = actor
        self.attempt = attempt
        self.now = fields.now()
        self.changes: list[dict[str, Any]] = []  # what it has recorded, committed with the rest
        self._connection = connection
        self._puts: list[sa.Executable] = []
        self._is_local = connection.dialect.name == "sqlite"

    @property
    def connection(self) -> Connection:
        """What questions are asked of; they see all that was put before."""
        self.flush()
        return self._connection

    def flush(self) -> None:
        """Have all carried out that was put."""
        if self._puts:
            together(self._connection, self.taken())

    def put(self, statement: sa.Executable) -> None:
        """Have this carried out at the end, or before the next question: a row is locked no longer than that takes.

        What is a network away is sent in one go. The number of rows is not told.
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
        """Of two transactions that say this at once, the second runs again on what the first has committed.

        For what holds of several rows together: PostgreSQL only notices that one row was changed by both.
        """
        if not self._is_local:
            self.put(sa.update(SCHEMA).values({VERSION: VERSION}))

    def taken(self) -> list[sa.Executable]:
        """What is still to be carried out; it is the caller's now."""
        puts, self._puts = self._puts, []
        return puts

    def change(self, action: str, kind: str, ref: str, text: str = "") -> None:
        """Record for all who follow that this was done."""
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
    """Have PostgreSQL carry these out, sent in one go, so that nothing is locked while an answer is on its way.

    Raises:
        DBAPIError: one of them failed, and none after it was carried out.
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
