"""Places where programs should stop: `Breakpoint`, and `Breakpoints`, those of a workspace.

They outlive programs: the next one gets them too, at the present lines of their code.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_mcp.errors import CallerError, PathError
from lsp_mcp.text import Text

_LARGEST = 10 * 1024 * 1024  # bytes of a source file that is read
_HOLE = re.compile(r"\{[^{}]*\}")  # an expression in the text of a log point
_LONGEST_DIFF = 30_000  # lines of a file whose versions are compared


@dataclass(frozen=True)
class Breakpoint:
    """A line of a file (from 1), or a function by its name."""

    id: int
    path: Path | None = None
    line: int = 0
    function: str = ""
    condition: str = ""
    hit: int = 0  # stop from this hit on; 0: at each
    log: str = ""  # print this instead of stopping
    text: str = ""  # of the line, when it was set
    once: bool = False  # for one `to`: removed at the next stop


@dataclass(frozen=True)
class Moved:
    """A breakpoint whose file has changed; `now` is None if its line is gone."""

    before: Breakpoint
    now: Breakpoint | None


@dataclass
class Breakpoints:
    """All breakpoints, in the order in which they were set."""

    _all: dict[int, Breakpoint] = field(default_factory=dict)
    _texts: dict[Path, Text] = field(default_factory=dict)  # the text of each file when its lines were last compared
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __iter__(self) -> itertools.chain[Breakpoint]:
        return itertools.chain(list(self._all.values()))

    def get(self, number: int) -> Breakpoint | None:
        """The one with this id."""
        return self._all.get(number)

    def in_file(self, path: Path) -> list[Breakpoint]:
        """Those in `path`."""
        return [one for one in self if one.path == path]

    def logged(self, text: str) -> bool:
        """Whether `text` is what a log point prints."""
        texts = [_HOLE.split(one.log) for one in self if one.log]
        return any(re.fullmatch(".*".join(map(re.escape, parts)), text.rstrip("\r\n"), re.DOTALL) for parts in texts)

    @property
    def paths(self) -> list[Path]:
        """The files that have some."""
        return list(dict.fromkeys(one.path for one in self if one.path))

    @property
    def functions(self) -> list[Breakpoint]:
        """Those on functions."""
        return [one for one in self if one.function]

    def add_line(
        self, path: Path, line: int, *, condition: str = "", hit: int = 0, log: str = "", once: bool = False
    ) -> Breakpoint:
        """A breakpoint at `line`; an existing one takes these conditions instead of its own.

        Raises:
            CallerError, PathError: there is no such line, or no such file.
        """
        text = read_source(path)
        if not 1 <= line <= text.line_count:
            raise CallerError(f"{path.name} has {text.shown_line_count:,} lines; there is no line {line:,}.")
        self.follow([path])
        there = next((one for one in self.in_file(path) if one.line == line and one.once == once), None)
        made = Breakpoint(
            there.id if there else next(self._ids),
            path,
            line,
            condition=condition,
            hit=hit,
            log=log,
            text=text.line(line).strip(),
            once=once,
        )
        self._all[made.id] = made
        self._texts[path] = text
        return made

    def add_function(self, name: str, *, condition: str = "", hit: int = 0, log: str = "") -> Breakpoint:
        """A breakpoint at the beginning of each function of this name."""
        there = next((one for one in self if one.function == name), None)
        number = there.id if there else next(self._ids)
        self._all[number] = Breakpoint(number, function=name, condition=condition, hit=hit, log=log)
        return self._all[number]

    def remove(self, gone: Iterable[Breakpoint]) -> None:
        """Remove these."""
        for one in gone:
            self._all.pop(one.id, None)

    def follow(self, paths: Iterable[Path] | None = None) -> list[Moved]:
        """Breakpoints that moved because their files changed; one whose line is gone is removed."""
        moved: list[Moved] = []
        for path in self.paths if paths is None else list(paths):
            if path not in self._texts:
                continue
            try:
                now = read_source(path)
            except PathError:
                now = Text("")
            before = self._texts[path]
            if now == before:
                continue
            lines = _counterparts(before.lines(), now.lines())
            for one in self.in_file(path):
                line = lines.get(one.line)
                if line is None:
                    self.remove([one])
                    moved.append(Moved(one, None))
                elif line != one.line:
                    self._all[one.id] = replace(one, line=line)
                    moved.append(Moved(one, self._all[one.id]))
            self._texts[path] = now
        return moved


def read_source(path: Path) -> Text:
    """The text of a source file.

    Raises:
        PathError: it cannot be read as one.
    """
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise PathError(f"{path} is not a source file that can be read.")
        return Text(path.read_bytes().decode("utf-8", "replace"))
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}.") from None


def _counterparts(before: list[str], now: list[str]) -> dict[int, int]:
    """The lines of a text in another version of it, both from 1; a changed line maps to its replacement."""
    if max(len(before), len(now)) > _LONGEST_DIFF:
        places: dict[str, list[int]] = {}
        for number, text in enumerate(now, 1):
            places.setdefault(text, []).append(number)
        return {number: there[0] for number, text in enumerate(before, 1) if len(there := places.get(text, [])) == 1}
    found: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, before, now, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            found.update({start + index + 1: new_start + index + 1 for index in range(end - start)})
        elif kind == "replace":
            for index in range(start, end):
                near = difflib.get_close_matches(before[index], now[new_start:new_end], n=1, cutoff=0.6)
                if near and before[index].strip():
                    found[index + 1] = now.index(near[0], new_start, new_end) + 1
    return found
