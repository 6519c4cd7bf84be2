"""`check` knows the errors of files that nobody has opened, and those that a change causes elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from asking import Asked, asking
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.programs import find_command

PROJECTS: dict[str, dict[str, str]] = {
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "core.py": "def greet(n: int) -> int:\n    return n\n",
        "main.py": "from core import greet\n\n\ndef main() -> int:\n    return greet(1)\n",
    },
    "typescript": {
        "tsconfig.json": '{"compilerOptions": {"strict": true}}',
        "core.ts": "export function greet(n: number) {\n  return n;\n}\n",
        "main.ts": 'import { greet } from "./core";\n\nexport function main(): number {\n  return greet(1);\n}\n',
    },
    "rust-analyzer": {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/core.rs": "pub fn greet(n: u32) -> u32 {\n    n\n}\n",
        "src/main.rs": 'mod core;\nuse crate::core::greet;\n\nfn main() {\n    println!("{}", greet(1));\n}\n',
    },
}
CORE = {"basedpyright": "core.py", "typescript": "core.ts", "rust-analyzer": "src/core.rs"}
MAIN = {"basedpyright": "main.py", "typescript": "main.ts", "rust-analyzer": "src/main.rs"}

Answer = dict[str, Any]
Step = tuple[Mapping[str, str], Mapping[str, Any]]
"""Files to write, and the arguments of the check after it."""


def checks(backend: str, root: Path, *steps: Step, project: Mapping[str, str] = MappingProxyType({})) -> list[Answer]:
    """The answers of the checks of one caller."""
    write(root, project or PROJECTS[backend])
    answers = []

    async def asked(ask: Asked) -> None:
        for files, arguments in steps:
            write(root, files)
            answers.append(await ask("check", **arguments))

    ask_server(backend, root, asked)
    return answers


def ask_server(backend: str, root: Path, question: Callable[[Asked], Awaitable[None]]) -> None:
    try:
        find_command(load_adapter(backend))
    except MissingProgramError as error:
        pytest.skip(f"{backend}: {error}")
    asking(backend, root, question)


def write(root: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)


def wrong(backend: str) -> dict[str, str]:
    """The main file with an error."""
    return {MAIN[backend]: PROJECTS[backend][MAIN[backend]].replace("greet(1)", "missing(1)")}


def renamed(backend: str) -> dict[str, str]:
    """The other file without what the main file uses."""
    return {CORE[backend]: PROJECTS[backend][CORE[backend]].replace("greet", "hail")}


def files_of(problems: list[Answer]) -> set[str]:
    return {one["location"]["file"] for one in problems}


@pytest.mark.parametrize("backend", PROJECTS)
def test_the_first_check_has_the_errors_of_a_file_that_nobody_opened(backend: str, tmp_path: Path) -> None:
    (answer,) = checks(backend, tmp_path.resolve(), ({}, {}), project={**PROJECTS[backend], **wrong(backend)})
    assert files_of(answer["new"]) == {MAIN[backend]}
    assert any("missing" in one["message"] for one in answer["new"])
    assert answer["status"] == "complete"


@pytest.mark.parametrize("backend", PROJECTS)
def test_an_error_that_a_change_causes_in_a_closed_file_comes_and_goes(backend: str, tmp_path: Path) -> None:
    before, broken, repaired = checks(
        backend, tmp_path.resolve(), ({}, {}), (renamed(backend), {}), (PROJECTS[backend], {})
    )
    assert before["new"] == []
    assert files_of(broken["new"]) == {MAIN[backend]}
    assert broken["status"] == "complete"
    assert repaired["new"] == []
    assert len(repaired["fixed"]) == len(broken["new"])
    assert repaired["remaining_count"] == 0


@pytest.mark.parametrize("backend", PROJECTS)
def test_an_error_from_before_the_first_change_is_not_called_new(backend: str, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write(root, {**PROJECTS[backend], **wrong(backend)})
    answers = []

    async def asked(ask: Asked) -> None:
        await ask("find_symbol_references_by_anchor", symbol_anchor="greet")
        await ask.proven()
        write(root, {CORE[backend]: f"{PROJECTS[backend][CORE[backend]]}\n"})
        answers.append(await ask("check"))

    ask_server(backend, root, asked)
    known = answers[0]["remaining_count"] == 1 and answers[0]["new"] == []
    assert known or "no baseline: all are shown" in answers[0]["message"]


@pytest.mark.parametrize("backend", PROJECTS)
def test_a_check_of_one_file_is_about_that_file(backend: str, tmp_path: Path) -> None:
    core, main = checks(
        backend,
        tmp_path.resolve(),
        (wrong(backend), {"path": CORE[backend]}),
        ({}, {"path": MAIN[backend]}),
    )
    assert (core["new"], core["status"]) == ([], "complete")
    assert files_of(main["new"]) == {MAIN[backend]}


def test_files_that_the_project_excludes_are_neither_checked_nor_missed(tmp_path: Path) -> None:
    excluded = {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n[tool.basedpyright]\nexclude = ["old"]\n',
        "old/gone.py": "x: int = 'a'\n",
    }
    first, second = checks(
        "basedpyright", tmp_path.resolve(), ({}, {}), ({}, {}), project={**PROJECTS["basedpyright"], **excluded}
    )
    for answer in (first, second):
        assert (answer["new"], answer["status"]) == ([], "complete")


def test_a_looked_at_dependency_is_not_checked(tmp_path: Path) -> None:
    dependency = {
        "node_modules/dep/package.json": '{"name": "dep", "version": "1.0.0", "types": "index.d.ts"}',
        "node_modules/dep/index.d.ts": "export declare const one: Missing;\n",
    }
    root = tmp_path.resolve()
    write(root, {**PROJECTS["typescript"], **dependency})
    answers = []

    async def asked(ask: Asked) -> None:
        await ask("list_symbols_in_file", file_path="node_modules/dep/index.d.ts")
        answers.append(await ask("check"))

    ask_server("typescript", root, asked)
    assert (answers[0]["new"], answers[0]["status"]) == ([], "complete")
