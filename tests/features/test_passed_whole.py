"""Files that export everything of others (`features.renaming.passed_whole`)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.disk.files import read_text
from lsp_mcp.features.renaming import passed_whole
from lsp_mcp.features.renaming.passed_whole import following, passing_whole
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.syntax import files
from lsp_mcp.text import Text

ROOT = Path("/w")


class Barrels:
    """A backend of files below `root`; it remembers for which words it was asked."""

    def __init__(self, root: Path, server: str, files: dict[str, str]) -> None:
        self.root, self.plugin = root, plugin_of(load_adapter(server))
        self.asked: list[str] = []
        self.documents = self.words = self
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        self.paths = [root / name for name in files]

    async def files_with(self, word: str) -> Any:
        self.asked.append(word)
        return SimpleNamespace(files=[path for path in self.paths if word in path.read_text()])

    async def text(self, path: Path) -> Text:
        return read_text(path, path.stat().st_size)


FILES = {
    "api/one.ts": "export const first = 1;\n",
    "internal.ts": 'export * from "./api/one";\n',
    "outer.js": "export /* all */ * from './internal';\n",
    "other.ts": 'export * from "./api/two";\nexport const one = 1;\n',
}


@bounded
async def test_files_that_pass_a_module_on_are_found_also_through_others(tmp_path: Path) -> None:
    backend: Any = Barrels(tmp_path, "typescript", FILES)
    found, left = await passing_whole(backend, [tmp_path / "api/one.ts"])
    assert {path.name for path in found} == {"internal.ts", "outer.js"}
    assert not left


@bounded
async def test_no_file_is_looked_for_where_the_language_passes_on_nothing_whole(tmp_path: Path) -> None:
    backend: Any = Barrels(tmp_path, "basedpyright", {"one.py": "export = 1\n"})
    assert await passing_whole(backend, [tmp_path / "one.py"]) == ({}, [])
    assert not backend.asked


@bounded
async def test_a_file_is_parsed_once_and_only_if_it_may_pass_something_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(text: Text, language_id: str) -> list[str]:
        parsed.append(text.content)
        return files.passed_whole(text, language_id)

    monkeypatch.setattr(passed_whole, "passed_whole", counted)
    backend: Any = Barrels(tmp_path, "typescript", FILES)
    for _ in range(2):
        await passing_whole(backend, [tmp_path / "api/one.ts"])
    assert sorted(parsed) == sorted(FILES[name] for name in ("internal.ts", "outer.js", "other.ts"))


@bounded
async def test_files_that_are_too_many_to_be_tried_are_told(tmp_path: Path) -> None:
    many = {f"of{number}.ts": 'export * from "./api/one";\n' for number in range(60)}
    backend: Any = Barrels(tmp_path, "typescript", FILES | many)
    found, left = await passing_whole(backend, [tmp_path / "api/one.ts"])
    assert len(found) == 50
    assert [gap.text for gap in left] == ["not tried in 12 files that may export all of others; run check"]


@bounded
async def test_what_passes_a_package_on_may_pass_on_any_of_its_modules(tmp_path: Path) -> None:
    shop = {"packages/shop/src/cart.ts": "export const a = 1;\n", "app/all.ts": 'export * from "@scope/store";\n'}
    backend: Any = Barrels(tmp_path, "typescript", shop)
    found, _ = await passing_whole(backend, [tmp_path / "packages/shop/src/cart.ts"])
    assert [path.name for path in found] == ["all.ts"]


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("./cart", True),
        ("../cart.js", True),
        ("..", True),
        ("../src", True),
        ("./shop", False),
        ("@scope/shop", True),
        ("shop", True),
        ("@scope/other", False),
    ],
)
def test_a_module_is_passed_on_by_its_own_name_and_a_package_by_that_of_a_folder(module: str, expected: bool) -> None:
    passing = {ROOT / "app/all.ts": [module]}
    assert bool(following([ROOT / "packages/shop/src/cart.ts"], passing, ROOT)) is expected


class Looked(dict[Path, list[str]]):
    """Files with modules; counts how often their modules are looked at."""

    looks = 0

    def items(self) -> Any:
        for one in super().items():
            self.looks += 1
            yield one


def test_what_is_followed_through_many_files_looks_at_each_once() -> None:
    passing = Looked({ROOT / f"of{number}.ts": [f"./of{number - 1}"] for number in range(1, 200)})
    assert following([ROOT / "of0.ts"], passing, ROOT) == list(passing)
    assert passing.looks == len(passing)
