"""The index store: `IndexStore` opens it, and pushes, lists and drops indexes. Blocking. See docs/indexes.md."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from lsp_mcp.database.engines import postgres_engine, sqlite_engine
from lsp_mcp.database.migrating import migrate
from lsp_mcp.database.words import code_of, shown_url, words_of
from lsp_mcp.errors import CallerError, ConfigError, UnavailableError
from lsp_mcp.index.gathering import Gathered
from lsp_mcp.index.migrating import MIGRATIONS
from lsp_mcp.index.tables import documents, pushes, repositories, symbols

Result = TypeVar("Result")

_BUSY = 120_000  # milliseconds that a push waits for others, which write for seconds
_ROWS = 2_000  # sent at once
_RETRIED = ("40001", "40P01", "23505")  # SQLSTATEs: another push changed the same repository
_TRIES = 5
_PAUSE = 0.2  # seconds before a push is repeated
_DATA = (documents, symbols)
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")  # git's own
_SHORT = 12  # characters of it


class Pushed(Struct, frozen=True):
    """One index in the store. `pushed_at` is UTC; `name` is empty if `gc` may drop it once it is not the newest."""

    repository: str
    commit: str
    name: str
    is_newest: bool
    pushed_at: str
    tool: str
    documents: int
    symbols: int
    occurrences: int
    bytes: int
    has_text: bool
    packages: list[str]
    key: tuple[int, int]

    @property
    def short_commit(self) -> str:
        """The commit as anchors and answers show it."""
        return self.commit[:_SHORT] if _HASH.fullmatch(self.commit) else self.commit


class IndexStore:
    """The indexes of many repositories, in a file of SQLite's or a PostgreSQL.

    Raises:
        ConfigError: it cannot be opened; it is left as it is.
    """

    def __init__(self, url: str) -> None:
        self._file = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None
        self.shown = shown_url(url)
        try:
            self._engine = sqlite_engine(self._file, _BUSY) if self._file else postgres_engine(url, _BUSY)
            migrate(self._engine, MIGRATIONS)
        except (OSError, SQLAlchemyError, ConfigError) as error:
            raise ConfigError(f"the index store {self.shown} cannot be opened: {words_of(error)}") from None

    def close(self) -> None:
        """End all connections."""
        self._engine.dispose()

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work`, which sees one moment. Raises UnavailableError: the database is gone."""
        try:
            with self._transaction("BEGIN", reads=True) as connection:
                return work(connection)
        except _RepeatedError:  # a connection that is older than the database's last start
            with self._transaction("BEGIN") as connection:
                return work(connection)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of `work`, all of which is stored or nothing; it may run again if others write at once.

        Raises:
            UnavailableError: the database is gone, or others kept writing; nothing was stored.
        """
        for attempt in range(_TRIES):
            try:
                with self._transaction("BEGIN IMMEDIATE") as connection:
                    return work(connection)
            except _RepeatedError as error:
                if attempt == _TRIES - 1:
                    raise self._unavailable(error.error) from None
                time.sleep(_PAUSE * (attempt + secrets.randbelow(100) / 100))
        raise AssertionError("unreachable")

    def push(self, gathered: Gathered, repository: str, commit: str, name: str | None = None) -> Pushed:
        """Store what was gathered as the newest index of `repository`, all or nothing. One of that commit is replaced.

        Raises:
            UnavailableError: the database is gone, or others kept writing; nothing was stored.
        """
        values = {
            "commit": commit,
            "name": name,
            "is_newest": True,
            "tool": f"{gathered.tool.name} {gathered.tool.version}".strip(),
            "documents": len(gathered.documents),
            "symbols": gathered.symbols,
            "occurrences": gathered.occurrences,
            "bytes": 0,  # known at the end
            "has_text": any(row["text"] for row in gathered.documents),
            "packages": gathered.packages,
        }

        def work(connection: Connection) -> Pushed:
            number = _repository(connection, repository)
            same = (pushes.c.repository == number) & (pushes.c.commit == commit)
            old = connection.execute(sa.select(pushes.c.push).where(same)).scalars().all()
            connection.execute(sa.update(pushes).where(pushes.c.repository == number).values(is_newest=False))
            for push in old:
                _delete(connection, number, push)
            key = {"repository": number, "push": secrets.randbits(31)}
            row = {**key, **values, "pushed_at": datetime.now(UTC).isoformat(timespec="microseconds")}
            connection.execute(sa.insert(pushes), [row])
            size = 0
            for table, there in ((documents, gathered.documents), (symbols, gathered.symbol_rows())):
                for some in _batches(there):
                    connection.execute(sa.insert(table), [{**key, **one} for one in some])
                    size += sum(len(value) for one in some for value in one.values() if isinstance(value, str | bytes))
            row["bytes"] = size
            own = (pushes.c.repository == number) & (pushes.c.push == key["push"])
            connection.execute(sa.update(pushes).where(own).values(bytes=size))
            return _pushed({**row, "repository_name": repository})

        return self.write(work)

    def indexes(self, repository: str | None = None) -> list[Pushed]:
        """All indexes, or those of one repository; by repository, the newest first. Raises UnavailableError."""
        return self.read(lambda connection: listed(connection, repository=repository))

    def drop(self, repository: str, commit: str | None = None) -> list[Pushed]:
        """Drop the indexes of a repository, or the one of a commit, which may be shortened; those dropped.

        The newest of the others becomes the repository's newest.

        Raises:
            CallerError: there is none.
            UnavailableError: the database is gone; nothing was dropped.
        """

        def work(connection: Connection) -> list[Pushed]:
            there = listed(connection, repository=repository)
            found = [one for one in there if commit is None or one.commit.startswith(commit)]
            if not found:
                known = ", ".join(one.commit for one in there) or "none of that repository"
                raise CallerError(f"the store has no such index; it has {known}.")
            for one in found:
                _delete(connection, *one.key)
            rest = [one for one in there if one not in found]
            if rest and not any(one.is_newest for one in rest):
                is_first = (pushes.c.repository == rest[0].key[0]) & (pushes.c.push == rest[0].key[1])
                connection.execute(sa.update(pushes).where(is_first).values(is_newest=True))
            if not rest:
                connection.execute(sa.delete(repositories).where(repositories.c.id == found[0].key[0]))
            return found

        return self.write(work)

    def gc(self) -> list[Pushed]:
        """Drop the indexes that are neither the newest of their repository nor named; those dropped.

        Each in a transaction of its own: pushes wait for one at most. Raises UnavailableError.
        """
        found = [one for one in self.indexes() if not one.is_newest and not one.name]
        for one in found:
            self.write(lambda connection, one=one: _delete(connection, *one.key))  # type: ignore[misc]
        return found

    # --- inside ------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, begin: str, *, reads: bool = False) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                if self._file:
                    connection.exec_driver_sql(begin)
                try:
                    yield connection
                    if self._file:
                        connection.exec_driver_sql("COMMIT")
                    connection.commit()
                except BaseException:
                    if self._file and not connection.invalidated:
                        connection.exec_driver_sql("ROLLBACK")
                    raise
        except DBAPIError as error:
            if code_of(error) in _RETRIED or (reads and error.connection_invalidated):
                raise _RepeatedError(error) from None
            raise self._unavailable(error) from None

    def _unavailable(self, error: DBAPIError) -> UnavailableError:
        return UnavailableError(f"the index store {self.shown} cannot be used: {words_of(error)}. Nothing was changed.")


class _RepeatedError(Exception):
    """Another transaction changed the same repository, or a reader lost its connection: this one can be repeated."""

    def __init__(self, error: DBAPIError) -> None:
        super().__init__(str(error))
        self.error = error


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    """`rows` in parts that are sent at once."""
    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        yield some


def listed(connection: Connection, *, repository: str | None = None, only_newest: bool = False) -> list[Pushed]:
    """The indexes, by repository, the newest first."""
    query = sa.select(pushes, repositories.c.name.label("repository_name"))
    query = query.join(repositories, repositories.c.id == pushes.c.repository)
    if repository is not None:
        query = query.where(repositories.c.name == repository)
    if only_newest:
        query = query.where(pushes.c.is_newest)
    query = query.order_by(repositories.c.name, pushes.c.is_newest.desc(), pushes.c.pushed_at.desc())
    return [_pushed(dict(row)) for row in connection.execute(query).mappings()]


def _pushed(row: dict[str, Any]) -> Pushed:
    key = row["repository"], row["push"]
    values = {name: row[name] for name in Pushed.__struct_fields__ if name in row}
    return Pushed(**{**values, "repository": row["repository_name"], "name": row["name"] or "", "key": key})


def _repository(connection: Connection, name: str) -> int:
    """The number of the repository called `name`, which is new or known."""
    find = sa.select(repositories.c.id).where(repositories.c.name == name)
    number = connection.execute(find).scalar()
    if number is None:
        connection.execute(sa.insert(repositories).values(name=name))
        number = connection.execute(find).scalar_one()
    return int(number)


def _delete(connection: Connection, repository: int, push: int) -> None:
    for table in (*_DATA, pushes):
        connection.execute(sa.delete(table).where((table.c.repository == repository) & (table.c.push == push)))
