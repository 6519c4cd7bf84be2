"""Problems in a workspace, and which of them are new: `Problem`, `Known`, `compare`. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from lsp_mcp.protocol.lsp import Diagnostic
from lsp_mcp.requests.places import Place

Severity = Literal["error", "warning", "information", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")  # LSP 3.17, `DiagnosticSeverity`, from 1


class Kind(NamedTuple):
    """The common part of problems in one file that differ only in their line."""

    path: Path
    severity: Severity
    message: str


@dataclass(frozen=True)
class Problem:
    """One problem reported by a server; `message` is a single line, `raw` the server's `Diagnostic`."""

    place: Place
    severity: Severity
    message: str
    raw: Diagnostic | None = field(default=None, compare=False)
    fixes: tuple[str, ...] = ()  # names of quick fixes

    @property
    def kind(self) -> Kind:
        """Its identity, regardless of its line."""
        return Kind(self.place.path, self.severity, self.message)


class _Line(NamedTuple):
    """The place of a known problem: its line number and, if known, the text of that line."""

    number: int
    code: str = ""


@dataclass(frozen=True)
class Known:
    """The problems known at some time; `covers` and `incomplete` as in `backend.Checked`."""

    lines: dict[Kind, list[_Line]]
    covers: Collection[Path] | None = None
    incomplete: Collection[Path] = ()

    def tells(self, path: Path) -> bool:
        """Whether all problems of `path` are known."""
        return (self.covers is None or path in self.covers) and path not in self.incomplete


@dataclass(frozen=True)
class Delta:
    """`new` and `remaining` problems, and `fixed` ones, of which only the kind is known.

    `undated` are files whose problems may be old; they are listed as new.
    """

    new: Sequence[Problem]
    remaining: Sequence[Problem] = ()
    fixed: Sequence[Kind] = ()
    undated: Sequence[Path] = ()


def known(
    problems: Iterable[Problem], covers: Collection[Path] | None, incomplete: Collection[Path], before: Known | None
) -> Known:
    """The known problems after a check found `problems` in the files that it `covers`; other files keep theirs."""
    lines: defaultdict[Kind, list[_Line]] = defaultdict(list)
    for problem in problems:
        at = _Line(problem.place.span.start.line, problem.place.code)
        lines[problem.kind].append(at)
    if covers is None or before is None:
        return Known(dict(lines), covers, incomplete)
    for kind, old in before.lines.items():
        if kind.path not in covers and kind not in lines:
            lines[kind] = old
    covered = None if before.covers is None else frozenset({*covers, *before.covers})
    return Known(dict(lines), covered, frozenset({*incomplete, *(p for p in before.incomplete if p not in covers)}))


def known_lines(
    found: Iterable[tuple[Kind, int]], covers: Collection[Path] | None, incomplete: Collection[Path]
) -> Known:
    """The known problems after a check, from the kind and line of each one `found`."""
    lines: defaultdict[Kind, list[_Line]] = defaultdict(list)
    for kind, number in found:
        lines[kind].append(_Line(number))
    return Known(dict(lines), covers, incomplete)


def compare(now: Sequence[Problem], covers: Collection[Path] | None, before: Known) -> Delta:
    """The changes from `before` to `now`, found in the files that it `covers`.

    A problem that only moved is the same; among equal messages in one file, those on equal lines are old.
    """
    groups: defaultdict[Kind, list[Problem]] = defaultdict(list)
    for problem in now:
        groups[problem.kind].append(problem)
    old: set[int] = set()
    fixed: list[Kind] = []
    for key, lines in before.lines.items():
        left = _matched(groups.get(key, []), lines, old)
        if covers is None or key.path in covers:
            fixed += [key] * left
    new = [problem for problem in now if id(problem) not in old]
    undated = sorted({problem.place.path for problem in new if not before.tells(problem.place.path)})
    return Delta(new, [problem for problem in now if id(problem) in old], fixed, undated)


def _matched(problems: list[Problem], lines: list[_Line], old: set[int]) -> int:
    """Move those of `problems` on `lines` into `old`; returns the number of lines left."""
    left = list(lines)
    for same in (_same_code, _same_line, _anywhere):
        for problem in problems:
            if id(problem) in old:
                continue
            if (line := next((line for line in left if same(problem, line)), None)) is not None:
                left.remove(line)
                old.add(id(problem))
    return len(left)


def _same_code(problem: Problem, line: _Line) -> bool:
    return problem.place.code == line.code


def _same_line(problem: Problem, line: _Line) -> bool:
    return problem.place.span.start.line == line.number


def _anywhere(problem: Problem, line: _Line) -> bool:
    return True
