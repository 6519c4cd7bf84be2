"""Anchors that survive edits: `AnchorMemory` follows the anchors it handed out through later changes of their files.

Pure: callers pass in the texts; nothing is read here.
"""

from __future__ import annotations

import difflib
import re
from collections import OrderedDict, deque
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.adapters import Language
from lsp_mcp.edits.plan import TextChange
from lsp_mcp.errors import AnchorError
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.words.lexing import identifiers_in_code

_VERSIONS = 4  # texts remembered per file
_MOVES = 1_000  # renamed files and folders remembered
_NEAREST = 5  # candidates for a symbol that is gone
_CHARACTERS = 16_000_000  # of remembered text in total; the least recently used files are forgotten first


class Other(Struct, frozen=True):
    """Another symbol that the same anchor may mean: its identifier, and its present place (None if it no longer
    exists).
    """

    identifier: str
    point: Point | None


class Followed(Struct, frozen=True):
    """The present place of an anchor's symbol, and other symbols that the caller may have meant."""

    point: Point
    others: tuple[Other, ...] = ()


class LostError(AnchorError):
    """The symbol of an anchor is not where a line diff expects it; `nearest` are candidates."""

    def __init__(self, identifier: str, nearest: list[Point]) -> None:
        super().__init__(f"the symbol {identifier} is no longer there")
        self.identifier = identifier
        self.nearest = nearest


class _Version(Struct):
    """One text of a file, the points handed out for it, and their places after our own edits."""

    text: Text
    points: set[Point] = field(default_factory=set)
    successor: tuple[Text, tuple[TextChange, ...]] | None = None

    def counterpart(self, point: Point, now: Text) -> Point:
        """The place in `now` of the symbol at `point` of this text.

        Raises:
            LostError: the place is uncertain.
        """
        text = self.text
        if self.successor and now != text:
            text, changes = self.successor
            point = moved_point(point, self.text, text, changes)
        return point if text == now else _followed(point, text, now)


