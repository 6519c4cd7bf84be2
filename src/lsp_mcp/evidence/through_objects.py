"""Members that a function uses through its explicit object: `is_through_object`.

`int twice(this auto &self) { return 2 * self.size(); }` of C++23: what `size` means depends on the type of the object,
which may be a derived class with a `size` of its own. A server takes it for the member of the class itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import partial
from operator import itemgetter
from pathlib import Path

from lsp_mcp.remembered import Remembered, kept_in_thread
from lsp_mcp.requests.places import Place
from lsp_mcp.servers.traits import WordCheck

_BEFORE = 200  # characters before a member
_MOST_KEPT = 500  # files, and names of explicit objects in them
_IN_BRACKETS = re.compile(r"<[^<>]*>")
_PARAMETER = re.compile(r"[\w.]\s+(?P<name>\w+)\s*(?=[,=]|\Z)")
_OBJECTS: Remembered[Path, str, dict[str, list[tuple[int, bool]]]] = Remembered(_MOST_KEPT)  # the stamp is the text


async def is_through_object(place: Place, rules: WordCheck) -> bool:
    """Whether the word at `place` is a member of an explicit object whose type only a call decides."""
    if not rules.explicit_object_pattern:
        return False
    content, start = place.text.content, place.text.point_offset(place.span.start)
    used = re.search(rules.member_pattern, content[max(0, start - _BEFORE) : start])
    name = re.match(r"\w+", used["operand"]) if used and used["operand"] else None
    if name is None:
        return False
    objects = await kept_in_thread(_OBJECTS, place.path, content, partial(explicit_objects, content, rules))
    declared = objects.get(name[0], [])
    before = bisect_right(declared, start, key=itemgetter(0))
    return before > 0 and declared[before - 1][1]


def explicit_objects(content: str, rules: WordCheck) -> dict[str, list[tuple[int, bool]]]:
    """The explicit objects of functions by their names: where their declarations end, and whether only a call decides
    their types. Pure.
    """
    parameters: dict[str, int] = {}
    for head in re.finditer(rules.type_parameters_pattern, content):
        for name in _type_parameters(head["parameters"]):
            parameters.setdefault(name, head.start())
    found: dict[str, list[tuple[int, bool]]] = {}
    for one in re.finditer(rules.explicit_object_pattern, content):
        words = re.findall(r"\w+", one["type"])
        is_open = any(word in rules.standing_for or parameters.get(word, len(content)) < one.start() for word in words)
        found.setdefault(one["name"], []).append((one.end(), is_open))
    return found


def _type_parameters(head: str) -> list[str]:
    """The names of parameters: `S` of `class T, derived_from<T> S = A`, and `T`."""
    while (plain := _IN_BRACKETS.sub(" ", head)) != head:
        head = plain
    return [one["name"] for one in _PARAMETER.finditer(head)]
