"""Definitions and calls of macros (`syntax.expansions`)."""

from __future__ import annotations

from lsp_mcp.syntax.expansions import macros_in
from lsp_mcp.text import Text

RUST = (
    "macro_rules! made {\n    ($name:ident) => { helper($name) };\n}\n"
    'fn first(n: u32) -> u32 {\n    made!(n) + other::made!(n)\n}\nfn second() {\n    print!("{}", made!(1));\n}\n'
)


def test_calls_are_told_once_each_in_their_order() -> None:
    found = macros_in(Text(RUST), "rust")
    assert [one.name for one in found.definitions] == ["made"]
    assert [RUST[one.start : one.end] for one in found.calls] == [
        "made!(n)",
        "other::made!(n)",
        'print!("{}", made!(1))',
    ]


def test_a_text_is_searched_for_macros_once() -> None:
    assert macros_in(Text(RUST), "rust") is macros_in(Text(RUST), "rust")


def test_a_language_without_such_macros_has_none() -> None:
    assert not macros_in(Text("#define made(n) n\n"), "c").definitions
