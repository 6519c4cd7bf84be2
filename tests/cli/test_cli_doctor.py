"""`lsp-mcp doctor`: what is there, what is missing, and the command that gets it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cli.cli_helpers import Programs, Run, program
from lsp_mcp.adapters import load_adapter
from lsp_mcp.cli import doctor, server_checks

GOPLS = load_adapter("gopls")
assert GOPLS.install
PINNED = GOPLS.install.version


ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}'
STARTS = rf"printf 'Content-Length: {len(ANSWER)}\r\n\r\n{ANSWER}'; while read -r _; do :; done"


def server(version: str) -> str:
    """A script that prints `version` if it is asked for, and else answers `initialize`."""
    return f'case "$1" in version|--version) {version};; *) {STARTS};; esac'


@pytest.fixture
def go(programs: Programs) -> Programs:
    """PATH with a Go that works."""
    programs("go", "echo go version go1.27.1 linux/amd64")
    return programs


def checks(result: Result) -> dict[str, dict[str, Any]]:
    """The checks of `doctor --json`, by name."""
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def test_all_is_well(project: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # however long the test's folder is
    go("gopls", server(f"echo golang.org/x/tools/gopls v{PINNED}"))
    result = run("doctor")
    assert result.exit_code == 0
    assert f"✓ workspace root  {project}\n" in result.stdout
    assert "has go.mod (gopls)" in result.stdout
    assert f"✓ gopls           {PINNED}" in result.stdout
    assert "clangd" not in result.stdout
    assert "✓ go (for gopls)  1.27.1" in result.stdout
    assert "To fix it" not in result.stdout


def test_a_missing_server_comes_with_the_command_that_gets_it(project: Path, go: Programs, run: Run) -> None:
    result = run("doctor")
    assert result.exit_code == 1
    assert "✗ gopls           missing\n" in result.stdout
    assert "gopls is missing. To fix it:\n  lsp-mcp install gopls\n" in result.stdout


def test_a_missing_program_that_the_server_needs_comes_with_how_to_get_it(
    project: Path, programs: Programs, run: Run
) -> None:
    programs("gopls", server(f"echo v{PINNED}"))
    result = run("doctor")
    assert result.exit_code == 1
    assert f"go (for gopls) is missing. To fix it:\n  {GOPLS.requires[0].get}\n" in result.stdout


def test_a_program_that_prints_its_version_but_cannot_work_here_is_broken_and_says_why(
    project: Path, programs: Programs, run: Run
) -> None:
    programs("gopls", server(f"echo v{PINNED}"))
    said = "build cache is required, but could not be located"
    programs("go", f'[ "$1" = version ] && echo go1.27.1 || {{ pwd >&2; echo "{said}" >&2; exit 1; }}')
    result = run("doctor", "--json")
    assert result.exit_code == 1
    go = checks(result)["go (for gopls)"]
    assert (go["state"], go["version"], go["get"]) == ("broken", "1.27.1", "")
    assert go["note"] == f"exit status 1: {project}"


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("echo Illegal instruction >&2; exit 132", "gopls exited with status 132; its last words: Illegal instruction"),
        ("exit 0", "gopls exited with status 0"),
    ],
)
def test_a_server_that_does_not_start_is_broken(script: str, note: str, project: Path, go: Programs, run: Run) -> None:
    path = go("gopls", script)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    found = checks(result)["gopls"]
    assert (found["state"], found["path"], found["get"]) == ("broken", str(path), "lsp-mcp install gopls")
    assert found["note"].startswith(note)


@pytest.mark.parametrize(
    ("version", "note"),
    [
        ("echo unknown option >&2; exit 1", "its version is unknown: exit status 1: unknown option"),
        ("echo lorem ipsum; echo dolor", "its version is unknown: it prints no version: lorem ipsum"),
    ],
)
def test_a_server_that_starts_is_well_whatever_the_command_for_its_version_does(
    version: str, note: str, project: Path, go: Programs, run: Run
) -> None:
    go("gopls", server(version))
    result = run("doctor", "--json")
    assert result.exit_code == 0
    found = checks(result)["gopls"]
    assert (found["state"], found["version"], found["note"]) == ("ok", "", note)


def test_a_server_that_hangs_is_broken(project: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_checks, "_START_TIMEOUT", 0.5)
    go("gopls", "/bin/sleep 600 & wait")
    found = checks(run("doctor", "--json"))["gopls"]
    assert (found["state"], found["note"]) == ("broken", "it did not answer `initialize` within 0.5 s")


def test_a_file_that_is_not_a_program_is_broken(project: Path, go: Programs, run: Run) -> None:
    go("gopls", "").write_bytes(b"\x7fELF nothing that runs here")
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert checks(result)["gopls"]["state"] == "broken"


def test_the_one_that_was_installed_counts_before_the_users(
    project: Path, go: Programs, run: Run, tmp_path: Path
) -> None:
    go("gopls", server("echo v0.1.0"))
    ours = program(tmp_path / "servers" / f"gopls-{PINNED}" / "gopls", server(f"echo v{PINNED}"))
    found = checks(run("doctor", "--json"))["gopls"]
    assert (found["path"], found["version"], found["note"]) == (str(ours), PINNED, "")


def test_the_one_that_was_installed_and_is_broken_is_installed_again(
    project: Path, go: Programs, run: Run, tmp_path: Path
) -> None:
    program(tmp_path / "servers" / f"gopls-{PINNED}" / "gopls", "exit 1")
    assert checks(run("doctor", "--json"))["gopls"]["get"] == "lsp-mcp install gopls --force"


def test_another_version_than_the_pinned_one_is_well_but_noted(project: Path, go: Programs, run: Run) -> None:
    go("gopls", server("echo golang.org/x/tools/gopls v0.1.0-pre.1"))
    result = run("doctor", "--json")
    assert result.exit_code == 0
    found = checks(result)["gopls"]
    assert (found["state"], found["version"]) == ("ok", "0.1.0-pre.1")
    assert found["note"] == f"lsp-mcp is tested with {PINNED}"


def test_a_path_that_the_user_names_is_what_is_looked_at(project: Path, go: Programs, run: Run, tmp_path: Path) -> None:
    mine = program(tmp_path / "my gopls", server("echo v9.9.9"))
    for words in (["doctor", "--gopls-path", mine], ["--gopls-path", mine, "doctor"]):
        found = checks(run(*words, "--json"))["gopls"]
        assert (found["path"], found["version"]) == (str(mine), "9.9.9")
    broken = checks(run("doctor", "--gopls-path", program(tmp_path / "broken", "exit 1"), "--json"))["gopls"]
    assert broken["get"] == "name another program for gopls, or none, after: lsp-mcp install gopls"


def test_where_no_server_is_needed_any_one_is_enough(
    tmp_path: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))  # what is beside it is found too
    without = run("doctor", "--json")
    assert without.exit_code == 1
    assert checks(without)["gopls"]["needed"]
    assert checks(without)["clangd"]["needed"]
    go("gopls", server("echo v1.2.3"))
    one = checks(run("doctor", "--json"))
    assert not one["clangd"]["needed"]
    assert one["gopls"]["state"] == "ok"


def test_the_languages_of_the_files_are_listed_with_the_server_of_each(project: Path, go: Programs, run: Run) -> None:
    go("gopls", server(f"echo v{PINNED}"))
    for file in ("a.go", "b.go", "web/c.ts", "tools/d.py", "node_modules/x/e.js"):
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text("")
    result = run("doctor", "--json")
    assert result.exit_code == 0
    found = checks(result)
    about = {one["language"]: one for one in json.loads(result.stdout)["languages"]}
    assert {name: (one["files"], one["server"], one["state"]) for name, one in about.items()} == {
        "Go": (2, "gopls", "installed"),
        "Python": (1, "basedpyright", "missing"),
        "TypeScript": (1, "typescript", "missing"),
    }
    assert about["Go"]["readiness"] == {"state": "", "why": ""}
    assert "  Go          50% (2 files)  gopls, not started\n" in run("doctor").stdout
    assert (found["basedpyright"]["state"], found["basedpyright"]["needed"]) == ("missing", False)
    assert "basedpyright is missing. To fix it:\n  lsp-mcp install basedpyright\n" in run("doctor").stdout


def test_the_folders_with_projects_of_a_server_are_named_but_not_those_of_dependencies(
    project: Path, go: Programs, run: Run
) -> None:
    go("gopls", server(f"echo v{PINNED}"))
    for file in ("a.go", "b/go.mod", "b/b.go", "web/tsconfig.json", "web/c.ts", "web/node_modules/x/tsconfig.json"):
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text("")
    about = {one["language"]: one["roots"] for one in json.loads(run("doctor", "--json").stdout)["languages"]}
    assert (about["Go"], about["TypeScript"]) == ([".", "b"], ["web"])


def test_a_server_that_was_started_says_whether_it_is_ready_or_why_not(project: Path, go: Programs, run: Run) -> None:
    (project / "a.go").touch()
    go("gopls", server(f"echo v{PINNED}"))
    told = json.loads(run("doctor", "--start", "--ready-timeout", "0", "--json").stdout)
    assert told["languages"][0]["readiness"]["state"] in ("starting", "indexing")  # it never says that it has loaded
    go("gopls", "echo no licence >&2; exit 3")
    found = json.loads(run("doctor", "--start", "--json").stdout)["languages"][0]["readiness"]
    assert found["state"] == "stopped" and "no licence" in found["why"]


def test_setup_installs_what_the_languages_need_only_with_its_flag(
    project: Path, programs: Programs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.go").touch()
    asked: list[list[str]] = []
    monkeypatch.setattr("lsp_mcp.cli.install.install_servers", lambda names, **_: asked.append(list(names)))
    assert run("setup", "cursor", "--write").exit_code == 0
    assert asked == []
    result = run("setup", "--install")
    assert (result.exit_code, asked) == (0, [["gopls"]])


def test_what_setup_writes_into_a_project_is_none_of_its_languages(project: Path, go: Programs, run: Run) -> None:
    go("gopls", server(f"echo v{PINNED}"))
    (project / "a.go").touch()
    for client in ("claude-code", "cursor", "opencode"):
        run("setup", client, "--write")
    result = run("doctor", "--json")
    assert [one["language"] for one in json.loads(result.stdout)["languages"]] == ["Go"]
    assert "vscode-json" not in result.stdout


def test_a_folder_with_settings_alone_needs_no_server_yet(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    run("setup", "claude-code", "--write")
    assert "no project file or source file near its top" in checks(run("doctor", "--json"))["workspace root"]["note"]


def test_servers_can_be_named(tmp_path: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["doctor", "gopls"], ["doctor", "--backend", "gopls"], ["--backend", "gopls", "doctor"]):
        result = run(*words, "--json")
        assert result.exit_code == 1
        assert checks(result)["gopls"]["needed"]
    unknown = run("doctor", "goplz")
    assert unknown.exit_code == 2
    assert unknown.stderr.startswith("lsp-mcp: unknown backend 'goplz'; did you mean gopls")


def test_the_workspace_root_is_taken_before_and_after_the_command(
    project: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    go("gopls", server("echo v1.2.3"))
    inner = project / "inner"
    inner.mkdir()
    monkeypatch.chdir("/")
    for words in (["doctor", "--workspace-root", inner], ["--workspace-root", inner, "doctor"]):
        found = checks(run(*words, "--json"))["workspace root"]
        assert (found["path"], found["note"]) == (str(inner), f"has {project / 'go.mod'} (gopls)")


def test_a_workspace_root_that_is_not_there_is_missing(go: Programs, run: Run, tmp_path: Path) -> None:
    go("gopls", server("echo v1.2.3"))
    result = run("doctor", "--workspace-root", tmp_path / "nowhere", "--json")
    assert result.exit_code == 1
    assert checks(result)["workspace root"]["state"] == "missing"


def test_low_limits_of_the_kernel_are_shown_and_are_not_a_failure(
    project: Path, go: Programs, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go("gopls", server("echo v1.2.3"))
    (tmp_path / "max_user_watches").write_text("8192\n")
    (tmp_path / "max_user_instances").write_text("128\n")
    monkeypatch.setattr(doctor, "_INOTIFY", tmp_path)
    result = run("doctor")
    assert result.exit_code == 0
    assert "! inotify         8,192 watches, 128 instances\n" in result.stdout
    assert "  sudo sysctl fs.inotify.max_user_watches=524288\n" in result.stdout


def test_a_missing_compilation_database_comes_with_how_to_make_one(
    tmp_path: Path, programs: Programs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "CMakeLists.txt").write_text("project(x)\n")
    programs("clangd", server("echo clangd version 22.1.1"))
    monkeypatch.chdir(root)
    result = run("doctor")
    assert result.exit_code == 0
    assert "! compile_commands.json  missing\n" in result.stdout
    assert "  CMake: cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON" in result.stdout
    (root / "build").mkdir()
    database = root / "build" / "compile_commands.json"
    database.write_text("no JSON")
    assert checks(run("doctor", "--json"))["compile_commands.json"]["state"] == "unusable"
    database.write_text("[]")
    assert checks(run("doctor", "--json"))["compile_commands.json"]["path"] == str(database)


def test_json_says_all_that_the_table_says(project: Path, go: Programs, run: Run) -> None:
    answer = json.loads(run("doctor", "--json").stdout)
    assert answer["ok"] is False
    assert set(answer) == {"ok", "version", "python", "languages", "checks"}
    assert all(
        set(check) == {"name", "state", "needed", "version", "path", "note", "get", "advised"}
        for check in answer["checks"]
    )


def test_an_option_that_is_for_serving_is_refused_by_name(run: Run) -> None:
    result = run("doctor", "--transport", "http")
    assert result.exit_code == 2
    assert "`doctor` does not take --transport" in result.stderr
    result = run("board", "export", "folder", "--dev")  # a group in the group knows its own
    assert result.exit_code == 2
    assert "`export` does not take --dev" in result.stderr


def test_the_output_fits_a_terminal_of_80_columns(
    project: Path, go: Programs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("doctor", "--workspace-root", "/").stdout.split("\n")
    assert max(len(line) for line in lines if str(project.parent) not in line) <= 80


def test_a_long_path_stands_whole_on_a_line_of_its_own(
    project: Path, go: Programs, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HOME", "/nowhere")  # the path is not shortened
    for length in (55, 75, 300):
        mine = program(Path(f"{tmp_path}/".ljust(length - 6, "x")) / "gopls", server("echo v9.9.9"))
        lines = run("doctor", "--gopls-path", mine).stdout.split("\n")
        at = next(number for number, line in enumerate(lines) if line.startswith("✓ gopls"))
        assert lines[at].split() == ["✓", "gopls", "9.9.9"]
        assert lines[at + 1].strip() == str(mine)
        assert len(lines[at + 1]) <= max(80, len(str(mine)))


def test_a_server_that_came_as_a_python_package_is_found(
    project: Path, go: Programs, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go("clangd", "echo a script of that package around its program; exit 1")
    package = tmp_path / "site" / "clangd"
    real = program(package / "data" / "bin" / "clangd", server("echo clangd version 22.1.0"))
    (package / "__init__.py").write_text("raise RuntimeError('nobody imports it')")
    monkeypatch.delitem(sys.modules, "clangd")
    monkeypatch.syspath_prepend(package.parent)
    found = checks(run("doctor", "clangd", "--json"))["clangd"]
    assert (found["state"], found["path"], found["version"]) == ("ok", str(real), "22.1.0")


def test_where_nothing_can_be_kept_it_says_why_and_what_to_do(
    project: Path, go: Programs, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("LSP_MCP_CACHE", str(cache))
    found = checks(run("doctor", "--json"))["cache"]
    assert (found["state"], found["path"], found["note"]) == ("ok", str(cache), "")
    assert not cache.exists()
    with monkeypatch.context() as patch:
        patch.setattr("lsp_mcp.cache_folders._LEAST", 2**62)
        found = checks(run("doctor", "--json"))["cache"]
        assert found["note"].startswith(f"{tmp_path} cannot be written: No space left on device; ")
    cache.write_text("no folder")
    result = run("doctor")
    assert "! cache " in result.stdout and "Not a directory" in result.stdout
    assert "cache is low. To fix it:\n  make room there, or set LSP_MCP_CACHE to another folder\n" in result.stdout
