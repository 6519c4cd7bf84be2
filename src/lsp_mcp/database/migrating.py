"""Bringing a database up to date: `Migrations`, Alembic's in a folder `versions`, the first one included."""

from __future__ import annotations

import logging
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from msgspec import Struct
from sqlalchemy.engine import Connection, Engine

from lsp_mcp.errors import ConfigError
from lsp_mcp.installed import upgrade_command

log = logging.getLogger(__name__)


class Migrations(Struct, frozen=True):
    """The migrations of one kind of database.

    `title` names it in messages; `folder` has `versions`; `lock` is a number of PostgreSQL's advisory locks, held by
    the one process that migrates.
    """

    title: str
    folder: Path
    tables: sa.MetaData
    version_table: str
    lock: int


def migrate(engine: Engine, known: Migrations) -> str:
    """Create what is missing; nothing happens to a database that is up to date. Returns its version.

    Raises:
        ConfigError: it is of a newer version, or another program's; it is left as it is.
    """
    config = Config()
    config.set_main_option("script_location", str(known.folder))
    scripts = ScriptDirectory.from_config(config)
    if engine.dialect.name != "sqlite":
        engine = engine.execution_options(isolation_level="READ COMMITTED")  # what others did is seen behind the lock
    with engine.connect() as connection:
        if _is_newest(connection, scripts, known):
            _set_mode(connection)
            return str(scripts.get_current_head())
        connection.rollback()
        # Looked at again where nobody else can create the tables in between.
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": known.lock})
        if not _is_newest(connection, scripts, known):
            _refuse_others(connection, known)
            _upgrade(config, scripts, connection, known)
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("COMMIT")
        else:
            connection.commit()
        _set_mode(connection)
    return str(scripts.get_current_head())


def _set_mode(connection: Connection) -> None:
    """Readers and a writer at once, which a file of SQLite's remembers."""
    if connection.dialect.name == "sqlite":
        connection.rollback()
        if connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            except sa.exc.OperationalError as error:
                # Refused at once, whatever the timeout, while another process uses the file, which sets the mode too.
                log.info("the mode of the file is not changed: %s", error)


def _upgrade(config: Config, scripts: ScriptDirectory, connection: Connection, known: Migrations) -> None:
    def steps(revision: object, _: object) -> object:
        return scripts._upgrade_revs("head", revision)  # type: ignore[arg-type]

    with EnvironmentContext(config, scripts, fn=steps) as environment:
        environment.configure(
            connection=connection,
            target_metadata=known.tables,
            version_table=known.version_table,
            render_as_batch=True,
            transactional_ddl=False,  # the transaction is ours
        )
        environment.run_migrations()


def _version(connection: Connection, known: Migrations) -> str | None:
    return MigrationContext.configure(connection, opts={"version_table": known.version_table}).get_current_revision()


def _is_newest(connection: Connection, scripts: ScriptDirectory, known: Migrations) -> bool:
    """Whether there is nothing to do.

    Raises:
        ConfigError: the database is of a newer version.
    """
    found = _version(connection, known)
    if found is None:
        return False
    try:
        scripts.get_revision(found)
    except CommandError:
        raise ConfigError(
            f"it is of a newer version of lsp-mcp ({known.title} version {found}); update lsp-mcp: {upgrade_command()}"
        ) from None
    return found == scripts.get_current_head()


def _refuse_others(connection: Connection, known: Migrations) -> None:
    """Where nobody else can create the tables in between, so that those without a version are another program's.

    Raises:
        ConfigError: there are such tables.
    """
    there = sorted(set(sa.inspect(connection).get_table_names()) & set(known.tables.tables))
    if there and _version(connection, known) is None:
        raise ConfigError(f"it has tables of another program: {', '.join(there)}; name another database")
