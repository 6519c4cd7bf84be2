"""`lsp-mcp call`, and where the flags of the servers may stand."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.cli_helpers import Programs, Run
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError, SilentError
from lsp_mcp.programs import find_command
from lsp_mcp.wire.peer import Peer

TOOL = "list_symbols_in_file"

try:
    GOPLS, missing = find_command(load_adapter("gopls"))[0], ""
except MissingProgramError as error:
    GOPLS, missing = "", f"gopls: {error}"


@pytest.mark.parametrize("words", [[], ["list"]])
def test_without_a_tool_it_lists_them_and_starts_no_server(
    words: list[str], project: Path, programs: Programs, run: Run
) -> None:
    result = run("call", *words)
    assert result.exit_code == 0
    name, what, arguments = result.stdout.split("\n")[:3]
    assert name == TOOL
    assert what.startswith("    List the symbols in a source file")
    assert arguments.startswith("    file_path [limit]")
    assert result.stderr.startswith("\nCall one:  lsp-mcp call TOOL KEY=VALUE ...; ")


def test_the_list_is_json_for_scripts(project: Path, run: Run) -> None:
    first = json.loads(run("call", "--json").stdout)[0]
    assert first["name"] == TOOL
    assert "file_path" in first["input_schema"]["properties"]


def test_an_unknown_tool_starts_no_server(project: Path, run: Run) -> None:
    result = run("call", "list_symbols", "file_path=a.go")
    assert result.exit_code == 2
    assert result.stderr.startswith("lsp-mcp: unknown tool 'list_symbols'; did you mean")
    assert "list them with: lsp-mcp call --all" in run("call", "xyzzy").stderr


def test_a_word_that_is_not_an_argument_is_refused_with_those_that_there_are(project: Path, run: Run) -> None:
    result = run("call", TOOL, "a.go")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"lsp-mcp: 'a.go' is not KEY=VALUE; {TOOL} takes: file_path [limit]")


def test_a_missing_server_is_an_error_that_says_how_to_get_it(project: Path, programs: Programs, run: Run) -> None:
    (project / "a.go").write_text("package a\n")
    result = run("call", TOOL, "file_path=a.go")
    assert result.exit_code == 1
    assert "lsp-mcp install gopls" in result.stderr


@pytest.mark.skipif(bool(missing), reason=missing or "gopls is there")
@pytest.mark.parametrize(
    "words",
    [
        ["--workspace-root", "{root}", "call", TOOL, "file_path=a.go"],
        ["call", "--workspace-root", "{root}", TOOL, "file_path=a.go"],
        ["call", TOOL, "file_path=a.go", "--workspace-root", "{root}"],
        ["--workspace-root", "/", "call", "--workspace-root", "{root}", TOOL, "file_path=a.go"],
    ],
)
def test_the_flags_of_the_servers_may_stand_anywhere(words: list[str], project: Path, run: Run) -> None:
    (project / "a.go").write_text("package a\n\nfunc Greet() {}\n")
    words = [word.format(root=project) for word in words]
    result = run("--gopls-path", GOPLS, *words)
    assert (result.exit_code, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    assert [symbol["anchor"] for symbol in answer["file_symbols"]] == ["go://a.go#3:6"]


@pytest.mark.skipif(bool(missing), reason=missing or "gopls is there")
def test_a_check_that_could_not_check_everything_ends_with_status_2(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.go").write_text("package a\n")
    assert run("--gopls-path", GOPLS, "call", "check").exit_code == 0
    request = Peer.request

    async def met(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        if "diagnose" in str(arguments):
            raise SilentError("it does not answer")
        return await request(self, method, *arguments, **named)

    monkeypatch.setattr(Peer, "request", met)
    result = run("--gopls-path", GOPLS, "call", "check")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["message"].startswith("Not checked: not all files.")


@pytest.mark.skipif(bool(missing), reason=missing or "gopls is there")
def test_a_check_that_finds_errors_ends_with_status_1_and_without_any_with_0(project: Path, run: Run) -> None:
    (project / "a.go").write_text('package a\n\nvar Left int = ""\n')
    found = run("--gopls-path", GOPLS, "call", "check")
    assert found.exit_code == 1 and "1 error" in json.loads(found.stdout)["message"]
    (project / "a.go").write_text("package a\n\nvar Left int\n")
    assert run("--gopls-path", GOPLS, "call", "check").exit_code == 0


def test_an_unknown_option_is_refused(run: Run) -> None:
    result = run("call", TOOL, "--file-path=a.go")
    assert result.exit_code == 2
    assert "No such option" in result.stderr
