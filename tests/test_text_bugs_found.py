"""`text`: what was wrong with it once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.protocol.lsp import Range
from lsp_mcp.text import CodeUnit, Point, PositionEncoding, Text

contents = st.text(st.sampled_from("ab \r\n\té漢😀\u0301\u2028\ufeff"), max_size=30)


@given(contents, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_where_only_lf_ends_a_line_every_offset_has_a_position_of_its_own(
    content: str, unit: CodeUnit, data: st.DataObject
) -> None:
    """Also the one between CR and LF: clangd 22 takes the CR for the last character of its line."""
    text, encoding = Text(content), PositionEncoding(unit, lone_cr_ends_line=False)
    offset = data.draw(st.integers(0, len(content)))
    assert text.position_offset(text.offset_position(offset, encoding), encoding) == offset


def test_where_only_lf_ends_a_line_a_range_may_take_the_cr_away() -> None:
    range_: Range = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}}
    assert Text("a\r\nb").range_offsets(range_, PositionEncoding(lone_cr_ends_line=False))
    assert Text("a\r\nb").range_offsets(range_, PositionEncoding()) is None


def test_where_only_lf_ends_a_line_the_cr_is_still_no_character_of_a_point() -> None:
    encoding = PositionEncoding(lone_cr_ends_line=False)
    assert Text("a\r\nb").position_point({"line": 0, "character": 9}, encoding) == Point(1, 2)


@pytest.mark.parametrize("word", ["हिन्दी", "cafe\u0301", "ภาษาไทย", "తెలుగు"])
def test_a_word_spelled_with_combining_marks_is_one_identifier(word: str) -> None:
    text = Text(f"x = {word}(1)")
    assert [text.slice(span) for span in text.identifiers(1)] == ["x", word]


def test_a_mark_that_follows_no_word_is_not_an_identifier() -> None:
    assert Text("❤️ \u0301 = 1").identifiers(1) == []
