"""What the preprocessor may leave out of a file, by what its text says."""

from __future__ import annotations

import re

_IF = re.compile(rb"^[ \t]*#[ \t]*if(?:n?def)?\b", re.MULTILINE)
_GUARD = re.compile(
    rb"[ \t]*#[ \t]*ifndef[ \t]+(\w+)[^\n]*\n(?:[ \t\r]*\n)*[ \t]*#[ \t]*define[ \t]+\1(?:[ \t]+1)?[ \t]*\r?\n"
)
_GUARD_LENGTH = 500  # characters in which a guard's two lines stand
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")


def has_conditions(content: bytes) -> bool:
    """Whether there is an `#if` in `content` besides the guard that a header begins with."""
    found = list(_IF.finditer(content))
    return len(found) > 1 or (len(found) == 1 and not _GUARD.match(content, found[0].start()))


def stands_in_condition(word: str, text: str) -> bool:
    """Whether `word` stands between an `#if` and its `#endif`; the guard around a whole header is none."""
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    conditions: list[bool] = []  # for each block that is open: whether it is one
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
