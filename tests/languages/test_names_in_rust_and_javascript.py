"""Where Rust and JavaScript use a symbol by its name, or without it, outside of what their servers list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

RUST = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "/// Adds.\n///\n/// ```\n/// assert_eq!(sample::helper(1), 2);\n/// ```\n"
        "pub fn helper(n: u32) -> u32 {\n    n + 1\n}\n\n"
        "macro_rules! getters {\n    ($($name:ident),*) => { $(pub fn $name(&self) -> u32 { self.$name })* };\n}\n\n"
        "pub struct Config {\n    host: u32,\n}\n\nimpl Config {\n    getters!(host);\n}\n\n"
        "pub fn make() -> u32 {\n    let made = Config { host: 1 };\n    made.host()\n}\n"
    ),
}
JAVASCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"allowJs": true, "noEmit": true}}',
    "a.js": "function greet(name) { return name }\nmodule.exports = { greet }\n",
    "b.js": "const a = require('./a')\nconst { greet } = require('./a')\na.greet('x'); greet('y')\n",
    "cart.ts": "export class Cart {\n  toString(): string { return '' }\n}\nexport const $size = 1\n",
    "use.ts": "import { Cart, $size } from './cart'\nconsole.log(`${new Cart()}`, $size)\n",
    "App.vue": "<script>\nimport { Cart } from './cart'\n</script>\n<template>{{ cart.size }}</template>\n",
}


def references(backend: str, root: Path, symbol: str) -> str:
    write(root, RUST if backend == "rust-analyzer" else JAVASCRIPT)
    return ask(backend, root, "find_symbol_references_by_anchor", symbol_anchor=symbol, include_code=False, wait=True)


def renamed(backend: str, root: Path, symbol: str, name: str, **more: Any) -> str:
    write(root, RUST if backend == "rust-analyzer" else JAVASCRIPT)
    return ask(backend, root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=name, **more)


@pytest.mark.parametrize("symbol", ["src/lib.rs:15:5", "src/lib.rs:24:10"])
def test_what_a_macro_makes_by_the_name_of_a_field_is_renamed_with_it(tmp_path: Path, symbol: str) -> None:
    renamed("rust-analyzer", tmp_path, symbol, "server")
    assert (tmp_path / "src/lib.rs").read_text() == RUST["src/lib.rs"].replace("host", "server")


def test_a_field_is_found_by_its_name_beside_a_function_of_that_name(tmp_path: Path) -> None:
    write(tmp_path, RUST | {"src/other.rs": "pub fn host() {}\n", "src/lib.rs": f"mod other;\n{RUST['src/lib.rs']}"})
    found = ask("rust-analyzer", tmp_path, "find_symbol_definitions_by_name", symbol_name="host", wait=True)
    assert "field Config.host" in found
    assert "src/other.rs" in found


_DOCUMENTED = (
    "//! ```\n//! use sample::{helper, Total};\n//! // helper\n//! let total = Total { sum: helper(1) };\n"
    '//! assert_eq!(total.add(), 2, "helper");\n//! # fn extra() { sample::helper(3); }\n//! ```\n//!\n'
    "//! ```\n//! fn helper() {}\n//! helper();\n//! ```\n//!\n//! ```text\n//! no code\n//! ```\n\n"
    "/// A sum.\npub struct Total {\n    pub sum: u32,\n}\n\n"
    "impl Total {\n    /// ```\n    /// let sum = sample::helper(1);\n"
    "    /// assert_eq!(sample::Total { sum: 1 }.add(), sum);\n    /// ```\n"
    "    pub fn add(&self) -> u32 {\n        self.sum\n    }\n}\n\n"
    "pub fn helper(n: u32) -> u32 {\n    n + 1\n}\n"
)


@pytest.mark.parametrize(
    ("symbol", "name", "changes"),
    [
        (
            "src/lib.rs:33:8",
            "assist",
            {"{helper,": "{assist,", " helper(1)": " assist(1)", "::helper": "::assist", "fn helper(n": "fn assist(n"},
        ),
        ("Total.sum", "all", {"{ sum:": "{ all:", "pub sum": "pub all", "self.sum": "self.all"}),
        ("src/lib.rs:28:12", "plus", {".add()": ".plus()", "fn add(": "fn plus("}),
    ],
)
def test_doc_tests_are_renamed_where_they_mean_the_symbol(
    tmp_path: Path, symbol: str, name: str, changes: dict[str, str]
) -> None:
    write(tmp_path, RUST | {"src/lib.rs": _DOCUMENTED})
    ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=name)
    wanted = _DOCUMENTED
    for before, after in changes.items():
        wanted = wanted.replace(before, after)
    assert (tmp_path / "src/lib.rs").read_text() == wanted


@pytest.mark.parametrize("at", ["src/user.rs:1:20", "src/user.rs:4:16", "src/lib.rs:3:16"])
def test_a_rename_asked_at_an_import_renames_what_is_imported(tmp_path: Path, at: str) -> None:
    files = {
        "src/lib.rs": "pub mod user;\npub mod other;\npub use other::Item;\n",
        "src/other.rs": "pub struct Item;\npub struct Kept;\n",
        "src/user.rs": "use crate::{other::Item, other::Kept as Given};\npub fn one(_: Item, _: Given) {}\n"
        "mod inside {\n    use super::Item;\n    pub fn two(_: Item) {}\n}\n",
    }
    write(tmp_path, RUST | files)
    answer = ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor=at, new_name="Changed")
    assert "status: complete" in answer
    assert {file: (tmp_path / file).read_text() for file in files} == {
        file: text.replace("Item", "Changed") for file, text in files.items()
    }


def test_a_rename_of_what_a_doc_test_may_use_must_be_confirmed(tmp_path: Path) -> None:
    assert "not counted: helper in src/lib.rs:4 (a doc test)" in references("rust-analyzer", tmp_path, "helper")
    unknown = RUST["src/lib.rs"].replace("sample::helper(1)", "other::helper(1)")
    write(tmp_path, RUST | {"src/lib.rs": unknown})
    with pytest.raises(LspMcpError, match=r"helper stays as it is in src/lib.rs:4 \(a doc test"):
        ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor="helper", new_name="assist")


def test_what_stands_behind_a_doc_test_is_none(tmp_path: Path) -> None:
    text = (
        "/// ```\n/// let one = 1;\n/// ```\n///\n/// [`far`]: helper\n///\n/// ```text\n/// helper\n/// ```\n"
        "/// See helper.\n///\n/// ```ignore\n/// let one = 1;\n/// ```\n/// helper\npub struct Given;\n\n"
        "pub fn helper(n: u32) -> u32 {\n    n\n}\n"
    )
    write(tmp_path, RUST | {"src/lib.rs": text})
    asked = {"symbol_anchor": "src/lib.rs:18:8", "new_name": "assist"}
    answer = ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)
    assert "doc test" not in answer


@pytest.mark.parametrize(("marks", "is_run"), [("ignore", False), ("rust, ignore", False), ("ignore-windows", True)])
def test_a_doc_test_that_is_not_run_does_not_refuse_a_rename(tmp_path: Path, marks: str, is_run: bool) -> None:
    text = (
        f"/// ```{marks}\n/// let one = other::helper(1);\n/// ```\npub struct Given;\n\n"
        "/// ```ignore\n/// use sample::helper;\n/// ```\npub fn helper(n: u32) -> u32 {\n    n\n}\n"
    )
    write(tmp_path, RUST | {"src/lib.rs": text})
    asked = {"symbol_anchor": "src/lib.rs:9:8", "new_name": "assist"}
    if is_run:
        with pytest.raises(LspMcpError, match=r"helper stays as it is in src/lib.rs:2 \(a doc test\)"):
            ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)
        return
    answer = ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)
    assert "not renamed: helper in src/lib.rs:2 (a doc test that is not run)" in answer
    changed = text.replace("sample::helper", "sample::assist").replace("fn helper", "fn assist")
    assert (tmp_path / "src/lib.rs").read_text() == changed


def test_a_name_that_a_string_of_a_doc_test_formats_is_renamed(tmp_path: Path) -> None:
    text = (
        '/// ```\n/// use sample::SIZE;\n/// assert_eq!(format!("{SIZE}"), "3");\n'
        '/// assert_eq!(format!("{SIZE:>1$}", 1, 2), "SIZE");\n/// ```\npub const SIZE: u32 = 3;\n'
    )
    write(tmp_path, RUST | {"src/lib.rs": text})
    ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor="src/lib.rs:6:11", new_name="LEN")
    assert (tmp_path / "src/lib.rs").read_text() == text.replace("SIZE", "LEN").replace('"LEN"', '"SIZE"')


def test_uses_without_its_name_are_a_gap_of_a_method_that_javascript_calls(tmp_path: Path) -> None:
    answer = references("typescript", tmp_path, "Cart.toString")
    assert "not counted: uses without its name (where values are converted)" in answer


def test_uses_of_what_a_module_exports_at_run_time_are_found(tmp_path: Path) -> None:
    files = {
        "c.js": (
            "class Deck {}\nfunction shuffle(deck) { return deck }\nexports.Deck = Deck\n"
            "module.exports.shuffle = shuffle\n"
        ),
        "d.js": "const { Deck, shuffle } = require('./c')\nfunction play() { return shuffle(new Deck()) }\n",
    }
    write(tmp_path, files)
    assert "c.js# 1:7 3:9 3:16\njs://d.js# 1:9 2:38" in references("typescript", tmp_path, "c.js:1:7")
    calls = ask("typescript", tmp_path, "find_calls", symbol="c.js:2:10", wait=True)
    assert "Found 1 caller" in calls
    assert "play" in calls


def test_an_exported_function_keeps_its_name_for_those_who_require_it(tmp_path: Path) -> None:
    renamed("typescript", tmp_path, "a.js:1:10", "hello")
    assert (tmp_path / "a.js").read_text() == (
        "function hello(name) { return name }\nmodule.exports = { greet: hello }\n"
    )
    assert (tmp_path / "b.js").read_text() == JAVASCRIPT["b.js"]


def test_uses_in_components_that_the_server_does_not_read_must_be_confirmed(tmp_path: Path) -> None:
    assert "not counted: Cart in App.vue:2 (a component)" in references("typescript", tmp_path, "Cart")
    with pytest.raises(LspMcpError, match=r"Cart stays as it is in App.vue:2 \(a component"):
        renamed("typescript", tmp_path, "Cart", "Basket")


def test_a_name_may_begin_with_a_dollar_sign(tmp_path: Path) -> None:
    assert "Found 3 references" in references("typescript", tmp_path, "cart.ts:4:14")
    renamed("typescript", tmp_path, "$size", "length")
    assert (tmp_path / "use.ts").read_text() == JAVASCRIPT["use.ts"].replace("$size", "$length")


def test_a_property_is_not_called_what_sets_the_prototype(tmp_path: Path) -> None:
    write(tmp_path, {"a.ts": "export const all = { first: 1 };\nexport const one = all.first;\n"})
    with pytest.raises(LspMcpError, match="would implement what JavaScript looks up with __proto__"):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor="a.ts:1:22", new_name="__proto__")


def test_a_variable_or_function_is_not_called_what_each_function_calls_something_else(tmp_path: Path) -> None:
    with pytest.raises(LspMcpError, match="arguments is something else in each function"):
        renamed("typescript", tmp_path, "a.js:1:10", "arguments")
    renamed("typescript", tmp_path, "Cart.toString", "arguments", confirmed=True)


@pytest.mark.parametrize(
    ("condition", "of_module", "found", "status"),
    [
        ("not(miri)", "", "Found 2 references", "complete"),
        (
            "windows",
            "#[cfg(not(windows))]\n",
            "Found 1 reference",
            "unverified: 1 occurrence of parse that rust-analyzer does not explain: src/lib.rs 5:5",
        ),
    ],
    ids=["only an interpreter leaves it out", "left out"],
)
def test_what_the_server_guesses_of_code_that_is_left_out_proves_nothing(
    tmp_path: Path, condition: str, of_module: str, found: str, status: str
) -> None:
    files = {
        "Cargo.toml": RUST["Cargo.toml"],
        "src/lib.rs": (
            f"pub fn parse<T>() {{}}\n\n#[cfg({condition})]\npub fn slow() {{\n    parse::<u8>();\n}}\n\n"
            f"{of_module}pub mod parse {{\n    pub fn other() {{}}\n}}\n"
        ),
    }
    write(tmp_path, files)
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="src/lib.rs:1:8")
    assert found in answer
    assert f"status: {status}" in answer


def test_a_word_inside_a_longer_name_is_not_a_use_beside_that_name(tmp_path: Path) -> None:
    files = {
        "tsconfig.json": JAVASCRIPT["tsconfig.json"],
        "a.ts": "export const $$stream = 'x'\n",
        "b.ts": "import { $$stream as _$$stream } from './a'\nconsole.log(_$$stream)\n",
    }
    write(tmp_path, files)
    symbol, more = "a.ts:1:14", {"include_code": False}
    answer = ask("typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor=symbol, **more)
    assert "ts://a.ts# 1:16\nts://b.ts# 1:12 1:22 2:13\nstatus: complete" in answer


COMMON = {
    "tsconfig.json": JAVASCRIPT["tsconfig.json"],
    "a.js": "exports.parse = function (s) { return s }\nmodule.exports.late = function late() {}\n",
    "b.js": "const { parse, late } = require('./a')\nconst a = require('./a')\nparse('x'); a.parse('y'); late()\n",
}


@pytest.mark.parametrize(
    ("symbol", "places"),
    [
        ("a.js:1:9", "js://a.js# 1:9\njs://b.js# 1:9 3:1 3:15\n"),
        ("a.js:2:16", "js://a.js# 2:16 2:32\njs://b.js# 1:16 3:27\n"),
    ],
)
def test_what_is_assigned_to_exports_is_found_and_not_renamed_for_some_users_alone(
    tmp_path: Path, symbol: str, places: str
) -> None:
    write(tmp_path, COMMON)
    asked: dict[str, Any] = {"symbol_anchor": symbol}
    found = ask("typescript", tmp_path, "find_symbol_references_by_anchor", **asked, include_code=False, wait=True)
    assert f"{places}status: complete" in found
    with pytest.raises(
        LspMcpError, match="was not renamed, no file changed, because the result may be wrong: unverified"
    ):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", **asked, new_name="changed")


RENAMING_EXPORTS = {
    "tsconfig.json": JAVASCRIPT["tsconfig.json"],
    "a.js": "const size = 10\nmodule.exports.limit = size\nexports.parse = read\nfunction read () {}\n",
    "b.js": "const { limit, parse } = require('./a')\nconst a = require('./a')\nparse(limit, a.limit); a.parse()\n",
}


@pytest.mark.parametrize(
    ("symbol", "places"),
    [
        ("a.js:2:16", "js://a.js# 2:16\njs://b.js# 1:9 3:7 3:16\n"),
        ("b.js:3:16", "js://a.js# 2:16\njs://b.js# 1:9 3:7 3:16\n"),
        ("a.js:3:9", "js://a.js# 3:9\njs://b.js# 1:16 3:1 3:26\n"),
    ],
)
def test_what_a_module_exports_by_another_name_is_found_by_that(tmp_path: Path, symbol: str, places: str) -> None:
    write(tmp_path, RENAMING_EXPORTS)
    asked: dict[str, Any] = {"symbol_anchor": symbol}
    found = ask("typescript", tmp_path, "find_symbol_references_by_anchor", **asked, include_code=False, wait=True)
    assert f"{places}status: complete" in found
    with pytest.raises(LspMcpError, match="was not renamed, no file changed, because the result may be wrong"):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", **asked, new_name="changed")


EXPORTED_TWICE = {
    "tsconfig.json": JAVASCRIPT["tsconfig.json"],
    "a.js": "function other () { return 1 }\nexports.other = other\nexports.name = other\n",
    "b.js": "const a = require('./a')\na.name()\nconst { name } = require('./a')\nname()\n",
    "c.js": "const a = require('./a')\nexports.name = a.other\n",
    "d.js": "const c = require('./c')\nc.name()\nconst { name } = require('./c')\nname()\n",
}


@pytest.mark.parametrize(
    ("symbol", "places"),
    [
        ("a.js:3:9", "js://a.js# 3:9\njs://b.js# 2:3 3:9 4:1\n"),
        ("b.js:2:3", "js://a.js# 3:9\njs://b.js# 2:3 3:9 4:1\n"),
        ("c.js:2:9", "js://c.js# 2:9\njs://d.js# 2:3 3:9 4:1\n"),
        ("d.js:2:3", "js://c.js# 2:9\njs://d.js# 2:3 3:9 4:1\n"),
    ],
)
def test_what_two_modules_export_by_one_other_name_are_two(tmp_path: Path, symbol: str, places: str) -> None:
    write(tmp_path, EXPORTED_TWICE)
    asked: dict[str, Any] = {"symbol_anchor": symbol, "include_code": False, "wait": True}
    assert f"{places}status: complete" in ask("typescript", tmp_path, "find_symbol_references_by_anchor", **asked)


def test_what_has_another_name_where_a_module_exports_it_is_renamed_alone(tmp_path: Path) -> None:
    write(tmp_path, RENAMING_EXPORTS)
    said = ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor="a.js:1:7", new_name="length")
    assert (tmp_path / "a.js").read_text() == RENAMING_EXPORTS["a.js"].replace("size", "length")
    assert (tmp_path / "b.js").read_text() == RENAMING_EXPORTS["b.js"]
    assert "status: complete" in said


DECLARED_FOR = {
    "package.json": '{"type": "module"}',
    "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "nodenext", "noEmit": true, "types": []}}',
    "core.js": (
        "export function greet(n) { return n; }\nexport class Box { open() { return greet(1); } }\n"
        "export function other(n) { const Box = n; return Box; }\n"
    ),
    "core.d.ts": (
        "export declare function greet(n: number): number;\nexport declare class Box {\n  open(): number;\n}\n"
        "export declare function other(n: number): number;\n"
    ),
    "use.ts": (
        "import { greet, Box } from './core.js';\nexport const one = greet(1) + new Box().open();\n"
        "export class Lid { open() { return 1; } }\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "unknown"),
    [
        ("core.d.ts:1:25", "2 occurrences of greet that typescript does not explain: core.js 1:17, core.js 2:36"),
        ("core.js:1:17", "3 occurrences of greet in 2 files that typescript does not explain: core.d.ts 1:25"),
        ("use.ts:2:41", "1 occurrence of open that typescript does not explain: core.js 2:20"),
    ],
)
def test_what_one_file_declares_for_another_is_not_renamed_alone(symbol: str, unknown: str, tmp_path: Path) -> None:
    write(tmp_path, DECLARED_FOR)
    asked: dict[str, Any] = {"symbol_anchor": symbol}
    found = ask("typescript", tmp_path, "find_symbol_references_by_anchor", **asked, include_code=False, wait=True)
    assert f"status: unverified: {unknown}" in found
    with pytest.raises(LspMcpError, match="was not renamed, no file changed, because the result may be wrong: unverif"):
        ask("typescript", tmp_path, "rename_symbol_by_anchor", **asked, new_name="changed")


@pytest.mark.parametrize("symbol", ["core.js:3:35", "core.d.ts:1:31"])
def test_a_variable_beside_declarations_of_its_name_is_renamed(symbol: str, tmp_path: Path) -> None:
    write(tmp_path, DECLARED_FOR)
    said = ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="changed")
    assert "status: complete" in said


PASSED_ON = {
    "tsconfig.json": JAVASCRIPT["tsconfig.json"],
    "shape.js": "class Shape {\n  constructor (n) { this.n = n }\n}\nmodule.exports = Shape\n",
    "index.js": "const Shape = require('./shape')\nmodule.exports = { Shape }\n",
    "main.js": "const { Shape } = require('./index')\nconsole.log(new Shape(1))\n",
}


def test_what_makes_an_object_is_a_use_of_its_class_and_not_only_of_a_constructor(tmp_path: Path) -> None:
    write(tmp_path, PASSED_ON)
    asked: dict[str, Any] = {"symbol_anchor": "shape.js:1:7", "include_code": False, "wait": True}
    found = ask("typescript", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "js://main.js# 1:9 2:17\n" in found


OWN_NAMES = {
    "tsconfig.json": JAVASCRIPT["tsconfig.json"],
    "a.js": (
        "const app = exports = module.exports = {}\napp.off = function off (n) { return n ? off(n - 1) : n }\n"
        "app.other = function () { return this.off(1) }\n"
    ),
}


@pytest.mark.parametrize("at", ["a.js:2:20", "a.js:2:43"])
def test_a_name_that_only_its_own_function_can_use_is_renamed_there_alone(at: str, tmp_path: Path) -> None:
    write(tmp_path, OWN_NAMES)
    said = ask("typescript", tmp_path, "rename_symbol_by_anchor", symbol_anchor=at, new_name="stop")
    text = OWN_NAMES["a.js"].replace("function off", "function stop").replace("? off(", "? stop(")
    assert (tmp_path / "a.js").read_text() == text
    assert "status: complete" in said


def test_a_name_means_what_a_module_declares_and_not_the_variables_that_it_is_loaded_into(tmp_path: Path) -> None:
    loads = "export async function load() { const { greet } = await import('./a'); return greet }\n"
    write(tmp_path, JAVASCRIPT | {"load.ts": loads})
    answer = ask("typescript", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="greet", include_code=False)
    assert "greet is js://a.js#1:10" in answer


def test_code_of_a_feature_that_is_off_is_named_with_what_includes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n\n[features]\nextra = []\n',
        "src/lib.rs": '#[cfg(feature = "extra")]\npub mod extra;\npub fn made() -> u32 {\n    1\n}\n',
        "src/extra.rs": "use crate::made;\n\npub fn used() -> u32 {\n    made()\n}\n",
    }
    write(tmp_path, files)

    def asked() -> str:
        place = "src/lib.rs:3:8"
        return ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", symbol_anchor=place, wait=True)

    assert "to include it, start lsp-mcp with RUST_ANALYZER_CFG='feature=extra'" in asked()
    monkeypatch.setenv("RUST_ANALYZER_CFG", "feature=extra")
    answer = asked()
    assert "Found 3 references" in answer
    assert "status: complete" in answer


def test_a_name_that_another_file_gives_is_not_proven_by_one_of_its_uses(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["base"]\nexclude = ["far"]\nresolver = "2"\n',
        "base/Cargo.toml": RUST["Cargo.toml"].replace("sample", "base"),
        "base/src/lib.rs": "pub fn deep() -> i32 {\n    1\n}\n\npub use deep as deeper;\n",
        "far/Cargo.toml": RUST["Cargo.toml"] + '\n[dependencies]\nbase = { path = "../base" }\n',
        "far/src/lib.rs": "use base::deeper;\n\npub fn run() -> i32 {\n    deeper()\n}\n",
    }
    write(tmp_path, files)
    asked = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", symbol_anchor="far/src/lib.rs:4:5")
    assert "deeper is another name of what is declared; uses by it may be in base/src/lib.rs" in asked


DERIVED = {
    "Cargo.toml": '[package]\nname = "derived"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        '/// Options.\n#[derive(Clone)]\n#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]\n'
        "pub struct Options {\n    pub limit: u32,\n"
        '    #[cfg_attr(feature = "serde", serde(rename = "n"))]\n    pub title: String,\n}\n\n'
        '#[cfg_attr(feature = "cli", derive(Parser))]\npub struct Flags {\n    pub verbose: bool,\n}\n\n'
        "#[derive(Clone)]\npub struct Point {\n    pub left: u32,\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("symbol", "what"),
    [("Options.limit", "serde"), ("Flags.verbose", "the command line"), ("Options.title", ""), ("Point.left", "")],
)
def test_a_field_whose_name_a_derived_trait_uses_is_renamed_when_that_is_confirmed(
    tmp_path: Path, symbol: str, what: str
) -> None:
    write(tmp_path, DERIVED)
    asked = {"symbol_anchor": symbol, "new_name": "another", "allow_partial": True}
    if not what:
        assert "Successfully renamed" in ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)
        return
    with pytest.raises(LspMcpError, match=f"{what} may read and write {symbol} by its name"):
        ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)


def test_a_rename_of_what_rust_starts_must_be_confirmed(tmp_path: Path) -> None:
    write(tmp_path, {"Cargo.toml": DERIVED["Cargo.toml"], "src/main.rs": "fn main() {}\n"})
    with pytest.raises(LspMcpError, match="confirmed=true"):
        ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor="src/main.rs:1:main", new_name="run")


def test_uses_of_a_method_of_a_trait_name_what_it_implements(tmp_path: Path) -> None:
    code = (
        "pub trait Shape { fn area(&self) -> u32; }\npub struct Square;\n"
        "impl Shape for Square { fn area(&self) -> u32 { 1 } }\n"
        "pub fn both(one: &dyn Shape) -> u32 { one.area() + Square.area() }\n"
    )
    write(tmp_path, {"Cargo.toml": '[package]\nname = "shapes"\nedition = "2021"\n', "src/lib.rs": code})
    asked = {"symbol_anchor": "src/lib.rs:3:28", "include_code": False, "wait": True}
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "Found 2 references" in answer
    assert "overrides Shape.area rs://src/lib.rs#1:22; calls through those are found by asking about them" in answer
