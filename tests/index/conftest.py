"""A store in SQLite, and one in a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from board.conftest import postgres  # noqa: F401 (a fixture)
from lsp_mcp.index.store import IndexStore


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres").database())
    return f"sqlite:///{tmp_path / 'index.sqlite3'}"


@pytest.fixture
def store(url: str) -> Iterator[IndexStore]:
    opened = IndexStore(url)
    yield opened
    opened.close()
