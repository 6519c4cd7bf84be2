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
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|el|endif)(?:\\\r?\n|[^\n])*", re.MULTILINE)
_NAMED = re.compile(r"^[ \t]*#[ \t]*(?:if|el|undef)(?:\\\r?\n|[^\n])*", re.MULTILINE)
_USE = re.compile(r"(?P<name>[A-Z][A-Z0-9_]{2,})[ \t]*\((?P<arguments>[^(){};]*)\)")
_IN_WORD = re.compile(r"\w\Z")
_INNERMOST = re.compile(r"<[^<>]*>")
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
_PARAMETERS = re.compile(r"\w+\((?P<names>[\w\s,.\\]*)\)")
_MEMBER = re.compile(r"(?:\.|->|offsetof\s*\((?:[^()]|\([^()]*\))*,)\s*\Z")
_NAME_BEFORE = re.compile(r"(?<!\w)([^\W\d]\w*)\s*\Z")
_LONGEST = 200  # characters of a name, with the space behind it
_MOST_BEFORE = 2_000  # characters of a call before one of its arguments
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


class MacroUse(Struct, frozen=True):
    """A use of what is probably a macro, by its name in capitals: the last word of each of its `arguments`.

    Words that are parameters of the macro in whose definition it stands are left out. `begins_line`: it may stand like
    a declaration, as in `TEST_F(Fixture, Name)`.
    """

    name: str
    arguments: tuple[tuple[int, int], ...]
    begins_line: bool


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


def argument_at(content: str, start: int) -> tuple[int, int, int] | None:
    """The call with `start` in its arguments: start and end of its name, and the place of the argument, from 0.

    `content` has no comments and strings.
    """
    depth, index = 0, 0
    for at in range(start - 1, max(-1, start - _MOST_BEFORE), -1):
        character = content[at]
        if character in ";{}":
            return None
        if character in ")]":
            depth += 1
        elif depth and character in "([":
            depth -= 1
        elif character == "," and not depth:
            index += 1
        elif character == "(" and (name := _NAME_BEFORE.search(content, max(0, at - _LONGEST), at)):
            return name.start(1), name.end(1), index
        elif character in "([":
            return None
    return None


def names_member(definition: str, index: int) -> bool:
    """Whether a macro takes the argument at `index` for the name of a member; `definition` begins with its name."""
    text, uses = _parameter_in(definition, index)
    return any(_MEMBER.search(text, 0, use) for use in uses)


def _parameter_in(definition: str, index: int) -> tuple[str, list[int]]:
    """The text of the macro whose `definition` begins with its name, and where it has the parameter at `index`."""
    lines = re.match(r"(?:\\\r?\n|[^\n])*", definition)
    found = lines and _PARAMETERS.match(lines[0])
    names = re.findall(r"\w+", found["names"]) if found else []
    if not lines or not found or index >= len(names):
        return "", []
    text = lines[0][found.end() :]
    return text, [use.start() for use in re.finditer(rf"(?<!\w){names[index]}(?!\w)", text)]


def definitions_of(content: str, macro: str) -> list[int]:
    """Where `content` defines a macro of that name; in comments too."""
    return [one.start() for one in re.finditer(rf"(?m)^[ \t]*#[ \t]*define[ \t]+{re.escape(macro)}(?!\w)", content)]


def is_spliced(definition: str, index: int, expansion: str, word: str) -> bool:
    """Whether a macro only makes longer names and strings of `word`, its argument at `index`.

    Its `definition` begins with its name. Not if it drops the argument, or has that word itself.
    """
    text, uses = _parameter_in(definition, index)
    if not uses or word in text:
        return False
    strings, code = "", expansion
    for start, end, _ in comments_and_strings(expansion):
        strings += f" {expansion[start:end]}"
        code = f"{code[:start]}{' ' * (end - start)}{code[end:]}"
    written = re.escape(word)
    if re.search(rf"(?<!\w){written}(?!\w)", code):
        return False
    is_in_name = re.search(rf"(?<![^\W_]){written}|{written}(?![^\W_])", code)
    return bool(is_in_name or re.search(rf"(?<!\w){written}(?!\w)", strings))


def macro_uses(blank: str, macro_at: Callable[[int], Macro | None]) -> Iterator[MacroUse]:
    """The uses of macros in a text whose comments and strings are `blank`, except those without arguments."""
    for found in _USE.finditer(blank):
        before = blank[blank.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _IN_WORD.search(before):
            continue
        macro = macro_at(found.start("name"))
        own = macro.parameters if macro else ()
        arguments = [one for one in last_words(blank, *found.span("arguments")) if blank[slice(*one)] not in own]
        if arguments:
            yield MacroUse(found["name"], tuple(arguments), not before.strip(" \t"))


def last_words(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the last word outside of `<…>` is in each part between commas of what is from `start` to `end`."""
    blank = content[start:end]
    while (shorter := _INNERMOST.sub(lambda found: " " * len(found[0]), blank)) != blank:
        blank = shorter
    parts = [(start + part.start(), list(re.finditer(r"\w+", part[0]))) for part in re.finditer("[^,]+", blank)]
    return [(first + words[-1].start(), first + words[-1].end()) for first, words in parts if words]


def without_conditions(content: str, filler: str) -> str:
    """`content` with the lines of conditions replaced by `filler`, so that offsets stay the same."""
    return _CONDITION.sub(lambda found: filler * len(found[0]), content)


def in_condition(content: str, offset: int) -> bool:
    """Whether `offset` is on what looks like the line of a condition, or one that ends a macro."""
    start = content.rfind("\n", 0, offset) + 1
    found = _NAMED.match(content, start)
    return found is not None and offset < found.end()


def macro_line(content: str, offset: int) -> bool:
    """Whether `offset` is on what looks like the definition of a macro, or on a line that continues one."""
    first = content.rfind("\n", 0, offset) + 1
    while content.endswith(("\\\n", "\\\r\n"), 0, first):
        first = content.rfind("\n", 0, first - 1) + 1
    return any(found["what"] == "define" for found in _DIRECTIVE.finditer(content, first, offset + 1))
