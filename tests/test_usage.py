"""What was asked is counted on this machine, as sums without names; `lsp-mcp stats` shows it."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp import usage
from lsp_mcp.usage import Answered, Usage
from mcp_process import BOUND
from shared_daemon import Desk, answer

REFERENCES = "find_symbol_references_by_anchor"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "cache"
    monkeypatch.setenv("LSP_MCP_CACHE", str(cache))
    return cache


def count(*calls: Answered) -> None:
    """The calls of a process that ends then."""

    async def process() -> None:
        one = Usage()
        for call in calls:
            one.add(call)
        await one.close()

    asyncio.run(process())


def numbers() -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for one in usage.sums():
        found[one.tool, one.outcome] = found.get((one.tool, one.outcome), 0) + one.number
    return found


def stats(desk: Desk, *words: str) -> dict[str, Any]:
    return json.loads(desk.run("stats", *words, "--json").stdout)


def test_calls_of_sessions_and_of_the_shell_are_shown_with_what_became_of_them(tmp_path: Path, cache: Path) -> None:
    desk = Desk(tmp_path)
    with desk.client() as client:
        assert "status: complete" in answer(client.call(REFERENCES, symbol_anchor="One", format="compact"))
        assert client.call("read_symbol", symbols=["Nowhere"])["isError"]
    assert desk.run("call", REFERENCES, "symbol_anchor=Two").returncode == 0
    desk.run("daemon", "stop")
    shown = stats(desk)
    assert (shown["calls"], shown["complete"], shown["failed"], shown["counting"]) == (3, 2, 1, True)
    by_tool = {row["tool"]: row for row in shown["tools"]}
    assert by_tool[REFERENCES]["calls"] == 2 and by_tool["read_symbol"]["failed"] == 1
    size = (desk.root / "a.go").stat().st_size
    assert shown["file_bytes"] == 2 * size, "once for the session, once for the shell"
    assert shown["code_bytes"] == shown["answer_bytes"] > 0
    text = desk.run("stats").stdout
    assert text.startswith("3 calls from ") and f"\n{REFERENCES} " in text and "Nothing is sent anywhere." in text
    kept = (cache / "usage.sqlite3").read_bytes()
    for private in ("One", "Two", "Nowhere", "a.go", "shared", str(desk.root)):
        assert private.encode() not in kept
    assert (cache / "usage.sqlite3").stat().st_mode & 0o077 == 0


def test_an_incomplete_answer_and_one_without_a_status_count_as_such() -> None:
    count(Answered("check", "incomplete", 0.2), Answered("lsp_request", "answered", 0.1))
    assert numbers() == {("check", "incomplete"): 1, ("lsp_request", "answered"): 1}


def test_processes_that_end_at_the_same_time_lose_no_call(cache: Path) -> None:
    script = """
import asyncio, sys
from lsp_mcp import usage
from lsp_mcp.usage import Answered, Usage
usage._BUSY = 60
async def process():
    for number in range(20):
        one = Usage()
        one.add(Answered("check", "complete", 0.01, 10))
        await one.close()
sys.stdin.readline()
asyncio.run(process())
"""
    env = {**os.environ, "LSP_MCP_CACHE": str(cache)}
    running = [subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, env=env) for _ in range(4)]
    for one in running:
        one.communicate(b"go\n", timeout=BOUND)
    assert numbers() == {("check", "complete"): 80}


def test_the_size_of_a_file_counts_once_for_each_reader(tmp_path: Path) -> None:
    (tmp_path / "a.go").write_bytes(bytes(1000))
    seen = [Answered("read_symbol", "complete", 0, 50, {tmp_path / "a.go"}, reader) for reader in ("A", "A", "B")]
    count(*seen, Answered("read_symbol", "complete", 0, 50, {tmp_path / "gone.go"}, "A"))
    assert sum(one.file_bytes for one in usage.sums()) == 2000
    assert sum(one.code_bytes for one in usage.sums()) == 200


def test_off_counts_nothing_until_it_is_on_again_and_reset_forgets(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert stats(desk, "--off")["counting"] is False
    count(Answered("check", "complete", 0.1))
    assert stats(desk)["calls"] == 0
    assert "Counting is off" in desk.run("stats").stdout
    assert stats(desk, "--on")["counting"] is True
    count(Answered("check", "complete", 0.1))
    assert stats(desk)["calls"] == 1
    assert stats(desk, "--reset")["calls"] == 0


def test_a_file_that_is_none_of_ours_is_replaced(cache: Path) -> None:
    cache.mkdir()
    (cache / "usage.sqlite3").write_text("something else, long enough to be a file of another kind" * 100)
    for _ in range(2):
        count(Answered("check", "complete", 0.1))
    assert numbers() == {("check", "complete"): 1}


def test_where_nothing_can_be_written_calls_are_answered_all_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "file").write_text("")
    there = str(tmp_path / "file" / "cache")
    with desk.client("--no-shared", LSP_MCP_CACHE=there) as client:
        assert "status: complete" in answer(client.call(REFERENCES, symbol_anchor="One", format="compact"))
    done = desk.run("stats", LSP_MCP_CACHE=there)
    assert (done.returncode, "No calls yet." in done.stdout) == (0, True)
    done = desk.run("stats", "--off", LSP_MCP_CACHE=there)
    assert (done.returncode, done.stderr.startswith("Error: the statistics cannot be used: ")) == (1, True)


def test_sums_of_old_days_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as then:
        then.setattr(time, "strftime", lambda *_: "2020-01-31")
        count(Answered("check", "complete", 0.1))
    count(Answered("check", "complete", 0.1))
    assert [one.day == "2020-01-31" for one in usage.sums()] == [False]
