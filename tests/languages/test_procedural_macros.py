"""Rust's procedural macros, which rust-analyzer runs as they were built last."""

from __future__ import annotations

import asyncio
from pathlib import Path

from languages.served import BOUND, served, write

_MADE = """\
use proc_macro::TokenStream;

fn spelled() -> &'static str {
    "impl Told { pub fn told(&self) -> u32 { 1 } }"
}

#[proc_macro_derive(Tell)]
pub fn tell(_: TokenStream) -> TokenStream {
    spelled().parse().unwrap()
}
"""
_FILES = {
    "Cargo.toml": '[workspace]\nmembers = ["made", "app"]\nresolver = "2"\n',
    "made/Cargo.toml": '[package]\nname = "made"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\nproc-macro = true\n',
    "made/src/lib.rs": _MADE,
    "app/Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n'
    '[dependencies]\nmade = { path = "../made" }\n',
    "app/src/lib.rs": "#[derive(made::Tell)]\npub struct Told;\npub fn all() -> u32 { Told.told() + each() }\n"
    "pub fn each() -> u32 { 2 }\n",
}


def test_answers_are_complete_after_a_change_of_a_procedural_macro(tmp_path: Path) -> None:
    """rust-analyzer distrusts all of them then, until it is asked to build them again."""
    write(tmp_path, _FILES)

    async def asked() -> tuple[str, str]:
        async with served("rust-analyzer")(tmp_path) as call:

            async def answer(tool: str, **arguments: object) -> str:
                return await asyncio.wait_for(call(tool, arguments), BOUND)

            renamed = await answer("rename_symbol_by_anchor", symbol_anchor="made/src/lib.rs:3:4", new_name="written")
            place = "app/src/lib.rs:4:8"
            found = await answer("find_symbol_references_by_anchor", symbol_anchor=place, wait=True)
            return renamed, found

    renamed, found = asyncio.run(asked())
    assert "status: complete" in renamed
    assert (tmp_path / "made/src/lib.rs").read_text() == _MADE.replace("spelled", "written")
    assert "Found 2 references" in found
    assert found.rstrip().endswith("status: complete")
