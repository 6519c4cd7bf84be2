"""Positions: the one module that counts lines, characters and code units.

`Text` is a document's content with its line table. Two families of terms meet here and nowhere else:

    Point     line and character from 1, a character is one Unicode code point  (people, models, anchors)
    Position  line and character from 0, in a server's code units               (LSP 3.17, `Position`)
    offset    code points from the start of the content                         (inside this program)

Tools take and return *numbers* in JSON: a `Point` counted from the program's base, 1 or 0.

Conversions are named from→to, and each pair is inverse on valid input. They are strict towards callers
(a point past the end raises `PointError`) and lenient towards servers (LSP 3.17 says clamp).
A byte order mark at the start of the content belongs to the document, but a `Point` does not count it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple
from unicodedata import category

from msgspec import Struct

from lsp_mcp.errors import PointError
from lsp_mcp.protocol.lsp import Position, Range

CodeUnit = Literal["utf-8", "utf-16", "utf-32"]
Base = Literal[0, 1]
"""Whether line and character numbers of tools start at 0 or 1 (`--position-base`)."""
Json = dict[str, Any]

BOM = "\ufeff"
_SPEC_LINE_END = re.compile(r"\r\n|\n|\r")  # LSP 3.17, "Text Documents": no other character ends a line


class Point(NamedTuple):
    """A place in a document: `line` and `character` from 1, in code points."""

    line: int
    character: int


class Span(NamedTuple):
    """A stretch of a document, `end` exclusive."""

    start: Point
    end: Point


class PositionEncoding(Struct, frozen=True):
    """How one server counts: its code unit, and whether a lone CR ends a line for it.

    The specification says that it does; gopls 0.24 and clangd 22 count only LF.
    """

    unit: CodeUnit = "utf-16"
    lone_cr_ends_line: bool = True


WITHHELD = "not shown: outside of the workspace; --allow-dependencies FOLDER allows it"


class Text:
    """The content of a document and its line table. Immutable.

    Lines end at CRLF, LF or a lone CR (LSP 3.17). The last line has no end and may be empty.
    """

    def __init__(self, content: str) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and other.content == self.content

    def __hash__(self) -> int:
        return hash(self.content)

    # --- lines -------------------------------------------------------------------------------------

    @property
    def line_count(self) -> int:
        """How many lines there are: at least 1, also in an empty document."""
        return len(self._spec_starts)

    @property
    def shown_line_count(self) -> int:
        """How many lines an editor shows: an empty one after the last line end does not count. At least 1."""
        return max(1, self.line_count - self.content.endswith(("\n", "\r")))

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end and without a byte order mark.

        Raises:
            PointError: there is no such line.
        """
        if not 1 <= number <= len(self._spec_starts):
            raise self._no_line(number, 1)
        start, end = self._line_bounds(number)
        return self.content[start:end]

    def first_point(self, number: int) -> Point:
        """Where the text of line `number` (from 1) begins, after its indentation. Raises `PointError`, see `line`."""
        line = self.line(number)
        return Point(number, len(line) - len(line.lstrip()) + 1)

    def lines(self) -> list[str]:
        """All lines without their ends, first to last."""
        if self._has_only_lf:
            return self.content.removeprefix(BOM).split("\n")
        return [self.line(number) for number in range(1, self.line_count + 1)]

    def numbered(self, span: Span, around: int = 0) -> list[tuple[int, str]]:
        """The lines of `span` with their numbers, from 1, and up to `around` lines before and after."""
        first, last = max(1, span.start.line - around), min(self.line_count, span.end.line + around)
        return [(number, self.shown_line(number)) for number in range(first, last + 1)]

    def shown_line(self, number: int) -> str:
        """Line `number` for an answer; see `line`."""
        return self.line(number)

    def slice(self, span: Span) -> str:
        """The characters of `span`. Raises `PointError` as `point_offset` does."""
        return self.content[self.point_offset(span.start) : self.point_offset(span.end)]

    # --- points ↔ offsets --------------------------------------------------------------------------

    def point_offset(self, point: Point, base: Base = 1) -> int:
        """The offset of `point`; one past the last character of its line is allowed.

        Raises:
            PointError: the line or the character is past the end; the message has both numbers, from `base`.
        """
        line, character = point
        if not 1 <= line <= len(self._spec_starts):
            raise self._no_line(line, base)
        start, end = self._line_bounds(line)
        if not 1 <= character <= end - start + 1:
            place = f"character {_number(character, base)} is not in line {_number(line, base)}"
            raise PointError(f"{place}, which has {_characters(end - start)}")
        return start + character - 1

    def offset_point(self, offset: int) -> Point:
        """The point at `offset`, clamped to the document, never inside a line end or the byte order mark."""
        offset = max(0, min(offset, len(self.content)))
        line = bisect_right(self._spec_starts, offset)
        start, end = self._line_bounds(line)
        return Point(line, max(0, min(offset, end) - start) + 1)

    def offsets_span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        return Span(self.offset_point(start), self.offset_point(end))

    # --- positions ↔ offsets -----------------------------------------------------------------------

    def offset_position(self, offset: int, encoding: PositionEncoding) -> Position:
        """The LSP `Position` at `offset`, in the server's code units."""
        starts = self._starts(encoding)
        line = bisect_right(starts, offset) - 1
        return {"line": line, "character": _units(self.content[starts[line] : offset], encoding.unit)}

    def position_offset(self, position: Position, encoding: PositionEncoding) -> int:
        """The offset of an LSP `Position`; past the end of a line or of the document is clamped.

        A position inside a character (half a surrogate pair, a UTF-8 continuation byte) is its start.
        """
        starts = self._starts(encoding)
        line = position["line"]
        if line < 0:
            return 0
        if line >= len(starts):
            return len(self.content)
        start, end = self._server_line_bounds(line, encoding)
        return start + _unit_index(self.content[start:end], position["character"], encoding.unit)

    # --- points ↔ positions ------------------------------------------------------------------------

    def point_position(self, point: Point, encoding: PositionEncoding) -> Position:
        """`Point` → LSP `Position`. Raises `PointError` as `point_offset` does."""
        return self.offset_position(self.point_offset(point), encoding)

    def byte_point(self, line: int, column: int) -> Point:
        """The point at byte `column` (from 1) of `line`, as compilers count UTF-8; past its end, the end of the line.

        Raises:
            PointError: there is no such line.
        """
        return Point(line, _unit_index(self.line(line), column - 1, "utf-8") + 1)

    def position_point(self, position: Position, encoding: PositionEncoding) -> Point:
        """LSP `Position` → `Point`, clamped."""
        return self.offset_point(self.position_offset(position, encoding))

    def unclamped_position_point(self, position: Position, encoding: PositionEncoding) -> Point:
        """LSP `Position` → `Point`; a position past an end stays equally far past it.

        Past the end of its line, each further code unit counts as a character; past the last line, each further line
        counts as a line, and units count as characters. `unclamped_point_position` is the inverse, except for
        positions inside a character or before a byte order mark, which a `Point` cannot tell from the next valid one.
        For an empty text, only the base of the numbers changes from 0 to 1.
        """
        line, character = position["line"], position["character"]
        starts = self._starts(encoding)
        if self._is_plain or line < 0 or character < 0:
            return Point(line + 1, character + 1)
        if line >= len(starts):
            return Point(line - len(starts) + self.line_count + 1, character + 1)
        start, end = self._server_line_bounds(line, encoding)
        content = self.content[start:end]
        excess = max(0, character - _units(content, encoding.unit))
        offset = start + _unit_index(content, character, encoding.unit)
        number = bisect_right(self._spec_starts, offset)
        first, _ = self._line_bounds(number)
        return Point(number, max(0, offset - first) + excess + 1)

    def plain_numbers(self, position: Position, base: Base) -> Position | None:
        """LSP `Position` → a caller's numbers, where all ways of counting agree; None elsewhere.

        A fast path for what `unclamped_position_point` and `point_numbers` do for any text.
        """
        line, character = position["line"], position["character"]
        if not self._is_plain or type(line) is not int or type(character) is not int:
            return None
        return {"line": line + base, "character": character + base}

    def unclamped_point_position(self, point: Point, encoding: PositionEncoding) -> Position:
        """`Point` → LSP `Position`; a point past an end stays equally far past it: see above."""
        line, character = point
        if self._is_plain:
            return {"line": line - 1, "character": character - 1}
        if line > self.line_count:
            return {"line": line - self.line_count + len(self._starts(encoding)) - 1, "character": character - 1}
        start, end = self._line_bounds(line)
        offset = min(start + character - 1, end)
        excess = start + character - 1 - offset
        position = self.offset_position(offset, encoding)
        return {"line": position["line"], "character": position["character"] + excess}

    def span_range(self, span: Span, encoding: PositionEncoding) -> Range:
        """`Span` → LSP `Range`. Raises `PointError` as `point_offset` does."""
        return {
            "start": self.point_position(span.start, encoding),
            "end": self.point_position(span.end, encoding),
        }

    def range_span(self, range_: Range, encoding: PositionEncoding) -> Span:
        """LSP `Range` → `Span`, clamped."""
        return self._plain_span(range_) or Span(
            self.position_point(range_["start"], encoding), self.position_point(range_["end"], encoding)
        )

    def contained_range_span(self, range_: Range, encoding: PositionEncoding) -> Span | None:
        """LSP `Range` → `Span`; None if it is not entirely inside the document, without clamping."""
        if span := self._plain_span(range_):
            return span
        offsets = self.range_offsets(range_, encoding)
        return self.offsets_span(*offsets) if offsets else None

    def range_offsets(self, range_: Range, encoding: PositionEncoding) -> tuple[int, int] | None:
        """LSP `Range` → the offsets of its ends; None if it is not entirely inside the document."""
        ends = range_["start"], range_["end"]
        positions = [Position(line=end["line"], character=end["character"]) for end in ends]
        start, end = (self.position_offset(position, encoding) for position in positions)
        exact = [self.offset_position(offset, encoding) for offset in (start, end)] == positions
        return (start, end) if exact else None

    def clip_to_line(self, span: Span) -> Span:
        """`span` up to the end of the line that it starts on. Raises `PointError` if it starts outside."""
        end = Point(span.start.line, len(self.line(span.start.line)) + 1)
        return Span(span.start, min(span.end, end))

    # --- identifiers -------------------------------------------------------------------------------

    def identifier_at(self, point: Point, prefixes: str = "") -> Span | None:
        """The identifier that covers `point` or ends directly before it, or None.

        If `point` is on some of the characters `prefixes`, it is the identifier directly after these.

        Raises:
            PointError: the point is outside the document.
        """
        offset = self.point_offset(point)
        before = 0
        while prefixes and self.content[offset + before : offset + before + 1] in tuple(prefixes):
            before += 1
        is_prefix, at = before > 0, point.character + before
        for span in self.identifiers(point.line):
            if (span.start.character == at) if is_prefix else (span.start.character <= at <= span.end.character):
                return span
        return None

    def identifiers(self, line: int) -> list[Span]:
        """The identifiers of line `line` (from 1), left to right; words in any script.

        Text in comments and strings counts as well: only a language server knows better.
        """
        return [
            Span(Point(line, match.start() + 1), Point(line, match.end() + 1))
            for match in _WORD.finditer(_marked(self.line(line)))
            if not match.group()[0].isdigit()
        ]

    def words(self, word: str) -> list[Span]:
        """All occurrences of `word` as a whole word."""
        whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        return [self.offsets_span(match.start(), match.end()) for match in whole.finditer(self.content)]

    def _no_line(self, number: int, base: Base) -> PointError:
        shown = _lines(self.shown_line_count)
        return PointError(f"line {_number(number, base)} is not in the document, which has {shown}")

    def _plain_span(self, range_: Range) -> Span | None:
        """The span of a range in one line, where all ways of counting agree; None elsewhere.

        This covers nearly every place of an answer in a tenth of the time of the conversion by offsets.
        """
        start, end, starts = range_["start"], range_["end"], self._spec_starts
        line, first, last = start["line"], start["character"], end["character"]
        if not self._has_only_lf or line != end["line"] or not 0 <= line < len(starts) - 1:
            return None
        if not 0 <= first <= last < starts[line + 1] - starts[line]:
            return None
        if not self._is_plain and not self.content[starts[line] : starts[line + 1]].isascii():
            return None
        return Span(Point(line + 1, first + 1), Point(line + 1, last + 1))

    @cached_property
    def _is_plain(self) -> bool:
        """Whether each character is one unit in every encoding, and only LF ends lines."""
        return self._has_only_lf and self.content.isascii()

    @cached_property
    def _has_only_lf(self) -> bool:
        return "\r" not in self.content

    # --- line tables -------------------------------------------------------------------------------

    @cached_property
    def _spec_starts(self) -> array[int]:
        if self._has_only_lf:
            return _lf_line_starts(self.content)
        return array("I", (0, *(match.end() for match in _SPEC_LINE_END.finditer(self.content))))

    @cached_property
    def _lf_starts(self) -> array[int]:
        return self._spec_starts if self._has_only_lf else _lf_line_starts(self.content)

    def _starts(self, encoding: PositionEncoding) -> array[int]:
        return self._spec_starts if encoding.lone_cr_ends_line else self._lf_starts

    def _line_bounds(self, number: int) -> tuple[int, int]:
        """Offsets of line `number` (from 1) without its end and without a byte order mark."""
        start, end = _bounds(self.content, self._spec_starts, number - 1)
        if start == 0 and self.content.startswith(BOM):
            start = 1
        return start, end

    def _server_line_bounds(self, index: int, encoding: PositionEncoding) -> tuple[int, int]:
        """The line as the server sees it: where only LF ends a line, the CR before it is the line's last character."""
        start, end = _bounds(self.content, self._starts(encoding), index)
        if not encoding.lone_cr_ends_line and self.content.startswith("\r\n", end):
            return start, end + 1
        return start, end


