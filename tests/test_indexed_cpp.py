"""What clangd's index on disk says about a place: a file need not be opened for it, unless anything has changed."""

import asyncio
import json
from collections.abc import Collection
from pathlib import Path

import pytest

from asking import BOUND, Ask, asking, skip_without
from lsp_mcp.adapters import load_adapter
from lsp_mcp.backend import Indexed, Json, Report
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.finding import local_types
from lsp_mcp.features.types import base_clauses
from lsp_mcp.features.types.class_heads import templates_around
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.process.connection import ProcessConnection
from lsp_mcp.lsp.readiness import Readiness
from lsp_mcp.lsp.session import Session
from lsp_mcp.servers.clangd.compilation import index_file
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.syntax.local_types import Declared, declared_locally
from lsp_mcp.text import Text
from lsp_mcp.workspace import Workspace

skip_without("clangd")

TYPES = """namespace a { struct Item { Item(); }; }
namespace b { struct Item {}; }
"""
UNITS = {
    "same.cc": "a::Item *item;\n",
    "other.cc": "b::Item other;\n",
    "using.cc": "namespace c { using a::Item; void *f() { return new Item(); } }\n",
    "template.cc": "template <class T> void g() {}\nb::Item h;\n",
    "broken.cc": "b::Item broken = nothing;\n",
    "dependent.cc": "template <class T> struct D { typename T::Item item; };\n",
    "default.cc": "template <class T = int> struct E { typename T::Item item; };\n",
    "macro.cc": "#define MAKE(Item) new Item()\n",
}


def write(root: Path) -> None:
    (root / "types.h").write_text(f"#pragma once\n{TYPES}")
    for name, text in UNITS.items():
        (root / name).write_text(f'#include "types.h"\n{text}')
    commands = [f'{{"directory": ".", "file": "{name}", "command": "c++ -c {name}"}}' for name in UNITS]
    (root / "compile_commands.json").write_text(f"[{', '.join(commands)}]")


@pytest.mark.parametrize("changed", [None, "types.h", "other.cc", "new.h"])
def test_only_files_in_doubt_are_opened(changed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    opened: set[str] = set()
    open_ = Documents.open

    def noted(self: Documents, path: Path, *, pinned: bool = False) -> Text:
        opened.add(path.name)
        return open_(self, path, pinned=pinned)

    monkeypatch.setattr(Documents, "open", noted)

    async def question(ask: Ask) -> None:
        if changed:
            await ask("list_symbols_in_file", file_path="types.h")
            path = tmp_path / changed
            path.write_text((path.read_text() if path.exists() else "") + "// more\n")
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://types.h#2:22")
        places = [(one["location"]["file"], one["location"]["line"]) for one in answer["references"]]
        assert "dependent.cc 2:43" in answer["status"]
        assert "macro.cc" not in answer["status"]
        assert places == [("same.cc", 2), ("types.h", 2), ("types.h", 2), ("using.cc", 2), ("using.cc", 2)]

    asking("clangd", tmp_path, question)
    assert opened >= {"using.cc", "template.cc", "broken.cc", "default.cc"}
    assert opened.isdisjoint({"dependent.cc", "macro.cc"})
    assert ("other.cc" in opened) is (changed is not None)


def test_a_file_outside_the_build_is_compiled_once_for_a_question_that_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    (tmp_path / "outside.cc").write_text('#include "types.h"\nb::Item out;\nb::Item *more() { return &out; }\n')
    told: list[str] = []
    notify = ProcessConnection.notify

    def noted(self: ProcessConnection, method: str, params: Json) -> None:
        if (
            method in ("textDocument/didOpen", "textDocument/didClose")
            and "outside.cc" in params["textDocument"]["uri"]
        ):
            told.append(method)
        notify(self, method, params)

    monkeypatch.setattr(ProcessConnection, "notify", noted)

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://types.h#2:22")
        assert "outside.cc" not in {one["location"]["file"] for one in answer["references"]}
        assert "outside.cc" not in answer["status"]

    asking("clangd", tmp_path, question)
    assert told == ["textDocument/didOpen"]


def test_the_file_asked_about_is_compiled_while_the_index_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    done: list[str] = []
    open_, wait = Documents.open, Readiness.wait

    def opening(self: Documents, path: Path, *, pinned: bool = False) -> object:
        done.append(path.name)
        return open_(self, path, pinned=pinned)

    async def waiting(self: Readiness, report: Report | None = None) -> None:
        done.append("wait")
        await wait(self, report)

    monkeypatch.setattr(Documents, "open", opening)
    monkeypatch.setattr(Readiness, "wait", waiting)

    begin = Documents.show_briefly

    def beginning(self: Documents, path: Path) -> None:
        begin(self, path)
        done.append("open" if path in self else "closed")

    monkeypatch.setattr(Documents, "show_briefly", beginning)

    async def question(ask: Ask) -> None:
        await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://types.h#2:22")

    asking("clangd", tmp_path, question)
    assert done[:3] == ["closed", "types.h", "wait"], "nor beside the standard library, which an open file would begin"


def test_the_file_of_an_expected_call_is_compiled_before_that_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(root)
    (tmp_path / "outside.h").touch()
    opened: asyncio.Queue[str] = asyncio.Queue()
    open_ = Documents.open

    def opening(self: Documents, path: Path, *, pinned: bool = False) -> Text:
        opened.put_nowait(path.name)
        return open_(self, path, pinned=pinned)

    monkeypatch.setattr(Documents, "open", opening)

    async def expected() -> None:
        sessions = Sessions(Workspace(root), [load_adapter("clangd")], {})
        sessions.expect(["--format=compact", "notes.txt", "no.h", "../outside.h", "cpp://types.h#2:22", "other.cc"])
        sessions.begin()
        try:
            async with asyncio.timeout(BOUND):
                assert await opened.get() == "types.h"
        finally:
            await sessions.close()
        assert opened.empty()

    asyncio.run(expected())


def test_the_text_is_read_for_the_comparison_while_the_server_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    prepared = asyncio.Event()
    read: list[str] = []
    prepare, request, of_index = WordCheck.prepare, Session.request, index_file.read

    async def preparing(self: WordCheck, name: str) -> None:
        await prepare(self, name)
        prepared.set()

    async def asked(self: Session, method: str, params: Json, *, timeout: float | None = None) -> object:
        if method == "textDocument/references":
            await prepared.wait()
            read.append("answer")
        return await request(self, method, params, timeout=timeout)

    def reading(file: Path, version: int) -> Indexed | None:
        read.append(file.name.split(".")[0])
        return of_index(file, version)

    monkeypatch.setattr(WordCheck, "prepare", preparing)
    monkeypatch.setattr(Session, "request", asked)
    monkeypatch.setattr(index_file, "read", reading)

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://types.h#2:22")
        assert {one["location"]["file"] for one in answer["references"]} == {"types.h", "same.cc", "using.cc"}
        assert {"same", "using", "other", "types"} <= set(read[: read.index("answer")])
        assert read[-1] == "answer", "nothing is read twice"

    asking("clangd", tmp_path, question)


def test_texts_are_searched_once_for_what_may_be_based_on_a_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cc").write_text(
        "struct Top { virtual int f(); };\nint Top::f() { return 1; }\nint g(Top &t) { return t.f(); }\n"
    )
    (tmp_path / "compile_commands.json").write_text('[{"directory": ".", "file": "a.cc", "command": "c++ -c a.cc"}]')
    searched: list[object] = []

    def searching(code: str, names: Collection[str]) -> set[str]:
        searched.append(names)
        return templates_around(code, names)

    monkeypatch.setattr(base_clauses, "templates_around", searching)

    async def question(ask: Ask) -> None:
        for _ in range(2):
            answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://a.cc#1:26")
            assert len(answer["references"]) == 3
            assert len(searched) == 1

    asking("clangd", tmp_path, question)


