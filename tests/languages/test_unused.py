"""Of the declarations in an outline only those with a name of their own, outside of functions, can be unused."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write


def test_parameters_and_locals_in_python_are_not_judged(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = "def used(first, second):\n    local = first\n    return local\n\n\ndef lost():\n    pass\n\n\nused(1, 2)\n"
    write(root, {"pyproject.toml": '[project]\nname = "parcel"\nversion = "1"\n', "parcel.py": code})
    answer = ask("basedpyright", root, "find_impact", unused=True, path="parcel.py")
    assert "examined below parcel.py" in answer
    assert "6:5-7 function lost" in answer
    assert "second" not in answer
    assert "local" not in answer


def test_callbacks_in_typescript_are_not_judged(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = (
        "function double(values: number[]) {\n  return values.map((one) => {\n    return one * 2\n  })\n}\n"
        "function lost() {}\nconsole.log(double([1]))\n"
    )
    write(root, {"tsconfig.json": '{"include": ["src"]}\n', "src/a.ts": code})
    answer = ask("typescript", root, "find_impact", unused=True, path="src/a.ts")
    assert "6:10-6 function lost" in answer
    assert "callback" not in answer


def test_methods_of_traits_in_rust_are_not_judged_and_private_functions_not_exported(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = (
        "pub trait Shape {\n    fn area(&self) -> f64;\n}\n\npub struct Square;\n\n"
        "impl Shape for Square {\n    fn area(&self) -> f64 {\n        1.0\n    }\n}\n\n"
        "impl Default for Square {\n    fn default() -> Self {\n        Square\n    }\n}\n\n"
        "impl Square {\n    pub fn open(&self) {}\n    fn own(&self) {}\n}\n\n"
        "fn lost() {}\npub(crate) fn near() {}\npub fn api() {}\n"
    )
    write(root, {"Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": code})
    answer = ask("rust-analyzer", root, "find_impact", unused=True, path="src")
    unused, _, exported = answer.partition("unused_exported:")
    assert [
        word
        for word in ("own", "lost", "near", "open", "api", "Square.area")
        if f".{word}\n" in unused or f" {word}\n" in unused
    ] == [
        "own",
        "lost",
        "near",
    ]
    assert "impl Square.open" in exported
    assert "function api" in exported
    assert "for Square" not in answer


def test_methods_in_python_that_override_others_are_not_judged(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    code = (
        "import logging\n\n\nclass Base:\n    def run(self): ...\n\n\nclass Job(Base):\n    def run(self): ...\n\n"
        "    def extra(self): ...\n\n\nclass Handler(logging.Handler):\n    def emit(self, record): ...\n\n\n"
        "def main():\n    Base().run()\n    Handler()\n    Job()\n\n\nmain()\n"
    )
    write(root, {"pyproject.toml": '[project]\nname = "parcel"\nversion = "1"\n', "parcel.py": code})
    answer = ask("basedpyright", root, "find_impact", unused=True, path="parcel.py")
    assert "Not judged: 3 that are used without being named (main, run, emit)" in answer
    assert answer.partition("unused_exported:")[2].splitlines()[2:] == ["11:9-11 method Job.extra", "status: complete"]
