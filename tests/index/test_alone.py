"""`--backend index`: tools answer from the store alone, in a folder without any code."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from index.scip_files import DEFINITION, document, field, go_symbol, implements, occurrence, write
from lsp_mcp.cli.main import main
from lsp_mcp.errors import LspMcpError
from lsp_mcp.index import shelf
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.store import IndexStore
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call, Tool
from lsp_mcp.workspace import Workspace

A_TEXT = """package greet

type Greeter interface{ Greet() string }

type Config struct{ Loud bool }

func (c *Config) Greet() string {
\treturn Hello("é")
}

func Hello(name string) string { return name }
"""
Ask = Callable[..., Awaitable[dict[str, Any]]]


def a(descriptors: str, version: str = "aaa111") -> str:
    return go_symbol("example.com/a/greet", descriptors, module="example.com/a", version=version)


def b(descriptors: str) -> str:
    return go_symbol("example.com/b", descriptors, module="example.com/b", version=".")


def defined(symbol: str, line: int, start: int, end: int, last: int) -> bytes:
    """A definition that ends on line `last`."""
    extent = field(7, bytes([line, 0, last, 1]))
    return field(2, field(1, bytes([line, start, end])) + field(2, symbol) + field(3, DEFINITION) + extent)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """An index of a module with its text, and of two that use it in different versions, one without text."""
    url = f"sqlite:///{tmp_path / 'index.sqlite3'}"
    own = document(
        "greet/greet.go",
        occurrence(a("Greeter#"), 2, 5, 12, DEFINITION),
        occurrence(a("Greeter#Greet."), 2, 24, 29, DEFINITION),
        occurrence(a("Config#"), 4, 5, 11, DEFINITION),
        occurrence(a("Config#Loud."), 4, 20, 24, DEFINITION),
        defined(a("Config#Greet()."), 6, 17, 22, 8),
        occurrence(a("Hello()."), 7, 8, 13),
        occurrence(a("Hello()."), 10, 5, 10, DEFINITION),
        implements(a("Config#"), a("Greeter#")),
        implements(a("Greeter#"), "scip-go gomod std go1.21 `fmt`/Stringer#"),
        text=A_TEXT,
    )
    opened = IndexStore(url)

    def push(name: str, commit: str, part: bytes, *, with_text: bool = False) -> None:
        file = write(tmp_path / f"{commit}.scip", part)
        opened.push(gather(file, None, with_text=with_text), name, commit)

    push("example.com/a", "aaa111", own, with_text=True)
    used = occurrence(a("Hello().", "v1.2.0"), 11, 10, 15)
    push(
        "example.com/b",
        "bbb222",
        document(
            "b.go",
            occurrence(b("Polite#"), 3, 5, 11, DEFINITION),
            defined(b("Use()."), 9, 5, 8, 14),
            used,
            implements(b("Polite#"), a("Greeter#", "v1.2.0")),
        ),
    )
    push("example.com/c", "ccc333", document("c.go", occurrence(a("Hello().", "v1.3.0"), 3, 1, 6)))
    opened.close()
    return url


def asking(tmp_path: Path, store: str | None, question: Callable[[Ask], Awaitable[None]]) -> None:
    """Run `question` with a way to call tools in an empty folder."""
    root = tmp_path / "empty"
    root.mkdir()

    async def run() -> None:
        sessions = Sessions(Workspace(root), [], {})
        settings = ToolSettings(index_store=store, from_index=True)
        tools = {tool.name: tool for tool in offered_tools(ToolContext(sessions, settings))}

        async def ask(name: str, **arguments: Any) -> dict[str, Any]:
            found: dict[str, Any] = json.loads(await tools[name].call(Call(), arguments))
            return found

        try:
            await question(ask)
        finally:
            await sessions.close()

    asyncio.run(run())


def test_uses_are_found_in_all_repositories_definitions_first(tmp_path: Path, store: str) -> None:
    async def question(ask: Ask) -> None:
        for spelled in ("Hello", "greet.Hello", "example.com/a/greet.Hello", "go://example.com/b@bbb222/b.go#12:11"):
            found = await ask("find_symbol_references_by_anchor", symbol_anchor=spelled)
            assert found["message"] == "Found 4 references to Hello in 3 repositories."
            assert [one["anchor"] for one in found["references"]] == [
                "go://example.com/a@aaa111/greet/greet.go#8:9",
                "go://example.com/a@aaa111/greet/greet.go#11:6",
                "go://example.com/b@bbb222/b.go#12:11",
                "go://example.com/c@ccc333/c.go#4:2",
            ]
        first, _, third, _ = found["references"]
        assert (first["code"], first["container"]) == ('return Hello("é")', "Config.Greet")
        assert (third["code"], third["container"]) == ("", "Use")
        assert "only 3 indexed repositories are known, each as of its commit" in found["status"]
        assert "different versions of it: v1.2.0 in example.com/b; v1.3.0 in example.com/c" in found["status"]
        some = await ask("find_symbol_references_by_anchor", symbol_anchor="Hello", path="example.com/b")
        assert [one["location"]["line"] for one in some["references"]] == [12]

    asking(tmp_path, store, question)


def test_definitions_outlines_hierarchies_and_sources_come_from_the_store(tmp_path: Path, store: str) -> None:
    async def question(ask: Ask) -> None:
        found = await ask("find_symbol_definitions_by_name", symbol_name="gre")
        assert [one["name"] for one in found["definitions"]] == ["Greeter", "Config.Greet", "Greeter.Greet"]
        found = await ask("find_symbol_definitions_by_name", symbol_name="Greet", kind="method")
        assert "whether it is a method or another method or field" in found["status"]

        found = await ask("list_symbols_in_file", file_path="example.com/a/greet/greet.go")
        assert [one["name"] for one in found["file_symbols"]] == ["Greeter", "Config", "Hello"]
        assert [one["name"] for one in found["file_symbols"][1]["children"]] == ["Loud", "Greet"]
        found = await ask("list_symbols_in_file", file_path="example.com/b")
        assert found["message"].startswith("2 symbols in 1 file")
        found = await ask("list_symbols_in_file", file_path=".")
        assert [one["repository"] for one in found["elsewhere"]["repositories"]] == [
            "example.com/a",
            "example.com/b",
            "example.com/c",
        ]

        found = await ask("find_implementations", symbol="Greeter")
        assert [one["name"] for one in found["implementations"]] == ["Config", "Polite"]
        assert "no index defines Stringer" in found["status"]
        found = await ask("find_type_hierarchy_by_anchor", symbol_anchor="Polite", direction="supertypes")
        assert [one["name"] for one in found["supertypes"]] == ["Greeter"]

        found = await ask("read_symbol", symbols=["Config.Greet", "Polite"])
        read, lacking = found["symbols"]
        assert read["text"] == 'func (c *Config) Greet() string {\n\treturn Hello("é")\n}'
        assert "its text was not stored; push the index with --with-text" in lacking["error"]
        found = await ask("read_symbol", symbols=["example.com/a/greet/greet.go:8"], what="surroundings")
        assert found["symbols"][0]["name"] == "Config.Greet"

        found = await ask("find_impact", symbols=["Hello"])
        assert found["message"] == "4 uses of Hello in 3 repositories, definitions included."
        assert "callers of callers and tests are not followed in indexes" in found["status"]

    asking(tmp_path, store, question)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (
            "find_symbol_references_by_anchor",
            {"symbol_anchor": "Nope"},
            "no index defines 'Nope' (indexed:",
        ),
        ("find_symbol_references_by_anchor", {"symbol_anchor": "Greet"}, "names 2 symbols; pass one of these places:"),
        ("find_symbol_references_by_anchor", {"symbol_anchor": "x.go:3"}, "no index has the file 'x.go'"),
        ("find_symbol_references_by_anchor", {"symbol_anchor": "b.go:1"}, "the index has no symbol at 'b.go:1'"),
        (
            "find_symbol_references_by_anchor",
            {"symbol_anchor": "Hello", "path": "zz"},
            "path 'zz' is nothing",
        ),
        ("find_symbol_references_by_anchor", {"symbol_anchor": "Hello", "role": "write"}, "pass role=all"),
        ("find_calls", {"symbol": "Hello"}, "indexes do not tell calls from other uses"),
        ("check", {}, "it cannot compile"),
        ("rename_symbol_by_anchor", {"symbol_anchor": "Hello", "new_name": "Hi"}, "it only reads"),
        ("find_impact", {}, "pass symbols"),
        ("find_impact", {"unused": True}, "may be used where nothing is indexed"),
        ("read_symbol", {"symbols": ["Hello"], "what": "type"}, "it reads what=body and what=surroundings"),
    ],
)
def test_what_an_index_cannot_answer_is_a_clear_error(
    tmp_path: Path, store: str, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async def question(ask: Ask) -> None:
        with pytest.raises(LspMcpError) as caught:
            await ask(tool, **arguments)
        assert said in str(caught.value)

    asking(tmp_path, store, question)


def test_only_tools_that_an_index_can_answer_are_listed(tmp_path: Path, store: str) -> None:
    sessions = Sessions(Workspace(tmp_path), [], {})
    tools: list[Tool] = offered_tools(ToolContext(sessions, ToolSettings(index_store=store, from_index=True)))
    assert {tool.name for tool in tools if tool.listed()} == {
        "list_symbols_in_file",
        "find_symbol_definitions_by_name",
        "find_symbol_references_by_anchor",
        "read_symbol",
        "find_implementations",
        "find_impact",
    }


def test_the_shell_asks_the_store_alone_and_refuses_a_server_beside_it(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["call", "--no-shared", "--index-store", store, "--backend", "index"]
    asked = CliRunner().invoke(main, [*words, "--format", "compact", "find_implementations", "symbol=Polite"])
    assert "Found 0 implementations and 1 base of type Polite." in asked.output
    both = CliRunner().invoke(main, [*words, "--backend", "gopls", "check"])
    assert both.exit_code == 2
    assert "--backend index answers from the index store alone; leave it out to ask gopls and the store" in both.output


def test_one_of_very_many_names_alike_is_found_by_more_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_MOST_NAMED", 20)
    alike = [occurrence(a(f"T{one}#Same()."), one, 5, 9, DEFINITION) for one in range(100)]
    opened = IndexStore(f"sqlite:///{tmp_path / 'alike.sqlite3'}")
    opened.push(gather(write(tmp_path / "a.scip", document("a.go", *alike)), None, with_text=False), "a", "c")
    assert opened.read(lambda at: shelf.Shelf(at).symbol("T77.Same")).name == "T77.Same"
    with pytest.raises(LspMcpError, match="names at least 20 symbols; pass one of these places"):
        opened.read(lambda at: shelf.Shelf(at).symbol("Same"))
    opened.close()
