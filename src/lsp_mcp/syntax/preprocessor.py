"""C's preprocessor: macros, conditions that are never true, lines without code (`directives`); its tokens. Pure.

They are found line by line, not in the tree: the preprocessor is a language of its own, in which a line is a statement,
and the grammars know directives only where a whole declaration or statement may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*$", re.MULTILINE)
"""A line for the preprocessor, with those that continue it."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<what>[a-z_]+)(?P<rest>(?:\\\r?\n|[^\n])*)", re.MULTILINE)
_MACRO = re.compile(r"[ \t]+(?P<name>\w+)(?:\((?P<parameters>[\w\s,.\\]*)\))?")
_ZERO = re.compile(r"[ \t]+0[ \t]*(?:\r?\Z|//|/\*)")
# What the preprocessor reads as one: a comment, a string or character, the header of an include, a name, a number.
_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\r?\n|[^\n])*|/\*(?s:.*?)(?:\*/|\Z))
    |(?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{0,16})\((?s:.*?)\)(?P=delimiter)"
    |"(?:\\(?:\r?\n|.)|[^"\\\n])*"|'(?:\\(?:\r?\n|.)|[^'\\\n])+')
    |^[ \t]*\#[ \t]*(?:include|include_next|import)[ \t]*(?P<header><[^>\n]*>)
    |[^\W\d]\w*|\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*""",
    re.MULTILINE | re.VERBOSE,
)
_NO_CODE = frozenset({"error", "warning"})
_INCLUDES = frozenset({"include", "include_next", "import"})


class Macro(Struct, frozen=True):
    """The definition of a macro, from `start` to `end`; its name ends at `name_end`, where its text begins."""

    start: int
    end: int
    name: str
    name_start: int
    text_start: int
    parameters: frozenset[str]

    @property
    def name_end(self) -> int:
        """Where its name ends."""
        return self.name_start + len(self.name)


class Directives(Struct, frozen=True):
    """The macros of a text, and the stretches that nobody compiles: after `#if 0`, and the text of `#error`."""

    macros: tuple[Macro, ...] = ()
    never: tuple[tuple[int, int], ...] = ()
    no_code: tuple[tuple[int, int], ...] = ()
    others: tuple[tuple[int, int], ...] = ()  # what follows `#pragma` and such


def directives(content: str, is_code: Callable[[int], bool]) -> Directives:
    """The directives of `content`, except in comments and strings: where `is_code` is false for their offset."""
    macros: list[Macro] = []
    never: list[tuple[int, int]] = []
    no_code: list[tuple[int, int]] = []
    others: list[tuple[int, int]] = []
    begun: list[int | None] = []  # for each open condition: the start of the part that is never compiled
    for found in _DIRECTIVE.finditer(content):
        what, rest = found["what"], found.start("rest")
        if not is_code(rest - 1):
            continue
        if what == "define":
            if macro := _MACRO.match(content, rest, found.end()):
                names = frozenset(re.findall(r"\w+", macro["parameters"] or ""))
                macros.append(Macro(*found.span(), macro["name"], macro.start("name"), macro.end(), names))
        elif what in _NO_CODE:
            no_code.append(found.span())
        elif what in ("if", "ifdef", "ifndef"):
            begun.append(found.end() if what == "if" and _ZERO.match(found["rest"]) else None)
        elif begun and what in ("else", "elif", "elifdef", "elifndef", "endif"):
            if (start := begun.pop()) is not None:
                never.append((start, found.start()))
            if what != "endif":
                begun.append(None)
        elif what not in _INCLUDES:
            others.append(found.span("rest"))
    return Directives(tuple(macros), tuple(never), tuple(no_code), tuple(others))


def comments_and_strings(content: str) -> Iterator[tuple[int, int, bool]]:
    """The comments and strings of `content`, in order: start, end, and if a comment.

    These don't depend on how code can be parsed: the preprocessor finds them before.
    """
    for found in _TOKEN.finditer(content):
        if what := next((one for one in ("comment", "string", "header") if found[one]), None):
            yield *found.span(what), what == "comment"


def macro_line(content: str, offset: int) -> bool:
    """Whether `offset` is on what looks like the definition of a macro, or on a line that continues one."""
    first = content.rfind("\n", 0, offset) + 1
    while content.endswith(("\\\n", "\\\r\n"), 0, first):
        first = content.rfind("\n", 0, first - 1) + 1
    return any(found["what"] == "define" for found in _DIRECTIVE.finditer(content, first, offset + 1))
