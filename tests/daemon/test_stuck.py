"""A daemon that is stopped is ended by the session that waits for it, and the next one answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psutil

from asking import skip_without
from mcp_process import BOUND
from shared_daemon import REFERENCES, Desk, ask

skip_without("gopls")


def test_sessions_and_calls_of_a_stopped_daemon_go_on_with_another(desk: Desk) -> None:
    name, arguments = REFERENCES
    with desk.client() as one, desk.client() as other, ThreadPoolExecutor() as pool:
        assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
        stopped = desk.daemon()
        stopped.suspend()
        asked = pool.submit(ask, one)
        called = pool.submit(desk.run, "call", name, *(f"{key}={value}" for key, value in arguments.items()))
        assert other.request("ping")["result"] == {}
        assert "Found 2 references" in asked.result(BOUND)
        assert called.result(BOUND).stdout.startswith("Found 2 references"), called.result().stderr
        stopped.wait(BOUND)
        (about,) = desk.status()
        assert about["pid"] != stopped.pid


def test_a_rename_of_a_stopped_daemon_is_not_repeated(desk: Desk) -> None:
    with desk.client() as one:
        assert "Found 2 references" in ask(one)
        desk.daemon().suspend()
        told = one.call("rename_symbol_by_anchor", symbol_anchor="One", new_name="Eins")
        assert told["isError"] and "not known whether it changed anything" in told["content"][0]["text"]
        assert "Found 2 references" in ask(one)


def test_a_stopped_daemon_that_nobody_waits_for_goes_on_once_it_is_continued(desk: Desk) -> None:
    with desk.client() as one:
        assert "Found 2 references" in ask(one)
        daemon = desk.daemon()
        daemon.suspend()
        daemon.resume()
        assert "Found 2 references" in ask(one)
        assert desk.daemon() == daemon


def test_a_stopped_daemon_can_be_ended_from_the_shell(desk: Desk) -> None:
    with desk.client() as one:
        assert "Found 2 references" in ask(one)
    daemon: psutil.Process = desk.daemon()
    daemon.suspend()
    done = desk.run("daemon", "stop")
    assert (done.returncode, done.stdout) == (0, f"1 daemon stopped\n  {desk.root}\n")
    daemon.wait(BOUND)
    assert not list(desk.home.glob("*.sock"))
