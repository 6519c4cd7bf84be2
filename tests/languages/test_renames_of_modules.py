"""A module that is a file is renamed with its file and all that names it."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write

FILES = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod shapes;\n\npub use shapes::area;\n",
    "src/shapes.rs": "pub fn area() -> u32 {\n    1\n}\n",
    "tests/it.rs": "use sample::shapes;\n\n#[test]\nfn works() {\n    assert_eq!(shapes::area(), 1);\n}\n",
}


def test_a_module_of_rust_is_renamed_where_it_is_declared_and_used_and_its_file_moves(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    write(root, FILES)
    module = "rs://src/lib.rs#1:9"
    said = ask("rust-analyzer", root, "rename_symbol_by_anchor", symbol_anchor=module, new_name="forms")
    assert "status: complete" in said
    expected = {file.replace("shapes", "forms"): text.replace("shapes", "forms") for file, text in FILES.items()}
    assert {file: (root / file).read_text() for file in expected} == expected
    assert not (root / "src/shapes.rs").exists()
