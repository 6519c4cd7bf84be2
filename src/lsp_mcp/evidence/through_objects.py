"""Members that a function uses through its explicit object: `is_through_object`. Pure.

`int twice(this auto &self) { return 2 * self.size(); }` of C++23: what `size` means depends on the type of the object,
which may be a derived class with a `size` of its own. A server takes it for the member of the class itself.
"""

from __future__ import annotations

import re

from lsp_mcp.requests.places import Place
from lsp_mcp.servers.traits import WordCheck

_BEFORE = 200  # characters before a member


def is_through_object(place: Place, rules: WordCheck) -> bool:
    """Whether the word at `place` is a member of an explicit object whose type only a call decides."""
    if not rules.explicit_object_pattern:
        return False
    content, start = place.text.content, place.text.point_offset(place.span.start)
    used = re.search(rules.member_pattern, content[max(0, start - _BEFORE) : start])
    if used is None or not used["operand"]:
        return False
    name = re.match(r"\w+", used["operand"])
    pattern = re.compile(rules.explicit_object_pattern.format(name=name[0] if name else "(?!)"))
    declared = list(pattern.finditer(content, 0, start))
    if not declared:
        return False
    words = re.findall(r"\w+", declared[-1]["type"])
    return any(
        word in rules.standing_for or re.search(rules.type_parameter_pattern.format(name=word), content[:start])
        for word in words
    )
