"""Each of the 33 tools, against a real Neovim with real gopls (UTF-16) and clangd (UTF-8) in one session."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from nvim.conftest import Shared
from nvim.neovims import skip_without_nvim
from nvim.nvim_tools import (
    BROKEN,
    CPP,
    FIXABLE,
    GO,
    HPP,
    IMPORTS,
    MORE,
    SOURCES,
    SPACES,
    UNSAVED,
    UNTIDY,
    WRONG,
    Base,
    Tools,
    buffer_number,
    buffer_text,
    person,
)

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")

THE_33 = [
    "get_targets",
    "connect",
    "connect_tcp",
    "disconnect",
    "navigate",
    "cursor_position",
    "list_buffers",
    "read",
    "buffer_diagnostics",
    "lsp_clients",
    "lsp_workspace_symbols",
    "lsp_code_actions",
    "lsp_hover",
    "lsp_document_symbols",
    "lsp_references",
    "lsp_resolve_code_action",
    "lsp_apply_edit",
    "lsp_definition",
    "lsp_type_definition",
    "lsp_implementations",
    "lsp_declaration",
    "lsp_rename",
    "lsp_formatting",
    "lsp_range_formatting",
    "lsp_organize_imports",
    "lsp_call_hierarchy_prepare",
    "lsp_call_hierarchy_incoming_calls",
    "lsp_call_hierarchy_outgoing_calls",
    "lsp_type_hierarchy_prepare",
    "lsp_type_hierarchy_supertypes",
    "lsp_type_hierarchy_subtypes",
    "exec_lua",
    "wait_for_lsp_ready",
]
# Needed by who was here first (docs/contracts/nvim.md): everything else that a tool takes may be left out.
REQUIRED = {
    "connect": ["target"],
    "connect_tcp": ["target"],
    "disconnect": ["connection_id"],
    "navigate": ["document", "line", "character"],
    "read": ["document"],
    "buffer_diagnostics": ["id"],
    "lsp_workspace_symbols": ["query"],
    "lsp_resolve_code_action": ["code_action"],
    "lsp_apply_edit": ["workspace_edit"],
    "lsp_rename": ["document", "line", "character", "new_name"],
    "lsp_call_hierarchy_incoming_calls": ["item"],
    "lsp_call_hierarchy_outgoing_calls": ["item"],
    "lsp_type_hierarchy_supertypes": ["item"],
    "lsp_type_hierarchy_subtypes": ["item"],
    "exec_lua": ["code"],
}

both_bases = pytest.mark.parametrize("base", [1, 0])
OPTIONS = {"tabSize": 4, "insertSpaces": True}


def test_the_tools_and_their_arguments_are_the_published_ones(shared: Shared) -> None:
    by_name = shared.tools().by_name
    nvim = [name for name in by_name if name in THE_33]
    assert sorted(nvim) == sorted(THE_33)
    for name, required in REQUIRED.items():
        assert by_name[name].input_schema.get("required", []) == required, name
    assert {"start", "end"} <= by_name["read"].input_schema["properties"].keys()
    assert {"client_name", "timeout_ms"} <= by_name["wait_for_lsp_ready"].input_schema["properties"].keys()
    assert by_name["wait_for_lsp_ready"].input_schema["properties"]["timeout_ms"]["default"] == 5000
    assert by_name["lsp_organize_imports"].input_schema["properties"]["apply_edits"]["default"] is True
    for name in THE_33:
        if name not in ("get_targets", "connect", "connect_tcp", "disconnect"):
            assert "connection_id" in by_name[name].input_schema["properties"], name


# --- nothing moves ---------------------------------------------------------------------------------


async def _item(tools: Tools, kind: str, name: str, needle: str, inside: str) -> dict[str, Any]:
    at = tools.at(name, needle, inside)
    return (await tools(f"lsp_{kind}_hierarchy_prepare", document=tools.file(name), **at))[0]


async def _action(tools: Tools) -> dict[str, Any]:
    found = await tools("lsp_code_actions", document=tools.file(GO), **tools.range(GO, "Square{}"))
    return next(one for one in found if one["title"].startswith("Fill"))


async def _resolved(tools: Tools) -> Any:
    return await tools("lsp_resolve_code_action", code_action=await _action(tools), lsp_client_name="gopls")


async def _followed(tools: Tools, kind: str, which: str) -> Any:
    needle = "Twice(" if kind == "call" else "Square struct"
    return await tools(f"lsp_{kind}_hierarchy_{which}", item=await _item(tools, kind, GO, needle, needle[:5]))


Ask = Callable[[Tools], Awaitable[Any]]
# A call of each tool that only asks, about files that a buffer holds and files that none does.
READS: dict[str, list[Ask]] = {
    "get_targets": [lambda t: t("get_targets")],
    "cursor_position": [lambda t: t("cursor_position")],
    "list_buffers": [lambda t: t("list_buffers")],
    "read": [lambda t: t.text("read", document=t.file(MORE)), lambda t: t.text("read", document=t.file(HPP))],
    "buffer_diagnostics": [lambda t: t("buffer_diagnostics", id=0)],
    "lsp_clients": [lambda t: t("lsp_clients")],
    "lsp_workspace_symbols": [lambda t: t("lsp_workspace_symbols", query="Square", lsp_client_name="gopls")],
    "lsp_code_actions": [
        lambda t: t("lsp_code_actions", document=t.file(GO), **t.range(GO, "Square{}")),
        lambda t: t("lsp_code_actions", document=t.file(UNTIDY), **t.range(UNTIDY, "return x")),
    ],
    "lsp_resolve_code_action": [_resolved],
    "lsp_document_symbols": [
        lambda t: t("lsp_document_symbols", document=t.file(GO)),
        lambda t: t("lsp_document_symbols", document=t.file(HPP)),
    ],
    "lsp_references": [
        lambda t: t("lsp_references", document=t.file(GO), **t.at(GO, "Twice(")),
        lambda t: t("lsp_references", document=t.file(HPP), **t.at(HPP, "count(")),
    ],
    **{
        f"lsp_{name}": [
            lambda t, name=name: t(f"lsp_{name}", document=t.file(GO), **t.at(GO, "Area() int")),
            lambda t, name=name: t(f"lsp_{name}", document=t.file(HPP), **t.at(HPP, "size() const;")),
        ]
        for name in ("hover", "definition", "implementations", "call_hierarchy_prepare")
    },
    "lsp_type_definition": [lambda t: t("lsp_type_definition", document=t.file(GO), **t.at(GO, "s Shape", "s"))],
    "lsp_declaration": [lambda t: t("lsp_declaration", document=t.file(CPP), **t.at(CPP, "count(hall)"))],
    "lsp_type_hierarchy_prepare": [lambda t: _item(t, "type", GO, "Square struct", "Square")],
    "lsp_call_hierarchy_incoming_calls": [lambda t: _followed(t, "call", "incoming_calls")],
    "lsp_call_hierarchy_outgoing_calls": [lambda t: _followed(t, "call", "outgoing_calls")],
    "lsp_type_hierarchy_supertypes": [lambda t: _followed(t, "type", "supertypes")],
    "lsp_type_hierarchy_subtypes": [lambda t: _followed(t, "type", "subtypes")],
    "wait_for_lsp_ready": [lambda t: t("wait_for_lsp_ready", client_name="clangd")],
}
# These may change something, but not as they are called here.
ASKED_ONLY: dict[str, list[Ask]] = {
    "lsp_rename": [lambda t: t("lsp_rename", document=t.file(GO), **t.at(GO, "Twice("), new_name="Double")],
    "lsp_formatting": [
        lambda t: t("lsp_formatting", document=t.file(GO)),
        lambda t: t("lsp_formatting", document=t.file(UNTIDY)),
    ],
    "lsp_range_formatting": [
        lambda t: t("lsp_range_formatting", document=t.file(UNTIDY), **t.range(UNTIDY, "int   spaced"))
    ],
    "lsp_organize_imports": [lambda t: t("lsp_organize_imports", document=t.file(IMPORTS), apply_edits=False)],
    "connect": [lambda t: t("connect", target=t.neovims.connections.connected[0].address.text)],
}


def test_every_tool_that_only_asks_is_tried(shared: Shared) -> None:
    only_ask = [name for name, tool in shared.tools().by_name.items() if tool.read_only and name in THE_33]
    assert sorted(READS) == sorted(only_ask)


@pytest.mark.parametrize("name", [*READS, *ASKED_ONLY])
def test_a_person_finds_windows_cursor_and_unsaved_text_as_they_were(name: str, shared: Shared) -> None:
    async def run() -> None:
        nv = shared.nv
        number = await buffer_number(nv, MORE)
        before = await nv.view()
        assert len(before["windows"]) == 2
        assert [buffer["modified"] for buffer in before["buffers"] if buffer["number"] == number] == [True]
        for ask in (READS | ASKED_ONLY)[name]:
            await ask(shared.tools())
            assert await nv.view() == before
        assert await buffer_text(nv, number) == UNSAVED
        assert {path: (shared.root / path).read_text("utf-8") for path in SOURCES} == SOURCES

    shared.run(run())


# --- which document, which client, which connection --------------------------------------------------


@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
@pytest.mark.parametrize("form", ["buffer_id", "the current buffer", "project_relative_path", "absolute_path"])
@pytest.mark.parametrize("tool", ["read", "lsp_hover", "lsp_document_symbols"])
def test_a_document_is_named_in_three_forms_each_also_as_a_json_string(
    tool: str, form: str, as_string: bool, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools()
        document: Any = {
            "buffer_id": {"buffer_id": await buffer_number(shared.nv, GO)},
            "the current buffer": {"buffer_id": 0},
            "project_relative_path": {"project_relative_path": GO},
            "absolute_path": {"absolute_path": str(shared.root / GO)},
        }[form]
        at = tools.at(GO, "Twice(s") if tool == "lsp_hover" else {}
        answer = await tools.text(tool, document=json.dumps(document) if as_string else document, **at)
        assert "func Twice(s Shape) int" in answer or '"name":"Twice"' in answer

    shared.run(run())


@pytest.mark.parametrize("connection", ["omitted", "given"])
@pytest.mark.parametrize("client", [None, "gopls"])
def test_connection_and_client_may_be_left_out_where_only_one_can_be_meant(
    connection: str, client: str | None, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools()
        await tools("lsp_clients")
        given = {"connection_id": tools.neovims.connections.connected[0].id} if connection == "given" else {}
        chosen = {"lsp_client_name": client} if client else {}
        at = tools.at(GO, "Twice(Square")
        found = await tools("lsp_definition", document=tools.file(GO), **at, **chosen, **given)
        assert tools.cuts(found) == [(GO, 16, "Twice")]

    shared.run(run())


def test_where_several_clients_may_answer_the_error_lists_them(shared: Shared) -> None:
    error = shared.run(shared.tools().error("lsp_workspace_symbols", query="a"))
    assert "lsp_client_name" in error and "gopls" in error and "clangd" in error


# --- what the person sees ----------------------------------------------------------------------------


@both_bases
def test_the_cursor_is_told_in_characters(base: Base, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        cursor = await tools("cursor_position")
        byte = len("/* é😀 */ func Twice"[:20].encode())
        assert byte > 20  # so bytes and characters differ
        row, column = await shared.nv.lua("return vim.api.nvim_win_get_cursor(0)")
        line = SOURCES[GO].split("\n")[row - 1].encode()
        assert cursor == {
            "buffer_id": await buffer_number(shared.nv, GO),
            "buffer_name": str(shared.root / GO),
            "window_id": await shared.nv.lua("return vim.api.nvim_get_current_win()"),
            "row": row - 1 + base,
            "col": len(line[:column].decode()) + base,
        }

    shared.run(run())


def test_buffers_are_listed_with_names_and_line_counts(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        listed = {Path(one["name"]).relative_to(shared.root).as_posix(): one for one in await tools("list_buffers")}
        assert {name: one["line_count"] for name, one in listed.items()} == {
            BROKEN: 3,
            WRONG: 2,
            MORE: 3,
            CPP: 5,
            GO: 18,
        }
        assert [name for name, one in listed.items() if one["modified"]] == [MORE]
        for name, one in listed.items():
            assert one["id"] == await buffer_number(shared.nv, name)

    shared.run(run())


@both_bases
def test_lines_are_read_from_the_base_and_the_end_is_exclusive(base: Base, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        lines = SOURCES[GO].rstrip("\n").split("\n")

        async def read(**range_: int) -> list[str]:
            return (await tools.text("read", document=tools.file(GO), **range_)).split("\n")

        assert await read() == lines
        assert await read(start=base, end=-1) == lines
        assert await read(start=base + 2) == lines[2:]
        assert await read(start=base + 2, end=base + 5) == lines[2:5]
        assert await read(end=base + 1) == lines[:1]
        assert await read(start=base + 3, end=base + 3) == [""]
        assert await read(start=base + len(lines) - 1, end=base + 10_000) == lines[-1:]
        assert "line" in await tools.error("read", document=tools.file(GO), start=base - 1)
        assert "last line" in await tools.error("read", document=tools.file(GO), start=base + len(lines) + 1)

    shared.run(run())


def test_unsaved_text_is_read_and_said_to_be_unsaved(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        assert await tools.text("read", document=tools.file(MORE)) == UNSAVED.rstrip("\n")
        assert len(tools.remarks) == 1 and "unsaved" in tools.remarks[0]
        assert await tools.text("read", document=tools.file(HPP)) == SOURCES[HPP].rstrip("\n")  # in no buffer
        assert tools.remarks == []

    shared.run(run())


@both_bases
@pytest.mark.parametrize(
    ("name", "needle", "said"), [(BROKEN, "missing", "undefined: missing"), (WRONG, "conut", "undeclared identifier")]
)
def test_diagnostics_of_a_buffer_stand_where_the_text_is(
    name: str, needle: str, said: str, base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        number = await buffer_number(shared.nv, name)
        (found,) = await tools("buffer_diagnostics", id=number)
        at = tools.at(name, needle)
        assert (found["lnum"], found["col"]) == (at["line"], at["character"])
        assert (found["end_lnum"], found["end_col"]) == (at["line"], at["character"] + len(needle))
        assert said in found["message"] and found["severity"] == 1 and found["bufnr"] == number
        # 0 is the current buffer, which has no mistakes: gopls's hints are not errors.
        assert [one for one in await tools("buffer_diagnostics", id=0) if one["severity"] == 1] == []

    shared.run(run())


def test_clients_are_listed_with_what_they_are_for(shared: Shared) -> None:
    async def run() -> None:
        listed = {one["name"]: one for one in await shared.tools()("lsp_clients")}
        assert {name: one["offset_encoding"] for name, one in listed.items()} == {"gopls": "utf-16", "clangd": "utf-8"}
        assert {one["root_dir"] for one in listed.values()} == {str(shared.root)}
        assert all(one["initialized"] for one in listed.values())
        for name, file in (("gopls", GO), ("clangd", CPP)):
            assert await buffer_number(shared.nv, file) in listed[name]["attached_buffers"]

    shared.run(run())


@pytest.mark.parametrize("client", ["gopls", "clangd"])
def test_it_waits_until_a_server_is_ready(client: str, shared: Shared) -> None:
    ready = shared.run(shared.tools()("wait_for_lsp_ready", client_name=client, timeout_ms=20_000))
    assert ready == {"client_name": client, "ready": True, "message": f"{client} knows the workspace"}


def test_which_server_is_waited_for_must_be_said_if_there_are_two(shared: Shared) -> None:
    error = shared.run(shared.tools().error("wait_for_lsp_ready"))
    assert "gopls" in error and "clangd" in error and " client_name" in error


@both_bases
@pytest.mark.parametrize("form", ["buffer_id", "project_relative_path", "absolute_path"])
def test_a_place_is_shown_to_the_person(form: str, base: Base, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, CPP, GO, base=base, servers=()) as (nv, tools):
            document = {
                "buffer_id": {"buffer_id": await buffer_number(nv, GO)},
                "project_relative_path": {"project_relative_path": GO},
                "absolute_path": {"absolute_path": str(tmp_path / GO)},
            }[form]
            at = tools.at(GO, "Twice(s")
            shown = await tools("navigate", document=document, **at)
            assert shown == {"success": True, "buffer_name": str(tmp_path / GO), "line": SOURCES[GO].split("\n")[15]}
            before = SOURCES[GO].split("\n")[15].partition("Twice")[0]
            assert await nv.lua("return vim.api.nvim_win_get_cursor(0)") == [16, len(before.encode())]
            cursor = await tools("cursor_position")
            assert (cursor["row"], cursor["col"]) == (at["line"], at["character"])
            # Ctrl-O brings the person back.
            await nv.lua('vim.cmd([[execute "normal! \\<C-O>"]])')
            assert await nv.lua("return vim.fn.bufname()") == CPP

    run()


@bounded
async def test_a_place_in_a_file_that_no_buffer_holds_is_shown_with_its_language(tmp_path: Path) -> None:
    async with person(tmp_path, CPP) as (nv, tools):
        await tools("navigate", document=tools.file(GO), **tools.at(GO, "Twice(s"))
        await nv.attached("gopls")
        assert await nv.lua("return { vim.bo.filetype, vim.bo.buflisted, #vim.api.nvim_list_wins() }") == [
            "go",
            True,
            1,
        ]


# How a person came into a window that is not for files, above one that is.
OTHER_WINDOWS = {
    "quickfix list": "vim.fn.setqflist({ { text = 'one' } }) vim.cmd.copen()",
    "terminal": "vim.cmd('split | terminal')",
    "help": "vim.cmd.help()",
    "fixed buffer": "vim.cmd('split | enew') vim.wo.winfixbuf = true",
}


@pytest.mark.parametrize("kind", OTHER_WINDOWS)
@bounded
async def test_a_place_is_shown_in_the_last_window_that_is_for_files(kind: str, tmp_path: Path) -> None:
    async with person(tmp_path, CPP, servers=()) as (nv, tools):
        file_window = await nv.lua("return vim.api.nvim_get_current_win()")
        await nv.lua(OTHER_WINDOWS[kind])
        other = await nv.lua("return { vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf() }")
        await tools("navigate", document=tools.file(GO), **tools.at(GO, "Twice(s"))
        assert await nv.lua("return vim.api.nvim_win_get_buf(...)", other[0]) == other[1]
        assert (await tools("cursor_position"))["window_id"] == file_window
        assert (await tools("cursor_position"))["buffer_name"] == str(tmp_path / GO)
        await nv.lua("vim.api.nvim_set_current_win(...) vim.cmd.only()", other[0])
        error = await tools.error("navigate", document=tools.file(CPP), line=1, character=1)
        assert "open one with :new" in error and "E1513" not in error


@bounded
async def test_who_types_into_a_terminal_goes_on_doing_so_when_a_place_is_shown(tmp_path: Path) -> None:
    async with person(tmp_path, CPP, servers=(), ui=True) as (nv, tools):
        window = await nv.lua("return vim.api.nvim_get_current_win()")
        nv.type(":split | terminal cat\r:startinsert\r")
        await nv.shows("TERMINAL")
        shown = await tools("navigate", document=tools.file(GO), **tools.at(GO, "Twice(s"))
        assert shown["line"] == SOURCES[GO].split("\n")[15]
        assert (await nv.mode())["mode"] == "t"
        assert await nv.lua("return vim.api.nvim_win_get_cursor(...)[1]", window) == 16
        name = await nv.lua("return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(...))", window)
        assert name == str(tmp_path / GO)


@both_bases
def test_a_place_that_is_not_there_is_not_shown(base: Base, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, CPP, base=base, servers=()) as (nv, tools):
            before = await nv.view()
            for line, character in ((base + 99, base), (base, base + 99), (base - 1, base), (base, base - 1)):
                error = await tools.error("navigate", document=tools.file(GO), line=line, character=character)
                assert "line" in error or "character" in error
            assert await nv.view() == before

    run()


# --- what servers know -----------------------------------------------------------------------------


@both_bases
@pytest.mark.parametrize(("client", "query", "place"), [("gopls", "Twice", (GO, 16)), ("clangd", "count", (CPP, 4))])
def test_symbols_of_the_workspace_are_found_by_name(
    client: str, query: str, place: tuple[str, int], base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        found = await tools("lsp_workspace_symbols", query=query, lsp_client_name=client)
        # Of libraries, too: clangd knows what the headers of the standard library declare.
        named = [one for one in found if one["location"]["uri"].startswith(tools.root.as_uri())]
        assert [one["name"].rpartition(".")[2] for one in named] == [query]
        assert tools.cut(named[0]["location"]) == (*place, query)

    shared.run(run())


@both_bases
@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        (GO, ["Shape", "Square", "(Square).Area", "Twice", "show"]),
        (CPP, ["Room::size", "Hall::size", "count", "twice"]),
        (UNTIDY, ["spaced", "other"]),
        (SPACES, ["spaced", "other"]),
    ],
)
def test_symbols_of_a_document_stand_where_their_names_are(
    name: str, symbols: list[str], base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        found = await tools("lsp_document_symbols", document=tools.file(name))
        assert [one["name"] for one in found] == symbols
        cut = [tools.slice(SOURCES[name], one["selectionRange"]) for one in found]
        assert cut == [symbol.rpartition(".")[2].rpartition("::")[2] for symbol in symbols]

    shared.run(run())


@both_bases
@pytest.mark.parametrize(
    ("name", "needle", "word", "said"),
    [
        (GO, "Twice(Square", "Twice", "func Twice(s Shape) int"),
        (CPP, "count(hall) +", "count", "int count(const Room &room)"),
        (SPACES, "spaced", "spaced", "func spaced() int"),
        (UNTIDY, "spaced", "spaced", "int spaced(int x)"),
    ],
)
def test_hover_says_what_stands_at_a_place(
    name: str, needle: str, word: str, said: str, base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        found = await tools("lsp_hover", document=tools.file(name), **tools.at(name, needle, word))
        assert said in found["contents"]["value"]
        assert tools.slice(SOURCES[name], found["range"]) == word

    shared.run(run())


def test_where_nothing_stands_the_answer_is_null_or_empty(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        at = tools.at(CPP, "/* é😀 */ int count", "*/")
        assert await tools("lsp_hover", document=tools.file(CPP), **at) is None
        assert await tools("lsp_definition", document=tools.file(CPP), **at) == []

    shared.run(run())


@both_bases
@pytest.mark.parametrize("with_declaration", [True, False])
def test_references_are_those_of_unsaved_buffers_and_closed_files_too(
    with_declaration: bool, base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        go = await tools(
            "lsp_references",
            document=tools.file(GO),
            **tools.at(GO, "Twice(Square"),
            include_declaration=with_declaration,
        )
        declared = [(GO, 16, "Twice")] if with_declaration else []
        assert tools.cuts(go) == sorted([(MORE, 3, "Twice"), *declared, (GO, 18, "Twice")])
        cpp = await tools(
            "lsp_references", document=tools.file(HPP), **tools.at(HPP, "count("), include_declaration=with_declaration
        )
        declared = [(CPP, 4, "count"), (HPP, 4, "count")] if with_declaration else []
        assert tools.cuts(cpp) == sorted([*declared, (CPP, 5, "count"), (CPP, 5, "count")])

    shared.run(run())


@both_bases
@pytest.mark.parametrize(
    ("tool", "name", "needle", "places"),
    [
        ("definition", GO, "Twice(Square", [(GO, 16, "Twice")]),
        ("definition", CPP, "count(hall) +", [(CPP, 4, "count")]),
        ("definition", HPP, "count(", [(CPP, 4, "count")]),
        ("definition", MORE, "Twice(", [(GO, 16, "Twice")]),
        ("type_definition", GO, "s.Area()", [(GO, 7, "Shape")]),
        ("type_definition", CPP, "hall) + ", [(HPP, 3, "Hall")]),
        ("implementations", GO, "Area() int\n}", [(GO, 14, "Area")]),
        ("implementations", HPP, "size() const; }", [(CPP, 3, "size")]),
        ("declaration", CPP, "count(hall) +", [(HPP, 4, "count")]),
    ],
)
def test_places_are_found(tool: str, name: str, needle: str, places: list[Any], base: Base, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        at = tools.at(name, needle)
        found = await tools(f"lsp_{tool}", document=tools.file(name), **at)
        assert tools.cuts(found) == places

    shared.run(run())


def test_what_a_server_does_not_offer_is_said_in_its_own_name(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        error = await tools.error("lsp_declaration", document=tools.file(GO), **tools.at(GO, "Twice(Square"))
        assert "gopls" in error and "textDocument/declaration" in error

    shared.run(run())


@both_bases
@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
@pytest.mark.parametrize(
    ("name", "needle", "callers", "callees"),
    [
        (GO, "Twice(s", [("More", ["Twice"]), ("show", ["Twice"])], [("Area", ["Area"])]),
        (CPP, "count(const", [("twice", ["count", "count"])], [("size", ["size"])]),
    ],
)
def test_calls_lead_on_from_what_prepare_gave(
    name: str, needle: str, callers: list[Any], callees: list[Any], as_string: bool, base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        at = tools.at(name, needle)
        (item,) = await tools("lsp_call_hierarchy_prepare", document=tools.file(name), **at)
        assert tools.cut(item)[2] == needle.partition("(")[0]
        given = json.dumps(item) if as_string else item
        incoming = await tools("lsp_call_hierarchy_incoming_calls", item=given)
        found = [
            (
                one["from"]["name"],
                [tools.slice(tools.content(tools.name(one["from"]["uri"])), range_) for range_ in one["fromRanges"]],
            )
            for one in incoming
        ]
        assert sorted(found) == callers
        outgoing = await tools("lsp_call_hierarchy_outgoing_calls", item=given)
        assert [
            (one["to"]["name"], [tools.slice(tools.content(name), range_) for range_ in one["fromRanges"]])
            for one in outgoing
        ] == callees
        # What came back can be asked about again.
        again = await tools("lsp_call_hierarchy_outgoing_calls", item=incoming[0]["from"])
        assert needle.partition("(")[0] in [one["to"]["name"] for one in again]

    shared.run(run())


@both_bases
@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
@pytest.mark.parametrize(
    ("name", "upper", "lower"),
    [(GO, ("Shape interface", GO, 7), ("Square struct", GO, 12)), (HPP, ("Room {", HPP, 2), ("Hall :", HPP, 3))],
)
def test_types_lead_on_from_what_prepare_gave(
    name: str, upper: tuple[str, str, int], lower: tuple[str, str, int], as_string: bool, base: Base, shared: Shared
) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        for tool, (needle, *_), (other, file, line) in (("subtypes", upper, lower), ("supertypes", lower, upper)):
            at = tools.at(name, needle)
            (item,) = await tools("lsp_type_hierarchy_prepare", document=tools.file(name), **at)
            assert tools.cut(item)[2] == needle.split()[0]
            found = await tools(f"lsp_type_hierarchy_{tool}", item=json.dumps(item) if as_string else item)
            assert (file, line, other.split()[0]) in tools.cuts(found)

    shared.run(run())


# --- code actions ----------------------------------------------------------------------------------


@both_bases
@pytest.mark.parametrize("as_string", [False, True], ids=["object", "string"])
def test_an_action_of_gopls_is_resolved_and_applied(as_string: bool, base: Base, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, GO, base=base) as (nv, tools):
            action = await _action(tools)
            assert "edit" not in action
            given = json.dumps(action) if as_string else action
            resolved = await tools("lsp_resolve_code_action", code_action=given, lsp_client_name="gopls")
            edit = json.dumps(resolved["edit"]) if as_string else resolved["edit"]
            done = await tools("lsp_apply_edit", workspace_edit=edit, lsp_client_name="gopls")
            assert [one["path"] for one in done["files"]] == [GO]
            after = (tmp_path / GO).read_text("utf-8")
            assert "Side: 0," in after and "Top:  0," in after.replace("Top: 0", "Top:  0")
            assert await buffer_text(nv, await buffer_number(nv, GO)) == after

    run()


@both_bases
@pytest.mark.parametrize("opened", [True, False], ids=["in a buffer", "in no buffer"])
def test_a_fix_of_clangd_is_applied(opened: bool, base: Base, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, FIXABLE if opened else CPP, base=base) as (_, tools):
            actions = await tools("lsp_code_actions", document=tools.file(FIXABLE), **tools.range(FIXABLE, "width }"))
            (fix,) = [one for one in actions if one.get("kind") == "quickfix"]
            assert ["expected ';'" in one["message"].lower() for one in fix["diagnostics"]] == [True]
            done = await tools("lsp_apply_edit", workspace_edit=fix["edit"])
            assert [one["where"] for one in done["files"]] == ["buffer" if opened else "disk"]
            assert (tmp_path / FIXABLE).read_text("utf-8") == SOURCES[FIXABLE].replace("width }", "width; }")

    run()


@bounded
async def test_an_action_that_is_complete_is_resolved_to_itself(tmp_path: Path) -> None:
    async with person(tmp_path, FIXABLE) as (_, tools):
        actions = await tools("lsp_code_actions", document=tools.file(FIXABLE), **tools.range(FIXABLE, "width }"))
        (fix,) = [one for one in actions if one.get("kind") == "quickfix"]
        resolved = await tools("lsp_resolve_code_action", code_action=fix, lsp_client_name="clangd")
        assert resolved["edit"] == fix["edit"]


def test_the_one_client_that_resolves_actions_need_not_be_named(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        action = await _action(tools)
        assert "edit" not in action  # of gopls; clangd resolves none
        assert "edit" in await tools("lsp_resolve_code_action", code_action=action)

    shared.run(run())


# --- edits -----------------------------------------------------------------------------------------


@both_bases
@pytest.mark.parametrize(
    ("applied_by", "as_string"),
    [("lsp_apply_edit", False), ("lsp_apply_edit", True), ("apply_edits", False)],
    ids=["lsp_apply_edit", "lsp_apply_edit as a string", "apply_edits"],
)
@pytest.mark.parametrize(
    ("name", "needle", "files"), [(GO, "Twice(s", {GO, "use/use.go"}), (HPP, "count(", {HPP, CPP})]
)
def test_a_rename_is_applied_everywhere(
    name: str, needle: str, files: set[str], applied_by: str, as_string: bool, base: Base, tmp_path: Path
) -> None:

    @bounded
    async def run() -> None:
        async with person(tmp_path, CPP, base=base) as (nv, tools):
            await nv.open(GO)
            (tmp_path / "use").mkdir()
            (tmp_path / "use/use.go").write_text(
                'package use\n\nimport "example.com/both/shapes"\n\n'
                "/* é😀 */ var Value = shapes.Twice(shapes.Square{})\n",
                "utf-8",
            )
            before = await nv.view()
            word = needle.partition("(")[0]
            expected = {file: (tmp_path / file).read_text("utf-8").replace(f"{word}(", "renamed(") for file in files}
            at = tools.at(name, needle)
            arguments = {"document": tools.file(name), **at, "new_name": "renamed", "prepare_first": True}
            if name == GO:  # a small letter would hide it from the other package
                arguments["new_name"] = "Renamed"
                expected = {file: text.replace("renamed(", "Renamed(") for file, text in expected.items()}
            if applied_by == "lsp_apply_edit":
                edit = await tools("lsp_rename", **arguments)
                assert tools.changed(edit) == expected
                done = await tools("lsp_apply_edit", workspace_edit=json.dumps(edit) if as_string else edit)
            else:
                done = await tools("lsp_rename", **arguments, apply_edits=True)
            assert {one["path"]: (one["where"], one["saved"]) for one in done["files"]} == {
                file: ("buffer" if file in (GO, CPP) else "disk", True) for file in files
            }
            assert {file: (tmp_path / file).read_text("utf-8") for file in files} == expected
            assert await nv.view() == before

    run()


@pytest.mark.parametrize("prepare_first", [True, False])
@pytest.mark.parametrize(("name", "needle"), [(GO, "package shapes\n\nimport"), (CPP, "return 1")])
def test_what_cannot_be_renamed_is_refused(name: str, needle: str, prepare_first: bool, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        error = await tools.error(
            "lsp_rename",
            document=tools.file(name),
            **tools.at(name, needle),
            new_name="other",
            prepare_first=prepare_first,
        )
        assert "gopls" in error if name == GO else "clangd" in error

    shared.run(run())


@both_bases
@pytest.mark.parametrize("name", [SPACES, UNTIDY])
@pytest.mark.parametrize("options", [None, OPTIONS, json.dumps(OPTIONS)], ids=["default", "object", "string"])
def test_formatting_gives_edits_that_make_the_text_tidy(name: str, options: Any, base: Base, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools(base)
        edits = await tools("lsp_formatting", document=tools.file(name), **({"options": options} if options else {}))
        after = tools.edited(SOURCES[name], edits)
        tidy = (
            "func spaced() int { /* é😀 */ return max(1, 2) }" if name == SPACES else "int spaced(int x) { return x; }"
        )
        assert tidy in after

    shared.run(run())


@pytest.mark.parametrize("save", [True, False])
@pytest.mark.parametrize("name", [SPACES, UNTIDY])
def test_formatting_is_applied_on_request(name: str, save: bool, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, name) as (nv, tools):
            done = await tools("lsp_formatting", document={"buffer_id": 0}, apply_edits=True, save=save)
            (file,) = done["files"]
            assert (file["path"], file["where"], file["saved"]) == (name, "buffer", save)
            after = await buffer_text(nv, await buffer_number(nv, name))
            assert "int spaced(int x) { return" in after or "return max(1, 2) }" in after
            assert (tmp_path / name).read_text("utf-8") == (after if save else SOURCES[name])
            await nv.lua("vim.cmd.undo()")  # one step
            assert await buffer_text(nv, await buffer_number(nv, name)) == SOURCES[name]

    run()


@both_bases
@pytest.mark.parametrize("apply", [False, True])
def test_a_range_alone_is_formatted(apply: bool, base: Base, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, CPP, base=base) as (_, tools):
            range_ = tools.range(UNTIDY, "/* é😀 */ int   spaced( int x ){return x;}")
            answer = await tools(
                "lsp_range_formatting",
                document=tools.file(UNTIDY),
                **range_,
                options=json.dumps(OPTIONS),
                apply_edits=apply,
            )
            expected = "/* é😀 */ int spaced(int x) { return x; }\nint  other( int y ){return y;}\n"
            if apply:
                assert answer["files"][0]["path"] == UNTIDY
                assert (tmp_path / UNTIDY).read_text("utf-8") == expected
            else:
                assert tools.edited(SOURCES[UNTIDY], answer) == expected

    run()


@both_bases
@pytest.mark.parametrize("apply", [False, True, None])
def test_imports_are_organized_and_applied_unless_the_caller_wants_the_edits(
    apply: bool | None, base: Base, tmp_path: Path
) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, GO, base=base) as (_, tools):
            chosen = {} if apply is None else {"apply_edits": apply}
            answer = await tools("lsp_organize_imports", document=tools.file(IMPORTS), **chosen)
            expected = SOURCES[IMPORTS].replace('\t"strings"\n\t"os"\n\t"fmt"\n', '\t"fmt"\n\t"strings"\n')
            if apply is False:
                assert (tmp_path / IMPORTS).read_text("utf-8") == SOURCES[IMPORTS]
                assert tools.edited(SOURCES[IMPORTS], answer) == expected
            else:
                assert [one["path"] for one in answer["files"]] == [IMPORTS]
                assert (tmp_path / IMPORTS).read_text("utf-8") == expected
                again = await tools("lsp_organize_imports", document=tools.file(IMPORTS))
                assert again == {"applied": True, "files": []}

    run()


# --- Lua -------------------------------------------------------------------------------------------


@bounded
async def test_lua_is_neither_listed_nor_run_unless_a_person_allowed_it(tmp_path: Path) -> None:
    async with person(tmp_path, servers=(), sources=False) as (nv, tools):
        await tools("list_buffers")
        assert "exec_lua" not in tools.listed() and "read" in tools.listed()
        assert "--allow-exec-lua" in await tools.error("exec_lua", code="vim.g.ran = true")
        assert await nv.lua("return vim.g.ran == nil")


@bounded
async def test_lua_runs_and_its_first_result_is_the_answer(tmp_path: Path) -> None:
    async with person(tmp_path, servers=(), sources=False, settings={"allow_exec_lua": True}) as (nv, tools):
        await tools("list_buffers")
        assert "exec_lua" in tools.listed()
        await tools("exec_lua", code="vim.g.ran = 'é😀'")
        assert await nv.lua("return vim.g.ran") == "é😀"
        for code, result in (
            ("return 1 + 1, 3", 2),
            ("return 0.5", 0.5),
            ("return nil", None),
            ("return vim.NIL", None),
            ("", None),
            ("return false", False),
            ("return 'é😀\\n'", "é😀\n"),
            ("return { a = { b = { 1, 2, { c = true } } } }", {"a": {"b": [1, 2, {"c": True}]}}),
            ("return {}", []),
            ("return vim.empty_dict()", {}),
            ("return { x = 1, y = { z = vim.NIL } }", {"x": 1, "y": {"z": None}}),
        ):
            assert await tools("exec_lua", code=code) == result, code
        assert await tools("exec_lua", code="return 'a\\255b'") == "a\ufffdb"  # no UTF-8


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("error('no such thing')", "no such thing"),
        ("error({ code = 1 })", "Lua"),
        ("return +", "unexpected symbol"),
        ("vim.cmd.edit({ 1, 2, 3 })", "Lua"),
        ("vim.cmd('nosuchcommand')", "nosuchcommand"),
        ("return function() end", "cannot be returned"),
        ("return { f = function() end }", "cannot be returned"),
        ("return coroutine.create(print)", "cannot be returned"),
        ("local t = {} t.t = t return t", "itself"),
        ("local a, b = {}, {} a.b, b.a = b, a return a", "itself"),
        ("return { [1] = 1, x = 2 }", "names"),
        ("return { [1e7] = 1 }", ""),  # else an answer of 50 MB
        ("return { [1e9] = 1 }", "Lua"),  # else the end of Neovim: it cannot have that much memory
        ("return { a = { [1e9] = 1 } }", "Lua"),
        ("return { [true] = 1 }", "key"),
        ("return vim.uv.new_timer()", "cannot be returned"),
    ],
)
def test_lua_that_fails_or_returns_what_cannot_be_sent_is_an_error_and_the_editor_lives(
    code: str, said: str, tmp_path: Path
) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, GO, servers=(), settings={"allow_exec_lua": True}) as (nv, tools):
            before = await nv.view()
            error = await tools.error("exec_lua", code=code)
            assert said.lower() in error.lower()
            assert "stack traceback" not in error
            assert await nv.view() == before
            assert await nv.lua("return vim.fn.getpid()") == nv.pid
            assert await tools("exec_lua", code="return 1") == 1

    run()
