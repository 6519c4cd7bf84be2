"""Sessions outlive an upgrade: the program changes on disk while doors and their daemon run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import psutil
import pytest

import lsp_mcp
from asking import skip_without
from mcp_process import BOUND, GO_ENV
from shared_daemon import REFERENCES, SOURCES, Desk, answer, ask

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
    """To a version that also names daemons in another way."""
    replace(installed / "lsp_mcp" / "__init__.py", lsp_mcp.__version__, NEXT)
    replace(installed / "lsp_mcp" / "door" / "request.py", "[self.root, *self.shape,", "[self.root, NEW, *self.shape,")
    replace(installed / "lsp_mcp" / "door" / "request.py", '_NVIM = "nvim"', '_NVIM = "nvim"; NEW = "new"')


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


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


def test_calls_that_run_during_an_upgrade_are_asked_again_but_for_edits(desk: Desk, installed: Path) -> None:
    with desk.client(PYTHONPATH=str(installed)) as client:
        ask(client)
        daemon = desk.daemon()
        for server in daemon.children():
            server.suspend()  # so that the calls run until then
        name, arguments = REFERENCES
        rename = {"symbol_anchor": "One", "new_name": "Eins"}
        for number, called in enumerate(((name, arguments), ("rename_symbol_by_anchor", rename))):
            params = {"name": called[0], "arguments": called[1], "_meta": {"progressToken": number}}
            client.send({"id": 100 + number, "method": "tools/call", "params": params})
        progressed: set[int] = set()
        while len(progressed) < 2:
            progressed.add(client.receive()["params"]["progressToken"])
        upgrade(installed)
        daemon.kill()
        told: dict[int, Any] = {}
        while len(told) < 2:
            message = client.receive()
            if "id" in message:
                told[message["id"]] = message["result"]
        assert "Found 2 references" in answer(told[100]) and "lsp-mcp restarted" in answer(told[100])
        assert told[101]["isError"] and "not known whether it changed anything" in answer(told[101])
        assert (desk.root / "a.go").read_text() == SOURCES["a.go"]
        assert [about["version"] for about in desk.status()] == [NEXT]


def test_another_python_environment_with_the_same_code_has_its_own_daemon(desk: Desk, tmp_path: Path) -> None:
    """It may have other versions of packages, and language servers that are packages."""
    venv.create(tmp_path / "venv", symlinks=True)
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (packages / "same.pth").write_text("\n".join(map(str, sys.path[1:])))
    with desk.client() as one:
        assert "Found 2 references" in ask(one)
        call = ["-m", "lsp_mcp", "call", REFERENCES[0], "symbol_anchor=One", "--format", "compact"]
        python = str(tmp_path / "venv" / "bin" / "python")
        env = {**os.environ, **GO_ENV, **desk.env}
        called = subprocess.run([python, *call], cwd=desk.root, env=env, capture_output=True, timeout=BOUND, check=True)
        assert b"Found 2 references" in called.stdout
        assert len(desk.status()) == 2
        assert "Found 2 references" in ask(one)


def test_the_same_version_with_other_code_has_its_own_daemon_whatever_the_clock_says(
    desk: Desk, installed: Path
) -> None:
    env = {"PYTHONPATH": str(installed)}
    with desk.client(**env) as old:
        assert "Found 2 references" in ask(old)
        file = installed / "lsp_mcp" / "requests" / "references.py"
        file.write_text(f"{file.read_text()}\n# changed\n")
        os.utime(file, (0, 0))
        with desk.client(**env) as new:
            assert "Found 2 references" in ask(new)
            assert len(desk.status()) == 2
