"""Which parts of a text are code, and which are comments, strings, or compiled by nobody: `code`, as a `Code`.

What is not certainly a comment or a string counts as code, as do the names in holes of strings: `f"{name}"`.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from lsp_mcp.syntax.grammars import Grammar
from lsp_mcp.syntax.preprocessor import Macro, comments_and_strings, directives
from lsp_mcp.syntax.trees import Parsed, parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

Part = Literal["code", "comment", "string", "never"]
_PARTS: tuple[Part, ...] = ("code", "comment", "string", "never")
_CODE, _COMMENT, _STRING, _NEVER = range(4)
_Stretch = tuple[int, int, int]
"""Where it starts and ends, and the number of its part."""
_FORMATTED = re.compile(r"(?<!\{)(?:\{\{)*\{\s*(\w+)")
_NO_SPACE = re.compile(r"[^\n]")
_HAS_MORE = re.compile(r"[\"'/]")


class Code(Struct, frozen=True):
    """The parts of one text that are not code, in order, without overlaps; and the macros that it defines."""

    starts: array[int]
    ends: array[int]
    numbers: bytes  # of `_PARTS`
    macros: tuple[Macro, ...] = ()  # in order

    def part(self, offset: int) -> Part:
        """What the character at `offset` is in."""
        return _PARTS[self.numbers[number]] if (number := self._number(offset)) is not None else "code"

    def around(self, offset: int) -> tuple[int, int] | None:
        """Where the comment or string around `offset` begins and ends, up to code inside; None if it is code."""
        return (self.starts[number], self.ends[number]) if (number := self._number(offset)) is not None else None

    def hidden(self) -> Iterator[tuple[int, int]]:
        """The comments and strings."""
        places = zip(self.starts, self.ends, self.numbers, strict=True)
        return ((start, end) for start, end, number in places if number != _NEVER)

    def blank(self, content: str) -> str:
        """`content`, the text, with white space for its comments and strings, so that offsets stay the same."""
        parts, last = [], 0
        for start, end in self.hidden():
            parts += [content[last:start], _NO_SPACE.sub(" ", content[start:end])]
            last = end
        return "".join([*parts, content[last:]])

    def macro(self, offset: int) -> Macro | None:
        """The macro in whose definition `offset` is."""
        number = bisect_right(self.macros, offset, key=lambda macro: macro.start) - 1
        return self.macros[number] if number >= 0 and offset < self.macros[number].end else None

    @property
    def weight(self) -> int:
        """How much of it there is to keep: about 10 bytes each."""
        return 20 + len(self.starts) + 40 * len(self.macros)

    def _number(self, offset: int) -> int | None:
        number = bisect_right(self.starts, offset) - 1
        return number if number >= 0 and offset < self.ends[number] else None


def code(text: Parsed, grammar: Grammar) -> Code:
    """The parts of a text that was parsed by `grammar`."""
    found = sorted(_captured(text, grammar), key=_in_order)
    if not grammar.has_directives:
        return _as_code(found)
    content = text.text.content
    parts = _as_code(found)
    lines = directives(content, lambda offset: parts.part(offset) == "code")
    # To the grammar, what follows `#define` and `#pragma` is one word.
    words = sorted([*((macro.text_start, macro.end) for macro in lines.macros), *lines.others])
    inside = [one for span in words for one in _inside(content, span, grammar)]
    ignored = [(*span, _NEVER) for span in (*lines.never, *lines.no_code)]
    starts = [start for start, _ in words]
    found = [one for one in found if not _is_within(one[0], starts, words)]
    return _as_code(sorted([*found, *inside, *ignored], key=_in_order), lines.macros)


def code_without(found: Iterable[tuple[int, int, bool]]) -> Code:
    """The parts of a text whose comments and strings were `found` otherwise, in order: start, end, and if a comment."""
    return _as_code([(start, end, _COMMENT if is_comment else _STRING) for start, end, is_comment in found])


def _captured(text: Parsed, grammar: Grammar) -> Iterator[_Stretch]:
    from tree_sitter import QueryCursor

    query, content = grammar.query("code"), text.text.content
    assert query, grammar.name
    captures = QueryCursor(query).captures(text.root)
    if grammar.has_directives and text.root.has_error:  # a macro that is used like a declaration, for example
        hidden = comments_and_strings(content)
        yield from ((start, end, _COMMENT if is_comment else _STRING) for start, end, is_comment in hidden)
    else:
        yield from _hidden(text, captures, query)
    yield from ((*text.offsets(node), _CODE) for node in captures.get("code", ()))
    for node in captures.get("format", ()):
        for found in _FORMATTED.finditer(content, *text.offsets(node)):
            yield *found.span(1), _CODE


def _hidden(text: Parsed, captures: Mapping[str, Sequence[Node]], query: Query) -> Iterator[_Stretch]:
    """The comments and strings that the tree has."""
    is_code = _code_in_comments(query)
    for node in captures.get("comment", ()):
        start, end = text.offsets(node)
        if not (is_code and is_code.match(text.text.content, start)):
            yield start, end, _COMMENT
    may_be_misread = text.root.has_error
    for node in captures.get("string", ()):
        if not (may_be_misread and _is_uncertain(node)):
            yield *text.offsets(node), _STRING


def _is_uncertain(node: Node) -> bool:
    """Whether a string of several lines has an error, or is in one: its quotes may be those around something else."""
    if node.start_point.row == node.end_point.row:
        return False
    above: Node | None = node
    while above and not above.is_error:
        if above.is_missing or (above == node and above.has_error):
            return True
        above = above.parent
    return above is not None


@cache
def _code_in_comments(query: Query) -> re.Pattern[str] | None:
    """What comments begin with that name symbols for a compiler, as the query's first pattern says."""
    pattern = query.pattern_settings(0).get("code")
    return re.compile(pattern) if pattern else None


def _in_order(one: _Stretch) -> tuple[int, int, int]:
    return one[0], -one[1], -one[2]  # of what is in one place, the code counts


def _inside(content: str, span: tuple[int, int], grammar: Grammar) -> Iterable[_Stretch]:
    """The parts of the text from one offset to another, parsed by itself."""
    start, end = span
    if not _HAS_MORE.search(content, start, end):
        return ()
    # Beside a string, `#name` would be a directive to the grammar.
    text = Text(content[start:end].replace("#", " "))
    found = _captured(parsed(text, grammar), grammar)
    return [(start + first, start + last, number) for first, last, number in found]


def _is_within(offset: int, starts: list[int], spans: list[tuple[int, int]]) -> bool:
    number = bisect_right(starts, offset) - 1
    return number >= 0 and offset < spans[number][1]


def _as_code(found: list[_Stretch], macros: tuple[Macro, ...] = ()) -> Code:
    """What was `found`, in order of where it starts: where one is inside another, the inner one counts."""
    starts, ends, numbers = array("I"), array("I"), bytearray()

    def add(start: int, end: int, number: int) -> None:
        if start < end and number != _CODE:
            starts.append(start)
            ends.append(end)
            numbers.append(number)

    open_: list[_Stretch] = []
    at = 0  # up to here, all is added
    for one in [*found, (1 << 32, 1 << 32, _CODE)]:
        while open_ and open_[-1][1] <= one[0]:
            start, end, number = open_.pop()
            add(max(start, at), end, number)
            at = max(at, end)
        if open_:
            add(max(open_[-1][0], at), one[0], open_[-1][2])
            at = max(at, one[0])
        open_.append(one)
    return Code(starts, ends, bytes(numbers), macros)
