"""The two kinds of database, and how a connection to each behaves."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Engine

from lsp_mcp.private_files import make_private_file, make_private_folder, private_folder, tighten_file

OUR_FOLDERS = ("lsp-mcp", ".lsp-mcp")  # in git's folder, and in a workspace root
CONNECT = 10  # seconds for a connection to PostgreSQL
THREADS = 16  # that use it at once
_SILENT = 15  # seconds after which a silent network counts as broken
_IDLE = 60_000  # milliseconds after which PostgreSQL ends an idle transaction


def postgres_engine(url: str, lock_timeout: int) -> Engine:
    """Of a PostgreSQL; `lock_timeout` in milliseconds.

    A transaction sees one moment, and one that would overwrite what was changed since is refused (SQLSTATE 40001).
    """
    address = sa.make_url(url.replace("postgresql://", "postgresql+psycopg://", 1))
    given = address.query.get("options", "")
    settings = f"-c lock_timeout={lock_timeout} -c idle_in_transaction_session_timeout={_IDLE}"
    return sa.create_engine(
        address,
        isolation_level="REPEATABLE READ",
        pool_size=THREADS,
        max_overflow=0,
        pool_use_lifo=True,
        json_deserializer=msgspec.json.decode,
        connect_args={
            "connect_timeout": CONNECT,
            "options": f"{given if isinstance(given, str) else ' '.join(given)} {settings}".strip(),
            "keepalives_idle": _SILENT,
            "tcp_user_timeout": _SILENT * 1_000,
        },
    )


def sqlite_engine(file: Path, busy_timeout: int) -> Engine:
    """Of SQLite's `file`, which is made if missing; `busy_timeout` in milliseconds."""
    # Users who choose another place may share its folder; the file itself is for one user, since agents read it as a
    # prompt.
    private_folder(file.parent) if file.parent.name in OUR_FOLDERS else make_private_folder(file.parent)
    make_private_file(file)  # SQLite gives its other files the same rights
    for suffix in ("-wal", "-shm", "-journal", "-turn"):
        tighten_file(file.with_name(f"{file.name}{suffix}"))
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(file)),
        pool_size=THREADS,
        json_deserializer=msgspec.json.decode,  # of 10,000 tasks the tags took longer than the query
        connect_args={"timeout": busy_timeout / 1000, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None  # we begin and end transactions explicitly
        for pragma in ("synchronous=FULL", "foreign_keys=ON", f"busy_timeout={busy_timeout}"):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own knows only the letters of ASCII.
        connection.create_function("lower", 1, _lower, deterministic=True)

    return engine


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value
