"""Calls in templates that only an instance resolves: `depends_on_instance`. By the text; pure."""

from __future__ import annotations

import re

_TEMPLATE = re.compile(r"\btemplate\s*<")
_PARAMETER = re.compile(r"(?:[\w>\]]|\.\.\.)\s+(?:\.\.\.\s*)?(\w+)\s*(?:=[^,]*)?(?=,|\Z)")
_WORD = re.compile(r"(?<![\w.])(?<!->)[^\W\d]\w*")
_MOST = 5_000  # characters of a template before the call
_LONGEST = 1_000  # of the call's arguments


def depends_on_instance(blank: str, start: int, end: int) -> bool:
    """Whether an argument of the call of the function whose name is there has a type that depends on a template.

    `blank` is the text without comments and strings. What is called may be found in the scope of that type.
    """
    arguments = re.compile(r"\s*\(").match(blank, end)
    if not arguments:
        return False
    words = {one[0] for one in _WORD.finditer(_inside(blank, arguments.end(), _LONGEST, "([{", ")]}"))}
    for template in reversed(list(_TEMPLATE.finditer(blank, max(0, start - _MOST), start))):
        listed = _inside(blank, template.end(), start - template.end(), "<", ">")
        between = blank[template.end() + len(listed) : start]
        if not _is_open(between):
            continue
        names = {one[1] for one in _PARAMETER.finditer(listed)}
        types = "|".join(map(re.escape, sorted(names | {"auto"})))
        values = re.findall(rf"\b(?:{types})\b[\w\s:<>,&*.]*?[\s&*>.](\w+)\s*(?=[,)=;{{(:])", between)
        if not words.isdisjoint(names.union(values)):
            return True
    return False


def _inside(content: str, start: int, most: int, opening: str, closing: str) -> str:
    """The text from `start` to the bracket that closes the one before it."""
    depth = 0
    for at in range(start, min(len(content), start + most)):
        if content[at] in closing and depth == 0:
            return content[start:at]
        depth += (content[at] in opening) - (content[at] in closing)
    return content[start : start + most]


def _is_open(content: str) -> bool:
    """Whether the first body of `content` has not ended there."""
    depth, is_body = 0, False
    for character in content:
        if character == "{":
            depth, is_body = depth + 1, True
        elif character == "}":
            depth -= 1
            if depth <= 0:
                return False
        elif character == ";" and not is_body:
            return False
    return is_body
