"""A text with insertions, and a server's messages about it mapped back to the original: `UnitText`. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lsp_mcp.protocol.lsp import Diagnostic, DiagnosticRelatedInformation, Position, Range
from lsp_mcp.text import PositionEncoding, Text


class UnitText:
    """`text` with `put` into it: ascending offsets, and the text to insert before each."""

    def __init__(self, text: Text, put: Sequence[tuple[int, str]]) -> None:
        self.text = text
        parts: list[str] = []
        self._from: list[tuple[int, int]] = [(0, 0)]  # from which offset here on there follows which of `text`
        last = length = 0
        for at, more in put:
            parts += [text.content[last:at], more]
            length += at - last
            self._from.append((length, -1))  # inserted text maps to `at`
            length += len(more)
            self._from.append((length, at))
            last = at
        self._put_at = [at for at, _ in put]
        self.shown = Text("".join([*parts, text.content[last:]])) if put else text

    def diagnostic(self, reported: Diagnostic, uri: str, encoding: PositionEncoding) -> Diagnostic:
        """The diagnostics `reported` for the shown text of `uri`, mapped to the original text."""
        related: list[DiagnosticRelatedInformation] = []
        for one in reported.get("relatedInformation") or ():
            if (location := one["location"])["uri"] == uri:
                location = {"uri": uri, "range": self._range(location["range"], encoding)}
            related.append({**one, "location": location})
        return {**reported, "range": self._range(reported["range"], encoding), "relatedInformation": related}

    def _range(self, range_: Range, encoding: PositionEncoding) -> Range:
        return {"start": self._position(range_["start"], encoding), "end": self._position(range_["end"], encoding)}

    def _position(self, position: Position, encoding: PositionEncoding) -> Position:
        return self.text.offset_position(self._offset(self.shown.position_offset(position, encoding)), encoding)

    def _offset(self, offset: int) -> int:
        """The offset in the original text; for inserted text, its place."""
        index = bisect_right(self._from, (offset, len(self.shown.content))) - 1
        start, there = self._from[index]
        return self._put_at[index // 2] if there < 0 else there + offset - start
