"""Which clients share a daemon: those whose environments differ in nothing that servers and toolchains read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest

from asking import skip_without
from lsp_mcp.adapters import adapter_names, user_folder
from lsp_mcp.door.environment import counted, for_daemon, own_adapters_folder
from mcp_process import BOUND
from shared_daemon import Desk, ask

skip_without("gopls")


def test_clients_that_differ_in_what_no_server_reads_share_a_daemon(desk: Desk, tmp_path: Path) -> None:
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    with desk.client() as one, desk.client(A="1", NODE_OPTIONS="--no-warnings", PATH=path) as other:
        assert "Found 2" in ask(one) and "Found 2" in ask(other)
        assert len(desk.status()) == 1


def test_the_repository_of_a_git_hook_is_not_that_of_the_daemon(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    for folder in (desk.root, elsewhere):
        folder.mkdir(exist_ok=True)
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "--allow-empty", "-m", "first"]):
            who = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
            subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    (desk.root / "a.go").write_text("package shared\n\nfunc One() { println() }\n\nfunc Two() { One() }\n")
    hook = {"GIT_DIR": str(elsewhere / ".git"), "GIT_INDEX_FILE": str(elsewhere / ".git" / "index")}
    found = [desk.run("call", "find_impact", "--format", "compact", **env) for env in (hook, {})]
    assert all("git diff touches 1 symbol" in one.stdout for one in found), found
    assert len(desk.status()) == 1


def test_the_status_names_what_two_daemons_of_one_root_differ_in_but_no_value(desk: Desk) -> None:
    with desk.client() as one, desk.client(GOFLAGS="-tags=secret") as other:
        assert "Found 2" in ask(one) and "Found 2" in ask(other)
        shown = desk.run("daemon", "status").stdout
        assert shown.count("which differ in: GOFLAGS") == 2
        assert "secret" not in shown
        assert [about["differs"] for about in desk.status()] == [["GOFLAGS"], ["GOFLAGS"]]


def test_a_daemon_ends_when_its_root_is_deleted(desk: Desk) -> None:
    with desk.client() as one:
        assert "Found 2" in ask(one)
        daemon = desk.daemon()
        shutil.rmtree(desk.root)
        assert not psutil.wait_procs([daemon], BOUND)[1]
    desk.root.mkdir()


def test_daemons_of_other_roots_are_stopped_only_on_request(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(desk.root, other)
    with desk.client() as one:
        assert "Found 2" in ask(one)
        in_other = desk.run("--workspace-root", str(other), "call", "check")
        assert in_other.returncode == 0, in_other.stderr
        assert len(desk.status()) == 2
        assert str(desk.root) in desk.run("daemon", "stop").stdout
        assert [about["root"] for about in desk.status()] == [str(other)]
        assert "daemon stop --all" in desk.run("daemon", "stop").stdout


def test_every_variable_of_the_go_command_counts() -> None:
    printed = subprocess.run(["go", "env"], capture_output=True, text=True, check=True).stdout
    names = {line.partition("=")[0] for line in printed.splitlines() if line[:1].isupper()}
    assert names and not names - counted(dict.fromkeys(names, "x")).keys()


def test_only_the_variables_of_a_chosen_server_count() -> None:
    environment = {"GOFLAGS": "x", "CPATH": "y", "VIRTUAL_ENV": "z", "PATH": "/nowhere"}
    assert counted(environment, ["basedpyright"]) == {"VIRTUAL_ENV": "z"}
    assert counted(environment, ["clangd"]) == {"CPATH": "y"}
    assert counted(environment, ["auto"]).keys() == {"GOFLAGS", "CPATH", "VIRTUAL_ENV"}


@pytest.mark.parametrize("driver", [{"GOPACKAGESDRIVER": "x"}, {"CLANGD_FLAGS": "--query-driver=/x"}])
def test_with_a_program_that_may_read_anything_everything_counts(driver: dict[str, str]) -> None:
    assert counted({"A": "1", **driver})["A"] == "1"
    assert "A" not in counted({"A": "1", "GOPACKAGESDRIVER": "off"})


def test_a_server_that_the_user_describes_may_read_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert counted({"A": "1"}, ["mine"])["A"] == "1"
    for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    assert own_adapters_folder() == str(user_folder())
    assert "A" not in counted({"A": "1"})
    user_folder().mkdir(parents=True)
    (user_folder() / "mine.toml").touch()
    assert counted({"A": "1"})["A"] == "1"


def test_programs_count_as_the_files_that_path_leads_to(tmp_path: Path) -> None:
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
    for folder in ("one", "two"):
        (tmp_path / folder / "go").touch(0o755)
    (tmp_path / "three" / "go").symlink_to(tmp_path / "one" / "go")
    one, two, three = ({"PATH": str(tmp_path / folder)} for folder in ("one", "two", "three"))
    assert counted(one) == counted(three) == {"go on PATH": str(tmp_path / "one" / "go")}
    assert counted(one) != counted(two)


def test_a_folder_of_path_that_is_relative_is_not_looked_into() -> None:
    assert for_daemon({"PATH": ".::bin:/usr/bin"}) == {"PATH": "/usr/bin"}


def test_what_servers_read_is_named_for_servers_that_there_are() -> None:
    folder = Path(__file__).parent.parent.parent / "adapters" / "environment"
    assert {file.name for file in folder.iterdir()} <= {"lsp-mcp", "others", *adapter_names()}
