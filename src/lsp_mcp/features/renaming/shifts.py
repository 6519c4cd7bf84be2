"""Places in the texts before and after a rename: `Shift`, `spelled_out`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from lsp_mcp.edits.plan import FileChange, TextChange
from lsp_mcp.text import Point, Text


class Shift:
    """Translates places of a file between its texts before and after a `FileChange`.

    The place of a word that becomes several, as in `{ old: new }`, is that of `new_name` among them.
    """

    def __init__(self, change: FileChange, new_name: str = "") -> None:
        self.before, self.after = change.before, Text(change.after)
        self._edges: list[tuple[int, int, int]] = []  # start and end before, and what is added up to there
        self.pairs: list[Point] = []  # before, of such words
        self._before_name: dict[int, int] = {}  # start before → the characters that precede the new name there
        added = 0
        for one in change.changes:
            start, end = (change.before.point_offset(point) for point in (one.span.start, one.span.end))
            added += len(one.new_text) - (end - start)
            if start < end and new_name and (found := named_in(one.new_text, new_name)):
                self._before_name[start] = found.start()
                if len(found[0]) < len(one.new_text):
                    self.pairs.append(one.span.start)
            self._edges.append((start, end, added))

    def to_after(self, point: Point) -> Point:
        """Where `point` is afterwards."""
        offset = self.before.point_offset(point)
        added = [by for start, end, by in self._edges if offset >= end > start or offset > start == end]
        inside = self._before_name.get(offset, 0)
        return self.after.offset_point(offset + (added[-1] if added else 0) + inside)

    def to_before(self, point: Point) -> Point:
        """Where `point` was before."""
        offset, result, behind = self.after.point_offset(point), None, 0
        for start, end, added in self._edges:
            if offset - behind <= start:
                break
            if offset - added < end:
                result = start
                break
            behind = added
        return self.before.offset_point(offset - behind if result is None else result)


class SpelledOut(Struct, frozen=True):
    """A text in which words that mean two things are written twice, with the `places` of the words that change in it.

    `shift` leads from there to the text after the rename.
    """

    text: Text
    places: Mapping[Point, Point]
    shift: Shift


def spelled_out(change: FileChange, old_name: str, new_name: str) -> SpelledOut:
    """The text before a `change` that renames `old_name`, with `{ old: old }` where `{ old }` becomes `{ old: new }`.

    The code means the same, and a server tells both words apart, as it does in the text afterwards.
    """
    twice: list[TextChange] = []
    renamed: list[tuple[Point, int, int, str]] = []  # before; start and end in the new text, what is written there
    added = 0
    for one in change.changes:
        start = change.before.point_offset(one.span.start) + added
        name = named_in(one.new_text, new_name)
        if name and one.old_text == old_name and named_in(one.new_text, old_name):
            text = f"{one.new_text[: name.start()]}{old_name}{one.new_text[name.end() :]}"
            twice.append(TextChange(one.span, old_name, text))
            added += len(text) - len(old_name)
            at = start + name.start()
            renamed.append((one.span.start, at, at + len(old_name), new_name))
        else:
            renamed.append((one.span.start, start, start + len(one.old_text), one.new_text))
    text_between = Text(change.with_changes(twice).after) if twice else change.before
    changes, places = [], {}
    for point, start, end, new_text in renamed:
        span = text_between.offsets_span(start, end)
        changes.append(TextChange(span, text_between.slice(span), new_text))
        places[point] = span.start
    return SpelledOut(
        text_between, places, Shift(FileChange(change.path, text_between, "", ()).with_changes(changes), new_name)
    )


def named_in(text: str, name: str) -> re.Match[str] | None:
    """Where `text` has `name` as a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
