"""Anchors: what is spelled can be read back, and what cannot be read says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.anchors import Anchor, looks_like_anchor, parse_anchor
from lsp_mcp.errors import AnchorError
from lsp_mcp.text import Point

FILES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
NUMBERS = st.integers(1, 999_999_999)
ANCHORS = st.builds(Anchor, st.sampled_from(["go", "cpp", "py", "c++"]), FILES, st.builds(Point, NUMBERS, NUMBERS))


@given(ANCHORS)
def test_an_anchor_can_be_read_back_as_it_was(anchor: Anchor) -> None:
    assert parse_anchor(str(anchor)) == anchor


@given(ANCHORS)
def test_an_anchor_is_one_word_on_one_line(anchor: Anchor) -> None:
    assert str(anchor).split() == [str(anchor)]
    assert str(anchor).isprintable()


@given(st.text())
def test_any_text_is_an_anchor_or_a_clear_error(text: str) -> None:
    try:
        anchor = parse_anchor(text)
    except AnchorError as error:
        assert "SCHEME://FILE#LINE:CHAR" in str(error) or "NUL" in str(error)
    else:
        assert parse_anchor(str(anchor)) == anchor


@pytest.mark.parametrize(
    ("spelled", "file"),
    [
        ("go://calculator.go#6:6", "calculator.go"),
        ("go://a b/c.go#6:6", "a b/c.go"),
        ("go://a%20b/c.go#6:6", "a b/c.go"),
        ("go://größe.go#6:6", "größe.go"),
        ("go://gr%C3%B6%C3%9Fe.go#6:6", "größe.go"),
        ("go://a%23b.go#6:6", "a#b.go"),
        ("go:///usr/lib/go/x.go#6:6", "/usr/lib/go/x.go"),
        (" GO://calculator.go#6:6\n", "calculator.go"),
    ],
)
def test_escaped_and_plain_spellings_name_the_same_file(spelled: str, file: str) -> None:
    assert parse_anchor(spelled) == Anchor("go", file, Point(6, 6))


@pytest.mark.parametrize(
    "spelled",
    ["", "foo", "go://", "go://a.go", "go://a.go#", "go://a.go#1", "go://a.go#1:", "go://#1:1", "go://a.go#-1:1",
     "go://a.go#0:1", "go://a.go#1:0", "go://a.go#x:1", "://a.go#1:1", "a.go#1:1", "go://a%FF.go#1:1",
     "go://a.go#1:1:1", "go://a.go#9999999999:1"],
)  # fmt: skip
def test_what_is_not_an_anchor_is_refused_with_the_form_of_one(spelled: str) -> None:
    with pytest.raises(AnchorError, match=r"SCHEME://FILE#LINE:CHAR|counts from 0|percent"):
        parse_anchor(spelled)


def test_letters_of_any_script_stay_readable() -> None:
    assert str(Anchor("go", "名/größe x.go", Point(1, 2))) == "go://名/größe%20x.go#1:2"


@pytest.mark.parametrize(("text", "meant"), [("go://a.go#1:1", True), ("a.go#1:1", True), ("pkg.Type.Method", False)])
def test_an_anchor_is_told_from_a_name(text: str, meant: bool) -> None:
    assert looks_like_anchor(text) is meant
