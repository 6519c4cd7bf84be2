"""The laws of `text`: conversions are inverse, strict towards callers, lenient towards servers."""

import re
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.errors import PointError
from lsp_mcp.protocol.lsp import Position, Range
from lsp_mcp.text import BOM, Base, Point, PositionEncoding, Span, Text, numbers_point, point_numbers

ALPHABET = "ab_1 \té名\u0301\u2028\x0b\x0c\x85😀𝔸\r\n"
CONTENTS = st.text(ALPHABET, max_size=40) | st.text(ALPHABET, max_size=20).map(lambda text: BOM + text)
ENCODINGS = st.builds(PositionEncoding, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.booleans())
WIDTHS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def points(text: Text) -> list[Point]:
    """Every valid point of a text."""
    return [Point(n, c) for n, line in enumerate(text.lines(), 1) for c in range(1, len(line) + 2)]


@given(CONTENTS, ENCODINGS)
def test_every_point_survives_the_way_to_the_server_and_back(content: str, encoding: PositionEncoding) -> None:
    text = Text(content)
    for point in points(text):
        assert text.position_point(text.point_position(point, encoding), encoding) == point


@given(CONTENTS)
def test_every_point_survives_the_way_to_an_offset_and_back(content: str) -> None:
    text = Text(content)
    assert all(text.offset_point(text.point_offset(point)) == point for point in points(text))


@given(CONTENTS, ENCODINGS)
def test_every_offset_survives_the_way_to_a_position_and_back(content: str, encoding: PositionEncoding) -> None:
    text = Text(content)
    starts = text._starts(encoding)
    for offset in range(len(content) + 1):
        inside_line_end = offset > 0 and content[offset - 1 : offset + 1] == "\r\n" and offset not in starts
        if not inside_line_end:
            assert text.position_offset(text.offset_position(offset, encoding), encoding) == offset


@given(CONTENTS, ENCODINGS)
def test_a_position_counts_code_units_of_its_own_line(content: str, encoding: PositionEncoding) -> None:
    text = Text(content)
    for point in points(text):
        offset = text.point_offset(point)
        position = text.offset_position(offset, encoding)
        start = text._starts(encoding)[position["line"]]
        codec, width = WIDTHS[encoding.unit], UNIT_BYTES[encoding.unit]
        assert position["character"] * width == len(content[start:offset].encode(codec))


@given(CONTENTS, ENCODINGS, st.integers(-2, 60), st.integers(-2, 60))
def test_what_a_server_sends_is_clamped_into_the_document(
    content: str, encoding: PositionEncoding, line: int, character: int
) -> None:
    text = Text(content)
    point = text.position_point({"line": line, "character": character}, encoding)
    assert point in points(text)


@given(CONTENTS, st.integers(-2, 60), st.integers(-2, 60))
def test_what_a_caller_sends_is_in_the_document_or_refused(content: str, line: int, character: int) -> None:
    text = Text(content)
    if Point(line, character) in points(text):
        text.point_offset(Point(line, character))
    else:
        with pytest.raises(PointError):
            text.point_offset(Point(line, character))


@given(CONTENTS)
def test_lines_and_their_ends_are_the_whole_content(content: str) -> None:
    text = Text(content)
    without_ends = content.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")
    assert text.lines() == without_ends.split("\n")
    assert text.line_count == len(text.lines())


@pytest.mark.parametrize("character", "\u2028\u2029\x0b\x0c\x85\x1c")
def test_characters_that_lsp_does_not_count_as_line_ends_end_no_line(character: str) -> None:
    assert Text(f"a{character}b").line_count == 1


def test_a_lone_carriage_return_ends_a_line_by_the_specification_but_not_for_every_server() -> None:
    text = Text("a\rb\nc")
    spec, lf = PositionEncoding("utf-16"), PositionEncoding("utf-16", lone_cr_ends_line=False)
    assert text.point_position(Point(2, 1), spec) == {"line": 1, "character": 0}
    assert text.point_position(Point(2, 1), lf) == {"line": 0, "character": 2}
    assert text.position_point({"line": 1, "character": 0}, lf) == Point(3, 1)


