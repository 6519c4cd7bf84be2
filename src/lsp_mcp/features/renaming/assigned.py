"""Where a local variable gets its values, and a function its result, by the text alone: `assigned`, `returned`.

For languages in which a statement ends with its line, unless brackets are open.
"""

from __future__ import annotations

import re

_Stretch = tuple[int, int]
_HEAD = re.compile(r"[ \t]*(?:\}[ \t]*else[ \t]+)?(?:for|if|switch)\b")
_RETURN = re.compile(r"\breturn\b[ \t]*")
_CALLED = re.compile(r"(\w+)\s*\(\Z")
_HARMLESS = "(?i:^(?:len|cap|append|delete|clear|range)$|marshal|encod|json|print|log)"  # calls that add nothing to it
_NAME = 80  # characters


def assigned(code: str, body: _Stretch, word: str, reading: str) -> list[_Stretch] | None:
    """The expressions whose values `word` gets in the function with this `body`, also as elements.

    None if that is not known: it is not declared there, or something else may change it. Calls whose names match
    `reading` write new values into what they get.
    """
    declared = re.compile(rf"\bvar[ \t]+{word}\b|\b{word}\b[\w \t,]*:=")
    gets = re.compile(
        rf"(?<![\w.]){word}(?:\[[^\[\]\n]*\]|\.\w+)*(?:[ \t]*,[ \t]*[\w.\[\]]+)*[ \t]*(?::=|=(?!=))[ \t]*"
    )
    initial = re.compile(rf"\bvar[ \t]+{word}\b[^=\n]*=(?!=)[ \t]*")
    if not declared.search(code, *body) or _is_filled(code, body, word, reading):
        return None
    starts = {one.end() for pattern in (gets, initial) for one in pattern.finditer(code, *body)}
    return [(start, _end(code, start, body[1])) for start in sorted(starts)]


def returned(code: str, body: _Stretch) -> list[_Stretch]:
    """The expressions that a function with this `body` returns; those of functions in it, too."""
    return [(one.end(), _end(code, one.end(), body[1])) for one in _RETURN.finditer(code, *body)]


def _is_filled(code: str, body: _Stretch, word: str, reading: str) -> bool:
    """Whether a call gets the address of `word`, or a collection that it is, and may put something into it."""
    is_collection = re.search(rf"\b{word}\b[ \t]*(?::?=[ \t]*)?(?:make\(|map\[|\[)", code[slice(*body)]) is not None
    for one in re.finditer(rf"(?P<address>&[ \t]*)?(?<![\w.]){word}\b(?![ \t]*[.\[\w(:=])", code[slice(*body)]):
        name = _called_around(code, body[0], body[0] + one.start())
        if one["address"] and not re.search(reading, name):
            return True
        if is_collection and name and not re.search(f"{reading}|{_HARMLESS}", name):
            return True
    return False


def _called_around(code: str, first: int, at: int) -> str:
    """What is called with the argument at `at`, by its last name; empty if nothing is."""
    depth = 0
    for before in range(at - 1, first, -1):
        depth += (code[before] in ")]}") - (code[before] in "([{")
        if depth < 0:
            found = _CALLED.search(code[max(first, before - _NAME) : before + 1])
            return found[1] if found else ""
        if code[before] == "\n" and depth == 0:
            return ""
    return ""


def _end(code: str, start: int, last: int) -> int:
    """The end of the expression at `start`: of its line, or of what brackets enclose; without a block behind it."""
    line = code.rfind("\n", 0, start) + 1
    has_block = _HEAD.match(code, line) is not None
    depth = 0
    for at in range(start, last):
        if code[at] in "([{":
            if has_block and depth == 0 and code[at] == "{" and code[at + 1 : at + 2] in ("\n", ""):
                return at
            depth += 1
        elif code[at] in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and code[at] in "\n;"):
            return at
    return last
