"""What is declared in a function has no uses outside of it, wherever else its name stands."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write

PYTHON = {"pyproject.toml": '[project]\nname = "sample"\nversion = "1"\n'}


def references(backend: str, root: Path, files: dict[str, str], symbol: str) -> str:
    write(root, files)
    return ask(backend, root, "find_symbol_references_by_anchor", symbol_anchor=symbol, include_code=False, wait=True)


def test_a_local_variable_of_python_is_not_an_attribute_of_something_unknown(tmp_path: Path) -> None:
    files = {
        "a.py": "def run(limit):\n    total = 0\n    total = total + limit\n    return total\n",
        "b.py": "def use(thing):\n    return thing.total\n",
    }
    answer = references("basedpyright", tmp_path, PYTHON | files, "a.py:2:5")
    assert "Found 4 references" in answer
    assert "status: complete" in answer


def test_an_argument_of_something_unknown_may_name_a_parameter_of_python(tmp_path: Path) -> None:
    files = {
        "a.py": "def run(limit, *others):\n    return limit, others\n",
        "b.py": "def use(call):\n    print(call.limit, call.others)\n    call(limit=3, others=4)\n",
    }
    answer = references("basedpyright", tmp_path, PYTHON | files, "a.py:1:9")
    assert "unverified: 1 occurrence of limit that basedpyright does not explain: b.py 3:10" in answer
    assert "status: complete" in references("basedpyright", tmp_path, {}, "a.py:1:17")  # no call names it


def test_a_global_variable_that_only_a_function_sets_is_not_local(tmp_path: Path) -> None:
    files = {
        "a.py": "def run():\n    global made\n    made = 1\n",
        "b.py": "def use(module):\n    return module.made\n",
    }
    answer = references("basedpyright", tmp_path, PYTHON | files, "a.py:3:5")
    assert "unverified: 1 occurrence of made that basedpyright does not explain: b.py 2:19" in answer


def test_a_local_variable_of_typescript_is_not_a_property_of_something_unknown(tmp_path: Path) -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}\n',
        "a.ts": (
            "export const run = (limit: number) => {\n  const total = limit\n  return total\n}\n"
            "export function other(): void {}\nother.added = () => 1\n"
        ),
        "b.ts": "export function use(thing: any) {\n  return [thing.total, thing.added]\n}\n",
    }
    answer = references("typescript", tmp_path, files, "a.ts:2:9")
    assert "Found 2 references" in answer
    assert "status: complete" in answer
    assert "unverified: 1 occurrence of added" in references("typescript", tmp_path, {}, "a.ts:6:7")


def test_a_parameter_of_an_impl_in_rust_is_known_in_that_impl_only(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n\n[features]\nextra = []\n',
        "src/lib.rs": (
            "pub struct Text<const CAP: usize>([u8; CAP]);\n\n"
            "impl<const CAP: usize> Text<CAP> {\n    pub fn room(&self) -> usize { CAP }\n}\n\n"
            '#[cfg(feature = "extra")]\nmod extra {\n'
            "    impl<const CAP: usize> Default for super::Text<CAP> {\n"
            "        fn default() -> Self { super::Text([0; CAP]) }\n    }\n}\n"
        ),
    }
    answer = references("rust-analyzer", tmp_path, files, "src/lib.rs:3:12")
    assert "Found 3 references" in answer
    assert "status: complete" in answer
    answer = references("rust-analyzer", tmp_path, {}, "src/lib.rs:1:23")
    assert "Found 2 references" in answer
    assert "status: complete" in answer
