"""`lsp-mcp bridge`, `--transport http` and `plugin`: flags, and what is refused before anything is served."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cli.cli_helpers import Run


@pytest.fixture(autouse=True)
def _no_neovim(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NVIM_LISTEN_ADDRESS", "NVIM", "MCP_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LSP_MCP_TOKEN", "a-token-of-the-tests")


def test_without_a_neovim_it_says_how_to_name_one(project: Path, run: Run) -> None:
    result = run("bridge")
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert all(word in result.stderr for word in ("--socket", "NVIM_LISTEN_ADDRESS", "require('mcp-tools').start()"))


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_address_is_none(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("NVIM_LISTEN_ADDRESS", name)
    result = run("bridge")
    assert result.exit_code in (1, 2)
    assert result.stderr.startswith("lsp-mcp: ")
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["none.sock", "folder", "file"])
@pytest.mark.parametrize("how", ["flag", "before", "environment"])
def test_a_socket_that_is_none_is_refused_by_its_name(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    (project / "folder").mkdir()
    (project / "file").write_text("text")
    path = str(project / name)
    if how == "environment":
        monkeypatch.setenv("NVIM_LISTEN_ADDRESS", path)
    words = {"flag": ["bridge", "--socket", path], "before": ["--socket", path, "bridge"], "environment": ["bridge"]}
    result = run(*words[how])
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("lsp-mcp: ")
    assert path in line


def test_a_socket_whose_path_is_too_long_for_one_is_refused_with_a_way_out(project: Path, run: Run) -> None:
    result = run("bridge", "--socket", str(project / ("x" * 200)))
    assert result.exit_code in (1, 2)
    assert "107" in result.stderr


@pytest.mark.parametrize("port", ["70000", "-1", "x", "1.5", ""])
@pytest.mark.parametrize("how", ["flag", "environment", "transport"])
def test_what_is_not_a_port_is_refused(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch, port: str, how: str
) -> None:
    if how == "environment":
        monkeypatch.setenv("MCP_PORT", port)
    words = {
        "flag": ["bridge", "--socket", "none.sock", "--port", port],
        "environment": ["bridge", "--socket", "none.sock"],
        "transport": ["--transport", "http", "--port", port],
    }
    result = run(*words[how])
    if how == "environment" and port == "":  # an empty variable is none
        assert "none.sock" in result.stderr
        return
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "port" in result.stderr.lower()


def test_a_port_that_is_taken_is_refused_with_a_way_out(project: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        for words in (
            ["bridge", "--socket", str(project / "none.sock"), "--port", port],
            ["--transport", "http", "--backend", "gopls", "--port", port],
        ):
            result = run(*words)
            assert result.exit_code in (1, 2)
            assert result.stdout == ""
            assert result.exception is None or isinstance(result.exception, SystemExit)
            assert port in result.stderr
            assert "--port 0" in result.stderr


@pytest.mark.parametrize("name", ["nonsense", "", "Lua"])
def test_a_toolset_that_does_not_exist_is_refused_with_those_that_do(project: Path, run: Run, name: str) -> None:
    result = run("bridge", "--socket", str(project / "none.sock"), "--toolset", name)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert result.stderr.startswith("lsp-mcp: ")


def test_the_transport_is_stdio_or_http(project: Path, run: Run) -> None:
    result = run("--transport", "carrier-pigeon")
    assert result.exit_code == 2
    assert "'stdio', 'http'" in result.stderr


def test_help_tells_of_the_variables_and_the_port(run: Run) -> None:
    told = run("bridge", "--help").stdout
    assert "NVIM_LISTEN_ADDRESS" in told
    assert "--socket" in told
    assert "--port" in told
    assert "127.0.0.1" in told


def test_the_folder_of_the_plugin_is_printed_alone(run: Run) -> None:
    result = run("plugin")
    assert result.exit_code == 0
    (line,) = result.stdout.splitlines()
    assert (Path(line) / "lua" / "mcp-tools" / "init.lua").is_file()
    assert result.stderr == ""


def test_a_lua_tool_needs_a_neovim_to_be_called(project: Path, run: Run) -> None:
    result = run("--backend", "gopls", "call", "nvim_hello")
    assert result.exit_code == 2
    assert "--socket" in result.stderr
    assert "nvim_hello" in result.stderr
