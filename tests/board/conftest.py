"""A board on each kind of database: SQLite's file, and a PostgreSQL server that is started for the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from board.boards import World
from board.postgres import PostgresServer
from lsp_mcp.board import tables
from lsp_mcp.board.store import Store, Transaction

DATABASES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """Which kind it is."""
    return str(request.param)


@pytest.fixture
def new_store(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    """Makes URLs of databases that are empty."""
    numbers = iter(range(1_000))

    def new() -> str:
        if database == "postgresql":
            return str(request.getfixturevalue("postgres").database())
        return f"sqlite:///{tmp_path / f'board-{next(numbers)}' / 'board.sqlite3'}"

    return new


@pytest.fixture
def store_url(new_store: Callable[[], str]) -> str:
    """The URL of an empty database."""
    return new_store()


@pytest.fixture(scope="session")
def stores(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Store]]:
    """An open store of each kind, which tests share one after the other."""
    made: dict[str, Store] = {}

    def store(database: str) -> Store:
        if database not in made:
            url = f"sqlite:///{tmp_path_factory.mktemp('shared') / 'board.sqlite3'}"
            if database == "postgresql":
                url = request.getfixturevalue("postgres").database()
            made[database] = Store(url)
        return made[database]

    yield store
    for one in made.values():
        one.close()


@pytest.fixture
def world(stores: Callable[[str], Store], database: str) -> World:
    """A board with the usual stages and nothing else."""
    store = stores(database)

    def clear(at: Transaction) -> None:
        for table in reversed(tables.metadata.sorted_tables):
            at.connection.execute(table.delete())

    store.write(clear)
    return World(store)
