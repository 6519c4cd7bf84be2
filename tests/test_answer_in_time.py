"""An answer that only reads does not wait for its proof: it says what is not compared yet, which the next one has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking, skip_without
from lsp_mcp.evidence import background
from lsp_mcp.lsp.life.documents import Documents
from lsp_mcp.lsp.served_coverage import ServedCoverage
from lsp_mcp.text import Text
from lsp_mcp.wire.peer import Peer

GO = {
    "go.mod": "module example.com/m\n\ngo 1.24\n",
    "home/new.go": "package home\n\nfunc New() int { return lock() }\n",
    "home/lock.go": "//go:build !windows\n\npackage home\n\nfunc lock() int { return 1 }\n",
    "home/lock_windows.go": "package home\n\nfunc lock() int { return New() }\n",
    "use/use.go": 'package use\n\nimport "example.com/m/home"\n\nvar Made = home.New()\n',
}
CPP = {
    "new.h": "#pragma once\nnamespace home {\nint make();\n}\n",
    "new.cpp": '#include "new.h"\nint home::make() { return 1; }\n',
    "use.cpp": '#include "new.h"\nstruct Other { int make() { return 2; } };\n'
    "int made = home::make() + Other().make();\n",
}


class Held:
    """Requests that a server is not asked before `release`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, is_held: Callable[[str, Any], bool]) -> None:
        self.release = asyncio.Event()
        request = Peer.request

        async def held(peer: Peer, method: str, params: Any, **named: Any) -> Any:
            if is_held(method, params):
                await self.release.wait()
            return await request(peer, method, params, **named)

        monkeypatch.setattr(Peer, "request", held)
        monkeypatch.setattr(background, "_QUIET", 0.0)


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def files_of(answer: dict[str, Any]) -> list[str]:
    return [one["location"]["file"] for one in answer["references"]]


ASKED = ("textDocument/references", "textDocument/definition")


def in_windows(method: str, params: Any) -> bool:
    about = params.get("textDocument", {}) if isinstance(params, dict) else {}
    return method in ASKED and about.get("uri", "").endswith("lock_windows.go")


def explains_use(method: str, params: Any) -> bool:
    return method == "textDocument/symbolInfo" and params["textDocument"]["uri"].endswith("use.cpp")


def test_another_system_is_asked_after_the_answer_which_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    written(tmp_path, GO)

    async def question(ask: Asked) -> None:
        held = Held(monkeypatch, in_windows)
        anchor = "home/new.go:3:New"
        first = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        assert files_of(first) == ["home/new.go", "use/use.go"]
        assert first["status"].startswith("unverified: ")
        assert first["status"].endswith("; ask again")
        assert {file for gap in first["gaps"] for file in gap["files"]} == {"home/lock_windows.go"}
        held.release.set()
        await ask.proven()
        again = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        assert files_of(again) == ["home/lock_windows.go", "home/new.go", "use/use.go"]
        assert again["status"] == "complete"

    asking("gopls", tmp_path, question, answer_within=2.0)


def test_a_build_that_takes_long_to_load_is_not_loaded_for_an_answer_that_only_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("gopls")
    more = {
        "home/lock_plan9.go": "package home\n\nfunc lock() int { return New() + 2 }\n",
        "home/testdata/loose.go": 'package main\n\nimport "example.com/m/home"\n\nfunc main() { home.New() }\n',
        "home/lock.go": "//go:build !windows && !plan9\n\npackage home\n\nfunc lock() int { return 1 }\n",
    }
    written(tmp_path, {**GO, **more})
    ever, opened, most = set[str](), set[str](), 0
    tell_open, tell_close = Documents._tell_open, Documents._tell_close

    def noted(documents: Documents, path: Path, text: Text) -> Any:
        nonlocal most
        ever.add(path.name)
        if path.name in ("lock_windows.go", "lock_plan9.go"):
            opened.add(path.name)
            most = max(most, len(opened))
        return tell_open(documents, path, text)

    def closed(documents: Documents, path: Path) -> None:
        opened.discard(path.name)
        tell_close(documents, path)

    monkeypatch.setattr(Documents, "_tell_open", noted)
    monkeypatch.setattr(Documents, "_tell_close", closed)
    monkeypatch.setattr(ServedCoverage, "load_seconds", lambda _: 1e6)
    monkeypatch.setattr(background, "_QUIET", 0.0)
    places = ["home/lock_plan9.go", "home/lock_windows.go", "home/new.go", "home/testdata/loose.go", "use/use.go"]

    async def question(ask: Asked) -> None:
        anchor = "home/new.go:3:New"
        first = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        assert files_of(first) == ["home/new.go", "use/use.go"]
        assert first["status"].startswith("unverified: ")
        assert ever.isdisjoint({"lock_windows.go", "lock_plan9.go", "loose.go"})
        await ask.proven()
        again = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor)
        assert files_of(again) == places
        assert again["status"] == "complete"
        assert most == 1, "a server has one more build loaded at a time"
        assert not opened

    asking("gopls", tmp_path, question, answer_within=60.0)


def test_a_caller_who_waits_gets_the_proven_answer_at_once(tmp_path: Path) -> None:
    skip_without("gopls")
    written(tmp_path, GO)

    async def question(ask: Asked) -> None:
        answer = await ask("find_symbol_references_by_anchor", symbol_anchor="home/new.go:3:New", wait=True)
        assert files_of(answer) == ["home/lock_windows.go", "home/new.go", "use/use.go"]
        assert answer["status"] == "complete"

    asking("gopls", tmp_path, question, answer_within=0.0)


def test_a_caller_says_how_long_an_answer_may_take(tmp_path: Path) -> None:
    skip_without("gopls")
    written(tmp_path, GO)

    async def question(ask: Asked) -> None:
        arguments = {"symbol_anchor": "home/new.go:3:New", "answer_within": 60}
        answer = await ask("find_symbol_references_by_anchor", **arguments)
        assert answer["status"] == "complete"

    asking("gopls", tmp_path, question, answer_within=0.0)


def test_places_that_are_not_explained_in_time_are_one_gap_until_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("clangd")
    written(tmp_path, CPP)
    (tmp_path / "compile_flags.txt").write_text("-std=c++17\n")

    async def question(ask: Asked) -> None:
        anchor = "new.h:3:make"
        await ask("find_symbol_references_by_anchor", symbol_anchor=anchor, wait=True)
        (tmp_path / "use.cpp").write_text(f"{CPP['use.cpp']}\n")
        held = Held(monkeypatch, explains_use)
        first = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor, answer_within=0.3)
        assert files_of(first) == ["new.cpp", "new.h", "use.cpp"]
        assert first["status"].startswith("unverified: ")
        assert first["status"].endswith("ask again")
        held.release.set()
        await ask.proven()
        again = await ask("find_symbol_references_by_anchor", symbol_anchor=anchor, answer_within=0)
        assert files_of(again) == files_of(first)
        assert again["status"] == "complete"

    asking("clangd", tmp_path, question)


def test_a_rename_is_proven_however_short_answers_are(tmp_path: Path) -> None:
    skip_without("gopls")
    written(tmp_path, GO)

    async def question(ask: Asked) -> None:
        answer = await ask("rename_symbol_by_anchor", symbol_anchor="home/new.go:3:New", new_name="Make", apply=False)
        assert {one["file"] for one in answer["file_edits"]} == {"home/lock_windows.go", "home/new.go", "use/use.go"}

    asking("gopls", tmp_path, question, answer_within=0.0)
