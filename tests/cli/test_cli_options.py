"""The flags of the servers and of the tools: what they mean, and what is refused."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.cli_helpers import Programs, Run
from fakes.workspace import FakeWorkspace
from lsp_mcp.cli.main import main
from mcp_process import PROGRAM

HOVER = ["lsp_request", "method=textDocument/hover"]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeWorkspace:
    """A workspace, the present folder, whose clangd and gopls are the fake server."""
    fake = FakeWorkspace(tmp_path)
    fake.write("a.cpp", "int a;\nint b;\n")
    fake.write("a.go", "package a\n")
    monkeypatch.chdir(fake.root)
    return fake


def clangd(fake: FakeWorkspace) -> list[str]:
    return ["--backend", "clangd", "--clangd-path", str(fake.program(fake.folder / "clangd"))]


def gopls(fake: FakeWorkspace) -> list[str]:
    return ["--backend", "gopls", "--gopls-path", str(fake.program(fake.folder / "gopls"))]


# --- the compilation database ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nowhere.json", "nowhere/compile_commands.json", ".", "~/nowhere.json"])
def test_a_database_that_is_not_there_is_refused_before_any_server_starts(
    fake: FakeWorkspace, run: Run, name: str
) -> None:
    result = run(*clangd(fake), "--compile-commands", name, "call", *HOVER)
    assert result.exit_code == 2
    assert result.stderr == f"lsp-mcp: --compile-commands {name}: there is no such file\n"
    assert fake.pids() == []


@pytest.mark.parametrize("name", ["build", "build/compile_commands.json", "../root/build", "~/build", "~/other.json"])
def test_the_database_is_named_by_its_file_or_its_folder(
    fake: FakeWorkspace, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOME", str(fake.root))
    entries = [{"directory": str(fake.root), "file": "a.cpp", "command": "c++ a.cpp"}]
    fake.write("build/compile_commands.json", json.dumps(entries))
    fake.write("other.json", json.dumps(entries))
    fake.script({"rules": {"textDocument/hover": [["answer", None]]}})
    ask = ["call", "lsp_request", "method=textDocument/foldingRange", 'params={"textDocument": {"uri": "a.cpp"}}']
    flags = ["--workspace-root", fake.root, "--compile-commands", name, "--ready-timeout", "0.1"]
    result = run(*clangd(fake), *flags, *ask)
    assert result.exit_code == 0
    assert "compile_commands.json" not in json.loads(result.stdout)["status"]


# --- toolsets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--toolset", "clangd"], "the toolset clangd needs the backend clangd; running: gopls"),
        (
            ["--toolset", "clangd-more"],
            "the toolset clangd-more needs the backend clangd; running: gopls",
        ),
    ],
)
def test_a_toolset_that_is_not_there_is_refused(fake: FakeWorkspace, run: Run, flags: list[str], words: str) -> None:
    result = run(*gopls(fake), *flags, "call", *HOVER)
    assert result.exit_code == 2
    assert result.stderr == f"lsp_request: {words}\n"


def test_a_tool_that_is_off_by_default_says_which_flag_offers_it(fake: FakeWorkspace, run: Run) -> None:
    result = run(*clangd(fake), "call", "lm_clangd_memoryUsage")
    assert result.exit_code == 2
    assert result.stderr == (
        "lm_clangd_memoryUsage: it belongs to the toolset clangd-more; add --toolset clangd-more\n"
    )
    fake.script({"rules": {"$/memoryUsage": [["answer", {"_total": 7}]]}})
    for words in (["--toolset", "clangd-more", "call", "lm_clangd_memoryUsage"],
                  ["call", "--toolset", "clangd-more", "lm_clangd_memoryUsage"]):  # fmt: skip
        result = run(*clangd(fake), *words)
        assert json.loads(result.stdout)["memoryUsage"] == {"_total": 7}


def test_a_tool_of_another_server_says_which_server_it_needs(fake: FakeWorkspace, run: Run) -> None:
    result = run(*gopls(fake), "call", "lm_clangd_status")
    assert result.exit_code == 2
    assert "clangd" in result.stderr.removeprefix("lm_clangd_status")
    following = run(*gopls(fake), "--toolset", "clangd", "call", "lm_clangd_status")
    assert "the toolset clangd needs the backend clangd; running: gopls" in following.stderr


def test_a_tool_that_was_left_out_says_which_flag_did_it(fake: FakeWorkspace, run: Run) -> None:
    result = run(*gopls(fake), "--without-toolset", "lsp", "call", *HOVER)
    assert result.exit_code == 2
    assert "--without-toolset lsp" in result.stderr


def listed(run: Run, *words: str) -> dict[str, str]:
    """The tools that `call list` has, and what they need."""
    return {tool["name"]: tool.get("needs", "") for tool in json.loads(run(*words, "call", "list", "--json").stdout)}


def test_the_tools_that_can_run_here_are_listed(project: Path, run: Run) -> None:
    here = listed(run)
    assert {"lsp_request", "rename_symbol_by_anchor"} <= here.keys()
    assert set(here.values()) == {""}
    assert not {"lm_clangd_status", "create_task", "exec_lua", "get_targets"} & here.keys()
    assert "lm_clangd_status" in listed(run, "--backend", "clangd")
    assert "lsp_request" not in listed(run, "--without-toolset", "lsp")
    assert {"create_task", "lsp_request"} <= listed(run, "--toolset", "board").keys()
    nvim = listed(run, "--backend", "nvim")
    assert "get_targets" in nvim
    assert "exec_lua" not in nvim


def test_every_tool_is_listed_if_wanted_with_what_it_needs(project: Path, run: Run) -> None:
    result = run("call", "list", "--all", "--json")
    needs = {tool["name"]: tool.get("needs", "") for tool in json.loads(result.stdout)}
    assert needs["lsp_request"] == ""
    assert needs["lm_clangd_status"] == "add --backend clangd"
    assert needs["lm_clangd_memoryUsage"] == "add --toolset clangd-more"
    assert needs["create_task"] == "add --toolset board"
    assert needs["get_targets"] == needs["exec_lua"] == "add --backend nvim"
    assert "not here: add --toolset board" in run("call", "list", "--all").stdout


def test_where_nothing_can_run_the_list_says_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    result = run("call", "list")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "not a project" in result.stderr and "(--all lists every tool)" in result.stderr
    assert len(json.loads(run("call", "list", "--all", "--json").stdout)) > 60


# --- the form of answers -----------------------------------------------------------------------------


def test_the_form_of_answers_is_taken_by_call_before_and_after_it(fake: FakeWorkspace, run: Run) -> None:
    fake.write("a.go", "package a\n")
    fake.script({"rules": {"textDocument/foldingRange": [["answer", []]]}})
    flags = [*gopls(fake), "--ready-timeout", "0"]
    request = ("lsp_request", "method=textDocument/foldingRange", 'params={"textDocument": {"uri": "a.go"}}')
    compact = run(*flags, "--format", "compact", "call", *request).stdout
    assert run(*flags, "call", "--format", "compact", *request).stdout == compact
    answer = run(*flags, "call", "--format", "json", *request).stdout
    assert run(*flags, "call", *request).stdout == answer, "what is piped is JSON"
    assert run(*flags, "--format", "compact", "call", "--json", *request).stdout == answer
    structured = json.loads(run(*flags, "call", "--response-format", "structured", *request).stdout)
    assert structured["content"] == []
    assert structured["structuredContent"]["blocks"][0]["text"] == answer.rstrip("\n")


def test_a_key_that_is_given_twice_is_refused(project: Path, run: Run) -> None:
    result = run("call", "find_symbol_definitions_by_name", "symbol_name=a", "symbol_name=b")
    assert result.exit_code == 2
    assert result.stderr.startswith("lsp-mcp: symbol_name is given twice")


# --- help --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["call"], ["doctor"], ["setup"], ["board"], ["board", "export"]], ids=str)
def test_a_command_shows_its_own_options_first(run: Run, command: list[str]) -> None:
    shown = run(*command, "--help").stdout
    own, _, servers = shown.partition("\nServer options:\n")
    assert "--json" in own or "--port" in own
    assert "--backend" not in own.partition("Options:")[2]
    assert "--workspace-root" in servers


def test_the_doctor_shows_the_flags_that_matter_to_it_and_takes_all(project: Path, run: Run) -> None:
    shown = run("doctor", "--help").stdout
    assert "--allow-exec-lua" not in shown and "--store" not in shown
    assert "--gopls-path" in shown
    assert "no such option" not in run("doctor", "--allow-exec-lua").stderr.lower()


def test_no_color_is_respected_on_a_terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for no_color, styled in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", no_color)
        for words in (["call", "list"], ["doctor"]):
            assert ("\x1b[" in on_a_terminal(words)) == styled, words


def on_a_terminal(words: list[str]) -> str:
    """What `lsp-mcp WORDS` prints to a terminal."""
    import pty

    main, side = pty.openpty()
    program = str(Path(sys.executable).with_name("lsp-mcp"))
    with subprocess.Popen([program, *words], stdout=side, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL):
        os.close(side)
        shown = b""
        while True:
            try:
                data = os.read(main, 65536)
            except OSError:  # the end, on Linux
                break
            if not data:
                break
            shown += data
    os.close(main)
    return shown.decode()


@pytest.mark.parametrize("words", [[], ["file_path=a.go", "limit=many"], ["file_path=a.go", "width=1"]])
def test_arguments_that_do_not_fit_the_tool_have_another_exit_status_than_a_call_that_fails(
    fake: FakeWorkspace, run: Run, words: list[str]
) -> None:
    assert run(*gopls(fake), "call", "list_symbols_in_file", *words).exit_code == 2
    # The fake reports no loading, and what names no file may name a symbol.
    missing = run(*gopls(fake), "--ready-timeout", "0.1", "call", "list_symbols_in_file", "file_path=missing.go")
    assert missing.exit_code == 1


# --- passing through ---------------------------------------------------------------------------------


def test_a_method_that_is_not_allowed_names_the_flag_that_allows_it(fake: FakeWorkspace, run: Run) -> None:
    fake.script({"rules": {"workspace/executeCommand": [["answer", "done"]]}})
    words = ["call", "lsp_request", "method=workspace/executeCommand", 'params={"command": "x"}']
    refused = run(*gopls(fake), *words)
    assert refused.exit_code == 1
    assert "starting lsp-mcp with --allow-method workspace/executeCommand" in refused.stderr
    assert "workspace/executeCommand" not in fake.methods()
    allowed = run(*gopls(fake), "--allow-method", "workspace/executeCommand", "--ready-timeout", "0.1", *words)
    assert json.loads(allowed.stdout)["result"] == "done"


def test_positions_count_from_the_base_on_both_sides(fake: FakeWorkspace, run: Run) -> None:
    fake.script({"rules": {"textDocument/definition": [["answer_params"]]}})
    numbers = {}
    for base in ("1", "0"):
        params = {"textDocument": {"uri": "a.go"}, "position": {"line": int(base), "character": 3 + int(base)}}
        result = run(*gopls(fake), "--position-base", base, "--ready-timeout", "0.1", "call", "lsp_request",
                     "method=textDocument/definition", f"params={json.dumps(params)}")  # fmt: skip
        numbers[base] = json.loads(result.stdout)["result"]["position"]
        asked = fake.params("textDocument/definition", life=len(fake.pids()))
        assert [one["position"] for one in asked] == [{"line": 0, "character": 3}]
    assert numbers == {"1": {"line": 1, "character": 4}, "0": {"line": 0, "character": 3}}


@pytest.mark.parametrize("base", ["2", "-1", "one"])
def test_there_is_no_other_base(base: str, run: Run) -> None:
    result = run("--position-base", base, "call")
    assert result.exit_code == 2
    assert "'--position-base'" in result.stderr


# --- what edits may touch ----------------------------------------------------------------------------


def test_only_a_flag_lets_an_edit_change_what_is_protected(fake: FakeWorkspace, run: Run) -> None:
    fake.write("go.mod", "module a\n")
    fake.write("a.go", "package a\n\nvar old int\n")
    tasks = fake.root / ".vscode/tasks.json"
    edit = {"documentChanges": [{"kind": "create", "uri": tasks.as_uri()}]}
    fake.script({"rules": {"textDocument/rename": [["answer", edit]]}, "capabilities": {"renameProvider": True}})
    words = ["call", "rename_symbol_by_anchor", "symbol_anchor=go://a.go#3:5", "new_name=new", "allow_partial=true"]
    refused = run(*gopls(fake), "--ready-timeout", "0.1", *words)
    assert refused.exit_code == 1
    assert ".vscode/tasks.json is an editor's configuration" in refused.stderr
    assert "start lsp-mcp with --allow-protected-edits" in refused.stderr
    assert not tasks.exists()
    assert run(*gopls(fake), "--ready-timeout", "0.1", *words, "allow_protected_edits=true").exit_code == 2
    assert not tasks.exists()
    allowed = run(*gopls(fake), "--allow-protected-edits", "--ready-timeout", "0.1", *words)
    assert allowed.exit_code == 0, allowed.stderr
    assert tasks.exists()


# --- in a client's configuration ---------------------------------------------------------------------


def test_every_flag_that_was_given_is_what_a_client_starts_it_with(
    project: Path, run: Run, home: Path, programs: Programs
) -> None:
    (project / "compile_commands.json").write_text("[]")
    flags = ["--toolset", "clangd-more", "--without-toolset", "code", "--without-toolset", "lsp", "--shared-index"]
    flags += ["--allow-method", "a/b", "--allow-method", "c/d", "--position-base", "0", "--allow-protected-edits"]
    entry = json.loads(run("setup", "claude-code", "--json", *flags).stdout)["entry"]
    given = entry["args"]
    for flag, *values in (
        ["--toolset", "clangd-more"],
        ["--without-toolset", "code", "lsp"],
        ["--allow-method", "a/b", "c/d"],
        ["--position-base", "0"],
    ):
        assert [given[at + 1] for at, word in enumerate(given) if word == flag] == values
    assert given.count("--shared-index") == given.count("--allow-protected-edits") == 1
    assert "--compile-commands" not in given


@pytest.mark.parametrize(
    ("named", "written"),
    [("build/db.json", "{project}/build/db.json"), ("/abs/db.json", "/abs/db.json"), ("~/db.json", "{home}/db.json")],
)
def test_the_database_is_written_so_that_it_is_found_from_anywhere(
    project: Path, run: Run, home: Path, named: str, written: str
) -> None:
    given = json.loads(run("setup", "claude-code", "--json", "--compile-commands", named).stdout)["entry"]["args"]
    assert given[given.index("--compile-commands") + 1] == written.format(project=project, home=home)


def test_a_folder_of_allowed_dependencies_is_written_so_that_it_is_found_from_anywhere(project: Path, run: Run) -> None:
    (project.parent / "other").mkdir()
    given = json.loads(run("setup", "claude-code", "--json", "--allow-dependencies", "../other").stdout)["entry"][
        "args"
    ]
    assert given[given.index("--allow-dependencies") + 1] == str(project.parent / "other")


def test_what_was_not_given_is_not_written(project: Path, run: Run) -> None:
    given = json.loads(run("setup", "claude-code", "--json").stdout)["entry"]["args"]
    flags = {"--toolset", "--without-toolset", "--allow-method", "--position-base", "--shared-index"}
    assert not {*flags, "--allow-protected-edits"} & set(given)


def test_exit_statuses_are_those_of_the_help(run: Run, project: Path, programs: Programs) -> None:
    shown = " ".join(run("--help").stdout.split())
    assert "Exit status of every command: 0 if it did what was asked; 1 if it could not" in shown
    assert "2 for wrong arguments, flags or configuration, or if `check` could not check all; 130 after an" in shown
    assert run("setup").exit_code == 0
    assert run("doctor").exit_code == 1, "no gopls"
    assert run("setup", "nothing").exit_code == run("setup", "--nothing").exit_code == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_said_without_a_traceback(project: Path) -> None:
    for words in (["setup"], ["call", "list"], ["daemon", "status"]):
        with Path("/dev/full").open("w") as full:
            found = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (found.returncode, "Traceback" in found.stderr) == (1, False), found.stderr
        assert "the output cannot be written: No space left on device" in found.stderr


def test_every_command_that_prints_facts_has_json(run: Run) -> None:
    """All others serve something, print a script, or have an answer of another form (call, which has --json too)."""

    def commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
        for name, command in group.commands.items():
            yield " ".join([*names, name]), command
            if isinstance(command, click.Group):
                yield from commands(command, *names, name)

    without = [name for name, one in commands(main) if not any("--json" in p.opts for p in one.params)]
    assert sorted(without) == [
        "adapters",
        "adapters show",
        "bridge",
        "completion",
        "daemon",
        "hook",
        "index",
        "syntax-server",
    ]
