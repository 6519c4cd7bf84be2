"""git is run without anything that the configuration of a repository names."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from lsp_mcp.wire.git import PLAIN_DIFF, git_output

PROGRAMS = {
    "a clean filter": {"filter.e.clean": "touch RAN; cat"},
    "a required filter": {"filter.e.clean": "touch RAN; cat", "filter.e.required": "true"},
    "a filter process": {"filter.e.process": "touch RAN"},
    "a file system monitor": {"core.fsmonitor": "touch RAN; :"},
    "an external diff": {"diff.external": "touch RAN; :"},
    "a diff of its own": {"diff.e.command": "touch RAN; :", "diff.e.textconv": "touch RAN; cat"},
}


@pytest.mark.parametrize("configured", PROGRAMS.values(), ids=PROGRAMS)
def test_a_diff_runs_nothing_that_the_repository_configures(tmp_path: Path, configured: dict[str, str]) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    (tmp_path / "a.go").write_text("package a\n")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    (tmp_path / ".gitattributes").write_text("*.go filter=e diff=e\n")
    (tmp_path / "a.go").write_text("package a\n// y\n")
    for key, value in configured.items():
        git("config", key, value)
    said = asyncio.run(git_output(tmp_path, "diff", *PLAIN_DIFF, "HEAD"))
    assert said and "+// y" in said
    assert not (tmp_path / "RAN").exists()


def test_where_a_filter_cannot_be_turned_off_git_is_not_run(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "config", "filter.a=b.clean", "touch RAN"], cwd=tmp_path, check=True)
    assert asyncio.run(git_output(tmp_path, "status")) is None
