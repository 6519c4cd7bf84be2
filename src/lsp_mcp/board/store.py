"""The database: `Store` opens it, brings it up to date, and runs transactions. Blocking; see `board.Board`."""

from __future__ import annotations

import logging
import os
import shlex
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, SQLAlchemyError

from lsp_mcp.board import fields, tables
from lsp_mcp.board.migrating import migrate
from lsp_mcp.errors import ConfigError, UnavailableError
from lsp_mcp.private_files import make_private_file, make_private_folder, open_private, private_folder, tighten_file

log = logging.getLogger(__name__)

Result = TypeVar("Result")

_BUSY_TIMEOUT = 10_000  # milliseconds that SQLite waits for another writer
_MOST_CHANGES = 20_000  # rows that are kept to catch up on
_PRUNE_EVERY = 500
_MOST_ACTIVITY = 64 * 1024  # bytes of the file, which then begins anew
OUR_FOLDERS = ("lsp-mcp", ".lsp-mcp")  # in git's folder, and in a workspace root
CHANNEL = "lsp_mcp_board"  # of PostgreSQL's NOTIFY
CONNECT = 10  # seconds for a connection to PostgreSQL
_LOCK = 4_217_002  # of PostgreSQL's advisory locks: who writes
_READ_ONLY = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_BROKEN = ("malformed", "not a database")  # SQLite's words


@dataclass(frozen=True)
class Actor:
    """Who does something: an agent, or a person (who has no id)."""

    name: str
    id: str | None = None


PERSON = Actor("you")


@dataclass
class Transaction:
    """What one transaction works with; what it changes is committed as a whole, or not at all."""

    connection: Connection
    actor: Actor
    now: str = field(default_factory=fields.now)
    changes: int = 0  # how many it has recorded

    def change(self, action: str, kind: str, ref: str, text: str = "") -> None:
        """Record for all who follow that this was done."""
        self.connection.execute(
            sa.insert(tables.changes).values(
                at=self.now, who=self.actor.name, agent=self.actor.id, action=action, kind=kind, ref=ref, text=text
            )
        )
        self.changes += 1


Work = Callable[[Transaction], Result]