_WORD = re.compile(r"\w[\w\u0300]*")


def _marked(line: str) -> str:
    """`line` with each combining mark as U+0300: `\\w` excludes them, but many scripts write words with them."""
    if line.isascii():
        return line
    return "".join("\u0300" if category(character) in ("Mn", "Mc") else character for character in line)


def point_numbers(point: Point, base: Base) -> Position:
    """`Point` → its `line` and `character` for a tool's answer, counted from `base`."""
    return {"line": point.line - 1 + base, "character": point.character - 1 + base}


def numbers_point(numbers: Position, base: Base) -> Point:
    """A caller's `line` and `character`, counted from `base` → `Point`, which need not be in any document."""
    return Point(numbers["line"] + 1 - base, numbers["character"] + 1 - base)


def _lf_line_starts(content: str) -> array[int]:
    """Where each line begins, if only LF ends lines; 4 bytes a line, where a list would take 36."""
    starts = array("I", accumulate(map((1).__add__, map(len, content.split("\n"))), initial=0))
    del starts[-1]
    return starts


def _bounds(content: str, starts: array[int], index: int) -> tuple[int, int]:
    """Offsets of a line without its end."""
    start = starts[index]
    if index == len(starts) - 1:
        return start, len(content)
    end = starts[index + 1] - 1
    if end > start and content[end] == "\n" and content[end - 1] == "\r":
        end -= 1
    return start, end


