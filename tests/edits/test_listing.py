"""Lists in brackets with other items keep their comments, and the white space of their neighbours."""

import re

import pytest

from lsp_mcp.edits.listing import Slot, listing

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/")


def changed(inner: str, wanted: list[int | str]) -> str:
    """`inner`, the text between brackets, with the items `wanted`: old ones by their numbers."""
    text = f"({inner})"
    comments = [found.span() for found in COMMENT.finditer(text)]

    def is_code(offset: int) -> bool:
        return not any(start <= offset < end for start, end in comments)

    code = "".join(one if is_code(number) else " " for number, one in enumerate(text))
    spans = [found.span() for found in re.finditer(r"\w+", code)]
    found = listing(text, 1, len(text) - 1, spans, is_code)
    old = [text[item.start : item.end] for item in found.items]
    return found.inner([Slot(one) if isinstance(one, str) else Slot(old[one], one) for one in wanted])


@pytest.mark.parametrize(
    ("inner", "wanted", "after"),
    [
        ("", ["x"], "x"),
        ("a", [], ""),
        ("a, b", ["x", 0, 1], "x, a, b"),
        ("a, b", [0, "x", 1], "a, x, b"),
        ("a, b", [0, 1, "x"], "a, b, x"),
        ("a, b", [1], "b"),
        ("a,b", [1, 0], "b, a"),
        ("a /* one */, b", [1, 0], "b, a /* one */"),
        ("/* one */ a, /* two */ b", [1, 0], "/* two */ b, /* one */ a"),
        ("\n\ta, // one\n\tb, // two\n", [1, 0], "\n\tb, // two\n\ta, // one\n"),
        ("\n\ta, // one\n\tb, // two\n", [0], "\n\ta, // one\n"),
        ("\n\ta, // one\n\tb, // two\n", ["x", 0, 1], "\n\tx,\n\ta, // one\n\tb, // two\n"),
        ("\n\ta,\n\tb // two\n", [1, 0], "\n\tb, // two\n\ta\n"),
        ("\n\ta,\n\tb,\n", [0, 1, "x"], "\n\ta,\n\tb,\n\tx,\n"),
        ("a,\n  b", ["x", 0, 1], "x, a,\n  b"),
        ("a,\n  b", [1], "b"),
        ("a\n  , b", [1, 0], "b, a"),
        ("a, // one\n  b", [1, 0], "b, a // one\n  "),
    ],
)
def test_a_list_gets_other_items(inner: str, wanted: list[int | str], after: str) -> None:
    assert changed(inner, wanted) == after


def test_a_list_that_is_divided_by_something_else_is_not_understood() -> None:
    with pytest.raises(ValueError, match="between two items"):
        listing("(a; b)", 1, 5, [(1, 2), (4, 5)], lambda _: True)
    with pytest.raises(ValueError, match="between two items"):
        changed("a // one\n, b", [1, 0])
