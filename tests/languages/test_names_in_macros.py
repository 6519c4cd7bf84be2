"""Words in the code of Rust's macros, which rust-analyzer reads only where they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from languages.served import ask, write
from lsp_mcp.errors import LspMcpError

_MANIFEST = '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
_LIBRARY = """\
macro_rules! counted {
    () => { 0 };
    ($one:ident $($more:ident)*) => { 1 + counted!($($more)*) };
}

pub struct Item;
pub fn make() -> usize { 1 }
pub mod other {
    pub fn make() -> usize { 2 }
}

macro_rules! function {
    ($name:ident, $make:ident; $($words:ident)*) => {
        pub fn $name() -> usize {
            let item: $crate::Item = $crate::Item;
            drop(item);
            make() + other::make() + counted!($($words)*) + $make()
        }
    };
}
macro_rules! twice {
    ($name:ident) => { function!($name, drop_all; a b c); };
}
fn drop_all() -> usize { 0 }
function!(one, drop_all; a b);
twice!(two);
pub fn all() -> usize { counted!(a b c) + one() + two() + make() }
"""


def _renamed(root: Path, symbol: str, text: str = _LIBRARY) -> str:
    write(root, {"Cargo.toml": _MANIFEST, "src/lib.rs": text})
    ask("rust-analyzer", root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name="Changed", confirmed=True)
    return (root / "src/lib.rs").read_text()


@pytest.mark.parametrize(
    ("symbol", "changes"),
    [
        ("src/lib.rs:1:14", {"counted!": "Changed!", "! counted": "! Changed"}),
        ("src/lib.rs:6:12", {"Item": "Changed"}),
        ("src/lib.rs:7:8", {" make() ": " Changed() ", "    pub fn Changed": "    pub fn make"}),
        ("src/lib.rs:17:38", {"counted!": "Changed!", "! counted": "! Changed"}),
        ("src/lib.rs:3:43", {"counted!": "Changed!", "! counted": "! Changed"}),
        ("src/lib.rs:17:13", {" make() ": " Changed() ", "    pub fn Changed": "    pub fn make"}),
        ("src/lib.rs:9:12", {"    pub fn make": "    pub fn Changed", "::make": "::Changed"}),
    ],
    ids=["macro", "type", "function", "its use in a macro", "in its own code", "that of the function", "another"],
)
def test_words_in_macros_are_renamed_that_mean_the_symbol_wherever_these_are_called(
    tmp_path: Path, symbol: str, changes: dict[str, str]
) -> None:
    wanted = _LIBRARY
    for before, after in changes.items():
        wanted = wanted.replace(before, after)
    assert _renamed(tmp_path, symbol) == wanted


def test_macros_that_are_called_in_what_formats_a_string_are_expanded_by_themselves(tmp_path: Path) -> None:
    text = (
        "macro_rules! made {\n    ($n:expr) => { make($n) + other::make() };\n}\npub fn make(n: u32) -> u32 { n }\n"
        "mod other { pub fn make() -> u32 { 1 } }\n"
        'pub fn all() -> String { println!("made!(1) {}", made!(made!(1))); format!("{} {x}", made!(2), x = made!(3)) }'
        "\n"
        'pub fn tried() { assert!(made!(1) > 1, "{} {}", "(", made!(2)); let _ = vec![made!(3)]; }\n'
    )
    assert _renamed(tmp_path, "src/lib.rs:4:8", text) == text.replace(" make($n", " Changed($n").replace(
        "}\npub fn make", "}\npub fn Changed"
    )


def test_a_word_that_means_two_symbols_by_where_its_macro_is_called_refuses_the_rename(tmp_path: Path) -> None:
    text = (
        "macro_rules! made {\n    () => { make() };\n}\npub fn make() {}\npub fn first() { made!() }\n"
        "pub mod other {\n    pub fn make() {}\n    pub fn second() { made!() }\n}\n"
    )
    with pytest.raises(LspMcpError, match="1 occurrence of make that rust-analyzer does not explain: src"):
        _renamed(tmp_path, "src/lib.rs:4:8", text)


def test_a_word_of_a_macro_that_is_not_called_refuses_the_rename(tmp_path: Path) -> None:
    text = "pub fn make() {}\n#[macro_export]\nmacro_rules! made {\n    () => { make() };\n}\n"
    with pytest.raises(LspMcpError, match="1 occurrence of make that rust-analyzer does not explain"):
        _renamed(tmp_path, "src/lib.rs:1:8", text)


def test_a_macro_is_renamed_that_only_another_calls_and_that_calls_itself(tmp_path: Path) -> None:
    text = (
        "macro_rules! inner {\n    (@ $number:expr) => { $number };\n    ($number:expr) => { inner!(@ $number) };\n}\n"
        "macro_rules! outer {\n    ($number:expr) => { inner!($number) };\n}\npub fn one() -> u32 { outer!(1) }\n"
    )
    assert _renamed(tmp_path, "src/lib.rs:1:14", text) == text.replace("inner", "Changed")


@pytest.mark.parametrize("crate", ["first", "second"])
def test_a_macro_of_another_crate_means_the_symbols_of_its_own(tmp_path: Path, crate: str) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["first", "second"]\nresolver = "2"\n',
        "first/Cargo.toml": _MANIFEST.replace("sample", "first"),
        "second/Cargo.toml": _MANIFEST.replace("sample", "second") + '[dependencies]\nfirst = { path = "../first" }\n',
        "first/src/lib.rs": (
            "pub fn make() -> u32 { 1 }\n#[macro_export]\nmacro_rules! made { () => { $crate::make() }; }\n"
            "pub fn own() -> u32 { made!() }\n"
        ),
        "second/src/lib.rs": "pub fn make() -> u32 { 2 }\npub fn other() -> u32 { first::made!() }\n",
    }
    write(tmp_path, files)
    anchor = f"{crate}/src/lib.rs:1:8"
    ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor=anchor, new_name="changed")
    after = {file: (tmp_path / file).read_text() for file in files}
    file = f"{crate}/src/lib.rs"
    assert after == files | {file: files[file].replace("make()", "changed()")}


def test_a_macro_that_is_called_by_another_name_refuses_the_rename_of_what_it_uses(tmp_path: Path) -> None:
    text = (
        "pub mod inside {\n    macro_rules! made { () => { make() }; }\n    pub(crate) use made as called;\n"
        "    fn make() {}\n    pub fn first() { made!() }\n}\nfn make() {}\nfn second() { inside::called!() }\n"
    )
    with pytest.raises(LspMcpError, match="1 occurrence of make that rust-analyzer does not explain"):
        _renamed(tmp_path, "src/lib.rs:4:8", text)


@pytest.mark.parametrize("call", ['println!("{}", made!())', 'format!("{}", plus!(made!()))'])
def test_a_macro_in_a_call_that_the_server_does_not_expand_refuses_the_rename(tmp_path: Path, call: str) -> None:
    text = (
        "macro_rules! made {\n    () => { make() };\n}\nmacro_rules! plus { ($one:expr) => { $one + 1 }; }\n"
        "pub fn make() -> u32 { 1 }\npub fn first() -> u32 { plus!(made!()) }\n"
        f"pub mod other {{\n    pub fn make() -> u32 {{ 2 }}\n    pub fn second() {{ {call}; }}\n}}\n"
    )
    with pytest.raises(LspMcpError, match="1 occurrence of make that rust-analyzer does not explain"):
        _renamed(tmp_path, "src/lib.rs:5:8", text)


def test_what_a_macro_declares_is_found_by_name_in_its_code_and_where_it_is_called(tmp_path: Path) -> None:
    text = (
        "macro_rules! kept {\n    (fn made() $body:block) => { impl One { pub fn made() $body } };\n}\n"
        "macro_rules! both {\n    () => { kept! { fn made() {} } pub struct Beside; };\n}\n"
        "pub struct One;\nboth!();\n"
    )
    write(tmp_path, {"Cargo.toml": _MANIFEST, "src/lib.rs": text})

    def found(name: str) -> str:
        return ask("rust-analyzer", tmp_path, "find_symbol_definitions_by_name", symbol_name=name)

    assert found("made").splitlines()[:3] == [
        "Found 2 symbol definitions in the Rust workspace.",
        "rs://src/lib.rs#2:52 function made| (fn made() $body:block) => { impl One { pub fn made() $body } };",
        "rs://src/lib.rs#8:1 function made| both!();",
    ]
    assert "rs://src/lib.rs#5:47 struct Beside" in found("Beside")


def test_a_word_that_ends_a_path_from_the_crate_is_renamed_wherever_its_macro_is_called(tmp_path: Path) -> None:
    text = (
        "#[macro_export]\nmacro_rules! told {\n"
        "    ($level:expr) => { $crate::inner::say($level, $crate :: Level::Low) };\n"
        "    () => { $crate::told!($crate::other::Level) };\n    (one) => { $crate::Level::made() };\n}\n"
        "#[derive(Clone, Copy)]\npub enum Level { Low, High }\n"
        "pub mod inner { pub fn say(_: crate::Level, _: crate::Level) {} }\n"
        "pub mod other { pub struct Level; pub fn say() {} }\nimpl Level { pub fn made() -> Level { Level::Low } }\n"
        "pub fn made() {}\n"
    )
    changed = text.replace("$crate :: Level", "$crate :: Changed").replace("$crate::Level", "$crate::Changed")
    for before in ("enum Level", "_: crate::Level", "impl Level", "-> Level", "{ Level"):
        changed = changed.replace(before, before.replace("Level", "Changed"))
    assert _renamed(tmp_path, "src/lib.rs:8:10", text) == changed
    assert _renamed(tmp_path, "src/lib.rs:9:24", text) == text.replace("inner::say", "inner::Changed").replace(
        "inner { pub fn say", "inner { pub fn Changed"
    )
    assert _renamed(tmp_path, "src/lib.rs:8:18", text) == text.replace("Low", "Changed")
    assert _renamed(tmp_path, "src/lib.rs:11:21", text) == text.replace("made() ->", "Changed() ->").replace(
        "::made()", "::Changed()"
    )
    assert _renamed(tmp_path, "src/lib.rs:2:14", text) == text.replace("told", "Changed")
