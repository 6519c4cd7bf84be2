"""Which doc tests are shown to rust-analyzer: those of a library, whose crate is what they call by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsp_mcp.servers.rust_analyzer.doc_tests import doc_tests
from lsp_mcp.text import Text

_CODE = "/// ```\n/// sample::size();\n/// ```\npub fn size() {}\n"
_FILES = {
    "Cargo.toml": '[package]\nname = "sample"\n\n[[bin]]\nname = "other"\npath = "src/other.rs"\n',
    "src/lib.rs": "pub mod shapes;\nmod shared;\n",
    "src/main.rs": "mod program;\nmod shared;\n",
    "src/other.rs": "fn main() {}\n",
}


def _is_shown(root: Path, path: str) -> bool:
    for name, text in _FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return doc_tests(root / path, Text(_CODE)) is not None


@pytest.mark.parametrize("path", ["src/lib.rs", "src/shapes.rs", "src/shapes/round.rs", "src/shapes/mod.rs"])
def test_doc_tests_of_a_library_are_shown(tmp_path: Path, path: str) -> None:
    assert _is_shown(tmp_path, path)


@pytest.mark.parametrize(
    "path",
    [
        "src/main.rs", "src/other.rs", "src/program.rs", "src/program/part.rs", "src/shared.rs", "src/bin/tool.rs",
        "build.rs", "tests/all.rs", "examples/one.rs",
    ],
)  # fmt: skip
def test_doc_tests_of_what_may_be_another_crate_are_not_shown(tmp_path: Path, path: str) -> None:
    assert not _is_shown(tmp_path, path)


def test_doc_tests_of_a_package_without_a_library_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "sample"\n')
    assert doc_tests(tmp_path / "src/main.rs", Text(_CODE)) is None
    assert doc_tests(tmp_path / "src/part.rs", Text(_CODE)) is None


def test_the_library_is_where_the_manifest_says(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "sample"\n[lib]\nname = "own"\npath = "code/all.rs"\n')
    (tmp_path / "code").mkdir()
    (tmp_path / "code/all.rs").write_text(_CODE)
    for path in ("code/all.rs", "code/part.rs"):
        shown = doc_tests(tmp_path / path, Text(_CODE))
        assert shown
        assert "extern crate self as own;" in shown.text.content
