"""What clangd's index on disk says about a place: a file need not be opened for it, unless anything has changed."""

from pathlib import Path

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.backend import Report
from lsp_mcp.lsp.compilation import index_file
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.readiness import Readiness
from lsp_mcp.lsp.session import Session
from lsp_mcp.text import Text

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
    open_ = Session.open

    async def noted(self: Session, path: Path) -> object:
        opened.add(path.name)
        return await open_(self, path)

    monkeypatch.setattr(Session, "open", noted)

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

    begin = Documents.open_to_read

    def beginning(self: Documents, path: Path, text: Text | None = None) -> int:
        done.append(path.suffix)
        return begin(self, path, text)

    monkeypatch.setattr(Documents, "open_to_read", beginning)

    async def question(ask: Ask) -> None:
        await ask("find_symbol_references_by_anchor", symbol_anchor="cpp://types.h#2:22")

    asking("clangd", tmp_path, question)
    assert done[:3] == [".c", "types.h", "wait"], "nor beside the standard library, which a C++ file would begin"


def test_a_file_of_another_form_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "a.cc.0123.idx"
    assert index_file.read(file, 20) is None
    for content in (b"", b"RIFF", b"RIFF\x04\0\0\0CdIx", b"RIFF\x10\0\0\0CdIxmeta\x04\0\0\0\x13\0\0\0", b"\xff" * 99):
        file.write_bytes(content)
        assert index_file.read(file, 20) is None
