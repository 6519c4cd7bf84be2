"""Names as people qualify them: by module, package, namespace and type, in languages whose servers do not know that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

RUST = {
    "Cargo.toml": '[package]\nname = "crafts"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": "pub mod parser;\npub fn top() {}\npub mod inline {\n    pub fn deep() {}\n}\n",
    "src/parser.rs": (
        "pub struct Error;\nimpl Error {\n    pub fn new() -> Self {\n        Error\n    }\n}\npub fn read() {}\n"
    ),
}
PYTHON = {
    "src/shop/__init__.py": "def opened():\n    return True\n",
    "src/shop/core.py": "class Box:\n    def grow(self):\n        return 1\n\n\ndef scale():\n    return 2\n",
    "main.py": "from shop.core import scale\n\n\ndef run():\n    return scale()\n",
}
TYPESCRIPT = {
    "tsconfig.json": "{}",
    "lib/color.ts": "export namespace Shop {\n  export function open() {}\n}\nexport function paint() {}\n",
    "lib/index.ts": "export function start() {}\n",
}


@pytest.mark.parametrize(
    ("backend", "files", "name", "place"),
    [
        ("rust-analyzer", RUST, "parser::read", ("src/parser.rs", 7)),
        ("rust-analyzer", RUST, "crate::parser::read", ("src/parser.rs", 7)),
        ("rust-analyzer", RUST, "crafts::parser::Error::new", ("src/parser.rs", 3)),
        ("rust-analyzer", RUST, "Error::new", ("src/parser.rs", 3)),
        ("rust-analyzer", RUST, "parser::Error", ("src/parser.rs", 1)),
        ("rust-analyzer", RUST, "crate::top", ("src/lib.rs", 2)),
        ("rust-analyzer", RUST, "inline::deep", ("src/lib.rs", 4)),
        ("rust-analyzer", RUST, "other::read", None),
        ("basedpyright", PYTHON, "core.scale", ("src/shop/core.py", 6)),
        ("basedpyright", PYTHON, "shop.core.Box.grow", ("src/shop/core.py", 2)),
        ("basedpyright", PYTHON, "shop.opened", ("src/shop/__init__.py", 1)),
        ("basedpyright", PYTHON, "main.run", ("main.py", 4)),
        ("basedpyright", PYTHON, "main.scale", None),
        ("typescript", TYPESCRIPT, "color.paint", ("lib/color.ts", 4)),
        ("typescript", TYPESCRIPT, "Shop.open", ("lib/color.ts", 2)),
        ("typescript", TYPESCRIPT, "lib.start", ("lib/index.ts", 1)),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" not in value else "",
)
def test_a_symbol_is_found_by_the_names_around_it(
    tmp_path: Path, backend: str, files: dict[str, str], name: str, place: tuple[str, int] | None
) -> None:
    write(tmp_path, files)
    answer = json.loads(ask(backend, tmp_path, "find_symbol_definitions_by_name", symbol_name=name, format="json"))
    found = [(one["location"]["file"], one["location"]["line"]) for one in answer["definitions"]]
    assert found == ([place] if place else [])


def test_questions_take_such_names(tmp_path: Path) -> None:
    write(tmp_path, PYTHON)
    answer = ask("basedpyright", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="core.scale", wait=True)
    assert "Found 3 references" in answer
    assert "status: complete" in answer


@pytest.mark.parametrize("backend", ["typescript", "basedpyright"])
def test_a_member_whose_name_is_in_many_files_is_found(tmp_path: Path, backend: str) -> None:
    if backend == "typescript":
        files = {"package.json": "{}", "z.ts": "export class Cart {\n  measure() { return 1 }\n}\n"}
        many = {f"u{number}.ts": "import { Cart } from './z'\nnew Cart().measure()\n" for number in range(40)}
    else:
        files = {"pyproject.toml": "[project]\nname = 'a'\nversion = '1'\n"}
        files["z.py"] = "class Cart:\n    def measure(self) -> int:\n        return 1\n"
        many = {f"u{number}.py": "from z import Cart\nCart().measure()\n" for number in range(40)}
    write(tmp_path, files | many)
    answer = ask(backend, tmp_path, "find_symbol_references_by_anchor", symbol_anchor="Cart.measure", wait=True)
    assert answer.startswith("Found 41 references")


def test_a_member_is_found_though_many_types_have_one_of_its_name(tmp_path: Path) -> None:
    modules = [f"m{number}" for number in range(150)]  # more than the server names in one answer
    one = "pub struct T;\nimpl T {\n    pub fn build(&self) {}\n}\n"
    files = {f"src/{name}.rs": one for name in modules} | {"src/zoo.rs": one.replace("T", "Zebra")}
    files["src/lib.rs"] = "".join(f"pub mod {name};\n" for name in (*modules, "zoo"))
    write(tmp_path, {"Cargo.toml": '[package]\nname = "many"\nversion = "0.1.0"\nedition = "2021"\n'} | files)
    answer = ask("rust-analyzer", tmp_path, "find_symbol_definitions_by_name", symbol_name="Zebra::build")
    assert "rs://src/zoo.rs#3:12 method Zebra.build" in answer


MERGED = {
    "package.json": "{}",
    "box.ts": (
        "export class Box {\n  get(key: string): string\n  get(key: number): number\n"
        "  get(key: any): any { return key }\n"
        "  get size(): number { return 1 }\n  set size(n: number) {}\n}\n"
        "export function load(a: string): void\nexport function load(a: number): void\n"
        "export function load(a: any): void {}\n"
    ),
    "use.ts": "import { Box, load } from './box'\nload(1)\nnew Box().get('a')\nnew Box().size = 2\n",
}


@pytest.mark.parametrize(("name", "number"), [("Box.get", 4), ("Box.size", 3), ("load", 5)])
def test_overloads_and_accessors_of_typescript_are_one_symbol(tmp_path: Path, name: str, number: int) -> None:
    write(tmp_path, MERGED)
    found = ask("typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor=name, wait=True)
    assert f"Found {number} references" in found
    assert "status: complete" in found


def test_a_static_member_is_apart_from_one_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": "{}", "a.ts": "class A {\n  static make(){}\n  make(){}\n}\n"})
    with pytest.raises(LspMcpError, match=r"'A\.make' names 2 symbols"):
        ask("typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="A.make", wait=True)
