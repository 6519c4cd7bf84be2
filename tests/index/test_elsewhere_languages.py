"""Uses elsewhere of what live servers know, in SCIP as scip-typescript, scip-python and rust-analyzer spell it."""

from pathlib import Path

import pytest

from asking import Asked, asking
from index.scip_files import document, occurrence, write
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import MissingProgramError
from lsp_mcp.index.gathering import gather
from lsp_mcp.index.monikers import described
from lsp_mcp.index.store import IndexStore
from lsp_mcp.programs import find_command
from lsp_mcp.servers.registry import plugin_of

# By server: the files of a project, then a symbol as it is asked for and as an index of another repository names it.
CASES = {
    "typescript": (
        {
            "package.json": '{"name": "@ex/greet", "version": "1.2.0", "types": "out/all.d.ts"}',
            "tsconfig.json": '{"compilerOptions": {"outDir": "./made", "strict": true}, "include": ["src"]}',
            "src/core/index.ts": (
                "export class Config {\n  loud = false;\n  constructor(public size: number) {}\n"
                "  get len(): number { return 1; }\n  greet(n: string) { return n; }\n}\n"
                "export function hello() {}\nexport function bundled() {}\n"
                "export namespace Deep { export const dig = 1; }\n"
            ),
        },
        "scip-typescript npm @ex/greet 1.1.0 ",
        {
            "Config": "dist/core/`index.d.ts`/Config#",
            "src/core/index.ts:3:3": "dist/core/`index.d.ts`/Config#`<constructor>`().",
            "Config.loud": "dist/core/`index.d.ts`/Config#loud.",
            "Config.len": "dist/core/`index.d.ts`/Config#`<get>len`().",
            "Config.greet": "made/core/`index.d.ts`/Config#greet().",
            "hello": "src/core/`index.ts`/hello().",
            "bundled": "out/`all.d.ts`/bundled().",
            "dig": "dist/core/`index.d.ts`/Deep/dig.",
        },
    ),
    "basedpyright": (
        {
            "pyproject.toml": '[project]\nname = "Greet.Kit"\nversion = "1.2.0"\n',
            "src/greet/__init__.py": "",
            "src/greet/core.py": (
                "class Config:\n    loud = False\n    def __init__(self, size): self.size = size\n"
                "    @property\n    def prop(self): return 1\n    class Inner:\n        def deep(self): return 1\n\n"
                "def hello(): return 1\n\nLIMIT: int = 3\n"
            ),
        },
        "scip-python python Greet.Kit 1.1.0 ",
        {
            "hello": "`greet.core`/hello().",
            "Config.loud": "`greet.core`/Config#loud.",
            "Config.size": "`greet.core`/Config#size.",
            "Config.prop": "`greet.core`/Config#prop().",
            "src/greet/core.py:3:9": "`greet.core`/Config#",
            "deep": "`greet.core`/Config#Inner#deep().",
            "LIMIT": "`greet.core`/LIMIT.LIMIT.",
        },
    ),
    "rust-analyzer": (
        {
            "Cargo.toml": '[package]\nname = "ex-greet"\nversion = "1.2.0"\nedition = "2021"\n',
            "src/lib.rs": (
                "pub mod deep;\npub trait Greeter { fn greet(&self); }\npub struct Config { pub loud: bool }\n"
                "impl Config { pub fn make() {} }\nimpl Greeter for Config { fn greet(&self) {} }\n"
                "pub struct Pair<A, B> { pub a: A, pub b: B }\n"
                "impl<A: Into<String> + Clone, B> Pair<A, B> { pub fn join(&self) {} }\n"
                "pub enum Shape { Circle { radius: f64 } }\npub fn hello() {}\n"
            ),
            "src/deep/mod.rs": "pub mod er;\npub mod inner { pub fn innermost() {} }\n",
            "src/deep/er.rs": "pub fn dig() {}\n",
        },
        "rust-analyzer cargo ex-greet 1.1.0 ",
        {
            "hello": "hello().",
            "Config.loud": "Config#loud.",
            "make": "impl#[Config]make().",
            "src/lib.rs:5:30": "impl#[Config][Greeter]greet().",
            "join": "impl#[`Pair<A, B>`]join().",
            "radius": "Shape#Circle#radius.",
            "dig": "deep/er/dig().",
            "innermost": "deep/inner/innermost().",
        },
    ),
}


@pytest.mark.parametrize("backend", CASES)
def test_uses_of_each_kind_of_symbol_are_found_in_another_repository(backend: str, tmp_path: Path) -> None:
    try:
        find_command(load_adapter(backend))
    except MissingProgramError as error:
        pytest.skip(f"{backend}: {error}")
    files, start, symbols = CASES[backend]
    root = tmp_path / "root"
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    uses = [occurrence(start + spelled, line, 4, 9) for line, spelled in enumerate(symbols.values())]
    url = f"sqlite:///{tmp_path / 'index.sqlite3'}"
    opened = IndexStore(url)
    opened.push(gather(write(tmp_path / "b.scip", document("use", *uses)), None, with_text=False), "ex.com/b", "bbb")
    opened.close()

    async def question(ask: Asked) -> None:
        for line, asked in enumerate(symbols, 1):
            found = await ask("find_symbol_references_by_anchor", symbol_anchor=asked)
            places = [anchor for one in found["elsewhere"]["repositories"] for anchor in one["anchors"]]
            lines = [line, 2] if (backend, asked) == ("typescript", "Config") else [line]  # `new Config` is one, too
            assert [place.partition("#")[2] for place in places] == [f"{line}:5" for line in lines], asked
            assert "matched by the name alone" not in found["status"], asked

    asking(backend, root, question, index_store=url)


def test_a_method_of_an_implementation_is_one_of_its_type() -> None:
    for spelled, names in (
        ("a/impl#[Config]new().", ("Config", "new")),
        ("impl#[Config][Greeter]greet().", ("Config", "greet")),
        ("impl#[`&mut b::Map<K, V>`][`Iterator<X>`]next().", ("Map", "next")),
    ):
        found = described(spelled)
        assert found and found.names == names and found.kind == "method"
    assert described("Box#[T]") is None


def test_package_files_that_no_tool_wrote_name_nothing(tmp_path: Path) -> None:
    for name, content in (
        ("package.json", '["a"]'),
        ("pyproject.toml", "project = 3\ntool = 4\n"),
        ("setup.cfg", "no section"),
        ("Cargo.toml", 'package = "x"\n'),
    ):
        (tmp_path / name).write_text(content)
    for backend, file in (("typescript", "a.ts"), ("basedpyright", "a.py"), ("rust-analyzer", "src/a.rs")):
        plugin = plugin_of(load_adapter(backend))
        assert plugin.index_package(tmp_path / file) == ""
        assert list(plugin.index_symbols(tmp_path / file, "f")) == []
