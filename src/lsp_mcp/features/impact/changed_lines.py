"""The lines that a unified diff changes, and the declarations that contain them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsp_mcp.requests.containers import Container, without_locals
from lsp_mcp.text import Span

_FILE = re.compile(r'\+\+\+ (?:"?b/(?P<path>.*?)"?|/dev/null)\t?')
_HUNK = re.compile(r"@@ -\d+(?:,(?P<removed>\d+))? \+(?P<line>\d+)(?:,(?P<count>\d+))? @@")


class Hunk(NamedTuple):
    """`length` changed lines starting at `line`; if 0, lines were removed after `line`."""

    line: int
    length: int

    def touches(self, span: Span) -> bool:
        """Whether one of its lines, or the place of a removal, is in `span`."""
        if not self.length:
            return span.start.line <= self.line < span.end.line
        return span.start.line < self.line + self.length and self.line <= span.end.line


def hunks(diff: str) -> dict[str, list[Hunk]]:
    """The hunks of each file that still exists, by path; `diff` has no context lines (`-U0`)."""
    found: dict[str, list[Hunk]] = {}
    path: str | None = None
    lines = iter(diff.split("\n"))
    for line in lines:
        if file := _FILE.fullmatch(line):
            path = file["path"]
        elif hunk := _HUNK.match(line):
            length = int(hunk["count"] or 1)
            if path is not None:
                found.setdefault(path, []).append(Hunk(int(hunk["line"]), length))
            _skip(lines, length + int(hunk["removed"] or 1))  # added and removed lines may look like anything
    return found


def _skip(lines: Iterator[str], number: int) -> None:
    for _ in range(number):
        next(lines, None)


def touched(declared: Sequence[Container], changed: Iterable[Hunk]) -> list[Container]:
    """The innermost of the `declared` that `changed` touches, in the order in which they start; locals don't count."""
    declared = without_locals(declared)
    found: dict[int, Container] = {}
    for hunk in changed:
        meeting = [(number, one) for number, one in enumerate(declared) if hunk.touches(one.extent)]
        spans = [one.extent for _, one in meeting]
        found |= {number: one for number, one in meeting if not any(_is_inside(other, one.extent) for other in spans)}
    return [found[number] for number in sorted(found)]


def _is_inside(inner: Span, outer: Span) -> bool:
    return inner != outer and outer.start <= inner.start and inner.end <= outer.end
