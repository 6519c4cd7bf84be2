"""What this program keeps is for its user alone, however loose the umask and whatever was there before."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import skip_without
from fakes.full_disk import full_disk
from lsp_mcp.cli.token import token
from lsp_mcp.private_files import (
    make_private_folder,
    open_private,
    private_folder,
    replacing_private,
    tighten_file,
    write_private,
)
from lsp_mcp.wire.process import child_environment
from mcp_process import BOUND, PROGRAM, Raw, connected, descendants

BOARD = ("board", "--mcp", "--workspace-root")


@pytest.fixture(autouse=True)
def _loose() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    """What others may use in a folder, or the folder itself."""
    if mode(folder) & 0o077:
        return [str(folder)]
    return [str(path) for path in folder.rglob("*") if path.is_file() and mode(path) & 0o077]


def test_a_file_that_two_write_at_once_is_one_of_them_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two containers that share the folder: their processes have equal ids."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    file = tmp_path / "file"
    with replacing_private(file) as one, replacing_private(file) as other:
        one.write(b"1" * 100_000)
        other.write(b"2" * 50_000)
    assert file.read_bytes() == b"1" * 100_000
    assert list(tmp_path.iterdir()) == [file]


def test_two_containers_that_make_the_token_at_once_have_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their processes have equal ids."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    others: list[str] = []
    link = os.link

    def after_another(draft: Path, file: Path) -> None:
        if not others:
            others.append("")
            others[0] = token(None)
        link(draft, file)

    monkeypatch.setattr("os.link", after_another)
    assert token(None) == others[0] != ""
    assert [path.name for path in (tmp_path / "lsp-mcp").iterdir()] == ["token"]


def test_folders_are_made_private_and_tightened_if_they_are_ours_by_name(tmp_path: Path) -> None:
    assert mode(private_folder(tmp_path / "a" / "b")) == 0o700
    assert mode(tmp_path / "a") == 0o700
    (tmp_path / "loose").mkdir(0o777)
    assert mode(private_folder(tmp_path / "loose")) == 0o700


def test_a_folder_that_somebody_else_chose_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(0o775)
    make_private_folder(tmp_path / "shared" / "new")
    make_private_folder(tmp_path / "shared")
    assert (mode(tmp_path / "shared"), mode(tmp_path / "shared" / "new")) == (0o775, 0o700)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_folder(tmp_path / "file" / "below")


def test_files_are_made_private_and_tightened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(0o666)
    os.close(open_private(file, os.O_RDWR))
    assert mode(file) == 0o600
    file.chmod(0o644)
    tighten_file(file)
    assert mode(file) == 0o600
    tighten_file(tmp_path / "none")
    file.chmod(0o644)
    write_private(file, b"new")
    assert (mode(file), file.read_bytes(), len(list(tmp_path.iterdir()))) == (0o600, b"new", 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as a second user")
def test_what_is_another_users_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch(0o666)
    os.chown(file, 65534, 65534)
    tighten_file(file)
    assert mode(file) == 0o666


@pytest.mark.parametrize("exists", [False, True], ids=["new", "loose"])
def test_a_board_is_for_its_user_alone(tmp_path: Path, *, exists: bool) -> None:
    """The database, what SQLite keeps beside it, and what processes tell each other."""
    folder = tmp_path / ".lsp-mcp"
    if exists:
        with connected(*BOARD, str(tmp_path)) as one:
            one.answer("create_task", title="a task")
        folder.chmod(0o777)
        for path in folder.iterdir():
            path.chmod(0o666)
    with connected(*BOARD, str(tmp_path)) as one:
        one.answer("create_task", title="another")
        names = {path.name for path in folder.iterdir()}
        assert {"board.sqlite3", "board.sqlite3-wal", "board.sqlite3-shm", "board.sqlite3-activity"} <= names
        assert open_to_others(folder) == []


def test_a_folder_that_was_chosen_for_a_board_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "chosen").mkdir(0o775)
    with connected(*BOARD, str(tmp_path), "--store", f"sqlite:///{tmp_path}/chosen/b.sqlite3") as one:
        one.answer("create_task", title="a task")
        assert mode(tmp_path / "chosen") == 0o775
        assert {mode(path) for path in (tmp_path / "chosen").iterdir()} == {0o600}


def test_an_index_is_for_its_user_alone(tmp_path: Path) -> None:
    skip_without("clangd")
    root, cache = tmp_path / "project", tmp_path / "cache"
    root.mkdir()
    (root / "a.c").write_text("int main(void) { return 0; }\n")
    (root / "compile_commands.json").write_text(
        f'[{{"directory": "{root}", "file": "a.c", "arguments": ["cc", "-c", "a.c"]}}]'
    )
    cache.mkdir(0o777)
    (cache / "indexes").mkdir(0o777)
    with connected("--backend", "clangd", "--workspace-root", str(root), env={"LSP_MCP_CACHE": str(cache)}) as one:
        one.answer("find_symbol_definitions_by_name", symbol_name="main")
        folders = [path for path in (cache / "indexes").rglob("*") if path.is_dir() and path.name != ".cache"]
        ours = {path.name for path in (cache / "indexes").rglob("*") if path.is_file() and not mode(path) & 0o077}
        assert mode(cache) == 0o777  # it was there, under a name that is not ours
        assert mode(cache / "indexes") == 0o700
        assert len(folders) >= 3
        assert {"lock", "root.txt", "files.json", "compile_commands.json"} <= ours


def test_no_program_that_is_started_learns_the_token(tmp_path: Path) -> None:
    skip_without("gopls")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (tmp_path / "a.go").write_text("package a\n\nfunc Greet() {}\n")
    server = Raw("--backend", "gopls", "--workspace-root", str(tmp_path), env={"LSP_MCP_TOKEN": "secret-of-this-test"})
    try:
        server.initialize()
        server.call("find_symbol_definitions_by_name", symbol_name="Greet")
        started = descendants(server.process.pid)
        assert started
        for pid in started:
            assert b"secret-of-this-test" not in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        server.kill()


def test_the_environment_of_children_is_ours_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_MCP_TOKEN", "secret")
    monkeypatch.setenv("OTHER", "kept")
    found = child_environment({"MORE": "1"})
    assert ("LSP_MCP_TOKEN" in found, found["OTHER"], found["MORE"]) == (False, "kept", "1")


def test_a_token_that_could_be_guessed_is_refused(tmp_path: Path) -> None:
    served = [
        "--transport",
        "http",
        "--backend",
        "gopls",
        "--gopls-path",
        "/bin/cat",
        "--workspace-root",
        str(tmp_path),
    ]
    for flags in (["token"], served):
        env = {**os.environ, "LSP_MCP_TOKEN": "x" * 15}
        done = subprocess.run([PROGRAM, *flags], env=env, capture_output=True, text=True, timeout=BOUND, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert "LSP_MCP_TOKEN has 15 characters" in done.stderr and "openssl rand -hex 32" in done.stderr
    env["LSP_MCP_TOKEN"] = "x" * 16
    done = subprocess.run([PROGRAM, "token"], env=env, capture_output=True, text=True, check=True, timeout=BOUND)
    assert done.stdout == "x" * 16 + "\n"


def test_the_token_is_for_its_user_alone(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "LSP_MCP_TOKEN"}
    env["XDG_STATE_HOME"] = str(tmp_path)

    def printed() -> str:
        done = subprocess.run([PROGRAM, "token"], env=env, capture_output=True, text=True, check=True, timeout=BOUND)
        return done.stdout

    first = printed()
    assert open_to_others(tmp_path / "lsp-mcp") == []
    (tmp_path / "lsp-mcp" / "token").chmod(0o644)
    assert printed() == first
    assert open_to_others(tmp_path / "lsp-mcp") == []


def test_processes_that_need_the_first_token_at_once_agree_on_one(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "LSP_MCP_TOKEN"}
    env["XDG_STATE_HOME"] = str(tmp_path)
    started = [subprocess.Popen([PROGRAM, "token"], env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({one.communicate(timeout=BOUND)[0] for one in started}) == 1
    assert [path.name for path in (tmp_path / "lsp-mcp").iterdir()] == ["token"]


def test_what_does_not_fit_on_the_disk_leaves_what_was_there_and_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    write_private(file, b"before")
    with full_disk(), pytest.raises(OSError, match="too large"):
        write_private(file, b"after" * 10_000)
    assert file.read_bytes() == b"before" and list(tmp_path.iterdir()) == [file]
    write_private(file, b"after")
    assert file.read_bytes() == b"after"
