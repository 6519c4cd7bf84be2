"""Large buffers: questions that are not about them do not wait for them, and what they hold unsaved counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.nvim import lua_module
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import GO, Desk, desk, document, write

skip_without_nvim()
skip_without("gopls")

LINE = "all of this is text that no language server looks at"
EXPECTED = [("lib.go", 4), ("use.go", 4), ("use.go", 5)]
# What is read of large buffers, in lines and in bytes of files.
COUNT_READS = """
_G.lines_read, _G.hashed = 0, 0
local get_lines, sha256 = vim.api.nvim_buf_get_lines, vim.fn.sha256
vim.api.nvim_buf_get_lines = function(...)
  local lines = get_lines(...)
  _G.lines_read = math.max(_G.lines_read, #lines)
  return lines
end
vim.fn.sha256 = function(text)
  _G.hashed = math.max(_G.hashed, #text)
  return sha256(text)
end
"""
# Reading a buffer takes until there is a file.
READ_SLOWLY = """
local get_lines = vim.api.nvim_buf_get_lines
vim.api.nvim_buf_get_lines = function(buffer, ...)
  while vim.api.nvim_buf_line_count(buffer) > 1000 and not vim.uv.fs_stat(vim.g.go_on) do end
  return get_lines(buffer, ...)
end
"""


def write_project(root: Path, megabytes: float) -> None:
    GO.write(root, use=2)
    write(root / "big.txt", f"{LINE}\n" * round(megabytes * 1_000_000 / (len(LINE) + 1)))


async def edit(at: Desk, number: int) -> None:
    await at.nv.lua(
        "local name, line = ... vim.api.nvim_buf_set_lines(vim.fn.bufnr(name), 0, 1, true, { line })",
        str(at.root / "big.txt"),
        f"edit {number}",
    )


@pytest.mark.parametrize("megabytes", [10, 50])
@bounded
async def test_a_large_buffer_costs_questions_about_other_files_nothing(megabytes: int, tmp_path: Path) -> None:
    write_project(tmp_path, megabytes)
    async with desk(tmp_path, "lib.go", "use.go", "big.txt") as at:
        await at.nv.lua(COUNT_READS)
        for number in range(3):
            assert (await at.by_anchor(GO))[0] == EXPECTED
            assert (await at.references(GO))[0] == EXPECTED
            assert (await at.call("read", document=document("use.go"))).text.startswith("package a")
            await edit(at, number)
        write(tmp_path / "big.txt", "other text\n")  # and now both have changed
        assert (await at.by_anchor(GO))[0] == EXPECTED
        assert await at.nv.lua("return _G.lines_read") < 1000
        assert await at.nv.lua("return _G.hashed") < 1000


@bounded
async def test_the_unsaved_text_of_a_large_buffer_is_read_when_it_is_asked_about(tmp_path: Path) -> None:
    write_project(tmp_path, 10)
    async with desk(tmp_path, "lib.go", "big.txt") as at:
        assert (await at.call("read", document=document("big.txt"), end=2)).text == LINE
        for number in range(2):
            await edit(at, number)
            answer = await at.call("read", document=document("big.txt"), end=3)
            assert answer.text == f"edit {number}\n{LINE}"
            assert "unsaved text" in answer.said
        shown = await at.call("navigate", document=document("big.txt"), line=1, character=6)
        assert shown.json["line"] == "edit 1"


@bounded
async def test_a_large_file_that_changed_on_disk_under_unsaved_text_is_a_conflict(tmp_path: Path) -> None:
    write_project(tmp_path, 2)
    async with desk(tmp_path, "lib.go", "big.txt") as at:
        await at.call("read", document=document("lib.go"))
        await edit(at, 1)
        write(tmp_path / "big.txt", "other text\n")
        answer = await at.call("read", document=document("big.txt"), end=2)
        assert answer.text == "edit 1"
        assert "conflict" in answer.said


@bounded
async def test_unsaved_uses_count_in_a_large_source_file_whose_language_client_was_taken_away(tmp_path: Path) -> None:
    GO.write(tmp_path, use=2)
    write(tmp_path / "big.go", "package a\n" + f"// {LINE}\n" * 40_000)
    async with desk(tmp_path, "lib.go", "use.go", "big.go") as at:
        assert (await at.by_anchor(GO))[0] == EXPECTED
        await at.nv.lua(
            "local name = ... local b = vim.fn.bufnr(name) "
            "for _, client in ipairs(vim.lsp.get_clients({ bufnr = b })) do "
            "vim.lsp.buf_detach_client(b, client.id) end "
            "vim.api.nvim_buf_set_lines(b, 1, 1, true, { 'var X = Target()' })",
            str(tmp_path / "big.go"),
        )
        assert (await at.call("read", document=document("big.go"), end=3)).text == "package a\nvar X = Target()"
        found = await at.call("lsp_document_symbols", document=document("big.go"))
        assert [symbol["name"] for symbol in found.json] == ["X"]


@bounded
async def test_a_neovim_that_our_own_lua_keeps_busy_is_not_said_to_wait_for_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lua_module, "_WORK_TIMEOUT", 0.0)
    write_project(tmp_path, 2)
    async with desk(tmp_path, "lib.go", "big.txt") as at:
        await at.call("read", document=document("lib.go"))
        await edit(at, 1)
        await at.nv.lua("vim.g.go_on = ...", str(tmp_path / "go_on"))
        await at.nv.lua(READ_SLOWLY)
        message = await at.refused("read", document=document("big.txt"))
        (tmp_path / "go_on").touch()
        assert f"waiting for lsp-mcp to read {tmp_path / 'big.txt'}, then ask again" in message
        monkeypatch.setattr(lua_module, "_WORK_TIMEOUT", 30.0)
        assert (await at.call("read", document=document("big.txt"), end=2)).text == "edit 1"


@bounded
async def test_what_is_read_is_capped_and_says_how_to_go_on(tmp_path: Path) -> None:
    write_project(tmp_path, 2)
    write(tmp_path / "long.txt", "x" * 150_000 + "\nlast\n")
    whole = (tmp_path / "big.txt").read_text().splitlines()
    async with desk(tmp_path, "lib.go") as at:
        for shown in (document("big.txt"), {"buffer_id": await at.load_hidden("big.txt")}):
            answer = await at.call("read", document=shown)
            count = len(answer.text.split("\n"))
            assert len(answer.text) <= 100_000 < len(answer.text) + len(LINE) + 1
            total = f"the document has {len(whole):,} lines"
            assert answer.said == f"status: capped at 100,000 characters; {total}. Go on with start={count + 1}"
            following = await at.call("read", document=shown, start=count + 1, end=count + 11)
            assert answer.text.split("\n") + following.text.split("\n") == whole[: count + 10]
            assert following.remarks == []
        # A line that is longer than an answer has no beginning further on.
        answer = await at.call("read", document=document("long.txt"))
        assert answer.text == "x" * 100_000
        assert answer.said.endswith("the document has 2 lines, and line 1 is longer. The next one is start=2")
        assert (await at.call("read", document=document("long.txt"), start=2)).text == "last"
