"""Edits are kind to the person who uses Neovim: nothing moves, one undo takes each back, and bytes are as they were."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import GO, C, Desk, Kind, desk, document, kinds, write

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")

UNDO = "vim.api.nvim_buf_call(vim.fn.bufnr('^' .. ... .. '$'), function() vim.cmd('silent undo') end)"
SAVED_TEXT = """
local name = ...
return vim.iter(vim.fn.getbufinfo({ bufloaded = 1 })):any(function(info) return info.name == name end)
"""


def insertion(line: int, text: str, character: int = 1) -> dict[str, Any]:
    at = {"line": line, "character": character}
    return {"range": {"start": at, "end": at}, "newText": text}


def edit(root: Path, **files: list[dict[str, Any]]) -> dict[str, Any]:
    """A workspace edit of files named without `.go`."""
    return {"changes": {(root / f"{name}.go").as_uri(): edits for name, edits in files.items()}}


async def undo(at: Desk, path: str) -> None:
    await at.nv.lua(UNDO, str(at.root / path))


async def held(at: Desk, path: str) -> bool:
    return bool(await at.nv.lua(SAVED_TEXT, str(at.root / path)))


def reports(answer: Any) -> dict[str, tuple[str, bool]]:
    assert answer.json["applied"] is True
    return {one["path"]: (one["where"], one["saved"]) for one in answer.json["files"]}


# --- every tool that edits -------------------------------------------------------------------------

MESSY_GO = 'package a\n\nimport (\n\t"os"\n\t"fmt"\n)\n\nfunc  f( ) { fmt.Println( os.Args ) }\n'
NEAT_GO = 'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc f() { fmt.Println(os.Args) }\n'
SORTED_GO = 'package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc  f( ) { fmt.Println( os.Args ) }\n'
MESSY_C = "int   a ( ) ;\nint   b ( ) ;\n"

FORMATTERS = [
    ("gopls", "lsp_formatting", {"apply_edits": True}, MESSY_GO, NEAT_GO),
    ("gopls", "lsp_organize_imports", {}, MESSY_GO, None),
    ("clangd", "lsp_formatting", {"apply_edits": True}, MESSY_C, "int a();\nint b();\n"),
    (
        "clangd",
        "lsp_range_formatting",
        {"apply_edits": True, "start_line": 1, "start_character": 1, "end_line": 1, "end_character": 14},
        MESSY_C,
        "int a();\nint   b ( ) ;\n",
    ),
]


@pytest.mark.parametrize(
    ("server", "tool", "arguments", "before", "after"), FORMATTERS, ids=[f"{one[0]}-{one[1]}" for one in FORMATTERS]
)
@pytest.mark.parametrize("where", ["shown", "hidden", "no buffer"])
@bounded
async def test_formatting_moves_nothing_and_one_undo_takes_it_back(
    server: str, tool: str, arguments: dict[str, Any], before: str, after: str | None, where: str, tmp_path: Path
) -> None:
    kind = GO if server == "gopls" else C
    kind.write(tmp_path, use=1)
    file = f"messy{kind.suffix}"
    write(tmp_path / file, before)
    shown = file if where == "shown" else kind.definition[0]
    async with desk(tmp_path, shown, servers=[server]) as at:
        if where == "hidden":
            await at.load_hidden(file)
        view = await at.nv.view()
        answer = await at.call(tool, document=document(file), **arguments)
        assert reports(answer) == {file: ("disk" if where == "no buffer" else "buffer", True)}
        assert all(one["edits"] > 0 for one in answer.json["files"])
        assert await at.nv.view() == view
        text = (tmp_path / file).read_text()
        assert text != before
        assert text == (after or text)
        if where == "no buffer":
            assert not await held(at, file)
            return
        assert await at.buffer_text(file) == text
        assert not await at.modified(file)
        await undo(at, file)
        assert await at.buffer_text(file) == before
        # And what is there already is not done again.
        assert (tmp_path / file).read_text() == text


@kinds
@pytest.mark.parametrize("tool", ["rename_symbol_by_anchor", "lsp_rename", "lsp_apply_edit"])
@bounded
async def test_a_rename_moves_nothing_and_one_undo_for_each_file_takes_it_back(
    kind: Kind, tool: str, tmp_path: Path
) -> None:
    kind.write(tmp_path, shown=2, hidden=3, apart=1)
    shown, hidden, apart = (f"{name}{kind.suffix}" for name in ("shown", "hidden", "apart"))
    old, new = ("Target", "Renamed") if kind is GO else ("target", "renamed")
    files = [shown, hidden, apart, *kind.fixed]
    before = {name: (tmp_path / name).read_text() for name in files}
    path, line, character = kind.definition
    place = {"document": document(path), "line": line, "character": character, "new_name": new}
    async with desk(tmp_path, shown, servers=[kind.server]) as at:
        await at.load_hidden(hidden)
        await at.nv.lua("vim.cmd.split() vim.api.nvim_win_set_cursor(0, { 5, 1 })")
        assert (await at.references(kind))[0]
        view, buffers = await at.nv.view(), await at.nv.loaded()
        if tool == "rename_symbol_by_anchor":
            answer = await at.call(tool, symbol_anchor=kind.anchor, new_name=new)
            assert "not saved" not in answer.text
        elif tool == "lsp_rename":
            answer = await at.call(tool, **place, apply_edits=True)
            wheres = reports(answer)
            assert wheres[shown] == wheres[hidden] == ("buffer", True)
            assert wheres[apart] == wheres[path] == ("disk", True)
        else:
            wanted = await at.call("lsp_rename", **place)
            assert {name: (tmp_path / name).read_text() for name in files} == before
            assert set(reports(await at.call(tool, workspace_edit=wanted.json))) >= {shown, hidden, apart, path}
        assert await at.nv.view() == view
        assert await at.nv.loaded() == buffers
        for name in files:
            expected = before[name] if name == "go.mod" else before[name].replace(old, new)
            assert (tmp_path / name).read_text() == expected, name
        for name in (shown, hidden):
            assert await at.buffer_text(name) == before[name].replace(old, new)
            assert not await at.modified(name)
            await undo(at, name)
            assert await at.buffer_text(name) == before[name]
            assert await at.modified(name)
            await at.nv.lua("vim.api.nvim_buf_call(vim.fn.bufnr(...), function() vim.cmd('redo') end)", name)
        after = {**kind.fixed}
        found, said = await at.references(kind)
        assert len(found) == 6 + len(kind.also), (said, after)


# --- undo ------------------------------------------------------------------------------------------


@bounded
async def test_an_edit_right_after_typing_or_another_edit_is_an_undo_step_of_its_own(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    before = GO.using("use", 1)
    async with desk(tmp_path, "use.go", ui=True) as at:
        at.nv.type("Go// typed\x1b")
        await at.nv.until("return vim.fn.getline('$') == '// typed'", "TextChanged", "InsertLeave", "SafeState")
        await at.nv.until("return vim.fn.mode() == 'n'", "ModeChanged", "SafeState")
        typed = before + "// typed\n"
        one, two = "// one\n" + typed, "// two\n// one\n" + typed
        first = await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(1, "// one\n")]))
        assert reports(first) == {"use.go": ("buffer", False)}
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(1, "// two\n")]))
        assert await at.buffer_text("use.go") == two
        for text in (one, typed, before):
            await undo(at, "use.go")
            assert await at.buffer_text("use.go") == text
        assert (tmp_path / "use.go").read_text() == before


@bounded
async def test_an_edit_while_the_user_types_is_an_undo_step_of_its_own_and_leaves_insert_mode_alone(
    tmp_path: Path,
) -> None:
    GO.write(tmp_path, use=1)
    before = GO.using("use", 1)
    async with desk(tmp_path, "use.go", ui=True) as at:
        at.nv.type("Go// ty")
        await at.nv.until("return vim.fn.getline('$') == '// ty'", "TextChangedI", "SafeState")
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(1, "// one\n")]))
        assert (await at.nv.mode())["mode"] == "i"
        at.nv.type("ped\x1b")
        await at.nv.until("return vim.fn.mode() == 'n'", "ModeChanged", "SafeState")
        assert await at.buffer_text("use.go") == "// one\n" + before + "// typed\n"
        states: list[str | None] = []
        while not states or states[-1] != before:
            await undo(at, "use.go")
            states.append(await at.buffer_text("use.go"))
            assert len(states) < 5
        # Where Neovim ends what is typed before and after is its own affair.
        assert any(("// one" in state) != ("// ty" in state) for state in states if state), states


@bounded
async def test_several_edits_of_one_file_are_one_undo_step(tmp_path: Path) -> None:
    GO.write(tmp_path, use=5)
    async with desk(tmp_path, "use.go") as at:
        edits = [insertion(line, f"// {line}\n") for line in range(1, 8)]
        answer = await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=edits))
        assert answer.json["files"][0]["edits"] == 7
        await undo(at, "use.go")
        assert await at.buffer_text("use.go") == GO.using("use", 5)


# --- what is saved ---------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [True, False])
@pytest.mark.parametrize("state", ["modified", "unmodified", "no buffer"])
@bounded
async def test_a_file_is_saved_if_that_is_wished_and_it_had_no_unsaved_changes(
    save: bool, state: str, tmp_path: Path
) -> None:
    GO.write(tmp_path, use=1, other=1)
    before = (tmp_path / "use.go").read_text()
    async with desk(tmp_path, "other.go") as at:
        if state != "no buffer":
            await at.load_hidden("use.go")
        if state == "modified":
            await at.type_text("use.go", "// typed\n" + before)
        view = await at.nv.view()
        wanted = edit(tmp_path, use=[insertion(1, "// mine\n")])
        answer = await at.call("lsp_apply_edit", workspace_edit=wanted, save=save)
        (report,) = answer.json["files"]
        saved = save and state != "modified"
        assert report["saved"] is saved
        assert report["where"] == ("disk" if save and state == "no buffer" else "buffer")
        assert ("unsaved changes" in report.get("reason", "")) == (state == "modified")
        now = "// mine\n" + ("// typed\n" if state == "modified" else "") + before
        assert (tmp_path / "use.go").read_text() == (now if saved else before)
        assert await at.nv.view() == view
        if report["where"] == "buffer":
            assert await at.buffer_text("use.go") == now
            assert await at.modified("use.go") is not saved
            assert not await at.nv.lua("return vim.bo[vim.fn.bufnr(...)].buflisted", "use.go")
        else:
            assert not await held(at, "use.go")
        assert (await at.call("read", document=document("use.go"))).text == now.rstrip("\n")


@bounded
async def test_an_edit_is_not_late_because_a_clock_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GO.write(tmp_path, use=2)
    async with desk(tmp_path, "lib.go") as at:
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now - 86_400)
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, lib=[insertion(1, "// A.\n")]))
        assert (await at.call("read", document=document("lib.go"))).text.startswith("// A.")


@bounded
async def test_what_is_not_saved_is_said_by_a_rename_by_anchor(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1, other=1)
    async with desk(tmp_path, "use.go") as at:
        await at.type_text("use.go", "// typed\n" + GO.using("use", 1))
        answer = await at.call("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Renamed")
        assert "not saved in Neovim: use.go" in answer.json["status"]
        assert "Renamed()" in (await at.buffer_text("use.go") or "")
        assert (tmp_path / "use.go").read_text() == GO.using("use", 1)
        assert "Renamed()" in (tmp_path / "other.go").read_text()


@bounded
async def test_a_formatter_of_the_user_and_other_autocmds_of_writing_do_not_run(tmp_path: Path) -> None:
    GO.write(tmp_path)
    messy = "package a\n\nfunc  f( ) { }\n"
    write(tmp_path / "use.go", messy)
    on_save = """
        vim.g.ran = 0
        vim.api.nvim_create_autocmd({ 'BufWritePre', 'BufWritePost', 'BufWriteCmd', 'FileWritePre' }, {
          callback = function(event)
            vim.g.ran = vim.g.ran + 1
            if event.event == 'BufWritePre' then vim.lsp.buf.format() end
          end,
        })
    """
    async with desk(tmp_path, "use.go", extra_lua=on_save.replace("'BufWriteCmd', ", "")) as at:
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(2, "// mine\n")]))
        assert (tmp_path / "use.go").read_text() == "package a\n// mine\n\nfunc  f( ) { }\n"
        assert await at.nv.lua("return vim.g.ran") == 0


# --- bytes -----------------------------------------------------------------------------------------

CONTENTS = {
    "plain": b"package a\n\n// one\n// two\n",
    "crlf": b"package a\r\n\r\n// one\r\n// two\r\n",
    "bom": b"\xef\xbb\xbfpackage a\n\n// one\n// two\n",
    "bom and crlf": b"\xef\xbb\xbfpackage a\r\n\r\n// one\r\n// two\r\n",
    "no final newline": b"package a\n\n// one\n// two",
    "crlf and no final newline": b"package a\r\n\r\n// one\r\n// two",
    "bom and no final newline": b"\xef\xbb\xbfpackage a\n\n// one\n// two",
    "empty lines at the end": b"package a\n\n// one\n// two\n\n\n",
    "mixed line ends": b"package a\n\r\n// one\r\n// two\n",
    "beyond the basic plane": "package a\n\n// one 😀 ä\n// zwei 😀\n".encode(),
    "a lone CR": b"package a\n\n// one\n// t\rwo\n",
    "a form feed and a tab": b"package a\n\n// one\x0c\t\n// two\t\n",
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("where", ["shown", "hidden", "no buffer"])
@bounded
async def test_all_that_an_edit_is_not_about_is_on_disk_byte_for_byte(content: str, where: str, tmp_path: Path) -> None:
    GO.write(tmp_path)
    before = CONTENTS[content]
    write(tmp_path / "use.go", before)
    async with desk(tmp_path, "use.go" if where == "shown" else "lib.go") as at:
        if where == "hidden":
            await at.load_hidden("use.go")
        view = await at.nv.view()
        end = {"line": 3, "character": 7}
        replaced = {"range": {"start": {"line": 3, "character": 4}, "end": end}, "newText": "ONE"}
        answer = await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[replaced]))
        assert reports(answer) == {"use.go": ("disk" if where == "no buffer" else "buffer", True)}
        assert (tmp_path / "use.go").read_bytes() == before.replace(b"one", b"ONE")
        assert await at.nv.view() == view
        # More lines end as the others do, or what they are inserted with if those don't all end alike.
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(2, "// 1\n// 2\n")]))
        ending = b"\r\n" if b"\r\n" in before and content != "mixed line ends" else b"\n"
        head, _, tail = before.replace(b"one", b"ONE").partition(b"\n")
        assert (tmp_path / "use.go").read_bytes() == head + b"\n" + b"// 1" + ending + b"// 2" + ending + tail
        if where != "no buffer":
            await undo(at, "use.go")
            await undo(at, "use.go")
            # What a person then writes is what was there.
            await at.nv.lua(
                "vim.api.nvim_buf_call(vim.fn.bufnr(...), function()"
                " vim.bo.fixeol = false vim.cmd('silent write') end)",
                str(tmp_path / "use.go"),
            )
            assert (tmp_path / "use.go").read_bytes() == before


@pytest.mark.parametrize("fixeol", [True, False])
@bounded
async def test_the_end_of_the_file_is_as_the_edit_wants_it_and_the_users_setting_stays(
    fixeol: bool, tmp_path: Path
) -> None:
    GO.write(tmp_path)
    write(tmp_path / "use.go", "package a\n\n// one")
    async with desk(tmp_path, "use.go", extra_lua=f"vim.o.fixeol = {str(fixeol).lower()}") as at:
        for text, then in (
            ("// zero\n", "// zero\npackage a\n\n// one"),
            ("", "// zero\npackage a\n\n// one\n"),
            ("// zero\n", "// zero\n// zero\npackage a\n\n// one\n"),
        ):
            change = insertion(1, text) if text else insertion(4, "\n", character=7)
            await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[change]))
            assert (tmp_path / "use.go").read_bytes() == then.encode()
            assert await at.nv.lua("return vim.bo.fixeol") is fixeol
        last = {"start": {"line": 5, "character": 7}, "end": {"line": 6, "character": 1}}
        wanted = edit(tmp_path, use=[{"range": last, "newText": ""}])
        await at.call("lsp_apply_edit", workspace_edit=wanted)
        assert (tmp_path / "use.go").read_bytes() == b"// zero\n// zero\npackage a\n\n// one"


@bounded
async def test_a_whole_file_may_be_replaced_or_emptied(tmp_path: Path) -> None:
    GO.write(tmp_path)
    write(tmp_path / "use.go", "package a\n\n// one\n")
    whole = {"start": {"line": 1, "character": 1}, "end": {"line": 4, "character": 1}}
    async with desk(tmp_path, "use.go") as at:
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[{"range": whole, "newText": ""}]))
        assert (tmp_path / "use.go").read_bytes() == b""
        await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(1, "package a\n")]))
        assert (tmp_path / "use.go").read_bytes() == b"package a\n"
        await undo(at, "use.go")
        await undo(at, "use.go")
        assert await at.buffer_text("use.go") == "package a\n\n// one\n"


# --- what refuses, refuses all ---------------------------------------------------------------------

REFUSALS = {
    "nomodifiable": "vim.bo[...].modifiable = false",
    "readonly": "vim.bo[...].readonly = true",
}


@pytest.mark.parametrize("refusal", [*REFUSALS, "conflict", "wrong range", "outside", "not UTF-8"])
@bounded
async def test_all_files_are_as_they_were_if_one_refuses(refusal: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    GO.write(root, one=1, two=1, three=1)
    outside = tmp_path / "outside.go"
    write(outside, "package a\n")
    async with desk(root, "one.go") as at:
        number = await at.load_hidden("three.go")
        wanted = edit(root, one=[insertion(1, "// mine\n")], two=[insertion(1, "// mine\n")])
        last = [insertion(1, "// mine\n")]
        if refusal in REFUSALS:
            await at.nv.lua(REFUSALS[refusal], number)
        elif refusal == "conflict":
            await at.type_text("three.go", "// typed\n" + GO.using("three", 1))
            write(root / "three.go", GO.using("three", 4))
        elif refusal == "wrong range":
            last = [insertion(500, "// mine\n")]
        elif refusal == "not UTF-8":
            write(root / "three.go", b"package a\n\n// \xff\n")
        file = outside if refusal == "outside" else root / "three.go"
        wanted["changes"][file.as_uri()] = last
        names = ["one.go", "two.go", "three.go"]
        disk = {name: (root / name).read_bytes() for name in names}
        await at.call("list_buffers")
        held_ = {name: await at.buffer_text(name) for name in ("one.go", "three.go")}
        view = await at.nv.view()
        message = await at.refused("lsp_apply_edit", workspace_edit=wanted)
        assert file.name in message
        assert {name: (root / name).read_bytes() for name in names} == disk
        assert outside.read_text() == "package a\n"
        if refusal != "not UTF-8":  # that one is read again
            assert {name: await at.buffer_text(name) for name in ("one.go", "three.go")} == held_
        assert not await at.modified("one.go")
        assert await at.nv.view() == view
        assert await at.modified("three.go") is (refusal == "conflict")


@pytest.mark.parametrize("refusal", REFUSALS)
@bounded
async def test_a_rename_that_one_buffer_refuses_changes_nothing(refusal: str, tmp_path: Path) -> None:
    GO.write(tmp_path, one=1, two=1)
    async with desk(tmp_path, "one.go") as at:
        number = await at.load_hidden("two.go")
        await at.nv.lua(REFUSALS[refusal], number)
        message = await at.refused("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Renamed")
        assert "two.go" in message
        assert "Nothing was changed" in message
        for name in ("one.go", "two.go"):
            assert (tmp_path / name).read_text() == GO.using(name[:-3], 1)
            assert await at.buffer_text(name) == GO.using(name[:-3], 1)
            assert not await at.modified(name)


THROWS = "vim.api.nvim_buf_attach(..., false, { on_lines = function() error('no such mark') end })"
THROWS_AND_LOCKS = """
local number = ...
vim.api.nvim_buf_attach(number, false, { on_lines = function()
  vim.bo[number].modifiable = false
  error('no such mark')
end })
"""


@pytest.mark.parametrize("name", ["one.go", "two.go"])
@bounded
async def test_a_plugin_whose_listener_fails_during_an_edit_is_named_and_nothing_is_changed(
    name: str, tmp_path: Path
) -> None:
    GO.write(tmp_path, one=1, two=1)
    write(tmp_path / "plugin.lua", THROWS)
    async with desk(tmp_path, "one.go") as at:
        await at.load_hidden("two.go")
        number = await at.nv.lua("return vim.fn.bufnr(...)", str(tmp_path / name))
        await at.nv.lua("loadfile((...))(select(2, ...))", str(tmp_path / "plugin.lua"), number)
        message = await at.refused("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Renamed")
        assert f"{name} was not edited: the code of a plugin that listens to its changes failed" in message
        assert "plugin.lua:1: no such mark" in message
        assert "Nothing was changed" in message
        assert "traceback" not in message
        for one in ("one.go", "two.go"):
            assert (tmp_path / one).read_text() == GO.using(one[:-3], 1)
            assert await at.buffer_text(one) == GO.using(one[:-3], 1)
            assert not await at.modified(one)


@bounded
async def test_a_buffer_that_cannot_be_made_as_it_was_is_named(tmp_path: Path) -> None:
    GO.write(tmp_path, one=1)
    async with desk(tmp_path, "one.go") as at:
        number = await at.nv.lua("return vim.fn.bufnr(...)", str(tmp_path / "one.go"))
        await at.nv.lua(THROWS_AND_LOCKS, number)
        message = await at.refused("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Renamed")
        assert "no such mark" in message
        assert "Undo in Neovim what stays changed: one.go." in message
        assert (tmp_path / "one.go").read_text() == GO.using("one", 1)


@bounded
async def test_a_file_that_neovim_cannot_write_is_reported_and_stays_unsaved(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        # What root can't write either.
        await at.nv.lua("vim.o.backup = true vim.o.backupdir = '/proc/nowhere' vim.o.writebackup = true")
        (tmp_path / "elsewhere").mkdir()
        await at.nv.lua("vim.bo.modified = false vim.o.patchmode = ''")
        answer = await at.call("lsp_apply_edit", workspace_edit=edit(tmp_path, use=[insertion(1, "// mine\n")]))
        (report,) = answer.json["files"]
        on_disk = (tmp_path / "use.go").read_text()
        if report["saved"]:
            assert on_disk == "// mine\n" + GO.using("use", 1)
        else:
            assert report["reason"].startswith("Neovim")
            assert on_disk == GO.using("use", 1)
            assert await at.modified("use.go")


# --- files that come, go and get other names -------------------------------------------------------


def operations(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"documentChanges": list(steps)}


def text_edit(path: Path, *edits: dict[str, Any]) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri(), "version": None}, "edits": list(edits)}


@bounded
async def test_a_file_is_created_and_filled(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1)
    async with desk(tmp_path, "use.go") as at:
        view = await at.nv.view()
        new = tmp_path / "new.go"
        wanted = operations(
            {"kind": "create", "uri": new.as_uri()},
            text_edit(new, insertion(1, "package a\n\nvar New = Target()\n")),
            text_edit(tmp_path / "use.go", insertion(1, "// mine\n")),
        )
        answer = await at.call("lsp_apply_edit", workspace_edit=wanted)
        assert new.read_text() == "package a\n\nvar New = Target()\n"
        assert (tmp_path / "use.go").read_text() == "// mine\n" + GO.using("use", 1)
        assert await at.buffer_text("use.go") == "// mine\n" + GO.using("use", 1)
        assert not await at.modified("use.go")
        assert {one["path"] for one in answer.json["files"]} == {"new.go", "use.go"}
        assert await at.nv.view() == view
        assert (await at.references(GO))[0] == [("lib.go", 4), ("new.go", 3), ("use.go", 5)]
        await undo(at, "use.go")
        assert await at.buffer_text("use.go") == GO.using("use", 1)


@pytest.mark.parametrize("where", ["shown", "hidden", "no buffer"])
@bounded
async def test_a_buffer_follows_its_renamed_file(where: str, tmp_path: Path) -> None:
    GO.write(tmp_path, use=1, other=1)
    async with desk(tmp_path, "use.go" if where == "shown" else "other.go") as at:
        if where == "hidden":
            await at.load_hidden("use.go")
        view, buffers = await at.nv.view(), await at.nv.loaded()
        old, new = tmp_path / "use.go", tmp_path / "sub" / "used.go"
        wanted = operations({"kind": "rename", "oldUri": old.as_uri(), "newUri": new.as_uri()})
        await at.call("lsp_apply_edit", workspace_edit=wanted)
        assert not old.exists()
        assert new.read_text() == GO.using("use", 1)
        assert await held(at, "sub/used.go") is (where != "no buffer")
        assert not await held(at, "use.go")
        if where != "no buffer":
            assert not await at.modified("sub/used.go")
            assert await at.buffer_text("sub/used.go") == GO.using("use", 1)
        now = await at.nv.view()
        assert now["windows"] == view["windows"]
        assert len(now["buffers"]) == len(view["buffers"])
        assert await at.nv.loaded() <= buffers + 1
        if where == "shown":
            # It is that file: writing it asks nothing.
            await at.nv.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { '// typed' }) vim.cmd('silent write')")
            assert new.read_text().startswith("// typed\n")
            assert not old.exists()
        assert (await at.references(GO))[0] == [("lib.go", 4), ("other.go", 4)]  # it is another package's now


@pytest.mark.parametrize("kind", ["create", "rename", "rename over", "rename folder", "delete"])
@bounded
async def test_files_with_unsaved_changes_are_not_created_renamed_or_deleted(kind: str, tmp_path: Path) -> None:
    GO.write(tmp_path, other=1)
    write(tmp_path / "sub/use.go", GO.using("use", 1))
    path = tmp_path / "sub" / "use.go"
    steps: dict[str, dict[str, Any]] = {
        "create": {"kind": "create", "uri": path.as_uri(), "options": {"overwrite": True}},
        "rename": {"kind": "rename", "oldUri": path.as_uri(), "newUri": (tmp_path / "new.go").as_uri()},
        "rename over": {
            "kind": "rename",
            "oldUri": (tmp_path / "other.go").as_uri(),
            "newUri": path.as_uri(),
            "options": {"overwrite": True},
        },
        "rename folder": {
            "kind": "rename",
            "oldUri": (tmp_path / "sub").as_uri(),
            "newUri": (tmp_path / "new").as_uri(),
        },
        "delete": {"kind": "delete", "uri": path.as_uri()},
    }
    async with desk(tmp_path, "sub/use.go") as at:
        await at.type_text("sub/use.go", "// typed\n" + GO.using("use", 1))
        before = sorted(one for one in tmp_path.rglob("*") if one.is_file())
        wanted = operations(text_edit(tmp_path / "other.go", insertion(1, "// mine\n")), steps[kind])
        message = await at.refused("lsp_apply_edit", workspace_edit=wanted)
        assert "use.go" in message
        assert "unsaved" in message
        assert "Nothing was changed" in message
        assert sorted(one for one in tmp_path.rglob("*") if one.is_file()) == before
        assert (tmp_path / "other.go").read_text() == GO.using("other", 1)
        assert path.read_text() == GO.using("use", 1)
        assert await at.buffer_text("sub/use.go") == "// typed\n" + GO.using("use", 1)


@pytest.mark.parametrize("shown", [True, False])
@bounded
async def test_a_deleted_file_with_an_unmodified_buffer_is_gone_for_questions(shown: bool, tmp_path: Path) -> None:
    GO.write(tmp_path, use=1, other=1)
    async with desk(tmp_path, "use.go" if shown else "other.go", ui=True) as at:
        if not shown:
            await at.load_hidden("use.go")
        view = await at.nv.view()
        path = tmp_path / "use.go"
        await at.call("lsp_apply_edit", workspace_edit=operations({"kind": "delete", "uri": path.as_uri()}))
        assert not path.exists()
        assert (await at.references(GO))[0] == [("lib.go", 4), ("other.go", 4)]
        assert await at.nv.view() == view
        assert not (await at.nv.mode())["blocking"]


# --- what a person sees ----------------------------------------------------------------------------


@bounded
async def test_cursors_in_two_windows_stay_on_their_text_and_folds_stay_closed(tmp_path: Path) -> None:
    GO.write(tmp_path)
    lines = ["package a", "", *(f"// line {number}" for number in range(40))]
    write(tmp_path / "use.go", "\n".join(lines) + "\n")
    look = """
        local found = {}
        for _, window in ipairs(vim.api.nvim_list_wins()) do
          local row = vim.api.nvim_win_get_cursor(window)[1]
          vim.api.nvim_win_call(window, function()
            local folds = {}
            for line = 1, vim.fn.line('$') do
              if vim.fn.foldclosed(line) == line then
                table.insert(folds, vim.fn.getline(line) .. '…' .. vim.fn.getline(vim.fn.foldclosedend(line)))
              end
            end
            table.insert(found, { vim.fn.getline(row), vim.fn.getline(vim.fn.line('w0')), folds, vim.fn.getline("'a") })
          end)
        end
        return found
    """
    async with desk(tmp_path, "use.go") as at:
        await at.nv.lua("""
            vim.o.foldmethod = 'manual'
            vim.cmd.split()
            vim.wo.foldmethod = 'manual'
            vim.cmd('20,24fold')
            vim.api.nvim_win_set_cursor(0, { 12, 3 })
            vim.cmd('11mark a')
            vim.cmd.wincmd('j')
            vim.cmd('10,14fold')
            vim.api.nvim_win_set_cursor(0, { 30, 2 })
        """)
        before = await at.nv.lua(look)
        tops = {"below": 42, "above": 3, "inside a fold": 22}
        for where, line in tops.items():
            wanted = edit(tmp_path, use=[insertion(line, "X", character=1)])
            await at.call("lsp_apply_edit", workspace_edit=wanted)
            now = await at.nv.lua(look)
            assert [one[0] for one in now] == [one[0] for one in before], where
            assert [one[2] for one in now] == [one[2] for one in before], where
            assert [one[3] for one in now] == [one[3] for one in before], where
        wanted = edit(tmp_path, use=[insertion(3, "// new\n// lines\n")])
        await at.call("lsp_apply_edit", workspace_edit=wanted)
        now = await at.nv.lua(look)
        assert [(one[0], *one[2:]) for one in now] == [(one[0], *one[2:]) for one in before]


@bounded
async def test_other_tabs_terminals_and_marks_are_left_alone(tmp_path: Path) -> None:
    GO.write(tmp_path, use=3, other=1)
    async with desk(tmp_path, "use.go") as at:
        await at.nv.lua("""
            vim.api.nvim_win_set_cursor(0, { 4, 1 })
            vim.cmd('mark b | tabnew other.go | vsplit | normal! yy')
            vim.fn.setreg('/', 'Target')
            vim.fn.setqflist({ { filename = 'use.go', lnum = 4, text = 'x' } })
        """)
        marks = "return { vim.fn.getpos(\"'b\"), vim.fn.getreg('/'), vim.fn.bufnr('#'), vim.fn.getpos('.') }"
        view, before = await at.nv.view(), await at.nv.lua(marks)
        await at.call("rename_symbol_by_anchor", symbol_anchor=GO.anchor, new_name="Renamed")
        assert await at.nv.view() == view
        assert await at.nv.lua(marks) == before


@bounded
async def test_the_servers_know_an_edit_at_once_whether_it_is_saved_or_not(tmp_path: Path) -> None:
    GO.write(tmp_path, use=1, apart=1)
    async with desk(tmp_path, "use.go") as at:
        for number, save in enumerate([True, False, False, True]):
            for name in ("use", "apart"):
                wanted = edit(tmp_path, **{name: [insertion(1, f"// {number}\n")]})
                await at.call("lsp_apply_edit", workspace_edit=wanted, save=save)
            found, _ = await at.references(GO)
            assert found == [("apart.go", 5 + number), ("lib.go", 4), ("use.go", 5 + number)]
            found, _ = await at.by_anchor(GO)
            assert found == [("apart.go", 5 + number), ("lib.go", 4), ("use.go", 5 + number)]
