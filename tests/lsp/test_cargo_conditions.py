"""The conditions under which Rust's code is built, and what says how it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsp_mcp.servers.rust_analyzer.conditions import conditions, hint
from lsp_mcp.text import Point, Text

LIBRARY = (
    '#[cfg(feature = "kv")]\n#[doc(hidden)]\npub mod kv;\n\n'
    '#[cfg(all(unix, not(feature = "std")))]\nmod inner {\n    // A comment.\n    #[cfg(test)]\n    mod tests {\n'
    "        fn one() {}\n    }\n}\n\nfn plain() {}\n"
)


def said(root: Path, file: str, line: int = 1) -> list[str]:
    (root / "src/kv").mkdir(parents=True, exist_ok=True)
    (root / "src/lib.rs").write_text(LIBRARY)
    (root / "src/kv/mod.rs").write_text("mod value;\n")
    (root / "src/kv/value.rs").write_text("#![cfg(unix)]\nstruct Value;\n")
    path = root / file
    return conditions(path, Text(path.read_text()), Point(line, 1))


@pytest.mark.parametrize(
    ("file", "line", "wanted"),
    [
        ("src/lib.rs", 14, []),
        ("src/lib.rs", 3, ['feature = "kv"']),
        ("src/lib.rs", 10, ['all(unix, not(feature = "std"))']),
        ("src/kv/mod.rs", 1, ['feature = "kv"']),
        ("src/kv/value.rs", 2, ['feature = "kv"', "unix"]),
    ],
)
def test_conditions_are_those_of_what_is_around_and_of_the_modules_above(
    tmp_path: Path, file: str, line: int, wanted: list[str]
) -> None:
    assert said(tmp_path, file, line) == wanted


def test_conditions_of_a_crate_are_not_those_of_what_is_above_its_folder(tmp_path: Path) -> None:
    (tmp_path / "inner/tests").mkdir(parents=True)
    (tmp_path / "lib.rs").write_text("#[cfg(unix)]\nmod inner;\n")
    (tmp_path / "inner/Cargo.toml").write_text('[package]\nname = "inner"\n')
    (tmp_path / "inner/tests/a.rs").write_text("fn a() {}\n")
    assert conditions(tmp_path / "inner/tests/a.rs", Text("fn a() {}\n"), Point(1, 4)) == []


def test_how_a_feature_is_included_is_said() -> None:
    assert hint([]) == ""
    assert hint(["unix", "not(unix)"]) == "#[cfg(unix, not(unix))] may leave it out of the build"
    assert hint(['feature = "kv"']) == (
        '#[cfg(feature = "kv")] may leave it out of the build; to include it, start lsp-mcp with '
        "RUST_ANALYZER_CFG='feature=kv'"
    )
