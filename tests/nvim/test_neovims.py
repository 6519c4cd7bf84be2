"""The tests' own Neovim: alone, with nothing of the user's, and gone at the end."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pynvim
import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.errors import MissingProgramError
from nvim.neovims import NeovimError, find_nvim, neovim, processes_of, skip_without_nvim

skip_without_nvim()

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("ui", [False, True])
def test_it_answers_and_leaves_no_process_and_no_folder(ui: bool, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with neovim(tmp_path, servers=(), ui=ui) as nv:
            assert await nv.lua("local a, b = ...; return { a + b, vim.fn.getcwd() }", 1, 2) == [3, str(tmp_path)]
            assert await nv.lua("return vim.fn.getpid()") == nv.pid
            assert nv.pid in nv.processes()
            groups = {os.getpgid(pid) for pid in nv.processes()}
        assert processes_of(groups) == []
        assert not nv.folder.exists()

    run()


@bounded
async def test_nothing_of_the_users_counts(tmp_path: Path) -> None:
    async with neovim(tmp_path, servers=()) as nv:
        places = await nv.lua(
            "return vim.tbl_map(vim.fn.stdpath, { 'config', 'data', 'state', 'cache', 'run', 'log' })"
        )
        assert all(Path(place).is_relative_to(nv.folder) for place in places), places
        assert await nv.lua("return vim.o.shadafile") == "NONE"


@bounded
async def test_gopls_and_clangd_are_in_one_session_with_their_own_encodings(tmp_path: Path) -> None:
    skip_without("gopls")
    skip_without("clangd")
    shutil.copytree(FIXTURES / "go", tmp_path / "go")
    shutil.copytree(FIXTURES / "cpp", tmp_path / "cpp")
    (tmp_path / "cpp" / "compile_flags.txt").write_text("-Iinclude\n", "utf-8")
    async with neovim(tmp_path) as nv:
        await nv.open("go/shelf/shelf.go")
        gopls = await nv.attached("gopls")
        await nv.open("cpp/src/house.cpp")
        clangd = await nv.attached("clangd")
        assert (gopls["encoding"], gopls["root"]) == ("utf-16", str(tmp_path / "go"))
        assert (clangd["encoding"], clangd["root"]) == ("utf-8", str(tmp_path / "cpp"))
        assert len(nv.processes()) >= 3  # the servers are in its group: they end with it
        members = nv.processes()
        await nv.kill()
        assert [pid for pid in members if runs(pid)] == []


@bounded
async def test_a_file_without_a_project_has_a_server(tmp_path: Path) -> None:
    skip_without("gopls")
    skip_without("clangd")
    (tmp_path / "a.go").write_text("package a\n", "utf-8")
    (tmp_path / "a.c").write_text("int a;\n", "utf-8")
    async with neovim(tmp_path) as nv:
        await nv.open("a.go")
        assert (await nv.attached("gopls"))["root"] == str(tmp_path)
        await nv.open("a.c")
        assert (await nv.attached("clangd"))["root"] == str(tmp_path)


@bounded
async def test_the_servers_end_when_a_person_quits(tmp_path: Path) -> None:
    skip_without("gopls")
    shutil.copytree(FIXTURES / "go", tmp_path / "go")
    async with neovim(tmp_path / "go", "shelf/shelf.go", servers=["gopls"]) as nv:
        await nv.attached("gopls")
        members = nv.processes()
        await nv.quit()
        assert [pid for pid in members if runs(pid)] == []


@bounded
async def test_the_view_is_the_same_until_something_is_moved(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n" * 50, "utf-8")
    async with neovim(tmp_path, "a.txt", servers=()) as nv:
        view = await nv.view()
        assert [buffer["name"] for buffer in view["buffers"]] == [str(tmp_path / "a.txt")]
        for change in (
            "vim.api.nvim_win_set_cursor(0, { 2, 1 })",
            "vim.cmd.split()",
            "vim.cmd.tabnew()",
            "vim.cmd.edit('b.txt')",
            "vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'new' })",
            "vim.fn.setreg('q', 'kept')",
            "vim.cmd.buffer('a.txt'); vim.cmd('normal! G')",
        ):
            assert await nv.view() == view
            await nv.lua(change)
            changed = await nv.view()
            assert changed != view, change
            view = changed


@pytest.mark.parametrize(
    ("keys", "drawn", "mode"),
    [
        ("r", "r", {"mode": "R", "blocking": True}),
        (':echo "one\\ntwo"\r', "Press ENTER", {"mode": "r", "blocking": True}),
        # In two parts, since the keys are drawn before what they do.
        (":call input('Na'..'me: ')\r", "Name:", {"mode": "c", "blocking": False}),
        (":call confirm('Real'..'ly?')\r", "Really?", {"mode": "r?", "blocking": False}),
        (":echo 'as'..'king' | call getchar()\r", "asking", {"mode": "n", "blocking": False}),
    ],
    ids=["replace", "hit-enter", "input", "confirm", "getchar"],
)
def test_the_mode_tells_what_waits_for_a_key(keys: str, drawn: str, mode: dict[str, Any], tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with neovim(tmp_path, servers=(), ui=True) as nv:
            assert await nv.mode() == {"mode": "n", "blocking": False}
            nv.type(keys)
            await nv.shows(drawn)
            assert await nv.mode() == mode
            assert await asyncio.to_thread(mode_by_pynvim, nv.socket) == mode
            if not mode["blocking"]:
                assert await nv.lua("return 1") == 1

    run()


def mode_by_pynvim(socket: str) -> Any:
    other = pynvim.attach("socket", path=socket)
    try:
        return other.request("nvim_get_mode")
    finally:
        other.close()


@bounded
async def test_its_own_swap_files_do_not_matter_for_another_unless_they_share_their_state(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n", "utf-8")
    load = "vim.fn.bufload(vim.fn.bufadd('a.txt'))"
    async with neovim(tmp_path, "a.txt", servers=()) as one:
        async with neovim(tmp_path, servers=()) as stranger:
            await stranger.lua(load)
        async with neovim(tmp_path, servers=(), state=one.folder) as other:
            with pytest.raises(NeovimError, match="E325"):
                await other.lua(load)


@bounded
async def test_a_start_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(NeovimError, match="ended; it said:\nno such thing"):
        async with neovim(tmp_path, servers=(), extra_lua="print('no such thing'); vim.cmd.cquit()"):
            pass


def test_a_neovim_that_is_too_old_or_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingProgramError, match=r"not on PATH; run: scripts/tools\.sh nvim"):
        find_nvim()
    program = tmp_path / "nvim"
    program.write_text("#!/bin/sh\necho NVIM v0.10.4\n", "utf-8")
    program.chmod(0o755)
    with pytest.raises(MissingProgramError, match=r"is NVIM v0\.10\.4.*scripts/tools\.sh nvim"):
        find_nvim()


def runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return False