def test_an_emoji_is_one_character_for_people_and_two_units_of_utf_16() -> None:
    text = Text("😀x")
    assert text.point_position(Point(1, 2), PositionEncoding("utf-16")) == {"line": 0, "character": 2}
    assert text.point_position(Point(1, 2), PositionEncoding("utf-8")) == {"line": 0, "character": 4}


def test_half_an_emoji_is_its_beginning() -> None:
    text = Text("a😀b")
    assert text.position_point({"line": 0, "character": 2}, PositionEncoding("utf-16")) == Point(1, 2)
    for unit in (2, 3, 4):
        assert text.position_point({"line": 0, "character": unit}, PositionEncoding("utf-8")) == Point(1, 2)


def test_a_byte_order_mark_is_a_unit_for_the_server_and_no_character_for_people() -> None:
    text = Text(BOM + "package x")
    assert text.line(1) == "package x"
    assert text.point_position(Point(1, 9), PositionEncoding("utf-16")) == {"line": 0, "character": 9}
    assert text.position_point({"line": 0, "character": 0}, PositionEncoding("utf-16")) == Point(1, 1)


@pytest.mark.parametrize(
    ("content", "shown"), [("", 1), ("a", 1), ("a\n", 1), ("a\r\nb\r", 2), ("a\n\n", 2), ("\n", 1)]
)
def test_an_error_about_a_line_counts_lines_as_editors_do(content: str, shown: int) -> None:
    with pytest.raises(PointError, match=f"has {shown} line"):
        Text(content).line(9)


def test_an_error_about_a_point_has_both_numbers() -> None:
    with pytest.raises(PointError, match=r"line 7 .* 2 lines"):
        Text("a\nb").point_offset(Point(7, 1))
    with pytest.raises(PointError, match=r"character 9 .* 3 characters"):
        Text("abc").point_offset(Point(1, 9))


@pytest.mark.parametrize(
    ("line", "character", "word"),
    [
        ("x := größe名 + y", 6, "größe名"),
        ("x := größe名 + y", 9, "größe名"),
        ("x := größe名 + y", 12, "größe名"),
        ("x := y", 1, "x"),
        ("a.b", 2, "a"),
        ("x  y", 3, None),
        ("12 y", 1, None),
        ("😀x", 2, "x"),
    ],
)
def test_the_identifier_at_a_point_is_the_word_around_it(line: str, character: int, word: str | None) -> None:
    text = Text(line)
    span = text.identifier_at(Point(1, character))
    assert (text.slice(span) if span else None) == word


@given(CONTENTS, ENCODINGS)
def test_a_range_that_we_made_is_in_the_document_and_a_longer_one_is_not(
    content: str, encoding: PositionEncoding
) -> None:
    text = Text(content)
    last = points(text)[-1]
    range_ = text.span_range(Span(Point(1, 1), last), encoding)
    assert text.range_offsets(range_, encoding) == (text.point_offset(Point(1, 1)), text.point_offset(last))
    beyond: Position = {"line": range_["end"]["line"], "character": range_["end"]["character"] + 1}
    assert text.range_offsets({"start": range_["start"], "end": beyond}, encoding) is None


@given(
    st.text("ab é😀\r\n", max_size=20),
    ENCODINGS,
    st.integers(0, 5),
    st.integers(0, 9),
    st.integers(0, 5),
    st.integers(0, 9),
)
def test_a_range_is_its_two_positions_whichever_way_it_is_converted(
    content: str, encoding: PositionEncoding, first: int, start: int, last: int, end: int
) -> None:
    text = Text(content)
    range_: Range = {"start": {"line": first, "character": start}, "end": {"line": last, "character": end}}
    ends = range_["start"], range_["end"]
    expected = Span(*(text.position_point(position, encoding) for position in ends))
    assert text.range_span(range_, encoding) == expected
    contained = text.contained_range_span(range_, encoding)
    assert contained == (expected if text.range_offsets(range_, encoding) else None)


