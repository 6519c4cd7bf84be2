"""`lsp-mcp` started in a folder that is not a project: refused with the way out, by `doctor` as by `call`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.cli_helpers import Run
from lsp_mcp.cli import options
from mcp_process import BOUND

CALL = ("call", "find_symbol_definitions_by_name", "symbol_name=main")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def doctors_word(run: Run, *flags: str) -> str:
    """What the doctor says of the workspace root; it is not content."""
    result = run("doctor", "--json", *flags)
    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["ok"]) == (1, False)
    (root,) = [check for check in shown["checks"] if check["name"] == "workspace root"]
    assert root["state"] == "unusable"
    return str(root["note"])


@pytest.mark.parametrize("flags", [(), ("--backend", "gopls")], ids=str)
def test_the_top_of_the_file_system_is_refused_at_once(
    run: Run, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    monkeypatch.chdir("/")
    result = run(*flags, *CALL)
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "lsp-mcp: / is the top of the file system, not a project. Start lsp-mcp in a project"
    )
    assert "--workspace-root" in result.stderr
    assert f"lsp-mcp: {doctors_word(run, *flags)}\n" == result.stderr


def test_a_home_folder_and_what_has_it_are_refused(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "code").mkdir()
    (home / "code" / "a.go").touch()
    for folder, what in ((home, "your home folder"), (home.parent, "the folder of home folders")):
        monkeypatch.chdir(folder)
        result = run(*CALL)
        assert (result.exit_code, f"{folder} is {what}, not a project" in result.stderr) == (2, True)
        assert what in doctors_word(run)


def test_a_home_folder_that_is_named_is_taken_if_the_server_is_named_too(run: Run, home: Path) -> None:
    (home / "code").mkdir()
    (home / "code" / "a.go").touch()
    result = run("--workspace-root", str(home), *CALL)
    assert "cannot tell which" in result.stderr, "one file somewhere in it says nothing"
    result = run("--workspace-root", str(home), "--backend", "gopls", "--gopls-path", "/nowhere/gopls", *CALL)
    assert "not a project" not in result.stderr
    assert "/nowhere/gopls" in result.stderr


def test_in_an_empty_folder_a_call_says_what_is_missing_and_the_doctor_that_it_may_be_used(
    run: Run, empty: Path
) -> None:
    result = run("call", "find_symbol_definitions_by_name", "symbol_name=f")
    assert result.exit_code == 1
    assert f"{empty} has no source file yet in a supported language; ask again when it has one" in result.stderr
    root = json.loads(run("doctor", "--json").stdout)["checks"][0]
    assert (root["name"], root["state"]) == ("workspace root", "ok")
    assert root["note"].startswith("no project file or source file near its top: a server starts when")


def test_a_folder_of_too_many_files_is_refused_by_both_unless_it_is_named(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (project / f"{number}.txt").touch()
    monkeypatch.setattr(options, "_MOST_FILES", 20)
    word = f"{project} is too large for a workspace: more than 20 files."
    result = run("--gopls-path", "/bin/cat", *CALL)
    assert result.exit_code == 2
    assert word in result.stderr
    assert doctors_word(run).startswith(word)
    assert f"--workspace-root {project}" in doctors_word(run, "--workspace-root", "."), "wherever it is started"
    named = run("--workspace-root", project, "doctor", "--json")
    assert json.loads(named.stdout)["checks"][0]["state"] == "ok"


@pytest.mark.parametrize("command", [CALL, ("doctor",), ("setup", "claude-code")], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            ("--toolset", "bogus"),
            "unknown toolset 'bogus'; available: code, lsp, clangd, clangd-more, nvim, lua, board",
        ),
        (("--without-toolset", "bogus"), "unknown toolset 'bogus'; available: code, "),
        (("--allow-method", "x y"), "--allow-method 'x y' is not the name of a method"),
        (("--allow-method", ""), "--allow-method '' is not the name of a method"),
        (("--workspace-root", ""), "--workspace-root is empty"),
        (("--request-timeout", "nan"), "nan is not a number of seconds"),
        (("--request-timeout", "inf"), "inf is not a number of seconds"),
        (("--ready-timeout", "nan"), "nan is not a number of seconds"),
        (("--ready-timeout", "-1"), "-1.0 is not in the range"),
    ],
    ids=str,
)
def test_a_flag_that_means_nothing_is_refused_by_every_command(
    run: Run, project: Path, command: tuple[str, ...], flags: tuple[str, ...], words: str
) -> None:
    for line in ((*flags, *command), (command[0], *flags, *command[1:])):
        result = run(*line)
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.split()).replace("│ ", "")


def test_the_board_needs_no_language_server(run: Run, empty: Path) -> None:
    (empty / "a.xyz").touch()
    made = run("board", "call", "create_task", "title=anywhere")
    assert made.exit_code == 0, made.stderr
    found = json.loads(run("call", "list_tasks", "--toolset", "board").stdout)
    assert [one["title"] for one in found["tasks"]] == ["anywhere"]
    listed = {one["name"] for one in json.loads(run("call", "list", "--toolset", "board", "--json").stdout)}
    assert {"list_tasks", "ask_user"} <= listed
    assert not listed & {"find_symbol_definitions_by_name", "lsp_references"}
    assert listed == {one["name"] for one in json.loads(run("board", "call", "list", "--json").stdout)}


def test_an_interrupt_while_the_program_is_imported_ends_it_without_a_traceback() -> None:
    code = "import lsp_mcp.door.serve as door\n"
    code += "def serve(words): raise KeyboardInterrupt\n"
    code += "door.serve = serve; from lsp_mcp.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND, check=False)
    assert (ended.returncode, ended.stderr) == (130, "")
