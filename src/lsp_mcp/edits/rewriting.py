"""Differences between two texts of a file, and edits of a text: `change_of`, `with_edits`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from lsp_mcp.edits.plan import FileChange, TextChange, ends_lines_with_crlf, plan_workspace_edit, with_crlf
from lsp_mcp.protocol.lsp import TextEdit
from lsp_mcp.text import BOM, PositionEncoding, Text
from lsp_mcp.uris import path_uri

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_WORDS = re.compile(r"\w+|\W")


def change_of(path: Path, before: Text, after: str) -> FileChange | None:
    """The changes from `before` to `after`, line by line; None if they are equal.

    A byte order mark stays, and so do the line ends: code from a file with other ones gets those of `before`.
    """
    skipped = len(BOM) if before.content.startswith(BOM) else 0
    if ends_lines_with_crlf(before.content) or (not before.content and "\r\n" in after):
        after = with_crlf(after)
    elif "\n" in before.content and "\r" not in before.content:
        after = after.replace("\r\n", "\n")
    old, new = before.content[skipped:], after.removeprefix(BOM)
    if old == new:
        return None
    lines, new_lines = _LINES.findall(old), _LINES.findall(new)
    starts = [skipped]
    for line in lines:
        starts.append(starts[-1] + len(line))
    changes = []
    for tag, first, last, new_first, new_last in SequenceMatcher(None, lines, new_lines, autojunk=False).get_opcodes():
        if tag != "equal":
            span = before.offsets_span(starts[first], starts[last])
            changes.append(TextChange(span, "".join(lines[first:last]), "".join(new_lines[new_first:new_last])))
    return FileChange(path, before, before.content[:skipped] + new, tuple(changes))


def without_prefix(step: FileChange, prefix: str) -> FileChange:
    """`step` with changes that do not repeat `prefix`, where the old and the new text begin with it."""
    if not prefix:
        return step
    return step.with_changes([_without_prefix(step, change, prefix) for change in step.changes])


def _without_prefix(step: FileChange, change: TextChange, prefix: str) -> TextChange:
    old, new = change.old_text, change.new_text
    if not (old.startswith(prefix) and new.startswith(prefix)):
        return change
    start = step.before.point_offset(change.span.start) + len(prefix)
    span = step.before.offsets_span(start, start + len(old) - len(prefix))
    return TextChange(span, old.removeprefix(prefix), new.removeprefix(prefix))


def by_word(step: FileChange) -> FileChange:
    """`step` with each change of several lines split into words; a change that adds or removes words stays whole."""
    changes: list[TextChange] = []
    for change in step.changes:
        words, new_words = _WORDS.findall(change.old_text), _WORDS.findall(change.new_text)
        if "\n" not in change.old_text or len(words) != len(new_words):
            changes.append(change)
            continue
        end = step.before.point_offset(change.span.start)
        for word, new_word in zip(words, new_words, strict=True):
            start, end = end, end + len(word)
            if word != new_word:
                changes.append(TextChange(step.before.offsets_span(start, end), word, new_word))
    return step.with_changes(changes)


def with_edits(path: Path, text: Text, edits: Sequence[TextEdit], encoding: PositionEncoding) -> Text:
    """`text` of `path` after `edits`, LSP `TextEdit`s. Raises `EditError` as `plan_workspace_edit`."""
    read: Callable[[Path], Text] = lambda _: text  # noqa: E731
    plan = plan_workspace_edit({"changes": {path_uri(path): list(edits)}}, read, encoding, lambda _: None)
    changes = [step for step in plan.steps if isinstance(step, FileChange)]
    return Text(changes[0].after) if changes else text
