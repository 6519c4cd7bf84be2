"""Uses and calls under the name that an import gives a symbol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from languages.served import served

PROJECTS = {
    "basedpyright": {
        "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
        "core.py": "def greet(n):\n    return n\n",
        "middle.py": "from core import greet as g\n",
        "main.py": "from middle import g as h\n\n\ndef main():\n    return h(1)\n",
    },
    "typescript": {
        "tsconfig.json": "{}",
        "core.ts": "export function greet(n: number) {\n  return n;\n}\n",
        "middle.ts": 'export { greet as g } from "./core";\n',
        "main.ts": 'import { g as h } from "./middle";\n\nexport function main() {\n  return h(1);\n}\n',
    },
    "rust-analyzer": {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/core.rs": "pub fn greet(n: u32) -> u32 {\n    n\n}\n",
        "src/middle.rs": "pub use crate::core::greet as g;\n",
        "src/main.rs": "mod core;\nmod middle;\nuse middle::g as h;\n\nfn main() {\n    h(1);\n}\n",
    },
}


PACKAGE = {
    "pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n',
    "pkg/__init__.py": "from .core import greet as greet\n",
    "pkg/core.py": "def greet(n):\n    return n\n",
    "main.py": "import pkg\n\n\ndef main():\n    pkg.greet(1)\n\n\ndef other():\n    return pkg.greet(2)\n",
}


def ask(
    backend: str, root: Path, *calls: dict[str, Any], files: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    for file, text in (files or PROJECTS[backend]).items():
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(text)
    open_workspace = served(backend)

    async def asked() -> list[str]:
        async with open_workspace(root) as call:
            return [
                await asyncio.wait_for(call(one.pop("tool"), {**one, "wait": True, "format": "json"}), 120)
                for one in calls
            ]

    return [dict(json.loads(answer)) for answer in asyncio.run(asked())]


def test_callers_are_found_from_a_use_through_a_package(tmp_path: Path) -> None:
    (calls,) = ask("basedpyright", tmp_path, {"tool": "find_calls", "symbol": "main.py:9:16"}, files=PACKAGE)
    assert sorted(one["name"] for one in calls["callers"]) == ["main", "other"]


@pytest.mark.parametrize("backend", ["basedpyright", "typescript"])
def test_uses_and_calls_by_another_name_are_found(backend: str, tmp_path: Path) -> None:
    references, calls = ask(
        backend,
        tmp_path,
        {"tool": "find_symbol_references_by_anchor", "symbol_anchor": "greet"},
        {"tool": "find_calls", "symbol": "greet"},
    )
    texts = PROJECTS[backend]
    main = next(file for file in texts if "main." in file)
    called = next(number for number, line in enumerate(texts[main].split("\n"), 1) if "h(1)" in line)
    places = {(one["location"]["file"], one["location"]["line"]) for one in references["references"]}
    assert {Path(file).stem for file, _ in places} == {"core", "middle", "main"}
    assert (main, called) in places
    assert [one["name"] for one in calls["callers"]] == ["main"]


def test_uses_by_another_name_that_a_server_does_not_list_are_a_gap(tmp_path: Path) -> None:
    answers = ask(
        "rust-analyzer",
        tmp_path,
        {"tool": "find_symbol_references_by_anchor", "symbol_anchor": "greet"},
        {"tool": "find_calls", "symbol": "greet"},
    )
    for answer in answers:
        assert "uses by names that imports give are not listed: g (src/middle.rs 1)" in answer["status"]
