"""Problems as short text: grouped by file, equal messages once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from lsp_mcp.features.checking.problems import Delta, Problem
from lsp_mcp.gaps import Gap, hiding
from lsp_mcp.prose import count
from lsp_mcp.render.answers import AnchorTo

_MESSAGE = 240  # shown characters of one message
_FILES = 3  # places listed with one message; beyond that, their number
_FIXED = 5  # fixed ones listed


def counted(problems: Sequence[Problem], which: str = "") -> str:
    """`2 errors`, `1 new error and 3 new warnings`."""
    kinds = Counter(one.severity for one in problems)
    return " and ".join(count(number, f"{which}{kind}") for kind, number in kinds.items()) or f"no {which}errors"


def delta_message(
    delta: Delta, *, compared: bool, looked_at: int | None = None, unchecked: str = "", is_dated: bool = True
) -> str:
    """The result of a check in one sentence; not `compared`: without an earlier state.

    `looked_at`: the number of files, if the server did not check all that may have errors. `unchecked` names those that
    it should have checked and has not, as does `not_checked`. Not `is_dated`: what it reported may be of an older text.
    """
    if unchecked:
        so_far = counted(delta.new, "new " if compared else "") if delta.new else "none"
        return f"Not checked: {unchecked}. Errors known so far: {so_far}."
    known = "" if is_dated else " reported so far"
    files = count(len({one.place.path for one in delta.new}), "file")
    if not compared:
        if not delta.new and looked_at is not None:
            at = count(looked_at, "file")
            return (
                f"No errors{known} in {at} looked at."
                if looked_at
                else "No file was changed or open; pass path to look at it."
            )
        return f"{_capital(counted(delta.new))}{f' in {files}' if delta.new else known}; no baseline: all are shown."
    new = f"{counted(delta.new, 'new ')} in {files}" if delta.new else f"No new errors{known}"
    return f"{new}, {len(delta.fixed) or 'none'} fixed, {len(delta.remaining) or 'none'} remaining."


def not_checked(gaps: Sequence[Gap]) -> str:
    """What `gaps` say was not checked: `2 files`; empty if everything was."""
    unread = [gap for gap in hiding(gaps) if gap.kind == "not_read"]
    if files := {path for gap in unread for path in gap.files}:
        return count(len(files), "file")
    return "not all files" if unread else ""


def delta_lines(delta: Delta, anchor: AnchorTo, *, with_remaining: bool) -> Iterator[str]:
    """The new problems, the fixed ones, and the others if `with_remaining`."""
    yield from problem_lines(delta.new, anchor)
    if delta.fixed:
        fixed = Counter(delta.fixed)
        listed = [f"{anchor(one.path, None)} {_short(one.message)}" for one in list(fixed)[:_FIXED]]
        more = [f"and {len(fixed) - _FIXED:,} more"] if len(fixed) > _FIXED else []
        yield from ("fixed:", *listed, *more)
    if with_remaining and delta.remaining:
        yield "remaining:"
        yield from problem_lines(delta.remaining, anchor)


def problem_lines(problems: Sequence[Problem], anchor: AnchorTo) -> Iterator[str]:
    """Each file with its problems; a message that occurs in many files is shown in the first of them."""
    files: defaultdict[str, dict[Path, int]] = defaultdict(dict)
    for one in problems:
        files[one.message][one.place.path] = files[one.message].get(one.place.path, 0) + 1
    folded = {
        message: (list(where)[:_FILES], sum(where.values())) for message, where in files.items() if len(where) > _FILES
    }
    for path, in_file in groupby(problems, key=lambda one: one.place.path):
        groups: dict[str, list[Problem]] = {}
        for one in in_file:
            if one.message not in folded or path in folded[one.message][0]:
                groups.setdefault(one.message, []).append(one)
        if groups:
            yield anchor(path, None)
        for message, same in groups.items():
            yield _line(message, same)
    for message, where in files.items():
        if message in folded:
            rest = list(where)[_FILES:]
            places = ", ".join(anchor(path, None).rstrip("#") for path in rest[:_FILES])
            more = f" and {len(rest) - _FILES:,} more files" if len(rest) > _FILES else ""
            number = sum(where[path] for path in rest)
            yield f"same ×{number} in {places}{more}: {_short(message)}"


def _line(message: str, same: Sequence[Problem]) -> str:
    shown = [f"{one.place.span.start.line}:{one.place.span.start.character}" for one in same[:_FILES]]
    more = f" same ×{len(same)}" if len(same) > _FILES else ""
    kind = "" if same[0].severity == "error" else f" {same[0].severity}"
    fixes = f" [fix: {'; '.join(same[0].fixes)}]" if same[0].fixes else ""
    return f"{' '.join(shown)}{more}{kind}| {_short(message)}{fixes}"


def _short(message: str) -> str:
    return message if len(message) <= _MESSAGE else f"{message[:_MESSAGE]}…"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
