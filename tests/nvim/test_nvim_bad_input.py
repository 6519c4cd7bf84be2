"""What callers and machines get wrong: a clear error each, the editor lives, and its text is as it was."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.nvim import connections
from lsp_mcp.nvim.address import parse_address
from lsp_mcp.nvim.connection import NvimConnection
from nvim.conftest import Shared
from nvim.neovims import Neovim, neovim, skip_without_nvim
from nvim.nvim_tools import (
    CPP,
    GO,
    HPP,
    SOURCES,
    SPACES,
    UNTIDY,
    Json,
    Tools,
    buffer_number,
    buffer_text,
    fake_neovim,
    listener,
    person,
    program,
    short_folder,
    stale_socket,
)

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")


@asynccontextmanager
async def unconnected(root: Path) -> AsyncIterator[Tools]:
    """The tools, with nothing connected."""
    async with program(root, None) as neovims:
        yield Tools(neovims)


# --- what is connected to ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("missing", "no socket"),
        ("stale", "refused"),
        ("a file", "no socket"),
        ("a folder", "folder"),
        ("too long", "bytes"),
    ],
)
def test_where_nobody_listens_it_is_said(what: str, said: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        with short_folder() as folder:
            path = folder / ("x" * 120 if what == "too long" else "s")
            if what == "stale":
                stale_socket(path)
            elif what == "a file":
                path.write_text("é", "utf-8")
            elif what == "a folder":
                path.mkdir()
            async with unconnected(tmp_path) as tools:
                error = await tools.error("connect", target=str(path))
                assert said in error and str(path) in error
                assert tools.neovims.connections.connected == []

    run()


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    while await reader.read(65536):
        pass


async def rubbish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n\xc1\xff\x00" * 10)
    await writer.drain()
    await silent(reader, writer)


async def hangs_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read(1)


async def half_a_message(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"\x94\x01\x01\xc0\xdf\xff\xff")
    await writer.drain()
    await silent(reader, writer)


@pytest.mark.parametrize("serve", [silent, rubbish, hangs_up, half_a_message])
def test_who_listens_and_is_not_a_neovim_is_told_apart(
    serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two of them never answer: this is how many seconds they are given.
    monkeypatch.setattr("lsp_mcp.nvim.connection.CALL_TIMEOUT", 1.0)

    @bounded
    async def run() -> None:
        with short_folder() as folder:
            path = folder / "s"
            async with listener(path, serve), unconnected(tmp_path) as tools:
                error = await tools.error("connect", target=str(path))
                assert str(path) in error
                assert tools.neovims.connections.connected == []
                assert str(path) in await tools.error("connect", target=str(path))  # a second time, too

    run()


@pytest.mark.parametrize(
    "info",
    [None, 1, [], [1], [1, {}], [1, {"version": 1}], [1, {"version": {"major": "x", "minor": None}}], "info", {"a": 1}],
    ids=str,
)
def test_who_speaks_msgpack_and_is_not_a_neovim_is_told_apart(info: Any, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        with short_folder() as folder:
            path = folder / "s"
            async with fake_neovim(path, lambda *_: info), unconnected(tmp_path) as tools:
                error = await tools.error("connect", target=str(path))
                assert str(path) in error and "Neovim" in error

    run()


@bounded
async def test_who_knows_no_method_of_neovim_is_told_apart(tmp_path: Path) -> None:
    def refuse(method: str, _: list[Any]) -> Any:
        raise LookupError(f"no method {method}")

    with short_folder() as folder:
        async with fake_neovim(folder / "s", refuse), unconnected(tmp_path) as tools:
            error = await tools.error("connect", target=str(folder / "s"))
            assert "does not answer as Neovim does" in error


@bounded
async def test_a_connection_ends_when_neovim_has_answered_that_all_is_taken_back(tmp_path: Path) -> None:
    asked: list[Any] = []

    def answer(method: str, arguments: list[Any]) -> Any:
        asked.append(arguments[1][1:] if method == "nvim_exec_lua" else method)
        if method == "nvim_get_api_info":
            return [7, {"version": {"major": 0, "minor": 12}}]
        return {"cwd": str(tmp_path), "version": "0.12", "pid": 1, "servername": "s", "now": time.time()}

    with short_folder() as folder:
        async with fake_neovim(folder / "s", answer):
            connection = NvimConnection(parse_address(str(folder / "s")), lambda: None)
            await connection.connect()
            connection.close()
            await connection.ended
            # Had it only been told, Neovim 0.12 could drop it: it carries out nothing of a connection that has ended.
            assert asked[-1] == ["leave"]


@pytest.mark.parametrize("version", [(0, 10), (0, 9)])
def test_an_old_neovim_is_refused_with_what_is_needed(
    version: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def answer(method: str, _: list[Any]) -> Any:
        asked.append(method)
        if method != "nvim_get_api_info":
            raise LookupError(method)
        return [1, {"version": {"major": version[0], "minor": version[1], "patch": 4}, "functions": []}]

    @bounded
    async def run() -> None:
        with short_folder() as folder:
            async with fake_neovim(folder / "s", answer), unconnected(tmp_path) as tools:
                error = await tools.error("connect", target=str(folder / "s"))
                assert f"{version[0]}.{version[1]}" in error and "0.11" in error and str(folder / "s") in error
                assert asked == ["nvim_get_api_info"]  # nothing of ours was brought there
                assert tools.neovims.connections.connected == []
                monkeypatch.setattr(connections, "discover", lambda: [parse_address(str(folder / "s"))])
                for tool in ("get_targets", "list_buffers"):
                    error = await tools.error(tool)
                    assert "needs 0.11" in error and "nvim --listen" in error and "no Neovim of yours runs" not in error
                async with neovim(tmp_path, servers=()) as nv:
                    monkeypatch.setattr(
                        connections, "discover", lambda: [parse_address(at) for at in (str(folder / "s"), nv.socket)]
                    )
                    assert await tools("get_targets") == [nv.socket]
                    assert any("needs 0.11" in remark for remark in tools.remarks)

    run()


def test_another_users_neovim_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with person(tmp_path, servers=()) as (nv, _), unconnected(tmp_path) as tools:
            if os.getuid() == 0:
                os.chown(nv.socket, 12345, -1)
            else:
                monkeypatch.setattr(os, "getuid", lambda: 12345)
            error = await tools.error("connect", target=nv.socket)
            assert "12345" in error and "same user" in error

    run()


@bounded
async def test_a_closed_port_takes_no_connection(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        target = f"127.0.0.1:{taken.getsockname()[1]}"
        async with unconnected(tmp_path) as tools:
            error = await tools.error("connect_tcp", target=target)
            assert target in error and "refused" in error.lower()


@pytest.mark.parametrize(
    "target",
    ["", " ", "localhost", "127.0.0.1", ":6666", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "a b:1", "\0:1"],
)
@pytest.mark.parametrize("tool", ["connect", "connect_tcp"])
def test_what_is_not_a_target_is_refused(tool: str, target: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with unconnected(tmp_path) as tools:
            assert await tools.error(tool, target=target)
            assert tools.neovims.connections.connected == []

    run()


# --- what is asked about -----------------------------------------------------------------------------


def ask(tools: Tools, document: Any) -> list[tuple[str, Json]]:
    """Calls of several tools about a document."""
    at, name = {"line": tools.base, "character": tools.base}, {"lsp_client_name": "gopls"}
    return [
        ("read", {"document": document}),
        ("navigate", {"document": document, **at}),
        ("lsp_hover", {"document": document, **at}),
        ("lsp_document_symbols", {"document": document, **name}),
        ("lsp_rename", {"document": document, **at, "new_name": "other"}),
        ("lsp_formatting", {"document": document, "apply_edits": True}),
        ("lsp_organize_imports", {"document": document}),
    ]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"buffer_id": 99}, "unknown buffer 99"),
        ({"buffer_id": -1}, "buffer_id"),
        ({"buffer_id": 2**70}, "buffer"),
        ({"buffer_id": "x"}, "buffer_id"),
        ({"buffer_id": None}, "exactly one"),
        ({}, "exactly one"),
        ({"buffer_id": 1, "absolute_path": "/x"}, "exactly one"),
        ({"path": "x"}, "path"),
        ("not json", "JSON"),
        ("[]", "document"),
        (7, "document"),
        ({"project_relative_path": "none.go"}, "none.go"),
        ({"project_relative_path": ""}, ""),
        ({"project_relative_path": "shapes"}, "shapes"),
        ({"project_relative_path": "../../../../../../etc/passwd"}, "outside"),
        ({"project_relative_path": "a\0b"}, ""),
        ({"project_relative_path": "x" * 5000}, ""),
        ({"absolute_path": "/etc/passwd"}, "outside"),
        ({"absolute_path": "/nosuchfolder/a.go"}, ""),
        ({"absolute_path": GO}, "absolute"),
        ({"project_relative_path": "a\udc80b.go"}, ""),
    ],
    ids=lambda value: str(value)[:40].encode("ascii", "backslashreplace").decode() if value != "" else "-",
)
def test_a_document_that_is_none_is_refused_by_every_tool(document: Any, said: str, shared: Shared) -> None:
    async def run() -> None:
        before = await shared.nv.view()
        for tool, arguments in ask(shared.tools(), document):
            error = await shared.tools().error(tool, **arguments)
            assert said in error, tool
        assert await shared.nv.view() == before

    shared.run(run())


def test_an_error_about_a_missing_thing_lists_the_existing_ones(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        number = await buffer_number(shared.nv, GO)
        assert str(number) in await tools.error("read", document={"buffer_id": 999})
        assert str(number) in await tools.error("buffer_diagnostics", id=999)
        error = await tools.error("lsp_hover", document=tools.file(GO), line=1, character=1, lsp_client_name="pyright")
        assert "pyright" in error and "gopls" in error and "clangd" in error
        error = await tools.error("wait_for_lsp_ready", client_name="pyright", timeout_ms=100)
        assert "pyright" in error and "gopls" in error
        id_ = tools.neovims.connections.connected[0].id
        for name in ("list_buffers", "disconnect", "cursor_position"):
            error = await tools.error(name, connection_id="abcdef0")
            assert "abcdef0" in error and id_ in error

    shared.run(run())


def test_a_client_of_another_language_is_refused(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        error = await tools.error("lsp_document_symbols", document=tools.file(GO), lsp_client_name="clangd")
        assert "clangd" in error and "shapes.go" in error

    shared.run(run())


def test_a_file_that_no_client_answers_for_is_refused_with_the_server_to_enable(shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        error = await tools.error("lsp_document_symbols", document=tools.file("compile_commands.json"))
        assert "does not start a language server for JSON" in error and "vim.lsp.enable('vscode-json')" in error

    shared.run(run())


@pytest.mark.parametrize(
    ("line", "character"),
    [(0, 1), (1, 0), (-1, 1), (99, 1), (16, 99), (10**30, 1), (1, 10**30), (1.5, 1), ("x", 1), (None, 1), ([1], 1)],
)
@pytest.mark.parametrize("tool", ["lsp_hover", "lsp_references", "lsp_rename", "navigate", "lsp_code_actions"])
def test_a_place_that_is_none_is_refused(tool: str, line: Any, character: Any, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        before = await shared.nv.view()
        more: Json = {"new_name": "other"} if tool == "lsp_rename" else {}
        at = {"line": line, "character": character}
        if tool == "lsp_code_actions":
            at = {"start_line": line, "start_character": character, "end_line": line, "end_character": character}
        error = await tools.error(tool, document=tools.file(GO), **at, **more)
        assert "line" in error or "character" in error
        assert await shared.nv.view() == before

    shared.run(run())


@pytest.mark.parametrize("item", [{}, [], "{}", "not json", 1, None, {"name": "x"}, {"uri": "file:///etc/passwd"}])
def test_an_item_that_no_tool_gave_is_refused(item: Any, shared: Shared) -> None:
    async def run() -> None:
        for kind, which in (("call", "incoming_calls"), ("type", "subtypes")):
            assert await shared.tools().error(f"lsp_{kind}_hierarchy_{which}", item=item)

    shared.run(run())


@pytest.mark.parametrize("action", [{}, [], "not json", 1, {"kind": "quickfix"}, {"title": 1}])
def test_an_action_that_no_tool_gave_is_refused(action: Any, shared: Shared) -> None:
    assert shared.run(shared.tools().error("lsp_resolve_code_action", code_action=action, lsp_client_name="gopls"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tab_size": 4}, "tabSize"),
        ({"tabSize": "four"}, "tabSize"),
        ({"insertSpaces": "yes"}, "insertSpaces"),
        ("not json", "JSON"),
        ([], "options"),
    ],
    ids=str,
)
@pytest.mark.parametrize("tool", ["lsp_formatting", "lsp_range_formatting"])
def test_options_that_are_none_are_refused(tool: str, options: Any, said: str, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        range_ = tools.range(UNTIDY, "int   spaced") if tool == "lsp_range_formatting" else {}
        assert said in await tools.error(tool, document=tools.file(UNTIDY), **range_, options=options)

    shared.run(run())


@pytest.mark.parametrize("name", ["", "1x", "a b", "func", "é😀"])
def test_a_new_name_that_is_none_is_refused(name: str, shared: Shared) -> None:
    async def run() -> None:
        tools = shared.tools()
        at = tools.at(GO, "Twice(s")
        assert await tools.error("lsp_rename", document=tools.file(GO), **at, new_name=name)

    shared.run(run())


# --- time ------------------------------------------------------------------------------------------


@bounded
async def test_no_time_is_enough_for_a_server_that_is_ready_and_an_error_otherwise(tmp_path: Path) -> None:
    async with person(tmp_path, GO) as (_, tools):
        error = await tools.error("wait_for_lsp_ready", client_name="clangd", timeout_ms=0)  # it has no buffer
        assert "clangd" in error and "0 ms" in error
        await tools("wait_for_lsp_ready", client_name="gopls", timeout_ms=20_000)
        assert await tools("wait_for_lsp_ready", client_name="gopls", timeout_ms=0)
        for wrong in (-1, 10**9, "soon", None):
            assert "timeout_ms" in await tools.error("wait_for_lsp_ready", client_name="gopls", timeout_ms=wrong)


@bounded
async def test_without_any_server_waiting_ends_with_what_to_do(tmp_path: Path) -> None:
    async with person(tmp_path, "go.mod", servers=()) as (_, tools):
        for arguments in ({}, {"client_name": "gopls"}):
            error = await tools.error("wait_for_lsp_ready", timeout_ms=0, **arguments)
            assert error


# --- texts that are none -----------------------------------------------------------------------------


@bounded
async def test_a_buffer_without_a_file_is_read_and_nothing_else(tmp_path: Path) -> None:
    async with person(tmp_path, GO, servers=()) as (nv, tools):
        await nv.lua("vim.cmd.enew() vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'é😀', 'two' })")
        for document in ({"buffer_id": 0}, {"buffer_id": await nv.lua("return vim.api.nvim_get_current_buf()")}):
            assert await tools.text("read", document=document) == "é😀\ntwo"
            assert await tools.text("read", document=document, start=2) == "two"
            for tool, arguments in ask(tools, document):
                if tool not in ("read", "navigate"):
                    assert "no file" in await tools.error(tool, **arguments), tool
            assert await tools("navigate", document=document, line=2, character=3)
        cursor = await tools("cursor_position")
        assert (cursor["buffer_name"], cursor["row"], cursor["col"]) == ("", 2, 3)
        assert await tools("buffer_diagnostics", id=0) == []


@pytest.mark.parametrize("content", ["package a\n\n// \0\n", "package a\n\n// \udcff\n"], ids=["NUL", "not UTF-8"])
@pytest.mark.parametrize("where", ["in a buffer with a file", "in a buffer without one", "in no buffer"])
def test_what_is_not_text_is_refused_and_kept(where: str, content: str, tmp_path: Path) -> None:
    raw = content.encode("utf-8", "surrogateescape")

    @bounded
    async def run() -> None:
        (tmp_path / "a.go").write_bytes(raw)
        (tmp_path / "b.go").write_text("package a\n", "utf-8")
        (tmp_path / "go.mod").write_text(SOURCES["go.mod"], "utf-8")
        only_utf8 = "vim.o.fileencodings = 'utf-8'"
        async with person(tmp_path, "b.go", sources=False, servers=("gopls",), extra_lua=only_utf8) as (nv, tools):
            await nv.attached("gopls")
            if where == "in a buffer with a file":
                await nv.lua("vim.cmd('edit ++enc=utf-8 ++bad=keep a.go')")
                await nv.attached("gopls")
            elif where == "in a buffer without one":
                code = "vim.cmd.enew() vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'package a', '', '// ' .. %s })"
                await nv.lua(code % (r"'\0'" if "\0" in content else r"'\255'"))
            document = {"project_relative_path": "a.go"} if where == "in no buffer" else {"buffer_id": 0}
            code = "return vim.api.nvim_buf_get_changedtick(0)"
            before, tick = await nv.view(), await nv.lua(code)
            for tool, arguments in ask(tools, document):
                if tool == "navigate" and where != "in no buffer":
                    continue  # a person may look at it
                error = await tools.error(tool, **arguments)
                assert "text" in error or "UTF-8" in error or "NUL" in error or "no file" in error, (tool, error)
            assert await nv.view() == before and await nv.lua(code) == tick
            assert (tmp_path / "a.go").read_bytes() == raw

    run()


@bounded
async def test_text_that_neovim_converts_is_read_as_it_shows_it_and_written_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes("/* é */ int   a( );\n".encode("latin-1"))
    async with person(tmp_path, "a.cpp", servers=("clangd",), sources=False) as (nv, tools):
        assert await nv.lua("return vim.bo.fileencoding") == "latin1"
        assert await tools.text("read", document=tools.file("a.cpp")) == "/* é */ int   a( );"
        done = await tools("lsp_formatting", document=tools.file("a.cpp"), apply_edits=True)
        assert done["files"][0]["saved"]
        assert (tmp_path / "a.cpp").read_bytes() == "/* é */ int a();\n".encode("latin-1")


# --- workspace edits ---------------------------------------------------------------------------------


def change(start: tuple[int, int], end: tuple[int, int], text: Any = "X") -> Json:
    edges = ({"line": line, "character": character} for line, character in (start, end))
    return {"range": dict(zip(("start", "end"), edges, strict=True)), "newText": text}


def uri(root: Path, name: str) -> str:
    return (root / name).as_uri()


@asynccontextmanager
async def editing(root: Path) -> AsyncIterator[tuple[Neovim, Tools]]:
    """UNTIDY in a buffer, CPP in one with unsaved changes, all else in none; no servers are needed."""
    async with person(root, UNTIDY) as (nv, tools):
        await nv.attached("clangd")
        await nv.open(CPP)
        await nv.attached("clangd")
        await nv.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, { '// unsaved é😀' })")
        yield nv, tools


@pytest.mark.parametrize("name", [UNTIDY, CPP, HPP], ids=["in a buffer", "unsaved", "in no buffer"])
@pytest.mark.parametrize("version", ["left out", None])
@pytest.mark.parametrize("form", ["documentChanges", "changes"])
def test_an_edit_without_a_version_works(form: str, version: Any, name: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with editing(tmp_path) as (nv, tools):
            edits = [change((1, 1), (1, 1), "// é😀\n")]
            document = {"uri": uri(tmp_path, name), **({} if version == "left out" else {"version": version})}
            edit: Json = (
                {"changes": {uri(tmp_path, name): edits}}
                if form == "changes"
                else {"documentChanges": [{"textDocument": document, "edits": edits}]}
            )
            done = await tools("lsp_apply_edit", workspace_edit=edit)
            assert done["files"][0]["path"] == name
            assert (done["files"][0]["where"], done["files"][0]["saved"]) == {
                UNTIDY: ("buffer", True),
                CPP: ("buffer", False),
                HPP: ("disk", True),
            }[name]
            expected = f"// é😀\n{SOURCES[name]}"
            assert (tmp_path / name).read_text("utf-8") == (SOURCES[name] if name == CPP else expected)
            if name != HPP:
                text = await buffer_text(nv, await buffer_number(nv, name))
                assert text == expected + ("// unsaved é😀\n" if name == CPP else "")

    run()


ONE, TWO = (1, 1), (1, 2)
WRONG_EDITS: dict[str, Callable[[Path, str], Any]] = {
    "a line past the end": lambda root, name: {"changes": {uri(root, name): [change((99, 1), (99, 1))]}},
    "a character past the end": lambda root, name: {"changes": {uri(root, name): [change((1, 900), (1, 901))]}},
    "the end before the start": lambda root, name: {"changes": {uri(root, name): [change((2, 1), (1, 1))]}},
    "below the base": lambda root, name: {"changes": {uri(root, name): [change((0, 1), (0, 1))]}},
    "negative": lambda root, name: {"changes": {uri(root, name): [change((1, -5), (1, -5))]}},
    "no number": lambda root, name: {"changes": {uri(root, name): [change((1, "x"), (1, 1))]}},  # type: ignore[arg-type]
    "overlapping": lambda root, name: {"changes": {uri(root, name): [change((1, 1), (1, 5)), change((1, 3), (1, 7))]}},
    "the same range twice": lambda root, name: {"changes": {uri(root, name): [change((1, 1), (1, 5))] * 2}},
    "no text": lambda root, name: {"changes": {uri(root, name): [change(ONE, TWO, 5)]}},
    "no range": lambda root, name: {"changes": {uri(root, name): [{"newText": "X"}]}},
    "a good and a bad one": lambda root, name: {
        "changes": {uri(root, name): [change(ONE, TWO)], uri(root, SPACES): [change((99, 1), (99, 1))]}
    },
    "a file outside the root": lambda root, name: {
        "changes": {uri(root, name): [change(ONE, TWO)], uri(root.parent, "outside.cpp"): [change(ONE, ONE)]}
    },
    "a file that does not exist": lambda root, name: {
        "changes": {uri(root, name): [change(ONE, TWO)], uri(root, "c/none.cpp"): [change(ONE, ONE)]}
    },
    "a file created outside the root": lambda root, name: {
        "documentChanges": [
            {"textDocument": {"uri": uri(root, name)}, "edits": [change(ONE, TWO)]},
            {"kind": "create", "uri": uri(root.parent, "created.cpp")},
        ]
    },
    "a file deleted outside the root": lambda root, name: {
        "documentChanges": [{"kind": "delete", "uri": uri(root.parent, "outside.cpp")}]
    },
    "a file renamed to outside the root": lambda root, name: {
        "documentChanges": [{"kind": "rename", "oldUri": uri(root, name), "newUri": uri(root.parent, "created.cpp")}]
    },
    "no file": lambda root, name: {"changes": {"untitled:x": [change(ONE, TWO)]}},
    "an unknown operation": lambda root, name: {"documentChanges": [{"kind": "burn", "uri": uri(root, name)}]},
    "changes that are a list": lambda root, name: {"changes": [change(ONE, TWO)]},
    "no object": lambda root, name: [1],
    "no JSON": lambda root, name: "{",
}


@pytest.mark.parametrize("name", [UNTIDY, CPP, HPP], ids=["in a buffer", "unsaved", "in no buffer"])
@pytest.mark.parametrize("wrong", WRONG_EDITS)
def test_a_wrong_edit_changes_nothing(wrong: str, name: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        root = tmp_path / "root"
        root.mkdir()
        outside = tmp_path / "outside.cpp"
        outside.write_text("int outside;\n", "utf-8")
        async with editing(root) as (nv, tools):
            before = await nv.view()
            assert await tools.error("lsp_apply_edit", workspace_edit=WRONG_EDITS[wrong](root, name))
            assert await nv.view() == before
            assert {path: (root / path).read_text("utf-8") for path in SOURCES} == SOURCES
            assert await buffer_text(nv, await buffer_number(nv, UNTIDY)) == SOURCES[UNTIDY]
            assert await buffer_text(nv, await buffer_number(nv, CPP)) == f"{SOURCES[CPP]}// unsaved é😀\n"
            assert outside.read_text("utf-8") == "int outside;\n"
            assert not (tmp_path / "created.cpp").exists()

    run()


@bounded
async def test_an_edit_of_nothing_does_nothing(tmp_path: Path) -> None:
    async with editing(tmp_path) as (_, tools):
        edit: dict[str, Any]
        for edit in ({}, {"changes": {}}, {"documentChanges": []}, {"changes": {uri(tmp_path, UNTIDY): []}}):
            done = await tools("lsp_apply_edit", workspace_edit=edit, lsp_client_name="clangd")
            assert done["applied"] is True and not any(file["edits"] for file in done["files"])
        assert {path: (tmp_path / path).read_text("utf-8") for path in SOURCES} == SOURCES


@bounded
async def test_an_edit_for_an_older_version_is_refused(tmp_path: Path) -> None:
    async with editing(tmp_path) as (nv, tools):
        document = {"uri": uri(tmp_path, CPP), "version": 1}
        edit = {"documentChanges": [{"textDocument": document, "edits": [change(ONE, TWO)]}]}
        error = await tools.error("lsp_apply_edit", workspace_edit=edit)
        assert CPP in error or "rooms.cpp" in error
        assert await buffer_text(nv, await buffer_number(nv, CPP)) == f"{SOURCES[CPP]}// unsaved é😀\n"
