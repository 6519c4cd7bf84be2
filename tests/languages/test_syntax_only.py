"""Languages without an installed server have answers by syntax: every place of a word in code, and said to be that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from archives.workspaces import direct
from lsp_mcp.adapters import adapter_names, load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.sessions.choosing import choose_adapters, other_adapters

pytest.importorskip("tree_sitter_language_pack")

TIMEOUT = 120.0  # seconds for one answer
PROJECTS = {
    "lua": (
        ("lib.lua", 'local M = {}\nfunction M.greet(n)\n  return "greet " .. n -- greet\nend\nreturn M\n'),
        ("main.lua", 'local lib = require("lib")\nprint("😀", lib.greet("a"))\n'),
    ),
    "ruby": (
        ("lib.rb", 'module Lib\n  def self.greet(n)\n    "greet #{n}" # greet\n  end\nend\n'),
        ("main.rb", 'require "lib"\nputs "😀", Lib.greet("a"), "#{Lib.greet("b")}"\n'),
    ),
    "kotlin": (
        ("lib.kt", 'fun greet(n: String): String {\n  return "greet $n" // greet\n}\n'),
        ("main.kt", 'fun main() {\n  println("😀" + greet("a"))\n}\n'),
    ),
}
CODE = {"lua": 2, "ruby": 3, "kotlin": 2}  # places of `greet` in code
SAME_WORD = "syntactic: same word, not proven the same symbol"

Ask = Callable[..., dict[str, Any]]


def asked(root: Path, files: tuple[tuple[str, str], ...], questions: Callable[[Ask], None]) -> None:
    """Ask about `files` in `root`, with the server that knows syntax only."""
    for name, text in files:
        (root / name).write_text(text, "utf-8")

    async def awaited(call: Awaitable[str]) -> str:
        return await call

    with asyncio.Runner() as runner:

        async def opened() -> Any:
            workspace = direct("syntax")(root)
            return workspace, await workspace.__aenter__()

        workspace, call = runner.run(opened())

        def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = call(tool, {**arguments, "format": "json"})
            return dict(json.loads(runner.run(asyncio.wait_for(awaited(answer), TIMEOUT))))

        try:
            questions(ask)
        finally:
            runner.run(workspace.__aexit__(None, None, None))


@pytest.mark.parametrize("language", PROJECTS)
def test_the_places_of_a_word_in_code_are_found_and_not_called_complete(tmp_path: Path, language: str) -> None:
    def questions(ask: Ask) -> None:
        answer = ask("find_symbol_references_by_anchor", symbol_anchor="greet")
        assert len(answer["references"]) == CODE[language]
        assert SAME_WORD in answer["status"]

    asked(tmp_path, PROJECTS[language], questions)


@pytest.mark.parametrize("language", PROJECTS)
def test_an_outline_and_a_definition_by_name_have_the_function(tmp_path: Path, language: str) -> None:
    (file, _), _ = PROJECTS[language]

    def questions(ask: Ask) -> None:
        outline = ask("list_symbols_in_file", file_path=file)
        assert "greet" in json.dumps(outline["file_symbols"])
        assert outline["status"] == "complete"
        (found,) = ask("find_symbol_definitions_by_name", symbol_name="greet")["definitions"]
        assert found["location"]["file"] == file

    asked(tmp_path, PROJECTS[language], questions)


def test_a_rename_by_words_needs_consent_and_leaves_comments_and_strings(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        place = {"symbol_anchor": "lua://lib.lua#2:12", "new_name": "hail"}
        with pytest.raises(LspMcpError, match=SAME_WORD):
            ask("rename_symbol_by_anchor", **place)
        assert (tmp_path / "lib.lua").read_text("utf-8") == PROJECTS["lua"][0][1]
        ask("rename_symbol_by_anchor", **place, allow_partial=True)

    asked(tmp_path, PROJECTS["lua"], questions)
    lib = (tmp_path / "lib.lua").read_text("utf-8")
    assert lib == PROJECTS["lua"][0][1].replace("M.greet", "M.hail")
    assert (tmp_path / "main.lua").read_text("utf-8") == PROJECTS["lua"][1][1].replace("greet", "hail")


def test_files_that_another_program_changes_creates_and_deletes_are_seen(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        def files() -> list[str]:
            answer = ask("find_symbol_references_by_anchor", symbol_anchor="lua://lib.lua#2:12")
            return sorted(one["location"]["file"] for one in answer["references"])

        assert files() == ["lib.lua", "main.lua"]
        (tmp_path / "more.lua").write_text('require("lib").greet("x")\n', "utf-8")
        assert files() == ["lib.lua", "main.lua", "more.lua"]
        (tmp_path / "main.lua").write_text("print(1)\n", "utf-8")
        assert files() == ["lib.lua", "more.lua"]
        (tmp_path / "more.lua").unlink()
        assert files() == ["lib.lua"]

    asked(tmp_path, PROJECTS["lua"], questions)


def test_a_syntax_error_is_a_problem_of_its_file(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        (one,) = ask("check", path="bad.lua")["new"]
        assert one["location"]["line"] == 2
        assert "syntax error" in one["message"]

    asked(tmp_path, (("bad.lua", "local a = 1\nlocal b = = 2\n"),), questions)


def test_a_call_hierarchy_is_refused(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        with pytest.raises(LspMcpError, match="no call hierarchy"):
            ask("find_calls", symbol="greet")

    asked(tmp_path, PROJECTS["lua"], questions)


def test_it_is_chosen_only_where_no_server_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LSP_MCP_SERVERS", str(tmp_path))
    lua = tmp_path / "lua"
    lua.mkdir()
    (lua / "main.lua").write_text("print(1)\n", "utf-8")
    assert [one.name for one in choose_adapters((), lua, adapter_names())] == ["syntax"]
    server = tmp_path / "lua-language-server"
    server.write_text("#!/bin/sh\n", "utf-8")
    server.chmod(0o755)
    (chosen,) = choose_adapters((), lua, adapter_names())
    assert chosen.name == "lua-language-server"
    left = next(one for one in other_adapters([chosen], adapter_names()) if one.is_fallback)
    assert ".lua" not in left.by_kind
    assert ".kt" in left.by_kind
    assert ".lua" in load_adapter("syntax").by_kind


def test_it_is_chosen_by_the_project_file_alone_if_the_code_is_deep_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("LSP_MCP_SERVERS", str(tmp_path / "servers"))
    (tmp_path / "pom.xml").write_text("<project/>\n", "utf-8")
    (tmp_path / "src/main/java/app").mkdir(parents=True)
    (tmp_path / "src/main/java/app/Main.java").write_text("class Main {}\n", "utf-8")
    assert [one.name for one in choose_adapters((), tmp_path, adapter_names())] == ["syntax"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Main.run", [2]),
        ("app.Main.run", [2]),
        ("app.Other.run", [5]),
        ("Nope.run", []),
        ("app.Main", [1]),
        ("run", [2, 5]),
    ],
)
def test_a_member_is_found_by_the_names_around_it(tmp_path: Path, name: str, lines: list[int]) -> None:
    text = "class Main {\n  void run() {}\n}\nclass Other {\n  void run() {}\n}\n"

    def questions(ask: Ask) -> None:
        answer = ask("find_symbol_definitions_by_name", symbol_name=name)
        assert [one["location"]["line"] for one in answer["definitions"]] == lines

    asked(tmp_path, (("Main.java", text),), questions)


def test_a_method_outside_of_its_type_belongs_to_that(tmp_path: Path) -> None:
    def questions(ask: Ask) -> None:
        for name, places in (("B::build", [("a.rs", 3)]), ("T.Build", [("a.go", 2)]), ("Nope::build", [])):
            answer = ask("find_symbol_definitions_by_name", symbol_name=name)
            assert [(one["location"]["file"], one["location"]["line"]) for one in answer["definitions"]] == places

    rust = "impl A { fn build() {} }\nimpl<'a> super::C<'a> { fn build() {} }\nimpl T for B<u8> { fn build() {} }\n"
    asked(tmp_path, (("a.rs", rust), ("a.go", "package a\nfunc (t *T[K]) Build() {}\n")), questions)