class AnchorMemory:
    """The text of each file at the time an anchor was handed out (at most 4 texts per file, 16 million characters)."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, list[_Version]] = OrderedDict()
        self._characters = 0
        self._moved: deque[tuple[Path, Path]] = deque(maxlen=_MOVES)

    def remember(self, path: Path, text: Text, points: Iterable[Point]) -> None:
        """Record that anchors to `points` of `text` were handed out."""
        versions = self._files.setdefault(path, [])
        self._files.move_to_end(path)
        version = next((known for known in versions if known.text == text), None)
        if version is None:
            version = _Version(text)
            self._characters += len(text.content)
        else:
            versions.remove(version)
        version.points.update(points)
        versions.append(version)
        while len(versions) > _VERSIONS:
            self._characters -= len(versions.pop(0).text.content)
        while self._characters > _CHARACTERS and len(self._files) > 1:
            _, forgotten = self._files.popitem(last=False)
            self._characters -= sum(len(known.text.content) for known in forgotten)

    def edited(self, path: Path, before: Text, after: Text, changes: tuple[TextChange, ...]) -> None:
        """Record our own edit of `before` to `after`: anchors to `before` move according to `changes`."""
        for version in self._files.get(path, []):
            if version.text == before:
                version.successor = after, changes

    def knows(self, path: Path, point: Point, now: Text) -> bool:
        """Whether an anchor to `point` was handed out for exactly this text."""
        return any(version.text == now and point in version.points for version in self._files.get(path, []))

    def moved(self, old: Path, new: Path) -> None:
        """Record our own rename of the file or folder `old` to `new`: anchors below `old` now lead to `new`."""
        self._moved.append((old, new))
        for path in [path for path in self._files if path.is_relative_to(old)]:
            self._files[new / path.relative_to(old)] = self._files.pop(path)

    def place_of(self, path: Path) -> Path:
        """The present path of a file that was at `path` when an anchor was handed out, after our own renames."""
        for old, new in self._moved:
            if path.is_relative_to(old):
                path = new / path.relative_to(old)
        return path

    def follow(self, path: Path, point: Point, now: Text, language: Language | None = None) -> Followed:
        """The place in `now` of the symbol that an anchor at `point` named: the most recent one it was handed out for.

        A point that was never handed out, or whose text is unchanged, stays. An anchor does not identify its text: a
        point that was handed out for another symbol too, or where another symbol is now, has `others`; a word in a
        comment of `language` is none.

        Raises:
            LostError: the line is gone, or does not contain the identifier exactly once; nothing is guessed.
        """
        versions = [version for version in reversed(self._files.get(path, [])) if point in version.points]
        if not versions:
            return Followed(point)
        found = versions[0].counterpart(point, now)
        others = [_place(version, point, now) for version in versions[1:]]
        if found != point:
            others += [
                Other(now.slice(span), point) for span in _identifiers(now, point.line, language) if span.start == point
            ]
        return Followed(found, tuple(dict.fromkeys(other for other in others if other.point != found)))


def _place(version: _Version, point: Point, now: Text) -> Other:
    identifier = version.text.identifier_at(point)
    name = version.text.slice(identifier) if identifier else ""
    try:
        return Other(name, version.counterpart(point, now))
    except LostError:
        return Other(name, None)


def moved_point(point: Point, before: Text, after: Text, changes: tuple[TextChange, ...]) -> Point:
    """The place of `point` of `before` in `after`; a point inside a changed range moves to its start."""
    offset = before.point_offset(point)
    shift = 0
    for change in changes:
        start, end = before.point_offset(change.span.start), before.point_offset(change.span.end)
        if offset < end or offset == start:
            return after.offset_point(min(offset, start) + shift if offset >= start else offset + shift)
        shift += len(change.new_text) - len(change.old_text)
    return after.offset_point(offset + shift)


def _followed(point: Point, before: Text, now: Text) -> Point:
    """The place of `point` of `before` in `now`, by a line diff and the identifier at the point."""
    span = before.identifier_at(point)
    if span is None:
        return point
    identifier = before.slice(span)
    lines = _counterpart(point.line, before.lines(), now.lines())
    if len(lines) == 1 and now.line(lines[0]) == before.line(point.line):
        return Point(lines[0], point.character)
    here = _places_of(identifier, now, lines)
    if len(here) == 1:
        return Point(here[0].line, here[0].character + point.character - span.start.character)
    if continued := _continued(before.line(point.line), now, lines):
        return Point(continued, point.character)
    if moved := _same_line(point.line, before, now):
        return Point(moved, point.character)
    everywhere = _places_of(identifier, now, _numbers(now.lines()))
    everywhere.sort(key=lambda place: (abs(place.line - lines.start), place))
    raise LostError(identifier, sorted(here or everywhere[:_NEAREST]))


def _continued(line: str, now: Text, lines: range) -> int | None:
    """The only one of `lines` of `now` that is `line` with more behind it, such as a comment."""
    behind = re.compile(rf"{re.escape(line)}(?!\w)")
    found = [number for number in lines if behind.match(now.line(number))] if line.strip() else []
    return found[0] if len(found) == 1 else None


def _same_line(number: int, before: Text, now: Text) -> int | None:
    """The new number of line `number` of `before`: the only equal line of `now`.

    The line must be unique in both texts. An equal line may also be a coincidence, so an indented line must have moved
    together with a neighbour.
    """
    line = before.line(number)
    found = [other for other in _numbers(now.lines()) if now.line(other) == line]
    if len(found) != 1 or before.lines().count(line) != 1:
        return None
    together = _neighbours(number, before) & _neighbours(found[0], now)
    return found[0] if together or not line[:1].isspace() else None


def _neighbours(number: int, text: Text) -> set[tuple[int, str]]:
    """The nearest nonblank lines above and below line `number`, each with its side."""
    near = [(side, number + side) for side in (-1, 1)]
    lines = {side: text.line(other) for side, other in near if 1 <= other <= text.line_count}
    return {(side, line) for side, line in lines.items() if line.strip()}


def _identifiers(text: Text, line: int, language: Language | None) -> list[Span]:
    return identifiers_in_code(text, line, language) if line <= text.line_count else []


def _places_of(identifier: str, text: Text, lines: range) -> list[Point]:
    """Where `identifier` occurs as a whole word in these lines."""
    return [
        span.start
        for line in lines
        if identifier in text.line(line)
        for span in text.identifiers(line)
        if text.slice(span) == identifier
    ]


def _counterpart(line: int, before: list[str], now: list[str]) -> range:
    """The numbers of the lines of `now` that replaced line `line` of `before`; may be empty."""
    index = _numbers(before).index(line)
    head = _common(before, now)
    tail = _common(before[head:][::-1], now[head:][::-1])
    if index < head:
        return _numbers(now)[index:][:1]
    if index >= len(before) - tail:
        return _numbers(now)[index - len(before) :][:1]
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if i1 <= index - head < i2:
            inside = _numbers(now)[head + j1 : head + j2]
            return inside[index - head - i1 :][:1] if tag == "equal" else inside
    raise AssertionError("a diff covers every line")


def _numbers(lines: list[str]) -> range:
    """The line numbers of `lines`, from 1."""
    return range(1, 1 + len(lines))


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
