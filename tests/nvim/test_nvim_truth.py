"""What Neovim's buffers and the disk hold at the moment of a question is what its answer is about."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.uris import path_uri
from nvim.neovims import neovim, skip_without_nvim
from nvim.truth_helpers import GO, C, Desk, Kind, beside, desk, document, kinds, soon, write

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")

ROUNDS = 30


def everything(kind: Kind, *uses: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted([*kind.also, *itertools.chain(*uses)])


async def all_say(at: Desk, kind: Kind, expected: list[tuple[str, int]]) -> str:
    """Both ways to ask give `expected`; returns their status."""
    found, said = await at.references(kind)
    assert found == expected
    found, status = await at.by_anchor(kind)
    assert found == expected
    assert not any(word in f"{said} {status}" for word in ("kept changing", "not known", "indexing")), (said, status)
    return f"{said}\n{status}"


# --- unsaved text ----------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("shown", [True, False], ids=["shown", "hidden"])
@bounded
async def test_unsaved_text_wins_over_the_file_and_every_answer_says_so(
    kind: Kind, shown: bool, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user if shown else kind.definition[0], servers=[kind.server]) as at:
        if not shown:
            await at.load_hidden(user)
        assert "unsaved" not in await all_say(at, kind, everything(kind, kind.uses(user, 1)))
        for count in (3, 2):
            text = kind.using("use", count, above=2)
            await at.type_text(user, text)
            view = await at.nv.view()

            read = await at.call("read", document=document(user))
            assert read.text == text.rstrip("\n")
            assert "unsaved" in read.said

            found, said = await at.references(kind)
            assert found == everything(kind, kind.uses(user, count, above=2))
            assert "unsaved" in said
            assert user in said
            found, status = await at.by_anchor(kind)
            assert found == everything(kind, kind.uses(user, count, above=2))
            assert "unsaved" in status
            assert user in status

            hover = await at.call("lsp_hover", document=document(user), line=6, character=3)
            assert "arget" in hover.text
            assert "unsaved" in hover.said
            assert await at.nv.view() == view
            assert (tmp_path / user).read_text() == kind.using("use", 1)
        await at.nv.lua("vim.cmd.wall()")
        assert "unsaved" not in await all_say(at, kind, everything(kind, kind.uses(user, 2, above=2)))
        assert "unsaved" not in (await at.call("read", document=document(user))).said


@kinds
@bounded
async def test_unsaved_text_that_is_thrown_away_counts_no_more(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        for discard in ("vim.cmd('edit!')", "vim.cmd('undo')"):
            await at.type_text(user, kind.using("use", 3, above=2))
            assert "unsaved" in await all_say(at, kind, everything(kind, kind.uses(user, 3, above=2)))
            await at.nv.lua(discard)
            assert "unsaved" not in await all_say(at, kind, everything(kind, kind.uses(user, 1)))


@kinds
@bounded
async def test_a_file_that_was_never_written_counts_once_it_is_typed(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1)
    if kind is C:
        kind.write_commands(tmp_path, "use", "new")
    new = f"new{kind.suffix}"
    async with desk(tmp_path, kind.definition[0], servers=[kind.server]) as at:
        await all_say(at, kind, everything(kind, kind.uses(f"use{kind.suffix}", 1)))
        await at.nv.open(new)
        await at.type_text(new, kind.using("fresh", 2))
        expected = everything(kind, kind.uses(f"use{kind.suffix}", 1), kind.uses(new, 2))
        said = await all_say(at, kind, expected)
        assert new in said
        assert (await at.call("read", document=document(new))).text == kind.using("fresh", 2).rstrip("\n")
        assert not (tmp_path / new).exists()
        await at.nv.lua("vim.cmd.write()")
        assert "unsaved" not in await all_say(at, kind, expected)


BROKEN = "package a\n\nfunc use() { Target( }\n\nfunc more() { Target() }\n"
HIDES = "files with errors may have more uses of Target: use.go (expected operand, found '}')"


@bounded
async def test_a_syntax_error_in_unsaved_text_may_hide_uses_until_it_is_fixed(tmp_path: Path) -> None:
    GO.write(tmp_path, use=2)
    async with desk(tmp_path, "use.go") as at:
        for text, hides in ((BROKEN, True), (BROKEN.replace("( }", "() }"), False)):
            await at.type_text("use.go", text)
            found, status = await at.by_anchor(GO)
            assert (("use.go", 5) in found) is not hides
            assert (HIDES in status) is hides


@bounded
async def test_a_syntax_error_that_neovim_knew_before_may_hide_uses(tmp_path: Path) -> None:
    GO.write(tmp_path)
    write(tmp_path / "use.go", BROKEN)
    async with neovim(tmp_path, GO.definition[0], servers=["gopls"]) as nv:
        await nv.until("return #vim.diagnostic.get(nil) > 0", "DiagnosticChanged")
        async with beside(tmp_path, nv, ["gopls"]) as at:
            _, status = await at.by_anchor(GO)
            assert HIDES in status
            write(tmp_path / "use.go", BROKEN.replace("( }", "() }"))
            found, status = await at.by_anchor(GO)
            assert ("use.go", 5) in found and HIDES not in status


@bounded
async def test_check_has_errors_that_a_server_published_before_any_session_came(tmp_path: Path) -> None:
    GO.write(tmp_path)
    wrong = 'package a\n\nvar number int = "text"\n'
    write(tmp_path / "shown.go", wrong)
    write(tmp_path / "hidden.go", wrong.replace("number", "other"))
    async with neovim(tmp_path, "shown.go", servers=["gopls"]) as nv:
        await nv.until("return #vim.diagnostic.get(nil, { severity = 1 }) == 2", "DiagnosticChanged")
        async with beside(tmp_path, nv, ["gopls"]) as first, beside(tmp_path, nv, ["gopls"]) as at:
            await first.call("list_symbols_in_file", file_path="hidden.go")
            for one in (first, at):
                said = (await one.call("check")).text
                assert "shown.go" in said and "hidden.go" in said, said
            write(tmp_path / "hidden.go", "package a\n")
            said = (await at.call("check")).text
            assert "No new errors, 1 fixed, 1 remaining." in said, said


# --- a person's own settings of a server -----------------------------------------------------------

ADD = "package m\n\n// Add is also what packages of GOROOT declare.\nfunc Add(a, b int) int { return a + b }\n"
USES_ADD = 'package m\n\nimport "math/bits"\n\nvar low, _ = bits.Add(1, 2, 0)\nvar sum = Add(1, 2)\n'


@pytest.mark.parametrize("style", ["Dynamic", "Full"])
@bounded
async def test_names_of_goroot_are_not_results_even_if_the_user_asks_gopls_for_them(style: str, tmp_path: Path) -> None:
    own = f"settings = {{ gopls = {{ symbolScope = 'all', symbolStyle = '{style}', staticcheck = true }} }}"
    for name, text in {"go.mod": "module example.com/m\n\ngo 1.25\n", "add.go": ADD, "uses.go": USES_ADD}.items():
        write(tmp_path / name, text)
    async with desk(tmp_path, "uses.go", extra_lua=f"vim.lsp.config('gopls', {{ {own} }})") as at:
        assert "all" in await at.nv.lua("return vim.lsp.get_clients()[1].settings.gopls.symbolScope")
        answer = (await at.call("find_symbol_definitions_by_name", symbol_name="Add")).json
        assert [one["anchor"] for one in answer["definitions"]] == ["go://add.go#4:6"]
        answer = (await at.call("find_symbol_references_by_anchor", symbol_anchor="Add")).json
        assert [one["anchor"] for one in answer["references"]] == ["go://add.go#4:6", "go://uses.go#6:11"]
        assert answer["status"] == "complete; Add is go://add.go#4:6"


# --- files that change on disk under an unmodified buffer ------------------------------------------

SETTINGS = {
    "as it comes": "",
    "noautoread": "vim.o.autoread = false",
    "an autocmd that keeps the buffer": """
        vim.api.nvim_create_autocmd('FileChangedShell', { callback = function() vim.v.fcs_choice = '' end })""",
    "an autocmd that asks": """
        vim.api.nvim_create_autocmd('FileChangedShell', { callback = function() vim.v.fcs_choice = 'ask' end })""",
    "an autocmd that talks": """
        vim.api.nvim_create_autocmd('FileChangedShell', { callback = function() vim.v.fcs_choice = 'reload' end })
        vim.api.nvim_create_autocmd('FileChangedShellPost', { callback = function()
          vim.notify('It was changed!\\nIt really was.', vim.log.levels.WARN)
        end })""",
}


@kinds
@pytest.mark.parametrize("settings", SETTINGS)
@bounded
async def test_an_unmodified_buffer_is_read_again_before_the_question_without_a_prompt_or_a_move(
    kind: Kind, settings: str, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=3)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server], ui=True, extra_lua=SETTINGS[settings]) as at:
        await at.nv.lua("vim.cmd.split() vim.api.nvim_win_set_cursor(0, { 5, 1 })")
        await all_say(at, kind, everything(kind, kind.uses(user, 3)))
        view = await at.nv.view()
        for count in (5, 4):
            write(tmp_path / user, kind.using("use", count))
            read = await at.call("read", document=document(user))
            assert read.text == kind.using("use", count).rstrip("\n")
            assert read.remarks == []
            write(tmp_path / user, kind.using("use", count, above=1))
            said = await all_say(at, kind, everything(kind, kind.uses(user, count, above=1)))
            assert "unsaved" not in said
            assert "conflict" not in said
            assert await at.buffer_text(user) == kind.using("use", count, above=1)
            assert not await at.modified(user)
        assert await at.nv.mode() == {"mode": "n", "blocking": False}
        assert await at.nv.view() == view


@kinds
@pytest.mark.parametrize("listed", [True, False], ids=["hidden", "unlisted"])
@bounded
async def test_a_buffer_out_of_sight_is_read_again_as_well(kind: Kind, listed: bool, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(
        tmp_path, kind.definition[0], servers=[kind.server], extra_lua="vim.o.autoread = false", ui=True
    ) as at:
        await at.load_hidden(user, listed=listed)
        await all_say(at, kind, everything(kind, kind.uses(user, 1)))
        view = await at.nv.view()
        for count in (3, 2, 4):
            write(tmp_path / user, kind.using("use", count, above=count))
            await all_say(at, kind, everything(kind, kind.uses(user, count, above=count)))
            assert await at.buffer_text(user) == kind.using("use", count, above=count)
        assert await at.nv.view() == view
        assert await at.nv.mode() == {"mode": "n", "blocking": False}


@bounded
async def test_a_file_of_the_same_size_and_time_of_change_in_seconds_is_read_again(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        for number in range(ROUNDS):
            text = f"package a\n\nvar Name{number:03} = Target()\n"
            write(tmp_path / "use.go", text)
            assert (await at.call("read", document=document("use.go"))).text == text.rstrip("\n")
            found, _ = await at.references(GO)
            assert found == [("lib.go", 4), ("use.go", 3)]


@kinds
@bounded
async def test_a_file_that_is_only_touched_is_not_a_conflict(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server], ui=True) as at:
        await at.call("read", document={"buffer_id": 0})  # what the file was before it was touched must be known
        await at.type_text(user, kind.using("use", 2))
        write(tmp_path / user, kind.using("use", 1))
        said = await all_say(at, kind, everything(kind, kind.uses(user, 2)))
        assert "conflict" not in said
        assert "unsaved" in said


# --- both changed ----------------------------------------------------------------------------------

END_OF_CONFLICT = {
    "written": ("vim.cmd('write!')", 3),
    "read again": ("vim.cmd('edit!')", 2),
    "undone": ("vim.cmd('undo')", 2),
    "undone and then checked": ("vim.cmd('undo') vim.cmd('checktime %')", 2),
}


@kinds
@pytest.mark.parametrize("end", END_OF_CONFLICT)
@bounded
async def test_a_conflict_is_told_each_time_until_the_user_ends_it_and_nothing_is_touched(
    kind: Kind, end: str, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    typed, on_disk = kind.using("use", 3, above=1), kind.using("use", 2, above=2)
    async with desk(tmp_path, user, servers=[kind.server], ui=True) as at:
        await all_say(at, kind, everything(kind, kind.uses(user, 1)))
        await at.type_text(user, typed)
        write(tmp_path / user, on_disk)
        view = None
        for _ in range(3):
            read = await at.call("read", document=document(user))
            assert read.text == typed.rstrip("\n")
            assert "conflict" in read.said
            found, said = await at.references(kind)
            assert found == everything(kind, kind.uses(user, 3, above=1))
            assert "conflict" in said
            found, status = await at.by_anchor(kind)
            assert found == everything(kind, kind.uses(user, 3, above=1))
            assert "conflict" in status
            assert user in status
            assert await at.buffer_text(user) == typed
            assert await at.modified(user)
            assert (tmp_path / user).read_text() == on_disk
            view = view or await at.nv.view()
            assert await at.nv.view() == view
        assert not (await at.nv.mode())["blocking"]

        code, count = END_OF_CONFLICT[end]
        await at.nv.lua(code)
        expected = everything(kind, kind.uses(user, count, above=4 - count))
        said = await all_say(at, kind, expected)
        assert "conflict" not in said
        assert "unsaved" not in said
        read = await at.call("read", document=document(user))
        assert read.remarks == []
        assert read.text == (typed if count == 3 else on_disk).rstrip("\n")


@bounded
async def test_of_a_conflict_that_neovim_has_looked_at_nothing_wrong_is_said(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        await at.type_text("use.go", GO.using("use", 3))
        write(tmp_path / "use.go", GO.using("use", 2))
        # Neovim itself has looked, and told its user.
        await at.nv.lua("vim.cmd('silent! checktime ' .. vim.fn.bufnr())")
        said = (await at.call("read", document=document("use.go"))).said
        assert "conflict" in said or "older" not in said


@bounded
async def test_an_edit_of_a_file_in_conflict_is_refused(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go", ui=True) as at:
        typed, on_disk = GO.using("use", 3), GO.using("use", 2)
        await at.type_text("use.go", typed)
        write(tmp_path / "use.go", on_disk)
        before = (tmp_path / "lib.go").read_bytes()
        message = await at.refused("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Other")
        assert "use.go" in message
        assert (tmp_path / "lib.go").read_bytes() == before
        assert (tmp_path / "use.go").read_text() == on_disk
        assert await at.buffer_text("use.go") == typed


# --- files that no buffer holds --------------------------------------------------------------------


@kinds
@bounded
async def test_changed_new_and_deleted_files_that_no_buffer_holds_are_seen_at_once(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=1)
    if kind is C:
        kind.write_commands(tmp_path, "use", *(f"new{number}" for number in range(4)))
    user = f"use{kind.suffix}"
    async with desk(tmp_path, kind.definition[0], servers=[kind.server]) as at:
        await all_say(at, kind, everything(kind, kind.uses(user, 1)))
        view, buffers = await at.nv.view(), await at.nv.loaded()
        for number in range(4):
            new = f"new{number}{kind.suffix}"
            write(tmp_path / user, kind.using("use", number + 2, above=number))
            of_user = kind.uses(user, number + 2, above=number)
            await all_say(at, kind, everything(kind, of_user))
            write(tmp_path / new, kind.using(f"new{number}", 2))
            await all_say(at, kind, everything(kind, of_user, kind.uses(new, 2)))
            (tmp_path / new).unlink()
            await all_say(at, kind, everything(kind, of_user))
        assert await at.nv.view() == view
        assert await at.nv.loaded() == buffers


@bounded
async def test_a_new_package_is_seen_at_once_and_gone_at_once(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "lib.go") as at:
        for number in range(3):
            folder = tmp_path / f"new{number}"
            write(folder / "new.go", f'package new{number}\n\nimport "ex.com/a"\n\nvar X = a.Target()\n')
            new = [(f"new{number}/new.go", 5)]
            await all_say(at, GO, everything(GO, GO.uses("use.go", 1), new))
            found = await at.call("find_symbol_definitions_by_name", symbol_name=f"new{number}.X")
            assert found.json["definitions"][0]["location"]["file"] == f"new{number}/new.go"
            (folder / "new.go").unlink()
            folder.rmdir()
            await all_say(at, GO, everything(GO, GO.uses("use.go", 1)))


COUNT_READINGS = """
_G.readings = 0
local rpc = vim.lsp.get_clients({ name = 'gopls' })[1].rpc
local notify = rpc.notify
rpc.notify = function(method, params)
  if method == 'workspace/didChangeWorkspaceFolders' then _G.readings = _G.readings + 1 end
  return notify(method, params)