def sendable(content: str, encoding: PositionEncoding, beyond: int = 4) -> list[Position]:
    """Every position between two characters and after a byte order mark, and some past each end."""
    lines = re.split("\r\n|\n|\r" if encoding.lone_cr_ends_line else "\n", content)
    codec, width = WIDTHS[encoding.unit], UNIT_BYTES[encoding.unit]
    positions: list[Position] = []
    for number, line in enumerate(lines):
        edges = [0, *accumulate(len(character.encode(codec)) // width for character in line)]
        edges = edges[1:] if number == 0 and content.startswith(BOM) else edges
        positions += [{"line": number, "character": edge} for edge in edges]
        positions += [{"line": number, "character": edges[-1] + more} for more in (*range(1, beyond), 2**31)]
    past = [len(lines) + more for more in (*range(beyond), 2**31)]
    return positions + [Position(line=line, character=character) for line in past for character in (0, 1, 2**31)]


@given(CONTENTS, ENCODINGS)
def test_no_position_of_a_server_is_lost_also_past_an_end(content: str, encoding: PositionEncoding) -> None:
    text = Text(content)
    for position in sendable(content, encoding):
        point = text.unclamped_position_point(position, encoding)
        assert text.unclamped_point_position(point, encoding) == position


@given(CONTENTS, ENCODINGS)
def test_in_the_document_nothing_has_to_be_clamped(content: str, encoding: PositionEncoding) -> None:
    text = Text(content)
    inside = set(points(text))
    for point in inside:
        assert text.unclamped_point_position(point, encoding) == text.point_position(point, encoding)
    for position in sendable(content, encoding):
        point = text.unclamped_position_point(position, encoding)
        assert point not in inside or point == text.position_point(position, encoding)


def test_what_is_past_an_end_stays_as_far_past_it() -> None:
    text, encoding = Text("😀\r\né"), PositionEncoding("utf-8")
    assert text.unclamped_position_point({"line": 0, "character": 7}, encoding) == Point(1, 5)
    assert text.unclamped_position_point({"line": 1, "character": 3}, encoding) == Point(2, 3)
    assert text.unclamped_position_point({"line": 9, "character": 3}, encoding) == Point(10, 4)


def test_where_only_lf_ends_a_line_the_lines_past_the_last_are_counted_from_ours() -> None:
    text, encoding = Text("a\rb\nc"), PositionEncoding("utf-16", lone_cr_ends_line=False)
    assert text.unclamped_position_point({"line": 2, "character": 0}, encoding) == Point(4, 1)
    assert text.unclamped_point_position(Point(4, 1), encoding) == {"line": 2, "character": 0}


@given(st.integers(-2, 9), st.integers(-2, 9), ENCODINGS)
def test_the_empty_text_only_moves_numbers_by_one(line: int, character: int, encoding: PositionEncoding) -> None:
    point = Text("").unclamped_position_point({"line": line, "character": character}, encoding)
    assert point == (line + 1, character + 1)
    assert Text("").unclamped_point_position(point, encoding) == {"line": line, "character": character}


@given(st.builds(Point, st.integers(-2, 9), st.integers(-2, 9)), st.sampled_from([0, 1]))
def test_numbers_are_a_point_counted_from_the_base(point: Point, base: Base) -> None:
    numbers = point_numbers(point, base)
    assert numbers_point(numbers, base) == point
    assert (numbers["line"], numbers["character"]) == (
        (point.line, point.character) if base else (point[0] - 1, point[1] - 1)
    )


def test_an_error_about_a_point_counts_as_the_caller_does() -> None:
    with pytest.raises(PointError, match=r"line 6 \(counted from 0\) .* 2 lines"):
        Text("a\nb").point_offset(Point(7, 1), base=0)
    with pytest.raises(PointError, match=r"character 8 \(counted from 0\) .* line 0 \(counted from 0\), .* 3 char"):
        Text("abc").point_offset(Point(1, 9), base=0)
