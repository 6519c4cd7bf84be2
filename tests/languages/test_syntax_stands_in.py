"""Where a server has not loaded, or has failed, a caller may take answers by syntax alone: `syntactic=true`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import UnavailableError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call, Tool
from lsp_mcp.workspace import Workspace

TIMEOUT = 120.0  # seconds for one answer
FAILS = ("sh", "-c", "echo no licence >&2; exit 3")
HANGS = ("sh", "-c", "while read -r _; do :; done")


@asynccontextmanager
async def opened(root: Path, command: tuple[str, ...]) -> AsyncIterator[dict[str, Tool]]:
    """The tools over a Go workspace whose server is `command`."""
    (root / "go.mod").write_text("module example.com/a\n")
    (root / "a.go").write_text("package a\n\nfunc Greet() {} // Greet\n")
    (root / "b.go").write_text("package a\n\nfunc b() { Greet() }\n")
    sessions = Sessions(Workspace(root), [load_adapter("gopls")], {"gopls": SessionOptions(command=command)})
    sessions.begin()
    try:
        yield {tool.name: tool for tool in offered_tools(ToolContext(sessions, ToolSettings()))}
    finally:
        await sessions.close()
        sessions.kill()


async def answer(tools: dict[str, Tool], name: str, **arguments: Any) -> dict[str, Any]:
    said = await asyncio.wait_for(tools[name].call(Call(format="json"), arguments), TIMEOUT)
    return dict(json.loads(said))


@pytest.mark.parametrize("command", [FAILS, HANGS], ids=["a server that fails", "a server that does not answer"])
def test_a_caller_gets_answers_by_syntax_that_say_what_they_are(tmp_path: Path, command: tuple[str, ...]) -> None:
    async def questions() -> None:
        async with opened(tmp_path, command) as tools:
            by_name = await answer(tools, "find_symbol_definitions_by_name", symbol_name="Greet", syntactic=True)
            assert [one["location"]["file"] for one in by_name["definitions"]] == ["a.go"]
            assert by_name["message"] == "Found 1 symbol definition in the Go workspace."
            assert by_name["status"].startswith("syntactic: gopls has not loaded, so Go may declare more")
            for symbol in ("Greet", "go://a.go#3:6"):
                uses = await answer(tools, "find_symbol_references_by_anchor", symbol_anchor=symbol, syntactic=True)
                assert [one["location"]["file"] for one in uses["references"]] == ["a.go", "b.go"]
                assert "syntactic" in uses["status"]
            outline = await answer(tools, "list_symbols_in_file", file_path="b.go", syntactic=True)
            assert [one["name"] for one in outline["file_symbols"]] == ["b"]
            read = await answer(tools, "read_symbol", symbols=["Greet"], syntactic=True)
            assert "func Greet() {}" in read["symbols"][0]["text"]

    asyncio.run(questions())


def test_without_that_the_error_says_how_to_get_them(tmp_path: Path) -> None:
    async def questions() -> None:
        async with opened(tmp_path, FAILS) as tools:
            with pytest.raises(UnavailableError, match=r"no licence.*call again with syntactic=true"):
                await answer(tools, "find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6")
            assert "syntactic" not in tools["find_symbol_references_by_anchor"].input_schema["properties"]

    asyncio.run(questions())


def test_a_rename_by_syntax_is_refused_until_its_caller_accepts_that(tmp_path: Path) -> None:
    async def questions() -> None:
        async with opened(tmp_path, FAILS) as tools:
            wanted: dict[str, Any] = {"symbol_anchor": "go://a.go#3:6", "new_name": "Hail", "syntactic": True}
            with pytest.raises(Exception, match="allow_partial"):
                await answer(tools, "rename_symbol_by_anchor", **wanted)
            await answer(tools, "rename_symbol_by_anchor", **wanted, allow_partial=True)
            assert "Hail()" in (tmp_path / "b.go").read_text()

    asyncio.run(questions())


def test_a_server_that_is_ready_answers_itself(tmp_path: Path) -> None:
    from languages.served import served

    served("gopls")

    async def questions() -> None:
        async with opened(tmp_path, ()) as tools:
            await answer(tools, "find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6")
            uses = await answer(
                tools, "find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6", syntactic=True
            )
            assert "syntactic" not in uses["status"]

    asyncio.run(questions())
