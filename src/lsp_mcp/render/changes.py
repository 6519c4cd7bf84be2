"""An edit as short text: removed and added lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile
from lsp_mcp.render.answers import AnchorTo
from lsp_mcp.text import Text

_LINES = 60  # shown for each file
_MOVED = 3  # lines that are listed without their text if they only move

Numbered = list[tuple[int, str]]


@dataclass(eq=False)
class _Run:
    """Adjacent lines of one file that are removed, or added."""

    path: Path
    sign: str
    lines: Numbered

    @property
    def trimmed(self) -> Numbered:
        """The lines without empty ones at both ends."""
        full = [number for number, (_, line) in enumerate(self.lines) if line.strip()]
        return self.lines[full[0] : full[-1] + 1] if full else []

    def at(self, anchor: AnchorTo) -> str:
        """The position of the trimmed lines."""
        lines = self.trimmed
        return f"{anchor(self.path, None)}{lines[0][0]}-{lines[-1][0]}"


def diff_lines(plan: EditPlan, shown: Callable[[Path], str], anchor: AnchorTo) -> Iterator[str]:
    """`moved FROM → TO` for unchanged lines; then for each file `-LINE| code` and `+LINE| code`.

    Removed lines have their old numbers, others the new ones.
    """
    runs = {step: list(_runs(step)) for step in plan.steps if isinstance(step, FileChange)}
    moves = _moves([run for found in runs.values() for run in found])
    yield from (f"moved {old.at(anchor)} → {new.at(anchor)}" for old, new in moves.items())
    shown_before = {*moves, *moves.values()}
    for step in plan.steps:
        match step:
            case FileChange():
                left = [run for run in runs[step] if run.lines and run not in shown_before]
                if not left and shown_before.intersection(runs[step]):
                    continue
                yield anchor(step.path, None)
                lines = [f"{run.sign}{number}| {line}" for run in left for number, line in run.lines]
                yield from lines[:_LINES]
                if len(lines) > _LINES:
                    yield f"and {len(lines) - _LINES:,} more lines"
            case _:
                yield file_line(step, shown)


def file_line(step: CreateFile | RenameFile | DeleteFile, shown: Callable[[Path], str]) -> str:
    """The effect of a step on a whole file."""
    match step:
        case CreateFile():
            return f"created {shown(step.path)}"
        case RenameFile():
            return f"moved {shown(step.old)} → {shown(step.new)}"
        case DeleteFile():
            return f"deleted {shown(step.path)}"


def _runs(step: FileChange) -> Iterator[_Run]:
    before, after = step.before, Text(step.after)
    old, new = before.lines() if before.content else [], after.lines()
    old_numbered, new_numbered = list(enumerate(old, 1)), list(enumerate(new, 1))
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _Run(step.path, "-", old_numbered[first:last])
            yield _Run(step.path, "+", new_numbered[new_first:new_last])


def _moves(runs: Sequence[_Run]) -> dict[_Run, _Run]:
    """Lines removed at one place and added unchanged at another: from and to."""
    added: dict[tuple[str, ...], list[_Run]] = {}
    for run in runs:
        if run.sign == "+":
            added.setdefault(_code(run), []).append(run)
    moves = {}
    for run in runs:
        code = _code(run)
        if run.sign == "-" and len(code) >= _MOVED and added.get(code):
            moves[run] = added[code].pop(0)
    return moves


def _code(run: _Run) -> tuple[str, ...]:
    return tuple(line for _, line in run.trimmed)
