"""`lsp-mcp demo`: real servers on the projects that it ships."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cli.cli_helpers import Programs, Run, respects_interrupts
from lsp_mcp.adapters import load_adapter
from lsp_mcp.cli import demo
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_program
from mcp_process import BOUND


def found(name: str) -> str:
    """The program, before a test hides what is installed; empty if there is none."""
    try:
        return str(find_program(load_adapter(name)))
    except MissingProgramError:
        return ""


SERVERS = {name: found(name) for name in ("gopls", "clangd", "basedpyright")}
TITLES = ["Read", "Edit it:", "Check", "Repair", "Rename", "See what"]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary folders."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    return temporary


@pytest.fixture
def nothing_installed(programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on PATH nor beside this Python, where lsp-mcp looks too."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))


def left(temporary: Path) -> list[Path]:
    return list(temporary.glob("lsp-mcp-demo-*"))


@pytest.mark.parametrize("name", SERVERS)
def test_each_step_is_answered_as_expected_and_nothing_is_left(name: str, run: Run, temporary: Path) -> None:
    if not SERVERS[name]:
        pytest.skip(f"{name} is not installed")
    caches = os.environ.get("LSP_MCP_CACHE")
    result = run("demo", "--backend", name, f"--{name}-path", SERVERS[name], "--json")
    shown = json.loads(result.stdout)
    assert [step["missing"] for step in shown["steps"]] == [[]] * 6, result.stdout
    assert (result.exit_code, shown["ok"], shown["backend"]) == (0, True, name)
    assert all(step["title"].startswith(title) for step, title in zip(shown["steps"], TITLES, strict=True))
    assert all(step["command"].startswith("lsp-mcp call ") and step["shows"] for step in shown["steps"])
    assert "{" not in shown["steps"][-1]["answer"].partition("run: ")[2], "the command can be run as it is"
    assert left(temporary) == []
    assert os.environ.get("LSP_MCP_CACHE") == caches


@pytest.mark.skipif(not SERVERS["gopls"], reason="gopls is not installed")
def test_people_see_calls_answers_and_what_they_show_and_can_keep_the_project(run: Run, temporary: Path) -> None:
    result = run("demo", "--keep", "--backend", "gopls", "--gopls-path", SERVERS["gopls"])
    assert result.exit_code == 0, result.output
    (folder,) = left(temporary)
    assert "\n5. Rename Total to Price\n$ lsp-mcp call rename_symbol_by_anchor symbol_anchor=Total" in result.stdout
    assert "\n+10| func Total(items []Item, discount int) int {\n" in result.stdout
    assert "\n→ All files or none" in result.stdout
    assert "6 of 6 answers are as expected (" in result.stdout
    assert f"The project stays in {folder / 'shop'}." in result.stdout
    assert "Price(items, 0)" in (folder / "shop" / "receipt.go").read_text()
    assert [one.name for one in folder.iterdir()] == ["shop"]


@pytest.mark.skipif(not SERVERS["gopls"], reason="gopls is not installed")
def test_an_answer_that_is_not_as_expected_ends_it_with_status_1(
    run: Run, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_COMPLETE", "status: perfect")
    result = run("demo", "--backend", "gopls", "--gopls-path", SERVERS["gopls"])
    assert result.exit_code == 1
    assert "✗ not as expected; this is missing: 'status: perfect'" in result.stdout
    assert "0 of 6 answers are as expected" in result.stdout
    assert "To see what is wrong: lsp-mcp doctor gopls" in result.stdout
    assert "2. Edit it" not in result.stdout
    assert left(temporary) == []


@pytest.mark.skipif(not SERVERS["gopls"], reason="gopls is not installed")
@pytest.mark.parametrize("stopped_by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_removes_the_folder(stopped_by: signal.Signals, temporary: Path) -> None:
    words = ["-m", "lsp_mcp", "demo", "--backend", "gopls", "--gopls-path", SERVERS["gopls"]]
    with subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=respects_interrupts,  # noqa: PLW1509 (no thread of these tests holds a lock then)
    ) as running:
        assert running.stdout
        while "1. Read" not in running.stdout.readline():
            assert running.poll() is None
        assert left(temporary)
        running.send_signal(stopped_by)
        running.communicate(timeout=BOUND)
    assert (running.returncode, left(temporary)) == (130, [])


def test_a_backend_without_a_demo_is_refused_with_those_that_have_one(run: Run) -> None:
    for name in ("nope", "zls"):
        result = run("demo", "--backend", name)
        said = f"lsp-mcp: unknown backend for a demo '{name}'; available: gopls, basedpyright, clangd\n"
        assert (result.exit_code, result.stderr) == (2, said)
    result = run("demo", "--backend", "gopls", "--backend", "clangd")
    assert (result.exit_code, "pass --backend once" in result.stderr) == (2, True)


def test_a_server_that_is_not_installed_is_an_error_with_the_command_that_installs_it(
    run: Run, nothing_installed: None, temporary: Path
) -> None:
    result = run("demo", "--backend", "clangd")
    assert result.exit_code == 1
    assert result.stderr.startswith("lsp-mcp: clangd is not installed (")
    assert result.stderr.endswith("; install it with: lsp-mcp install clangd\n")
    result = run("demo")
    assert result.exit_code == 1
    assert "install one with: lsp-mcp install gopls (Go); lsp-mcp install basedpyright (Python)" in result.stderr
    assert left(temporary) == []


def test_a_server_whose_own_needs_are_missing_is_passed_over(
    run: Run, programs: Programs, nothing_installed: None
) -> None:
    programs("gopls", "exit 1")  # without go
    assert "no language server with a demo is installed" in run("demo").stderr
