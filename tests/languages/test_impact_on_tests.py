"""Tests that reach a symbol, in languages where an attribute or the file makes a test, not a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write


def impact(backend: str, root: Path, files: dict[str, str], symbol: str) -> str:
    write(root, files)
    return ask(backend, root, "find_impact", symbols=[symbol], include_code=False, wait=True)


def test_an_attribute_makes_a_test_in_rust(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": (
            "pub fn add(n: u32) -> u32 {\n    n + 1\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
            "    #[test]\n    // Adds.\n    fn works() {\n        assert_eq!(helper(), 2);\n    }\n\n"
            "    fn helper() -> u32 {\n        add(1)\n    }\n}\n"
        ),
    }
    answer = impact("rust-analyzer", tmp_path, files, "add")
    assert "reached from 1 function and 1 test in 1 file" in answer
    assert "test rs://src/lib.rs#11:8 works" in answer


def test_the_file_makes_a_test_in_javascript(tmp_path: Path) -> None:
    files = {
        "package.json": '{"type": "module"}',
        "math.js": "export function add(a, b) { return a + b }\n",
        "math.test.js": (
            'import { add } from "./math.js"\nimport test from "node:test"\n'
            'test("adds", () => { if (add(1, 1) !== 2) throw new Error("no") })\n'
        ),
        "main.js": 'import { add } from "./math.js"\nconsole.log(add(1, 2))\n',
    }
    answer = impact("typescript", tmp_path, files, "add")
    assert "reached from 1 function and 1 test in 1 file" in answer
    assert "test js://math.test.js#1:1 math.test.js" in answer
    assert "exported: " not in answer


def test_tests_of_one_name_in_several_folders_are_all_run(tmp_path: Path) -> None:
    test = "from pkg.a import add\n\ndef test_add():\n    assert add(1) == 1\n"
    files = {
        "pyproject.toml": '[project]\nname = "a"\nversion = "1"\n',
        "pkg/__init__.py": "",
        "pkg/a.py": "def add(n: int) -> int: return n\n",
        "tests/one/test_a.py": test,
        "tests/two/test_b.py": test,
    }
    answer = impact("basedpyright", tmp_path, files, "add")
    assert "run all: python -m pytest ./tests/one ./tests/two\n" in answer


TYPESCRIPT = {
    "package.json": "{}",
    "a.ts": "export function add(n: number) { return n }\nexport function use() {\n  const a = add(\n    1)\n}\n",
}
PYTHON = {
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\n',
    "a.py": "def add(n: int) -> int: return n\ndef use() -> int:\n    a = (\n        add(1))\n    return a\n",
}


@pytest.mark.parametrize(("backend", "files"), [("typescript", TYPESCRIPT), ("basedpyright", PYTHON)])
def test_a_use_in_the_value_of_a_local_is_in_its_function(backend: str, files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, files)
    assert "in use 2-" in ask(backend, tmp_path, "find_impact", symbols=["add"], wait=True)
