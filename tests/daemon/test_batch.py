"""Calls from stdin, and what is built ahead."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from asking import skip_without
from mcp_process import BOUND, GO_ENV, PROGRAM
from shared_daemon import SOURCES, Desk

skip_without("gopls")

QUESTIONS = """\
# what a script asks
find_symbol_references_by_anchor symbol_anchor=One

{"tool": "list_symbols_in_file", "arguments": {"file_path": "a.go", "limit": 1}}
nope
list_symbols_in_file file_path='b c.go'
{"tool": 1}
list_symbols_in_file file_path=a.go"""


def batch(desk: Desk, *flags: str, text: str = QUESTIONS) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **GO_ENV, **desk.env}
    words = [PROGRAM, "call", "--batch", *flags]
    return subprocess.run(
        words, cwd=desk.root, env=env, input=text, capture_output=True, text=True, timeout=BOUND, check=False
    )


def test_each_line_of_a_batch_is_answered_in_its_order_with_and_without_a_daemon(desk: Desk) -> None:
    shared, alone = batch(desk), batch(desk, "--no-shared")
    assert shared.stdout == alone.stdout and shared.returncode == alone.returncode == 2, (shared, alone)
    told = [json.loads(line) for line in shared.stdout.splitlines()]
    assert [one["status"] for one in told] == [0, 0, 2, 1, 2, 0]
    assert [one["question"] for one in told] == [line for line in QUESTIONS.splitlines() if line and line[0] != "#"]
    assert "answer" in told[0] and "unknown tool 'nope'" in told[2]["error"] and "b c.go" in told[3]["error"]
    compact = batch(desk, "--format", "compact", text="find_symbol_references_by_anchor symbol_anchor=One\n")
    assert compact.stdout.startswith("> find_symbol_references_by_anchor symbol_anchor=One\nFound 2 references")
    assert compact.returncode == 0
    assert len(desk.status()) == 1


def test_warm_builds_what_can_be_kept_and_says_what_it_could_not(desk: Desk, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = desk.run("warm", "--json", LSP_MCP_CACHE=str(cache))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["cache"] == str(cache)
    assert [(one["server"], one["problem"]) for one in told["servers"]] == [("gopls", "")]
    assert list(cache.rglob("root.txt")), "nothing is kept"
    assert told["not_used"] == [] and told["problem"] == ""
    moved = desk.root.rename(tmp_path / "moved")
    before, desk.root = desk.root, moved
    called = desk.run("--no-shared", "call", "list_symbols_in_file", "file_path=a.go", LSP_MCP_CACHE=str(cache))
    assert not called.returncode, "which makes a folder for this checkout"
    again = desk.run("warm", LSP_MCP_CACHE=str(cache))
    assert f"not used: what was kept for {before}, which is not there any more" in again.stdout and not again.returncode
    missing = desk.run("warm", "--gopls-path", "/nope", LSP_MCP_CACHE=str(cache))
    assert missing.returncode == 1 and missing.stdout.startswith("gopls: incomplete: "), missing
    file = tmp_path / "file"
    file.write_text("no folder")
    nowhere = desk.run("warm", LSP_MCP_CACHE=str(file))
    assert nowhere.returncode == 1
    assert "gopls: built in " in nowhere.stdout and f"not kept: {file} cannot be written: Not a dir" in nowhere.stdout
    assert SOURCES["a.go"] == (desk.root / "a.go").read_text()
