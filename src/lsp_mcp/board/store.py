"""The database: `Store` opens it, brings it up to date, and runs transactions. Blocking; see `board.Board`."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from lsp_mcp.board import tables
from lsp_mcp.board.activity_file import tell_followers
from lsp_mcp.board.failures import Failures
from lsp_mcp.board.migrating import MIGRATIONS, SCHEMA, VERSION
from lsp_mcp.board.transaction import PERSON, Actor, Transaction, Work, together
from lsp_mcp.board.turn import turn
from lsp_mcp.database.engines import CONNECT, OUR_FOLDERS, postgres_engine, sqlite_engine
from lsp_mcp.database.migrating import migrate
from lsp_mcp.database.words import code_of, words_of
from lsp_mcp.errors import ConfigError, UnavailableError

__all__ = ["CHANNEL", "CONNECT", "OUR_FOLDERS", "PERSON", "Actor", "Store", "Transaction", "Work"]

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_BUSY_TIMEOUT = 10_000  # milliseconds that a writer waits for others
_MOST_CHANGES = 20_000  # rows kept for followers that catch up
_PRUNE_EVERY = 500
_MOST_TOGETHER = 32  # writes that SQLite commits together
_MOST_TAKEN = 5  # attempts to find an unused key
_LONGEST_PAUSE = 0.1  # seconds before a write is repeated after a conflict
CHANNEL = "lsp_mcp_board"  # of PostgreSQL's NOTIFY
_LOCK = 4_217_002  # of PostgreSQL's advisory locks: who records changes
_READ_ONLY = {"postgresql_readonly": True}
# PostgreSQL's SQLSTATEs: changed by another since it was read; locks in a circle; a key that is taken, or gone; ours,
# for a schema that is another release's.
_CHANGED, _CIRCLE, _TAKEN, _DIVISION = "40001", "40P01", "23", "22012"
_ENDED = ("08", "57P")  # and those that come when a connection ends


class Store:
    """One board's database: a file of SQLite's, or a PostgreSQL.

    Raises:
        ConfigError: it cannot be opened, is broken, or is of a newer version; it is left as it is.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self._writing = threading.Lock()
        self._waiting: deque[_Write] = deque()
        self._recorded = secrets.randbelow(_PRUNE_EVERY)  # changes; processes don't all clean up at once
        # Not by SQLAlchemy's own reading of a URL: a folder's name may have a `?`.
        self.file = Path(url.removeprefix("sqlite:///")) if self.is_sqlite else None
        self._failures = Failures(url, self.file)
        try:
            self._engine = sqlite_engine(self.file, _BUSY_TIMEOUT) if self.file else postgres_engine(url, _BUSY_TIMEOUT)
        except (OSError, SQLAlchemyError) as error:
            raise self._failures.cannot_open(words_of(error)) from None
        # A reader there also sees one moment, however many queries it runs; and it cannot write.
        self._reading = self._engine if self.file else self._engine.execution_options(**_READ_ONLY)
        try:
            self._schema = migrate(self._engine, MIGRATIONS)
        except ConfigError as error:
            self._engine.dispose()
            raise self._failures.cannot_open(error) from None
        except SQLAlchemyError as error:
            self._engine.dispose()
            raise self._failures.broken(error) from None

    @property
    def shown(self) -> str:
        """Where it is, without a password."""
        return self._failures.shown

    def read(self, work: Work[Result], actor: Actor = PERSON) -> Result:
        """The result of `work`, which must not write. A lost connection is replaced once.

        Raises:
            LspMcpError: an error of `work`.
            UnavailableError: the database is gone.
        """
        begin, end = ("BEGIN", "ROLLBACK") if self.is_sqlite else (None, None)
        for is_last in (False, True):
            try:
                with self._connected(self._reading) as connection:
                    if begin and end:
                        connection.exec_driver_sql(begin)
                    try:
                        at = Transaction(connection, actor)
                        result = work(at)
                        at.flush()  # who only reads puts nothing: the database refuses it
                        return result
                    finally:
                        if end:
                            with suppress(SQLAlchemyError):
                                connection.exec_driver_sql(end)
            except DBAPIError as error:
                if is_last or not error.connection_invalidated:
                    raise self._failures.unavailable(error) from None
        raise AssertionError("unreachable")

    def write(self, work: Work[Result], actor: Actor = PERSON) -> Result:
        """The result of `work`, once all its changes are safely stored.

        `work` may run several times, each time on the present state: only its last run counts.

        Raises:
            LspMcpError: an error of `work`; nothing was changed.
            UnavailableError: the database is gone, full or read-only; nothing was changed, or the message says that
                this is unknown.
        """
        if not self.file:
            return self._write_to_postgres(work, actor)
        write = _Write(work, actor)
        self._waiting.append(write)
        # Writers share disk syncs: the first in line commits all of them together.
        while not write.is_done:
            with self._writing:
                if not write.is_done:
                    self._write_waiting(self.file)
        return write.outcome()  # type: ignore[no-any-return]

    def check(self) -> None:
        """Check that this program may still use the database.

        Raises:
            UnavailableError: a newer release has changed its tables, or it is gone.
        """
        if self.read(lambda at: at.connection.execute(sa.select(VERSION)).scalar()) != self._schema:
            raise self._failures.of_another_release(self._schema)

    def close(self) -> None:
        """End all connections."""
        self._engine.dispose()

    # --- SQLite ------------------------------------------------------------------------------------

    def _write_waiting(self, file: Path) -> None:
        """Carry out the next ones that wait; all are finished afterwards."""
        with turn(file, _BUSY_TIMEOUT / 1000):
            self._make_safe([self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_TOGETHER))])
        # SQLite's own last write to its files precedes the moment when others see the commit.
        tell_followers(file, b"\n")

    def _make_safe(self, writes: list[_Write]) -> None:
        """Carry out several in one transaction, each as a whole or not at all; all are finished afterwards."""
        if len(writes) > 1:
            try:
                self._commit_to_file(writes)
            except (DBAPIError, UnavailableError) as error:
                log.debug("writes are tried one by one: %s", error)
            else:
                return
        for write in writes:
            self._make_one_safe(write)
            write.is_done = True

    def _make_one_safe(self, write: _Write) -> None:
        for write.attempt in range(_MOST_TAKEN):
            try:
                self._commit_to_file([write])
            except IntegrityError as error:
                write.fail(error)  # a key that is taken: the next run finds another
            except DBAPIError as error:
                write.fail(self._failures.unavailable(error))
                return
            except UnavailableError as error:
                write.fail(error)
                return
            else:
                return

    def _commit_to_file(self, writes: list[_Write]) -> None:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                if connection.execute(sa.select(VERSION)).scalar() != self._schema:
                    raise self._failures.of_another_release(self._schema)
                for write in writes:
                    connection.exec_driver_sql("SAVEPOINT one")
                    try:
                        self._carry_out(connection, write)
                    except DBAPIError:
                        raise
                    except BaseException as error:  # noqa: BLE001 (raised where the result is awaited)
                        connection.exec_driver_sql("ROLLBACK TO one")
                        write.fail(error)
                    connection.exec_driver_sql("RELEASE one")
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(SQLAlchemyError):  # a disk that is full has ended it already
                    connection.exec_driver_sql("ROLLBACK")
                raise
        for write in writes:
            write.is_done = True

    def _carry_out(self, connection: Connection, write: _Write) -> None:
        at = Transaction(connection, write.actor, write.attempt)
        write.succeed(write.work(at))
        for statement in (*at.recorded(), *self._forgetting(at)):
            connection.execute(statement)

    # --- PostgreSQL --------------------------------------------------------------------------------

    def _write_to_postgres(self, work: Work[Result], actor: Actor) -> Result:
        until = time.monotonic() + _BUSY_TIMEOUT / 1000
        attempt, was_lost = 0, False
        while True:
            try:
                return self._commit_to_postgres(work, actor, attempt)
            except DBAPIError as error:
                code = code_of(error)
                if code == _DIVISION:
                    raise self._failures.of_another_release(self._schema) from None
                if code.startswith(_TAKEN) and attempt >= _MOST_TAKEN:
                    raise
                is_lost = error.connection_invalidated and not was_lost
                was_lost = was_lost or is_lost
                is_changed = code.startswith((_CHANGED, _CIRCLE, _TAKEN)) and time.monotonic() < until
                if not (is_lost or is_changed):
                    raise self._failures.unavailable(error) from None
            attempt += 1
            # Conflicting writers retry at different times.
            time.sleep(secrets.randbelow(1_000) / 1_000 * min(_LONGEST_PAUSE, 0.002 * 2 ** min(attempt, 10)))

    def _commit_to_postgres(self, work: Work[Result], actor: Actor, attempt: int) -> Result:
        with self._connected(self._engine) as connection:
            at = Transaction(connection, actor, attempt)
            result = work(at)
            statements = [*at.taken(), *at.recorded(self._turn()), *self._forgetting(at)]
            try:
                together(connection, statements, commit=True)
            except DBAPIError as error:
                if not (error.connection_invalidated or code_of(error).startswith(_ENDED)):
                    raise
                _give_up(connection)
                if not self._has(at):
                    raise self._failures.unavailable(error, is_known=False) from None
            return result

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """A connection; what fails on it is rolled back."""
        with engine.connect() as connection:
            try:
                yield connection
            except BaseException as error:
                if isinstance(error, DBAPIError) and error.connection_invalidated:
                    _give_up(connection)
                with suppress(SQLAlchemyError):
                    connection.rollback()
                raise

    def _turn(self) -> sa.CTE:
        """Changes are committed in numeric order, listeners are notified, and the schema version is checked.

        The lock is held from here to the end of the transaction, which is sent together with this.
        """
        known = sa.select(sa.func.count()).select_from(SCHEMA).where(VERSION.in_([self._schema])).scalar_subquery()
        lock = sa.literal(_LOCK, sa.BigInteger)
        return sa.select(
            sa.func.pg_advisory_xact_lock(lock), sa.func.pg_notify(CHANNEL, ""), 1 / sa.cast(known, sa.Integer)
        ).cte("turn")

    def _has(self, at: Transaction) -> bool:
        """Whether what a transaction recorded is there; asked on another connection, once it has no turn any more."""
        if not at.changes:
            return False
        first = at.changes[0]
        try:
            with self._engine.connect() as connection:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.literal(_LOCK, sa.BigInteger))))
                connection.rollback()
                columns = tables.changes.c
                same = [columns[name] == value for name, value in first.items()]
                return connection.execute(sa.select(columns.seq).where(*same)).first() is not None
        except DBAPIError as error:
            log.info("it is unknown whether a change was stored: %s", error)
            return False

    # --- both --------------------------------------------------------------------------------------

    def _forgetting(self, at: Transaction) -> list[sa.Executable]:
        """Forget the oldest changes, now and then."""
        self._recorded += len(at.changes)
        if not at.changes or self._recorded % _PRUNE_EVERY >= len(at.changes):
            return []
        number = tables.changes.c.seq
        newest = sa.select(sa.func.max(number)).scalar_subquery()
        return [sa.delete(tables.changes).where(number <= newest - _MOST_CHANGES)]


@dataclass
class _Write:
    """A write that waits for its turn, and its outcome."""

    work: Work[Any]
    actor: Actor
    attempt: int = 0
    is_done: bool = False
    result: Any = None
    error: BaseException | None = None

    def succeed(self, result: Any) -> None:
        self.result, self.error = result, None

    def fail(self, error: BaseException) -> None:
        """This run was rolled back."""
        self.result, self.error = None, error

    def outcome(self) -> Any:
        """The result of the work; raises its errors."""
        if self.error:
            raise self.error
        return self.result


def _give_up(connection: Connection) -> None:
    """It is lost, and so are the others in the pool, which are as old."""
    connection.invalidate()
    connection.engine.dispose(close=False)
