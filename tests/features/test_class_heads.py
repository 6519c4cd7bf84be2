"""Where a text may base a type on another."""

from pathlib import Path

import pytest

from lsp_mcp.adapters import load_adapter
from lsp_mcp.features.class_heads import ClassHeads
from lsp_mcp.text import Text

ADAPTER = load_adapter("clangd")


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("struct Own : public n::Base {};", [" public n::Base "]),
        ("MAKE(Own, n::Base<int>)", ["Own", "Base"]),
        ("  FOR_EACH (const Base& item, list<Base>) {", ["item", "list"]),
        ("using Other = n::Base;", ["Base"]),
        ("Base f(Base b);", []),
    ],
)
def test_a_type_is_a_base_where_it_is_an_argument_of_a_macro_and_not_where_it_only_declares_one(
    code: str, named: list[str]
) -> None:
    assert ADAPTER.hierarchy
    text = Text(f"{code}\n")
    found = ClassHeads(ADAPTER.hierarchy).stretches(text, ADAPTER.language_of(Path("a.cpp")))
    assert [text.slice(span) for span, _ in found] == named
