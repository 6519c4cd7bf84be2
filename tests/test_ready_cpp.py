"""On a cold index every answer is complete, or says that it isn't: real clangd, 150 units, asked at once."""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.programs import find_command
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace

UNITS = 150
BOUND = 300  # seconds for a whole test: a hang, not a measurement
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("find_symbol_references_by_anchor", {"symbol_anchor": "cpp://lib.cpp#2:5", "limit": 1000}),
    ("find_symbol_definitions_by_name", {"symbol_name": "use", "limit": 1000}),
    ("find_callers_by_anchor", {"symbol_anchor": "cpp://lib.cpp#2:5", "limit": 1000}),
    ("find_type_hierarchy_by_anchor", {"symbol_anchor": "cpp://lib.h#3:8", "limit": 1000}),
    ("rename_symbol_by_anchor", {"symbol_anchor": "cpp://lib.cpp#2:5", "new_name": "aim", "apply": False}),
    ("lsp_request", {"method": "workspace/symbol", "params": {"query": "use"}}),
]

try:
    find_command(load_adapter("clangd"))
except MissingProgramError as error:
    pytest.skip(f"clangd: {error}", allow_module_level=True)


def write_project(root: Path) -> None:
    sources = {"lib.cpp": '#include "lib.h"\nint target(int x) { return x; }\n'}
    for number in range(UNITS):
        body = f"struct S{number} : Base {{}};\nint use{number}() {{ return target({number}); }}\n"
        sources[f"u{number}.cpp"] = f'#include "lib.h"\n{body}'
    for name, text in sources.items():
        (root / name).write_text(text)
    (root / "lib.h").write_text("#pragma once\nint target(int x);\nstruct Base {};\n")
    commands = [{"directory": str(root), "file": name, "command": f"c++ -c {name}"} for name in sources]
    (root / "compile_commands.json").write_text(json.dumps(commands))


def found(tool: str, answer: dict[str, Any]) -> int:
    """How many things the answer has, the definition and the declaration left aside."""
    match tool:
        case "find_symbol_references_by_anchor":
            return max(0, len(answer["references"]) - 2)
        case "find_symbol_definitions_by_name":
            return len(answer["definitions"])
        case "find_callers_by_anchor":
            return len(answer["callers"])
        case "find_type_hierarchy_by_anchor":
            return len(answer["subtypes"])
        case "rename_symbol_by_anchor":
            return sum(len(file["edits"]) for file in answer["file_edits"]) - 2
        case _:
            # clangd's index of the standard library has some of that name too.
            return sum(symbol["location"]["uri"].endswith(".cpp") for symbol in answer["result"])


@pytest.mark.parametrize("ready_timeout", [0.0, 0.1, 30.0])
@pytest.mark.parametrize(("tool", "arguments"), QUESTIONS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_first_answer_is_complete_or_says_what_is_missing(
    tmp_path: Path, tool: str, arguments: dict[str, Any], ready_timeout: float
) -> None:
    write_project(tmp_path)
    told: list[str] = []

    async def report(_done: float, _total: float | None, message: str) -> None:
        told.append(message)

    async def run() -> dict[str, Any]:
        options = {"clangd": SessionOptions(ready_timeout=ready_timeout)}
        sessions = Sessions(Workspace(tmp_path), [load_adapter("clangd")], options)
        tools = {tool.name: tool for tool in offered_tools(ToolContext(sessions))}
        sessions.begin()
        try:
            async with asyncio.timeout(BOUND):
                return json.loads(await tools[tool].call(Call(report=report), arguments))
        finally:
            await sessions.close()

    answer = asyncio.run(run())
    count = found(tool, answer)
    if answer["status"] == "complete":
        assert count == UNITS
    else:
        # Without a count as long as it has not even begun.
        assert re.match(r"indexing( |;|$)", answer["status"]), answer["status"]
        if not any(len(part) for part in answer.values() if isinstance(part, list)):
            assert "ot known" in answer.get("message", answer["status"])
    if ready_timeout == 30:
        assert answer["status"] == "complete"
        assert any(message.startswith("clangd: indexing ") for message in told)


def test_the_index_is_in_the_programs_own_folder_and_each_checkout_has_its_own(tmp_path: Path) -> None:
    cache = Path(os.environ["LSP_MCP_CACHE"])
    before = set(cache.glob("indexes/*/clangd/*"))

    async def run(root: Path) -> None:
        sessions = Sessions(Workspace(root), [load_adapter("clangd")], {})
        tools = {tool.name: tool for tool in offered_tools(ToolContext(sessions))}
        sessions.begin()
        try:
            await tools["find_symbol_definitions_by_name"].call(Call(), {"symbol_name": "target"})
        finally:
            await sessions.close()

    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_project(tmp_path / name)
        asyncio.run(run(tmp_path / name))
        assert not (tmp_path / name / ".cache").exists()
    new = set(cache.glob("indexes/*/clangd/*")) - before
    assert len(new) == 2
    assert all(len(list((folder / ".cache/clangd/index").glob("*.idx"))) == UNITS + 2 for folder in new)
