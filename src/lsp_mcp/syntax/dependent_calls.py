"""Calls in templates that only an instance resolves: `depends_on_instance`. By the text; pure."""

from __future__ import annotations

import re

_TEMPLATE = re.compile(r"\btemplate\s*<")
_PARAMETER = re.compile(r"(?:[\w>\]]|\.\.\.)\s+(?:\.\.\.\s*)?(\w+)\s*(?:=[^,]*)?(?=,|\Z)")
_WORD = re.compile(r"(?<![\w.])(?<!->)[^\W\d]\w*")
_GOES_ON = re.compile(r"\s*[{,]")
_REQUIRES = re.compile(r"\brequires\s*(?:\([^()]*\)\s*)?\Z")
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
    """Whether a bracket of the declaration that `content` begins with is open at its end, such as that of its body."""
    depth = opened = 0
    for at, character in enumerate(content):
        if character in "([{":
            opened = at if depth == 0 else opened
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0 or (depth == 0 and character == "}" and _is_body(content, opened, at)):
                return False
        elif character == ";" and depth == 0:
            return False
    return depth > 0


def _is_body(content: str, opened: int, closed: int) -> bool:
    """Whether braces outside of others are the body of a declaration: not a value of a member, nor a requirement."""
    return not _GOES_ON.match(content, closed + 1) and not _REQUIRES.search(content, 0, opened)
