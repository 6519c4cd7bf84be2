"""In which order definitions by name are listed."""

from __future__ import annotations

from lsp_mcp.requests.workspace_symbol import closeness


def test_a_using_declaration_stands_behind_the_class_that_it_names_and_before_what_is_only_alike() -> None:
    found = [("Slice", "namespace"), ("SliceTest", "class"), ("leveldb::Slice", "class"), ("slice", "function")]
    ordered = sorted(found, key=lambda one: closeness(one[0], "Slice", one[1]))
    assert ordered == [
        ("leveldb::Slice", "class"),
        ("Slice", "namespace"),
        ("slice", "function"),
        ("SliceTest", "class"),
    ]
