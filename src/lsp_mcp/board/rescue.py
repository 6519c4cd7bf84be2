"""Copies the readable parts of a broken board's file to a new one: `python -m lsp_mcp.board.rescue BROKEN NEW`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsp_mcp.board import stages, tables
from lsp_mcp.board.settling import settle
from lsp_mcp.board.store import Store, Transaction
from lsp_mcp.errors import CallerError, LspMcpError


def rescue(broken: Path, new: Path) -> dict[str, int]:
    """Copy all readable rows from the file `broken` into a board in the file `new`; returns their number by table.

    Raises:
        CallerError: there is no such file, or the new one exists already.
        ConfigError: the new one cannot be created.
        sqlite3.Error: nothing can be read.
    """
    if not broken.is_file():
        raise CallerError(f"the file {broken} does not exist")
    if new.exists():
        raise CallerError(f"{new} exists already; name a new file")
    source = sqlite3.connect(f"{broken.absolute().as_uri()}?mode=ro", uri=True)
    # Makes SQLite read a file that is shorter than its header says.
    source.execute("PRAGMA writable_schema=ON")
    source.execute("SELECT count(*) FROM sqlite_master")  # or it is not a database at all
    store = Store(f"sqlite:///{new}")
    try:
        return store.write(lambda at: _copy(source, at))
    finally:
        store.close()
        source.close()


def _copy(source: sqlite3.Connection, at: Transaction) -> dict[str, int]:
    counts = dict.fromkeys(tables.metadata.tables, 0)
    at.connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    for table in tables.metadata.sorted_tables:
        there = {str(row[1]) for row in source.execute(f'PRAGMA table_info("{table.name}")')}
        names = [column.name for column in table.columns if column.name in there]
        read = list(names)
        if table.name == "history" and "task" in there:  # board version 0001
            names, read = [*names, "ref"], [*read, "task"]
        if not names:
            continue
        columns = ", ".join(f'"{name}"' for name in names)
        insert = f'INSERT OR IGNORE INTO "{table.name}" ({columns}) VALUES ({", ".join("?" * len(names))})'  # noqa: S608 (our own names)
        found = 0
        for row in _rows(source, table.name, ", ".join(f'"{name}"' for name in read)):
            found += at.connection.exec_driver_sql(insert, row).rowcount
        counts[table.name] = found
    stages.fill(at)
    # Rows that belong to something that is lost.
    place = stages.default(at)["id"]
    at.connection.exec_driver_sql("UPDATE tasks SET stage = ? WHERE stage NOT IN (SELECT id FROM stages)", (place,))
    settle(at.connection)
    for table_name, column in (
        ("task_tags", "task"),
        ("anchors", "task"),
        ("comments", "task"),
        ("dependencies", "task"),
        ("dependencies", "depends_on"),
    ):
        at.connection.exec_driver_sql(f"DELETE FROM {table_name} WHERE {column} NOT IN (SELECT id FROM tasks)")  # noqa: S608
    return counts


def _rows(source: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """From the beginning up to the broken part, then from the end; some come twice."""
    for order in ("ASC", "DESC"):
        try:
            yield from source.execute(f'SELECT {columns} FROM "{table}" NOT INDEXED ORDER BY rowid {order}')  # noqa: S608
        except sqlite3.Error:
            continue
        return


def main(arguments: list[str]) -> int:
    """The program; its exit status."""
    if len(arguments) != 2:
        print("usage: python -m lsp_mcp.board.rescue BROKEN NEW", file=sys.stderr)
        return 2
    try:
        found = rescue(Path(arguments[0]), Path(arguments[1]))
    except (LspMcpError, sqlite3.Error) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    shown = ", ".join(f"{found[name]:,} {name}" for name in ("tasks", "standards", "snippets", "questions"))
    print(f"{arguments[1]} has what was readable: {shown}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
