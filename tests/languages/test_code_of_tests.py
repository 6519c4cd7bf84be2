"""What is code of tests is told in one way: by the file, with its folder, or by what stands before a declaration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from languages.served import ask, write

RUST = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "pub fn add(n: u32) -> u32 {\n    twice(n)\n}\n\nfn twice(n: u32) -> u32 {\n    n * 2\n}\n\n"
        "fn spare() -> u32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    fn helper() -> u32 {\n"
        "        spare()\n    }\n\n    #[test]\n    fn works() {\n"
        "        assert_eq!(add(helper()), twice(1));\n    }\n}\n"
    ),
    "tests/whole/main.rs": "#[test]\nfn whole() {\n    sample::add(1);\n}\n",
}
JAVASCRIPT = {
    "package.json": '{"type": "module"}',
    "math.js": "export function add(a, b) { return a + b }\nexport function spare() {}\n",
    "__tests__/math.js": 'import { add, spare } from "../math.js"\nadd(1, 1)\nspare()\n',
    "main.js": 'import { add } from "./math.js"\nadd(1, 2)\n',
}


@pytest.mark.parametrize(
    ("backend", "files", "symbol", "places"),
    [
        ("rust-analyzer", RUST, "twice", ["src/lib.rs:23"]),
        ("rust-analyzer", RUST, "spare", ["src/lib.rs:18"]),
        ("rust-analyzer", RUST, "add", ["src/lib.rs:23", "tests/whole/main.rs:3"]),
        ("typescript", JAVASCRIPT, "add", ["__tests__/math.js:1", "__tests__/math.js:2"]),
    ],
    ids=["in a test", "in code for tests", "in a folder of tests", "in a folder of javascript"],
)
def test_uses_in_code_of_tests_have_that_role(
    tmp_path: Path, backend: str, files: dict[str, str], symbol: str, places: list[str]
) -> None:
    write(tmp_path, files)
    arguments = {"symbol_anchor": symbol, "role": "test", "format": "json"}
    answer = json.loads(ask(backend, tmp_path, "find_symbol_references_by_anchor", **arguments))
    found = [f"{one['location']['file']}:{one['location']['line']}" for one in answer["references"]]
    assert found == places


@pytest.mark.parametrize(
    ("backend", "files", "path"),
    [("rust-analyzer", RUST, "src/lib.rs"), ("typescript", JAVASCRIPT, "math.js")],
    ids=["rust", "javascript"],
)
def test_what_only_tests_use_is_told_as_that(tmp_path: Path, backend: str, files: dict[str, str], path: str) -> None:
    write(tmp_path, files)
    answer = ask(backend, tmp_path, "find_impact", unused=True, path=path)
    _, _, only = answer.partition("used_by_tests_only")
    assert only, answer
    assert "spare" in only
    assert "twice" not in answer
    assert "works" not in only
