"""The machine's clock is set back, or forward, by a day under a session."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest

from asking import skip_without
from mcp_process import BOUND
from shared_daemon import Desk, answer, ask

skip_without("gopls")

DAY = 86_400
# The daemon imports it at its start: its clock is off by what the file says, as soon as it is there.
CLOCK = """
import time
def off():
    try:
        with open({file!r}) as file:
            return int(file.read())
    except OSError:
        return 0
now, now_ns = time.time, time.time_ns
time.time = lambda: now() + off()
time.time_ns = lambda: now_ns() + off() * 10**9
"""


@pytest.mark.parametrize("seconds", [-DAY, DAY])
def test_a_session_goes_on_when_the_clock_is_set(desk: Desk, tmp_path: Path, seconds: int) -> None:
    file = tmp_path / "clock"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(CLOCK.format(file=str(file)))

    def write(name: str, text: str) -> None:
        path = desk.root / name
        path.write_text(text)
        now = path.stat().st_mtime_ns + seconds * 10**9
        os.utime(path, ns=(now, now))

    env = {"PYTHONPATH": str(tmp_path / "site")}
    with desk.client("--idle-timeout", "1", **env) as one:
        assert "Found 2 references" in ask(one)
        daemon = desk.daemon()
        file.write_text(str(seconds))
        for uses in (2, 3, 2, 3):
            write("b.go", f"package shared\n\nfunc Three() {{{' One(); ' * uses}}}\n")
            assert f"Found {2 + uses} references" in ask(one)
        renamed = one.call("rename_symbol_by_anchor", symbol_anchor="One", new_name="Eins")
        assert not renamed.get("isError"), answer(renamed)
        write("b.go", "package shared\n\nfunc Three() {}\n")
        assert "Found 2 references" in answer(
            one.call("find_symbol_references_by_anchor", symbol_anchor="Eins", format="compact")
        )
        with desk.client("--idle-timeout", "1", **env) as other:
            assert "Found" in answer(other.call("find_symbol_references_by_anchor", symbol_anchor="Eins"))
            (about,) = desk.status()
            assert about["pid"] == daemon.pid
            off = max(about["clients"], key=lambda client: client["since"] * seconds)["since"] - time.time()
            assert abs(off - seconds) < DAY / 24, "the daemon has another clock than it should"
        servers = daemon.children(recursive=True)
        assert not psutil.wait_procs(servers, BOUND)[1], "a server that nobody asks stays"
    assert not psutil.wait_procs([daemon], BOUND)[1], "a daemon without clients stays"
