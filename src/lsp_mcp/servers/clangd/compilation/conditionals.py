"""The parts of a file that the preprocessor may exclude, judged by its text."""

from __future__ import annotations

import re

_IF = re.compile(rb"^[ \t]*#[ \t]*if(?:n?def)?\b", re.MULTILINE)
_GUARD = re.compile(
    rb"[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n(?:[ \t\r]*\n)*[ \t]*#[ \t]*define[ \t]+\1(?:[ \t]+1)?[ \t]*\r?\n"
)
_GUARD_LENGTH = 500  # characters that contain a guard's two lines
_ONCE = re.compile(rb"[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*")
_BLANK = re.compile(rb"(?:\s+|//[^\n]*|/\*[\s\S]*?\*/)*")
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")


def has_conditions(content: bytes) -> bool:
    """Whether `content` has an `#if` other than the include guard of a header."""
    found = list(_IF.finditer(content))
    return len(found) > 1 or (len(found) == 1 and not _GUARD.match(content, found[0].start()))


def leading_includes(content: bytes, include: re.Pattern[bytes]) -> tuple[bytes, ...]:
    """The includes at the top of a header with an include guard, as group 1 of `include` spells them.

    To the compiler, including them directly before the header makes no difference. Empty for a header without a guard;
    ends at an include that a macro spells.
    """
    at = _next_line(content, 0)
    guard = _ONCE.match(content, at) or _GUARD.match(content, at)
    found: list[bytes] = []
    if guard:
        at = _next_line(content, guard.end())
        while (match := include.match(content, at)) and match[1]:
            found.append(match[1])
            at = _next_line(content, match.end())
    return tuple(found)


def _next_line(content: bytes, start: int) -> int:
    """The start of the line with the first code after `start`, ignoring blanks and comments; the end if
    there is none.
    """
    match = _BLANK.match(content, start)
    line = content.rfind(b"\n", 0, match.end() if match else start) + 1
    return line if line >= start else len(content)


def stands_in_condition(word: str, text: str) -> bool:
    """Whether `word` is between an `#if` and its `#endif`; the guard around a whole header does not count."""
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    conditions: list[bool] = []  # for each open block: whether it is conditional
    start = 0
    for line in text.split("\n"):
        directive = _DIRECTIVE.match(line)
        if directive and directive[1].startswith("if"):
            conditions.append(not _GUARD.match(text[start : start + _GUARD_LENGTH].encode()))
        elif directive and directive[1] == "endif":
            del conditions[-1:]
        elif any(conditions) and whole.search(line):
            return True
        start += len(line) + 1
    return False