def test_texts_are_searched_once_for_types_inside_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.cc"
    source.write_text("int level() { struct Inner { int depth; } one{1}; return one.depth; }\n")
    (tmp_path / "compile_commands.json").write_text('[{"directory": ".", "file": "a.cc", "command": "c++ -c a.cc"}]')
    searched: list[str] = []

    def searching(text: Text, language_id: str) -> list[Declared]:
        searched.append(text.content)
        return declared_locally(text, language_id)

    monkeypatch.setattr(local_types, "declared_locally", searching)

    async def question(ask: Ask) -> None:
        for _ in range(2):
            answer = await ask("find_symbol_definitions_by_name", symbol_name="depth")
            assert "a.cc:1:depth" in answer["status"]
        assert len(searched) == 1
        source.write_text("int depth;\n")
        answer = await ask("find_symbol_definitions_by_name", symbol_name="depth")
        assert "a.cc:1:depth" not in answer["status"]
        assert len(answer["definitions"]) == 1

    asking("clangd", tmp_path, question)


def test_a_header_outside_the_workspace_that_changes_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_MCP_CACHE", str(tmp_path / "cache"))
    root, header = tmp_path / "root", tmp_path / "lib" / "use.h"
    root.mkdir()
    header.parent.mkdir()
    header.write_text("#define USE(x) x\n")
    (root / "target.h").write_text("#pragma once\nint target();\n")
    for name in ("one", "two"):
        (root / f"{name}.cc").write_text(
            f'#include "target.h"\n#include <use.h>\nint {name}() {{ return 1 USE(+ target()); }}\n'
        )
    commands = [{"directory": ".", "file": f"{name}.cc", "command": "c++ -I../lib -c x.cc"} for name in ("one", "two")]
    (root / "compile_commands.json").write_text(json.dumps(commands))

    async def uses(ask: Ask) -> tuple[set[str], str]:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://target.h#2:5")
        return {one["location"]["file"] for one in answer["references"]}, answer["status"]

    every = {"target.h", "one.cc", "two.cc"}

    async def first(ask: Ask) -> None:
        assert await uses(ask) == (every, "complete")
        header.write_text("#define USE(x)\n")
        files, status = await uses(ask)
        assert files == {"target.h"} and "one.cc 3:28" in status

    async def second(ask: Ask) -> None:
        files, status = await uses(ask)
        assert files == {"target.h"} and "one.cc 3:28" in status
        header.write_text("#define USE(x) x\n")

    async def third(ask: Ask) -> None:
        assert await uses(ask) == (every, "complete")

    for question in (first, second, third):
        asking("clangd", root, question)


def test_a_file_of_another_form_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.cc.0123.idx"
    assert index_file.read(file, 20) is None
    for content in (b"", b"RIFF", b"RIFF\x04\0\0\0CdIx", b"RIFF\x10\0\0\0CdIxmeta\x04\0\0\0\x13\0\0\0", b"\xff" * 99):
        file.write_bytes(content)
        assert index_file.read(file, 20) is None
