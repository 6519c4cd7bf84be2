"""What holds for every test: where outside programs are, `--update`, and that nothing skips unseen in CI."""

import os
import sys
import tempfile
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
TOOLS = (HERE.parent / ".tools" / "bin", Path(sys.prefix) / "bin")
# Indexes that tests make go with them.
_CACHE = tempfile.TemporaryDirectory(prefix="lsp-mcp-cache-")
os.environ["LSP_MCP_CACHE"] = _CACHE.name
# An index that this machine's user has pushed is none of theirs.
os.environ["LSP_MCP_INDEX"] = str(Path(_CACHE.name) / "index")
# Tests of what is shared say so.
os.environ["LSP_MCP_SHARED"] = "0"
os.environ["PATH"] = os.pathsep.join([*map(str, TOOLS), os.environ["PATH"]])

# How long an example takes says nothing on a machine that does other things too.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

unlisted_skips = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the expected answers; read the diff")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With CI=true, a skip that `allowed_skips.toml` does not name fails the run."""
    if os.environ.get("CI") != "true":
        return
    allowed = tomllib.loads((HERE / "allowed_skips.toml").read_text("utf-8"))
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = terminal.stats.get("skipped", []) if terminal else []
    unlisted = [
        f"{report.nodeid}: {report.longrepr[2]}"
        for report in reports
        if not any(fnmatchcase(report.nodeid, glob) for glob in allowed)
    ]
    session.config.stash[unlisted_skips] = unlisted
    if unlisted and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if unlisted := config.stash.get(unlisted_skips, []):
        terminalreporter.section("skipped, and not named in tests/allowed_skips.toml", red=True)
        for line in unlisted:
            terminalreporter.line(line)
        terminalreporter.line(
            "CI=true: a skip fails the run. Make the test run here (scripts/tools.sh gets programs), "
            "or name it in tests/allowed_skips.toml with the reason."
        )
