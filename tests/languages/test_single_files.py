"""Servers that know one file at a time: its outline and, of CSS, the uses in it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from languages.served import served
from lsp_mcp.adapters import adapter_files, load_adapter
from lsp_mcp.data import data_folder

FILES = {
    "vscode-css": ("a.css", ":root { --main: red; }\n.door { color: var(--main); }\n", [":root", ".door"]),
    "vscode-html": ("a.html", "<html><body><p id='a'></p></body></html>\n", ["html"]),
    "vscode-json": ("a.json", '{"door": {"slam": 1}}\n', ["door"]),
    "yaml-language-server": ("a.yaml", "door:\n  slam: 1\nwindow: 2\n", ["door", "window"]),
}
SAMPLES = Path(__file__).parent / "samples"


def ask(backend: str, root: Path, tool: str, **arguments: Any) -> dict[str, Any]:
    open_workspace = served(backend)

    async def asked() -> str:
        async with open_workspace(root) as call:
            return await asyncio.wait_for(call(tool, {**arguments, "format": "json"}), 60)

    return dict(json.loads(asyncio.run(asked())))


@pytest.mark.parametrize("backend", FILES)
def test_a_file_has_an_outline(backend: str, tmp_path: Path) -> None:
    file, text, names = FILES[backend]
    (tmp_path / file).write_text(text)
    answer = ask(backend, tmp_path, "list_symbols_in_file", file_path=file)
    assert [one["name"] for one in answer["file_symbols"]] == names


def test_the_uses_of_a_variable_of_css_are_found(tmp_path: Path) -> None:
    file, text, _ = FILES["vscode-css"]
    (tmp_path / file).write_text(text)
    answer = ask("vscode-css", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="css://a.css#1:11")
    assert [(one["location"]["line"], one["location"]["character"]) for one in answer["references"]] == [
        (1, 11),
        (2, 22),
    ]


def test_uses_of_a_variable_of_css_in_another_file_are_not_called_those_of_another_one(tmp_path: Path) -> None:
    file, text, _ = FILES["vscode-css"]
    (tmp_path / file).write_text(text)
    (tmp_path / "b.css").write_text(".b { width: var(--main); }\n")
    answer = ask("vscode-css", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="css://a.css#1:11")
    assert "1 occurrence of main that vscode-css does not explain: b.css 1:19" in answer["status"]


def test_a_variable_of_css_is_renamed_without_its_dashes(tmp_path: Path) -> None:
    file, text, _ = FILES["vscode-css"]
    (tmp_path / file).write_text(text)
    ask("vscode-css", tmp_path, "rename_symbol_by_anchor", symbol_anchor="css://a.css#1:9", new_name="hail")
    assert (tmp_path / file).read_text() == text.replace("--main", "--hail")


def test_errors_of_css_are_reported(tmp_path: Path) -> None:
    file, text, _ = FILES["vscode-css"]
    (tmp_path / file).write_text(text + ".c { color: }\n")
    answer = ask("vscode-css", tmp_path, "check", path=file, all=True)
    assert [one["message"] for one in answer["new"]] == ["property value expected"]


def test_every_shipped_adapter_is_tested_or_says_that_it_is_not() -> None:
    shipped = [path.stem for path in adapter_files("lsp").values() if path.is_relative_to(data_folder("adapters"))]
    sampled = {line[9:] for path in SAMPLES.glob("*.txtar") for line in path.read_text().split("\n")[:1]}
    tested = {"gopls", "clangd", "syntax", *FILES, *sampled}  # `syntax`: test_syntax_only.py
    assert {name for name in shipped if not load_adapter(name).untested} == tested
