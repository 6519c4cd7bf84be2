"""Values that implement an interface without a class are named after what they are in."""

from __future__ import annotations

from pathlib import Path

from languages.served import ask, write

FILES = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}}\n',
    "a.ts": "export interface Job {\n  run(): void\n}\nexport const first: Job = {\n  run() {},\n}\n"
    "export class Second implements Job {\n  run() {}\n}\n",
}


def test_an_object_that_implements_an_interface_is_named_after_its_variable(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    answer = ask("typescript", tmp_path, "find_implementations", symbol="Job")
    assert answer.splitlines()[2:] == [
        "4:27 literal first",
        "7:14 class Second",
        "status: complete",
    ]


def test_a_macro_that_implements_a_trait_is_named_by_its_call(tmp_path: Path) -> None:
    code = (
        "pub trait Shape { fn area(&self) -> u32; }\n"
        "macro_rules! twice { ($m:ident) => { $m!(u8); $m!(u16); }; }\n"
        "macro_rules! one { ($t:ty) => { impl Shape for $t { fn area(&self) -> u32 { 2 } } }; }\n"
        "twice!(one);\n"
    )
    write(tmp_path, {"Cargo.toml": '[package]\nname = "shapes"\nedition = "2021"\n', "src/lib.rs": code})
    answer = ask("rust-analyzer", tmp_path, "find_implementations", symbol="Shape", wait=True)
    assert "4:1 code twice!" in answer.splitlines()