def _units(content: str, unit: CodeUnit) -> int:
    if unit == "utf-32" or content.isascii():
        return len(content)
    if unit == "utf-8":
        return len(content.encode("utf-8", "surrogatepass"))
    return len(content.encode("utf-16-le", "surrogatepass")) // 2


def _unit_index(line: str, units: int, unit: CodeUnit) -> int:
    """The number of whole characters of `line` in its first `units` code units."""
    if units <= 0:
        return 0
    if unit == "utf-32" or line.isascii():
        return min(units, len(line))
    codec, width = ("utf-8", 1) if unit == "utf-8" else ("utf-16-le", 2)
    prefix = line.encode(codec, "surrogatepass")[: units * width]
    count = len(prefix.decode(codec, "surrogatepass" if unit == "utf-16" else "ignore"))
    # A cut pair decodes to half a character that the line doesn't have there.
    return count - 1 if _units(line[:count], unit) > units else count


def _number(counted_from_1: int, base: Base) -> str:
    return str(counted_from_1) if base else f"{counted_from_1 - 1} (counted from 0)"


def _lines(count: int) -> str:
    return f"{count:,} line" + ("" if count == 1 else "s")


def _characters(count: int) -> str:
    return f"{count:,} character" + ("" if count == 1 else "s")


class WithheldText(Text):
    """A text that the program works with, but does not show."""

    def shown_line(self, number: int) -> str:
        """What is shown instead of a line."""
        return WITHHELD
