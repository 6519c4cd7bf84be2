"""What `read_symbol` shows of what no outline has."""

from lsp_mcp.toolsets.reading import _beginning


def test_only_the_first_paragraphs_of_a_long_hover_are_shown_and_the_rest_is_counted() -> None:
    said = "```go\npackage fmt\n```\n\n" + "\n\n".join(["Word " * 60] * 9)
    shown = _beginning(said)
    assert shown.startswith("```go\npackage fmt\n```\n\nWord")
    kept, _, note = shown.rpartition("\n")
    assert said.startswith(kept)
    assert said[len(kept) :].startswith(" \n\n")
    assert note == f"… {len(said) - len(kept):,} characters left out; lsp_request textDocument/hover has all"
    assert len(shown) < 1_700
    assert _beginning("short") == "short"
    assert _beginning("x" * 5_000).startswith("x" * 1_500 + "\n… 3,500 ")
