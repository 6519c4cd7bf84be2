"""A workspace in a temporary folder and a watch on it, by each method that this machine has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from disk.disk_helpers import Open
from lsp_mcp.disk import Watch

METHODS = ["inotify", "watchfiles", "scan"] if sys.platform == "linux" else ["watchfiles", "scan"]


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def open_watch(method: str) -> Iterator[Open]:
    """Start a watch on some roots by `method`; it is closed at the end."""
    opened: list[Watch] = []

    def open_(*roots: Path, ignored: tuple[str, ...] = (".git", "node_modules"), **options: Any) -> Watch:
        watch = Watch(roots, ignored, **{"method": method, **options})
        opened.append(watch)
        watch.start()
        return watch

    yield open_
    for watch in opened:
        watch.close()
