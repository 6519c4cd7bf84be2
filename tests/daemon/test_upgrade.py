"""Sessions outlive an upgrade: the program changes on disk while doors and their daemon run."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil
import pytest

import lsp_mcp
from asking import skip_without
from mcp_process import BOUND
from shared_daemon import Desk, ask

skip_without("gopls")
NEXT = "999.0"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the program, which can be upgraded."""
    package = Path(lsp_mcp.__file__).parent
    copy = tmp_path / "installed" / "src"
    shutil.copytree(package, copy / package.name)
    for data in ("adapters", "lua", "plugin", "doc"):
        (copy.parent / data).symlink_to(package.parent.parent / data)
    return copy


def upgrade(installed: Path) -> None:
    file = installed / "lsp_mcp" / "__init__.py"
    file.write_text(file.read_text().replace(lsp_mcp.__version__, NEXT))


def test_sessions_go_on_when_the_program_is_upgraded_under_them(desk: Desk, installed: Path) -> None:
    env = {"PYTHONPATH": str(installed)}
    with desk.client(**env) as old:
        assert "Found 2 references" in ask(old)
        daemon = desk.daemon()
        upgrade(installed)
        with desk.client(**env) as new:
            assert "Found 2 references" in ask(new)
            versions = {about["version"]: about["pid"] for about in desk.status()}
            assert versions == {lsp_mcp.__version__: daemon.pid, NEXT: versions[NEXT]}, "each has its own daemon"
            assert "Found 2 references" in ask(old), "whose own daemon is still the old one"
            daemon.kill()
            assert not psutil.wait_procs([daemon], BOUND)[1]
            told = ask(old)
            assert "Found 2 references" in told and "lsp-mcp restarted" in told
            assert {about["version"] for about in desk.status()} == {NEXT}
