"""Rust's code that `#[cfg]` leaves out of the usual build: it is asked about in a build that has it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from languages.served import BOUND, ask, served, write
from lsp_mcp.errors import LspMcpError

_MANIFEST = """\
[package]
name = "sample"
version = "0.1.0"
edition = "2021"

[features]
default = ["std"]
std = []
kv = ["kv_std"]
kv_std = []
slow = []
"""
_LIBRARY = """\
#[cfg(feature = "kv")]
pub mod kv;
pub struct Level { pub depth: u32 }
pub fn made() -> Level { Level { depth: 1 } }
#[cfg(all(feature = "kv_std", not(feature = "slow")))]
pub fn deep(level: &Level) -> u32 { level.depth + made().depth }
#[cfg(not(feature = "std"))]
pub fn shallow() -> u32 { made().depth }
#[cfg(windows)]
pub fn other() -> u32 { let made = |depth: u32| depth; made(2) + crate::made().depth }
#[cfg(target_pointer_width = "16")]
type Size = u16;
#[cfg(not(target_pointer_width = "16"))]
type Size = u32;
pub fn size() -> Size { 0 }
#[cfg(feature = "slow")]
pub fn start() {}
#[cfg(not(feature = "slow"))]
pub fn start() {}
pub mod system {
    pub fn start() {}
}
"""
_KV = """\
use crate::{made, Level};
pub struct Pair { pub depth: Level }
pub fn pair() -> Pair { let depth = made(); Pair { depth } }
pub fn sum(pair: &Pair) -> u32 { pair.depth.depth }
"""
_FILES = {"Cargo.toml": _MANIFEST, "src/lib.rs": _LIBRARY, "src/kv.rs": _KV}


def renamed(root: Path, symbol: str, changes: dict[str, dict[str, str]], new_name: str = "changed") -> None:
    write(root, _FILES)
    ask("rust-analyzer", root, "rename_symbol_by_anchor", symbol_anchor=symbol, new_name=new_name)
    for file in ("src/lib.rs", "src/kv.rs"):
        wanted = _FILES[file]
        for before, after in changes.get(file, {}).items():
            assert before in wanted
            wanted = wanted.replace(before, after)
        assert (root / file).read_text() == wanted


def test_words_in_code_of_features_that_are_off_are_renamed_if_they_mean_the_symbol(tmp_path: Path) -> None:
    of_library = {
        "pub depth": "pub changed", "{ depth: 1": "{ changed: 1", ".depth": ".changed",
    }  # fmt: skip
    renamed(
        tmp_path, "src/lib.rs:3:24",
        {"src/lib.rs": of_library, "src/kv.rs": {"pair.depth.depth": "pair.depth.changed"}},
    )  # fmt: skip


def test_what_a_feature_has_is_renamed_where_it_stands(tmp_path: Path) -> None:
    changes = {
        "pub depth: Level": "pub changed: Level",
        "Pair { depth }": "Pair { changed: depth }",
        "pair.depth.": "pair.changed.",
    }
    renamed(tmp_path, "src/kv.rs:2:23", {"src/kv.rs": changes})


@pytest.mark.parametrize("place", ["src/lib.rs:12:6", "src/lib.rs:14:6", "src/lib.rs:15:18"])
def test_declarations_for_two_builds_are_renamed_together_where_uses_mean_both(tmp_path: Path, place: str) -> None:
    renamed(tmp_path, place, {"src/lib.rs": {"Size": "Changed"}}, "Changed")


@pytest.mark.parametrize("place", ["src/lib.rs:17:8", "src/lib.rs:19:8"])
def test_declarations_for_two_builds_in_one_scope_are_renamed_together(tmp_path: Path, place: str) -> None:
    renamed(tmp_path, place, {"src/lib.rs": {"\npub fn start": "\npub fn changed"}})


def test_questions_about_code_of_a_feature_are_answered_in_a_build_with_it(tmp_path: Path) -> None:
    write(tmp_path, _FILES)
    asked = {"symbol_anchor": "src/kv.rs:2:23", "include_code": False, "wait": True}
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "Found 3 references" in answer
    assert "answered for that with RUST_ANALYZER_CFG=feature=kv" in answer


def test_a_rename_that_would_be_captured_in_another_build_is_refused(tmp_path: Path) -> None:
    of_feature = (
        "use crate::made;\npub fn sum(other: u32) -> u32 {\n    let changed = 1;\n"
        "    made().depth + changed + other\n}\n"
    )
    files = _FILES | {"src/kv.rs": of_feature}
    write(tmp_path, files)
    asked = {"symbol_anchor": "src/lib.rs:4:8", "new_name": "changed"}
    with pytest.raises(LspMcpError, match=r"would (?:not use the renamed symbol any more|mean changed of kv)"):
        ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", **asked)


def test_what_is_called_like_a_feature_is_renamed_and_the_feature_is_not(tmp_path: Path) -> None:
    text = (
        '#[cfg(feature = "kv")]\npub fn kv() -> u32 { 1 }\n#[cfg(not(feature="kv"))]\npub fn kv() -> u32 { 2 }\n'
        "pub fn all() -> u32 { kv() }\n"
    )
    write(tmp_path, _FILES | {"src/lib.rs": text})
    ask("rust-analyzer", tmp_path, "rename_symbol_by_anchor", symbol_anchor="src/lib.rs:2:8", new_name="changed")
    assert (tmp_path / "src/lib.rs").read_text() == text.replace(" kv()", " changed()")


def test_what_the_usual_build_alone_has_is_asked_about_there_by_a_question_for_another(tmp_path: Path) -> None:
    text = (
        'pub fn made() -> u32 { 1 }\n#[cfg(feature = "kv")]\npub fn all() -> u32 { made() }\n'
        '#[cfg(not(feature="kv"))]\npub fn all() -> u32 { made() }\n'
    )
    write(tmp_path, {"Cargo.toml": _MANIFEST, "src/lib.rs": text})
    asked = {"symbol_anchor": "src/lib.rs:3:23", "include_code": False, "wait": True}
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "Found 3 references" in answer
    assert "status: complete; " in answer


def test_code_of_another_build_is_asked_about_there_by_a_line_and_a_name(tmp_path: Path) -> None:
    write(tmp_path, _FILES)
    asked = {"symbol_anchor": "src/kv.rs:2:depth", "include_code": False, "wait": True}
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "Found 3 references" in answer
    assert "answered for that with RUST_ANALYZER_CFG=feature=kv" in answer


def test_a_name_that_no_server_knows_is_not_said_to_be_in_another_build(tmp_path: Path) -> None:
    text = "#[cfg(unix)]\npub fn first() -> u32 {\n    missing_thing(1)\n}\n"
    write(tmp_path, _FILES | {"src/lib.rs": text})
    asked = {"symbol_anchor": "src/lib.rs:3:5", "include_code": False, "wait": True}
    answer = ask("rust-analyzer", tmp_path, "find_symbol_references_by_anchor", **asked)
    assert "rust-analyzer does not know what missing_thing means" in answer
    assert "usual build" not in answer


def test_what_implements_a_method_in_another_build_is_one_of_its_uses_though_that_build_runs(tmp_path: Path) -> None:
    text = (
        "pub trait Go { fn go(&self); }\npub struct One;\nimpl Go for One { fn go(&self) {} }\n"
        '#[cfg(feature = "kv")]\npub struct Two;\n#[cfg(feature = "kv")]\nimpl Go for Two { fn go(&self) {} }\n'
    )
    write(tmp_path, _FILES | {"src/lib.rs": text})
    open_workspace = served("rust-analyzer")

    async def question() -> str:
        async with open_workspace(tmp_path) as call:
            answers = []
            for symbol in ("src/lib.rs:7:22", "src/lib.rs:1:19"):
                asked = {"symbol_anchor": symbol, "include_code": False, "wait": True}
                answers.append(await asyncio.wait_for(call("find_symbol_references_by_anchor", asked), BOUND))
            return answers[-1]

    answer = asyncio.run(question())
    assert "rs://src/lib.rs# 1:19 3:22 7:22\nstatus: complete" in answer