class Store:
    """One board's database: a file of SQLite's, or a PostgreSQL.

    Raises:
        ConfigError: it cannot be opened, is broken, or is of a newer version; it is left as it is.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self._writing = threading.Lock()
        # Not by SQLAlchemy's own reading of a URL: a folder's name may have a `?`.
        self.file = Path(url.removeprefix("sqlite:///")) if self.is_sqlite else None
        try:
            self._engine = _sqlite_engine(self.file) if self.file else _postgres_engine(url)
        except (OSError, SQLAlchemyError) as error:
            raise ConfigError(f"the board {self.shown} cannot be opened: {_words(error)}") from None
        # A reader sees one moment there too, however many questions it asks; and it cannot write.
        self._reading = self._engine if self.file else self._engine.execution_options(**_READ_ONLY)
        try:
            migrate(self._engine)
        except ConfigError as error:
            self._engine.dispose()
            raise ConfigError(f"the board {self.shown} cannot be opened: {error}") from None
        except SQLAlchemyError as error:
            self._engine.dispose()
            raise ConfigError(
                f"the board {self.shown} cannot be opened: {_words(error)}. It was left as it is{self._rescue(error)}."
            ) from None

    @property
    def shown(self) -> str:
        """Where it is, without a password."""
        return str(self.file) if self.file else sa.make_url(self.url).render_as_string(hide_password=True)

    def read(self, work: Work[Result], actor: Actor = PERSON) -> Result:
        """What `work` returns; it changes nothing. Raises as `write`."""
        return self._run(self._reading, work, actor, "BEGIN" if self.is_sqlite else None)

    def write(self, work: Work[Result], actor: Actor = PERSON) -> Result:
        """What `work` returns, once all that it changed is safely stored.

        Raises:
            LspMcpError: what `work` raises; nothing was changed.
            UnavailableError: the database is gone, full or read-only; nothing was changed.
        """

        def announced(at: Transaction) -> Result:
            if not self.is_sqlite:
                # One writer at a time there too, or changes would not be committed in the order of their numbers.
                at.connection.execute(sa.text(f"SET LOCAL lock_timeout = {_BUSY_TIMEOUT}"))
                at.connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            result = work(at)
            if at.changes:
                _prune(at)
                if not self.is_sqlite:
                    at.connection.execute(sa.text(f"NOTIFY {CHANNEL}"))
            return result

        # Of this process one at a time: those that wait in line do so here, in order, not in SQLite's busy loop.
        with self._writing:
            result = self._run(self._engine, announced, actor, "BEGIN IMMEDIATE" if self.is_sqlite else None)
        if self.file:
            # SQLite's own last write to its files comes before others can see what was committed.
            tell_followers(self.file, b"\n")
        return result

    def close(self) -> None:
        """End all connections."""
        self._engine.dispose()

    def _rescue(self, error: SQLAlchemyError) -> str:
        """What to do about a broken file, as the end of a sentence."""
        if not self.file or not any(words in _words(error) for words in _BROKEN):
            return ""
        file, new = shlex.quote(str(self.file)), shlex.quote(f"{self.file}.rescued")
        program = f"{shlex.quote(sys.executable)} -m lsp_mcp.board.rescue"
        return f"; what is readable of it comes into a new file with: {program} {file} {new}"

    def _run(self, engine: Engine, work: Work[Result], actor: Actor, begin: str | None) -> Result:
        try:
            with engine.connect() as connection:
                if begin:
                    connection.exec_driver_sql(begin)
                try:
                    result = work(Transaction(connection, actor))
                except BaseException:
                    with suppress(SQLAlchemyError):  # a disk that is full has ended it already
                        connection.exec_driver_sql("ROLLBACK") if begin else connection.rollback()
                    raise
                connection.exec_driver_sql("COMMIT") if begin else connection.commit()
                return result
        except IntegrityError:
            raise
        except (OperationalError, DatabaseError) as error:
            raise UnavailableError(
                f"the board {self.shown} cannot be used: {_words(error)}. Nothing was changed{self._rescue(error)}."
            ) from None


def _postgres_engine(url: str) -> Engine:
    return sa.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://", 1),
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT},
    )


def _sqlite_engine(file: Path) -> Engine:
    # Who chose another place may share its folder; the file itself is for one user, since what agents read is a prompt.
    private_folder(file.parent) if file.parent.name in OUR_FOLDERS else make_private_folder(file.parent)
    make_private_file(file)  # SQLite gives its other files the same rights
    for suffix in ("-wal", "-shm", "-journal"):
        tighten_file(file.with_name(f"{file.name}{suffix}"))
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(file)),
        connect_args={"timeout": _BUSY_TIMEOUT / 1000, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # transactions begin and end where we say
        for pragma in ("synchronous=FULL", "foreign_keys=ON", f"busy_timeout={_BUSY_TIMEOUT}"):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own knows only the letters of ASCII.
        connection.create_function("lower", 1, _lower, deterministic=True)

    return engine


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def activity_file(database: Path) -> Path:
    """Beside a file of SQLite's: what processes tell each other, a line of JSON each, or an empty one: "look"."""
    return database.with_name(f"{database.name}-activity")


def tell_followers(database: Path, line: bytes) -> None:
    """Append a line for those who follow `activity_file`; harmless if that cannot be done."""
    file = activity_file(database)
    try:
        big = file.exists() and file.stat().st_size > _MOST_ACTIVITY
        # One write of a short line at the end is not torn apart by another's.
        descriptor = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if big else 0))
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        log.debug("others are not told: %s", error)


def _prune(at: Transaction) -> None:
    """Forget the oldest changes, now and then."""
    newest = at.connection.execute(sa.select(sa.func.max(tables.changes.c.seq))).scalar() or 0
    if newest % _PRUNE_EVERY < at.changes and newest > _MOST_CHANGES:
        at.connection.execute(sa.delete(tables.changes).where(tables.changes.c.seq <= newest - _MOST_CHANGES))


def _words(error: Exception) -> str:
    """The database's own words."""
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]
