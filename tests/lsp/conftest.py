"""A workspace with the scripted fake server, and no waiting between tries to start it."""

from pathlib import Path

import pytest

from fakes.workspace import FakeWorkspace


@pytest.fixture
def fake(tmp_path: Path) -> FakeWorkspace:
    return FakeWorkspace(tmp_path)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four tries, as ever, but without the pauses before them."""
    monkeypatch.setattr("lsp_mcp.lsp.life.lifetime._PAUSES", (0.0, 0.0, 0.0, 0.0))
