"""An edit as short text: removed and added lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, EditPlan, FileChange, RenameFile
from lsp_mcp.render.answers import AnchorTo
from lsp_mcp.text import Text

_LINES = 60  # that are shown of each file


def diff_lines(plan: EditPlan, shown: Callable[[Path], str], anchor: AnchorTo) -> Iterator[str]:
    """For each file `-LINE| code` and `+LINE| code`, with the numbers of before and after."""
    for step in plan.steps:
        match step:
            case FileChange():
                yield anchor(step.path, None)
                lines = list(_diff(step.before, Text(step.after)))
                yield from lines[:_LINES]
                if len(lines) > _LINES:
                    yield f"and {len(lines) - _LINES:,} more lines"
            case _:
                yield file_line(step, shown)


def file_line(step: CreateFile | RenameFile | DeleteFile, shown: Callable[[Path], str]) -> str:
    """What a step does with a whole file."""
    match step:
        case CreateFile():
            return f"created {shown(step.path)}"
        case RenameFile():
            return f"moved {shown(step.old)} → {shown(step.new)}"
        case DeleteFile():
            return f"deleted {shown(step.path)}"


def _diff(before: Text, after: Text) -> Iterator[str]:
    old, new = before.lines() if before.content else [], after.lines()
    old_numbered, new_numbered = list(enumerate(old, 1)), list(enumerate(new, 1))
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield from (f"-{number}| {line}" for number, line in old_numbered[first:last])
            yield from (f"+{number}| {line}" for number, line in new_numbered[new_first:new_last])