end
"""


@bounded
async def test_a_package_that_was_created_before_we_came_is_seen(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with neovim(tmp_path, "lib.go", servers=["gopls"]) as nv:
        await nv.attached("gopls")
        async with beside(tmp_path, nv, ["gopls"]) as at:
            await all_say(at, GO, everything(GO, GO.uses("use.go", 1)))
        write(tmp_path / "new/new.go", 'package new\n\nimport "ex.com/a"\n\nvar X = a.Target()\n')
        await nv.lua(COUNT_READINGS)
        async with beside(tmp_path, nv, ["gopls"]) as at:
            # The text of one document is known without it.
            await at.call("lsp_formatting", document=document("lib.go"))
            assert await nv.lua("return _G.readings") == 0
            await all_say(at, GO, everything(GO, GO.uses("use.go", 1), [("new/new.go", 5)]))
            assert await nv.lua("return _G.readings") == 1


@bounded
async def test_a_server_reads_all_once_for_all_sessions_at_a_time_and_each_knows_what_came_before_it(
    tmp_path: Path,
) -> None:
    GO.write(tmp_path, use=1)
    expected = everything(GO, GO.uses("use.go", 1))

    def create(name: str) -> None:
        write(tmp_path / name / "new.go", f'package {name}\n\nimport "ex.com/a"\n\nvar X = a.Target()\n')
        expected.append((f"{name}/new.go", 5))
        expected.sort()

    async with neovim(tmp_path, "lib.go", servers=["gopls"]) as nv:
        await nv.attached("gopls")
        await nv.lua(COUNT_READINGS)
        async with beside(tmp_path, nv, ["gopls"]) as first, beside(tmp_path, nv, ["gopls"]) as second:
            # At once: one reads, the other waits for it.
            await asyncio.gather(all_say(first, GO, expected), all_say(second, GO, expected))
            assert await nv.lua("return _G.readings") == 1
            for number in range(3):
                create(f"new{number}")  # of which nobody has been told
                write(tmp_path / "use.go", GO.using("use", 1, above=number + 1))
                expected[expected.index(("use.go", number + 4))] = "use.go", number + 5
                async with beside(tmp_path, nv, ["gopls"]) as later:
                    create(f"newer{number}")
                    await all_say(later, GO, expected)
                    await all_say(second, GO, expected)
            assert await nv.lua("return _G.readings") == 1
            await all_say(first, GO, expected)
        create("last")
        async with beside(tmp_path, nv, ["gopls"]) as alone:
            await all_say(alone, GO, expected)
        assert await nv.lua("return _G.readings") == 2


@bounded
async def test_a_session_that_cannot_tell_a_server_of_changes_is_not_relied_on(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with neovim(tmp_path, "lib.go", servers=["gopls"]) as nv:
        await nv.attached("gopls")
        await nv.lua(COUNT_READINGS)
        async with beside(tmp_path, nv, ["gopls"]) as first:
            await all_say(first, GO, everything(GO, GO.uses("use.go", 1)))
            (connection,) = first.neovims.connections.connected
            first.neovims.disconnect(connection.id)
            write(tmp_path / "new/new.go", 'package new\n\nimport "ex.com/a"\n\nvar X = a.Target()\n')
            async with beside(tmp_path, nv, ["gopls"]) as second:
                await all_say(second, GO, everything(GO, GO.uses("use.go", 1), [("new/new.go", 5)]))
                assert await nv.lua("return _G.readings") == 2


@bounded
async def test_a_changed_header_counts_for_a_buffer_that_includes_it(tmp_path: Path) -> None:
    C.write(tmp_path, use=1)
    async with desk(tmp_path, "use.c", servers=["clangd"]) as at:
        await all_say(at, C, everything(C, C.uses("use.c", 1)))
        view = await at.nv.view()
        for number in range(1, 6):
            header = "#pragma once\n" + "// more\n" * number + "int target(void);\n"
            write(tmp_path / "include/lib.h", header)
            found, _ = await at.references(C)
            assert found == sorted([("include/lib.h", number + 2), ("lib.c", 2), ("use.c", 4)])
            definition = await at.call("lsp_declaration", document=document("use.c"), line=4, character=3)
            assert str(number + 2) in definition.text
        # What is wrong in the buffer is wrong because of the header.
        write(tmp_path / "include/lib.h", "#pragma once\nint target(int);\n")
        assert errors(await at.call("buffer_diagnostics", id=0)) != []
        write(tmp_path / "include/lib.h", "#pragma once\nint target(void);\n")
        assert errors(await at.call("buffer_diagnostics", id=0)) == []
        assert await at.nv.view() == view


@kinds
@pytest.mark.parametrize("shown", [True, False], ids=["shown", "hidden"])
@bounded
async def test_a_file_that_is_deleted_under_its_buffer_is_gone_and_comes_back(
    kind: Kind, shown: bool, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=2)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user if shown else kind.definition[0], servers=[kind.server], ui=True) as at:
        if not shown:
            await at.load_hidden(user)
        await all_say(at, kind, everything(kind, kind.uses(user, 2)))
        view = await at.nv.view()
        for count in (3, 1):
            (tmp_path / user).unlink()
            await all_say(at, kind, everything(kind))
            assert user in await at.refused("read", document=document(user))
            assert await at.nv.view() == view
            write(tmp_path / user, kind.using("use", count, above=1))
            await all_say(at, kind, everything(kind, kind.uses(user, count, above=1)))
            assert await at.buffer_text(user) == kind.using("use", count, above=1)
            assert not (await at.nv.mode())["blocking"]
        # The text that the buffer had is what its user gets by writing it.
        (tmp_path / user).unlink()
        await all_say(at, kind, everything(kind))
        await at.nv.lua("vim.api.nvim_buf_call(vim.fn.bufnr(...), function() vim.cmd('write!') end)", user)
        await all_say(at, kind, everything(kind, kind.uses(user, 1, above=1)))


@bounded
async def test_a_file_that_comes_back_and_is_read_by_its_server_before_it_is_announced_is_searched(
    tmp_path: Path,
) -> None:
    GO.write(tmp_path, use=2)
    early = (
        "local client, uri = vim.lsp.get_clients()[1], ... "
        "client:request_sync('textDocument/documentSymbol', { textDocument = { uri = uri } }, 20000)"
    )
    async with desk(tmp_path, "use.go", ui=True) as at:
        await all_say(at, GO, everything(GO, GO.uses("use.go", 2)))
        for count in (3, 1):
            (tmp_path / "use.go").unlink()
            await all_say(at, GO, everything(GO))
            write(tmp_path / "use.go", GO.using("use", count))
            await at.nv.lua(early, path_uri(tmp_path / "use.go"))
            await all_say(at, GO, everything(GO, GO.uses("use.go", count)))
            assert not await at.modified("use.go")
            assert await at.buffer_text("use.go") == GO.using("use", count)


@kinds
@bounded
async def test_a_deleted_file_whose_buffer_is_edited_counts_with_its_unsaved_text(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=2)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server], ui=True) as at:
        await all_say(at, kind, everything(kind, kind.uses(user, 2)))
        (tmp_path / user).unlink()
        await all_say(at, kind, everything(kind))
        await at.type_text(user, kind.using("use", 3))
        said = await all_say(at, kind, everything(kind, kind.uses(user, 3)))
        assert user in said
        assert (await at.call("read", document=document(user))).text == kind.using("use", 3).rstrip("\n")


@kinds
@bounded
async def test_a_user_may_open_edit_and_close_what_the_program_has_open_behind_neovim(
    kind: Kind, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, kind.definition[0], servers=[kind.server]) as at:

        async def ask(count: int, above: int = 0) -> None:
            # A question about the file itself opens it with the server if no buffer has.
            outline = await at.call("list_symbols_in_file", file_path=user)
            assert [one["name"] for one in outline.json["file_symbols"]] == ["use"]
            await all_say(at, kind, everything(kind, kind.uses(user, count, above=above)))

        await ask(1)
        for round_ in range(3):
            await at.nv.open(user)
            await ask(1, above=round_)
            await at.type_text(user, kind.using("use", 4))
            await ask(4)
            await at.nv.lua("vim.cmd('bdelete!')")  # thrown away
            await ask(1, above=round_)
            await at.nv.open(user)
            await at.type_text(user, kind.using("use", 1, above=round_ + 1))
            await at.nv.lua("vim.cmd.write() vim.cmd(({ 'bdelete', 'bwipeout', 'bunload' })[...])", round_ + 1)
            await ask(1, above=round_ + 1)
            write(tmp_path / user, kind.using("use", 2))
            await ask(2)
            write(tmp_path / user, kind.using("use", 1, above=round_ + 1))


@kinds
@bounded
async def test_60_files_that_change_at_once_are_all_seen(kind: Kind, tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(60)]
    kind.write(tmp_path, **dict.fromkeys(names[:40], 1))
    if kind is C:
        kind.write_commands(tmp_path, *names)
    suffix = kind.suffix
    held = [names[0], names[1], names[20], names[21]]  # in buffers; two of them are deleted
    async with desk(tmp_path, kind.definition[0], servers=[kind.server]) as at:
        for name in held:
            await at.load_hidden(name + suffix)
        await all_say(at, kind, everything(kind, *(kind.uses(name + suffix, 1) for name in names[:40])))
        view = await at.nv.view()
        for name in names[:20]:
            write(tmp_path / (name + suffix), kind.using(name, 2, above=1))
        for name in names[20:40]:
            (tmp_path / (name + suffix)).unlink()
        for name in names[40:]:
            write(tmp_path / (name + suffix), kind.using(name, 1))
        now = [
            *(kind.uses(name + suffix, 2, above=1) for name in names[:20]),
            *(kind.uses(name + suffix, 1) for name in names[40:]),
        ]
        await all_say(at, kind, everything(kind, *now))
        # And back again.
        for name in names[:40]:
            write(tmp_path / (name + suffix), kind.using(name, 1))
        for name in names[40:]:
            (tmp_path / (name + suffix)).unlink()
        await all_say(at, kind, everything(kind, *(kind.uses(name + suffix, 1) for name in names[:40])))
        assert await at.nv.view() == view


# --- diagnostics -----------------------------------------------------------------------------------


def errors(answer: Any) -> list[Any]:
    return [one for one in answer.json if one["severity"] == 1]


@kinds
@bounded
async def test_diagnostics_right_after_an_outside_edit_are_for_the_present_text(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=0)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        wrong = []
        for number in range(ROUNDS):
            broken = number % 2 == 0
            write(tmp_path / user, kind.broken if broken else kind.whole)
            if bool(errors(await at.call("buffer_diagnostics", id=0))) != broken:
                wrong.append(number)
        assert wrong == []


@kinds
@bounded
async def test_diagnostics_right_after_typing_are_for_the_present_text(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=0)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        wrong = []
        for number in range(ROUNDS):
            broken = number % 2 == 0
            await at.type_text(user, kind.broken if broken else kind.whole)
            if bool(errors(await at.call("buffer_diagnostics", id=0))) != broken:
                wrong.append(number)
        assert wrong == []


@kinds
@bounded
async def test_diagnostics_between_typing_undoing_writing_and_outside_edits_are_for_the_present_text(
    kind: Kind, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=0)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, user, servers=[kind.server]) as at:

        async def broken() -> bool:
            return bool(errors(await at.call("buffer_diagnostics", id=0)))

        for _ in range(4):
            await at.type_text(user, kind.broken)
            assert await broken()
            await at.nv.lua("vim.cmd('silent write')")
            assert await broken()
            write(tmp_path / user, kind.whole)
            assert not await broken()
            await at.type_text(user, kind.broken)
            assert await broken()
            await at.nv.lua("vim.cmd('silent undo')")
            assert not await broken()
            write(tmp_path / user, kind.broken)
            assert await broken()
            await at.type_text(user, kind.whole)
            assert not await broken()
            await at.nv.lua("vim.cmd('edit!')")
            assert await broken()
            await at.nv.lua("vim.cmd('bdelete') vim.cmd.edit(...)", user)
            assert await broken()


@kinds
@bounded
async def test_diagnostics_are_right_after_another_file_was_changed_on_which_they_depend(
    kind: Kind, tmp_path: Path
) -> None:
    kind.write(tmp_path, use=1)
    user = f"use{kind.suffix}"
    declares = "lib.go" if kind is GO else "include/lib.h"
    good = (tmp_path / declares).read_text()
    async with desk(tmp_path, user, servers=[kind.server]) as at:
        wrong = []
        for number in range(10):
            broken = number % 2 == 0
            write(tmp_path / declares, good.replace("arget", "arget2") if broken else good)
            if bool(errors(await at.call("buffer_diagnostics", id=0))) != broken:
                wrong.append(number)
        assert wrong == []


@kinds
@bounded
async def test_diagnostics_of_a_buffer_out_of_sight_are_for_its_present_text(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path, use=0)
    user = f"use{kind.suffix}"
    async with desk(tmp_path, kind.definition[0], servers=[kind.server]) as at:
        number = await at.load_hidden(user)
        for count in range(6):
            broken = count % 2 == 0
            write(tmp_path / user, kind.broken if broken else kind.whole)
            assert bool(errors(await at.call("buffer_diagnostics", id=number))) == broken, count


@kinds
@bounded
async def test_diagnostics_that_are_not_known_are_not_yet(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_mcp.lsp.diagnosing._TIMEOUT", 1.0)
    kind.write(tmp_path, use=0)
    user = f"use{kind.suffix}"
    options = SessionOptions(request_timeout=2.0)
    async with desk(tmp_path, user, servers=[kind.server], options=options) as at:
        assert errors(await at.call("buffer_diagnostics", id=0)) == []
        with at.stopped(kind.server):
            await at.type_text(user, kind.broken)
            for _ in range(2):
                message = await soon(at.refused("buffer_diagnostics", id=0), 8)
                assert message.startswith("not yet")
                assert kind.server in message
                assert user in message
        assert errors(await at.call("buffer_diagnostics", id=0)) != []


@bounded
async def test_questions_at_once_with_changes_are_about_one_state(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        for count in range(1, 8):
            write(tmp_path / "use.go", GO.using("use", count, above=count))
            answers = await asyncio.gather(*(at.references(GO) for _ in range(4)), at.by_anchor(GO))
            assert [found for found, _ in answers] == [everything(GO, GO.uses("use.go", count, above=count))] * 5
