"""A question that comes again costs the server one request while nothing changes, and is answered as things are now."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from asking import Ask, asking, skip_without
from lsp_mcp.evidence.explainers.in_function import InFunction
from lsp_mcp.toolsets import answers
from lsp_mcp.wire.peer import Peer

GO = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "home/new.go": "package home\n\n// New is a common name.\nfunc New() int { return 1 }\n",
    "home/lock_windows.go": "package home\n\nfunc lock() int { return New() }\n",
    "other/new.go": "package other\n\nfunc New() int { return 2 }\n\nvar Made = New()\n",
    "use/use.go": 'package use\n\nimport "example.com/m/home"\n\nvar Made = home.New()\n',
}
GO_USE = 'package use\n\nimport "example.com/m/home"\n\nvar More = home.New()\n'
CPP = {
    "new.h": "#pragma once\nnamespace home {\nint make();\n}\n",
    "new.cpp": '#include "new.h"\nint home::make() { return 1; }\n',
    "other.cpp": "namespace other {\nint make() { return 2; }\n}\nint made = other::make();\n",
    "use.cpp": '#include "new.h"\nint other() { return 2; }\nint made = home::make() + other();\n',
}
CPP_USE = '#include "new.h"\nint other() { return 2; }\nint made = home::make() + home::make();\n'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The methods of the requests that a language server has got."""
    methods: list[str] = []
    request = Peer.request

    async def counted(self: Peer, method: str, *arguments: Any, **named: Any) -> Any:
        methods.append(method)
        return await request(self, method, *arguments, **named)

    monkeypatch.setattr(Peer, "request", counted)
    return methods


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


async def silent(*_: object, **__: object) -> None:
    """Stands in for what never comes to an end."""
    await asyncio.Event().wait()


async def files_with_uses(ask: Ask, asked: list[str], anchor: str) -> list[str]:
    """The files with uses of the symbol at `anchor`; `asked` has the requests for this answer only."""
    asked.clear()
    answer = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
    assert answer["status"] == "complete", answer
    return [one["location"]["file"] for one in answer["references"]]


def test_go_is_asked_for_references_alone_until_a_file_changes(tmp_path: Path, asked: list[str]) -> None:
    skip_without("gopls")
    written(tmp_path, GO)

    async def question(ask: Ask) -> None:
        uses = partial(files_with_uses, ask, asked, "home/new.go:4:New")
        first = await uses()
        assert first == ["home/lock_windows.go", "home/new.go", "use/use.go"]
        await uses()
        assert await uses() == first
        assert asked == ["textDocument/references"]
        (tmp_path / "use/more.go").write_text(GO_USE)
        assert await uses() == ["home/lock_windows.go", "home/new.go", "use/more.go", "use/use.go"]
        (tmp_path / "home/lock_windows.go").write_text("package home\n\nfunc lock() int { return 1 }\n")
        assert await uses() == ["home/new.go", "use/more.go", "use/use.go"]
        (tmp_path / "use/more.go").unlink()
        assert await uses() == ["home/new.go", "use/use.go"]

    asking("gopls", tmp_path, question)


def test_clangd_is_asked_for_nothing_that_it_has_explained_until_a_file_changes(
    tmp_path: Path, asked: list[str]
) -> None:
    skip_without("clangd")
    written(tmp_path, CPP)
    (tmp_path / "compile_flags.txt").write_text("-std=c++17\n")

    async def question(ask: Ask) -> None:
        uses = partial(files_with_uses, ask, asked, "new.h:3:make")
        first = await uses()
        assert first == ["new.cpp", "new.h", "use.cpp"]
        await uses()
        assert await uses() == first
        assert set(asked) <= {"textDocument/references", "textDocument/prepareCallHierarchy"}
        (tmp_path / "use.cpp").write_text(CPP_USE)
        assert await uses() == ["new.cpp", "new.h", "use.cpp", "use.cpp"]
        (tmp_path / "use.cpp").unlink()
        assert await uses() == ["new.cpp", "new.h"]

    asking("clangd", tmp_path, question)


def test_what_is_not_explained_in_time_is_said_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("clangd")
    text = "int made(int n) {\n  int m = n;\n#ifdef OTHER\n  m = 2;\n#endif\n  return m;\n}\n"
    written(tmp_path, {"a.c": text, "compile_flags.txt": "-std=c11\n"})
    monkeypatch.setattr(InFunction, "explain", silent)

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="a.c:2:m")
        assert [one["location"]["line"] for one in answer["references"]] == [2, 6]
        assert "a.c line 4" in answer["status"]

    asking("clangd", tmp_path, question, answer_within=0.01)


def test_what_an_answer_tells_beside_its_places_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    written(tmp_path, GO)
    monkeypatch.setattr(answers, "unnamed_uses", silent)

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="other/new.go:3:New")
        assert [one["location"]["line"] for one in answer["references"]] == [3, 5]
        assert "not known yet whether there are uses that do not name New; ask again" in answer["status"]

    asking("gopls", tmp_path, question, answer_within=0.01)


@pytest.mark.parametrize(
    ("symbol", "opened"),
    [
        ("home/new.go:4:New", {"direct.go", "through.go"}),
        ("home/new.go:6:made", set()),
        ("testdata/one/a.go:3:aside", {"b.go"}),
    ],
)
def test_files_below_testdata_are_opened_only_if_they_can_use_the_symbol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, symbol: str, opened: set[str]
) -> None:
    skip_without("gopls")
    body = "\n\nfunc New() {}\n\nfunc made() {}\n\nfunc aside() {}\n"
    written(
        tmp_path,
        GO
        | {
            "home/new.go": "package home\n\n// New is a common name.\nfunc New() int { return made() }\n\n"
            "func made() int { return 1 }\n",
            "testdata/alone/alone.go": f'package alone\n\nimport _ "fmt"{body}',
            "testdata/other/other.go": f'package other\n\nimport _ "example.com/m/other"{body}',
            "testdata/direct/direct.go": f'package direct\n\nimport _ "example.com/m/home"{body}',
            "testdata/through/through.go": f'package through\n\nimport _ "example.com/m/use"{body}',
            "testdata/one/a.go": "package one\n\nfunc aside() {}\n",
            "testdata/one/b.go": "package one\n\nfunc b() { aside() }\n",
        },
    )
    told: list[str] = []
    notify = Peer.notify

    def heard(self: Peer, method: str, params: Any) -> None:
        if method == "textDocument/didOpen":
            told.append(params["textDocument"]["uri"].rpartition("/")[2])
        notify(self, method, params)

    monkeypatch.setattr(Peer, "notify", heard)

    async def question(ask: Ask) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor=symbol)
        assert answer["status"] == "complete"

    asking("gopls", tmp_path, question)
    below = {"alone.go", "other.go", "direct.go", "through.go", "b.go"}
    assert set(told) & below == opened
