"""Language servers take memory only while somebody asks: they end, and come back with the next question."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil

from asking import skip_without
from lsp_mcp.daemon.memory import default_limit, peak, taken_by
from mcp_process import BOUND
from shared_daemon import Desk, ask

skip_without("gopls")


def servers(desk: Desk, root: Path) -> list[psutil.Process]:
    """Of the daemon for `root`."""
    (about,) = [one for one in desk.status() if one["root"] == str(root)]
    return [psutil.Process(server["pid"]) for server in about["servers"]]


def test_a_server_that_nobody_asks_ends_and_comes_back_with_the_next_question(desk: Desk) -> None:
    with desk.client("--idle-timeout", "0.5") as client:
        ask(client)
        daemon = desk.daemon()
        assert not psutil.wait_procs(daemon.children(recursive=True), BOUND)[1], "the server stays"
        for text in ("func Two() {}\n\nfunc Three() { One() }\n", "func Two() { One() }\n"):
            (desk.root / "a.go").write_text("package shared\n\nfunc One() {}\n\n" + text)
            told = ask(client)
            assert "Found 2 references" in told and "restarted" not in told
            assert ("7:" if "Three" in text else "5:") in told, "the server has not read what changed at its rest"
            assert not psutil.wait_procs(daemon.children(recursive=True), BOUND)[1], "the server stays"
        (about,) = desk.status()
        assert about["pid"] == daemon.pid and about["at_rest"] == ["gopls"] and not about["servers"]
        assert "gopls: ended, starts with the next question" in desk.run("daemon", "status").stdout


def test_a_server_of_a_session_that_never_asks_ends_too(desk: Desk) -> None:
    with desk.client("--idle-timeout", "1") as client:
        # Each time takes a process, and nothing tells of it.
        assert any(desk.status()[0]["at_rest"] == ["gopls"] for _ in range(BOUND)), "the server stays"
        assert "Found 2 references" in ask(client)


def test_servers_of_workspaces_that_nobody_asks_end_when_all_take_too_much_memory(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Desk(tmp_path / "other")
    other.env = desk.env
    with desk.client() as first, other.client("--memory-limit", "1") as second:
        ask(first)
        theirs = servers(desk, desk.root)
        assert theirs
        ask(second)
        assert not psutil.wait_procs(theirs, BOUND)[1], "a server that nobody asks stays"
        assert "Found 2" in ask(second), "the own one is ended last, and comes back"
        told = ask(first)
        assert "Found 2" in told and "restarted" not in told
        assert servers(desk, desk.root)


def test_by_default_servers_may_take_half_of_the_memory() -> None:
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < default_limit() <= there / 2 + 2**20


def test_memory_that_a_server_took_and_gave_back_since_the_last_look_counts() -> None:
    size = 64 * 2**20
    code = f"while input(): b = bytearray({size}); b[::4096] = b'x' * len(b[::4096]); del b; print('given back')"
    with subprocess.Popen(
        [sys.executable, "-uc", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdin and one.stdout
        peak(one.pid)
        one.stdin.write("take\n")
        one.stdin.flush()
        assert one.stdout.readline()
        there = psutil.Process(one.pid).memory_info().rss
        about = {"servers": [{"rss": there, "peak": peak(one.pid)}]}
        assert taken_by(about) > there + size / 2
        assert peak(one.pid) < there + size / 2, "a peak counts once"
        one.kill()
    assert peak(one.pid) == 0
