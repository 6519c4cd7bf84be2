"""Names in workspaces of several projects, and before a server has loaded any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asking import Asked, asking
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_command

CORE = "export function {name}(n: number) {{\n  return n;\n}}\n"
MAIN = 'import {{ {name} }} from "./core";\n\nexport const used = {name}(1);\n'


def answers(root: Path, files: dict[str, str], *calls: dict[str, Any]) -> list[dict[str, Any]]:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)
    try:
        find_command(load_adapter("typescript"))
    except MissingProgramError as error:
        pytest.skip(f"typescript: {error}")
    found = []

    async def asked(ask: Asked) -> None:
        found.extend([await ask(call.pop("tool"), **call) for call in calls])

    asking("typescript", root, asked)
    return found


def test_an_imported_name_is_one_symbol_in_the_first_answer(tmp_path: Path) -> None:
    files = {"tsconfig.json": "{}", "core.ts": CORE.format(name="greet"), "main.ts": MAIN.format(name="greet")}
    (answer,) = answers(
        tmp_path.resolve(), files, {"tool": "find_symbol_references_by_anchor", "symbol_anchor": "greet"}
    )
    assert [(one["location"]["file"], one["location"]["line"]) for one in answer["references"]] == [
        ("core.ts", 1),
        ("main.ts", 1),
        ("main.ts", 3),
    ]


def test_a_name_is_found_in_a_project_that_no_question_was_about(tmp_path: Path) -> None:
    files = {
        f"{project}/{file}": text
        for project in ("one", "two")
        for file, text in {
            "tsconfig.json": '{"include": ["src"]}',
            "tool.config.ts": "export default {};\n",
            "src/core.ts": CORE.format(name="greet"),
        }.items()
    }
    _, definitions = answers(
        tmp_path.resolve(),
        files,
        {"tool": "list_symbols_in_file", "file_path": "one/src/core.ts"},
        {"tool": "find_symbol_definitions_by_name", "symbol_name": "greet"},
    )
    found = {one["location"]["file"] for one in definitions["definitions"]}
    assert (found, definitions["status"]) == ({"one/src/core.ts", "two/src/core.ts"}, "complete")
