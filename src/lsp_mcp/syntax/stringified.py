"""Macros that make strings of their arguments (`#name`): `stringizing`, and the `arguments_around` a word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from lsp_mcp.syntax.preprocessor import comments_and_strings

_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<parameters>[^()]*)\)(?P<text>(?:\\\r?\n|[^\n])*)", re.MULTILINE
)
_MADE = re.compile(r"(?<!#)#(?!#)\s*(?P<name>\w+)")
_DEFINED = re.compile(r"#[ \t]*define[ \t]+\Z")
_CALLED = re.compile(r"(\w+)[ \t]*\Z")
_MOST = 4_000  # characters before and behind a word


class Argument(Struct, frozen=True):
    """An argument of what is called like a function: its number from 0, and where it is, without blanks."""

    called: str
    number: int
    start: int
    end: int


Stringizing = Mapping[str, frozenset[int]]
"""The numbers of the arguments that a macro makes strings of, by its name; the last of `REST` stands for all more."""

REST = 1_000  # added to the number of the first of any number of arguments


def stringizing(texts: Iterable[str]) -> Stringizing:
    """The macros that the code in `texts` defines and that make strings of arguments, through others too."""
    found: dict[str, set[int]] = {}
    every = (one for text in texts if _MADE.search(text) for one in _DEFINE.finditer(text))
    defined = [(one["name"], _parameters(one["parameters"]), _without_strings(one["text"])) for one in every]
    for name, parameters, text in defined:
        made = {one["name"] for one in _MADE.finditer(text)}
        found.setdefault(name, set()).update(number for word, number in parameters.items() if word in made)
    is_new = True
    while is_new:
        is_new = False
        for name, parameters, text in defined:
            for word, number in parameters.items():
                uses = re.finditer(rf"\b{re.escape(word)}\b", text) if number not in found[name] else ()
                if any(
                    is_stringized(found, argument) for one in uses for argument in arguments_around(text, *one.span())
                ):
                    found[name].add(number)
                    is_new = True
    return {name: frozenset(numbers) for name, numbers in found.items() if numbers}


def is_stringized(macros: Mapping[str, Iterable[int]], argument: Argument) -> bool:
    """Whether one of `macros` makes a string of `argument`."""
    numbers = macros.get(argument.called, ())
    return any(argument.number == one or (one >= REST and argument.number >= one - REST) for one in numbers)


def arguments_around(content: str, start: int, end: int) -> Iterator[Argument]:
    """The arguments that the word from `start` to `end` is in, the innermost first.

    The comments and strings of `content` are blank.
    """
    depth, number, begins, first = 0, 0, start, True
    closing = _end(content, end)
    for at in range(start - 1, max(-1, start - _MOST), -1):
        character = content[at]
        if character in ")]}":
            depth += 1
        elif character in "([{" and depth:
            depth -= 1
        elif depth:
            continue
        elif character == ",":
            begins, first, number = (at + 1 if first else begins), False, number + 1
        elif character == "(":
            begins = at + 1 if first else begins
            if (called := _CALLED.search(content, max(0, at - 100), at)) and closing < len(content):
                inner = content[begins:closing]
                blank = len(inner) - len(inner.lstrip())
                yield Argument(called[1], number, begins + blank, begins + len(inner.rstrip()))
            number, first = 0, True
            closing = _end(content, _behind(content, closing))
        elif character in ";{":
            return


def arguments_of(content: str, macro: str) -> Iterator[Argument]:
    """The arguments of all uses of `macro` in `content`, whose comments and strings are blank."""
    for use in re.finditer(rf"\b{re.escape(macro)}\s*\(", content):
        at = None if _DEFINED.search(content, max(0, use.start() - 40), use.start()) else use.end()
        while at is not None and (argument := next(arguments_around(content, at, at), None)):
            yield argument
            end = argument.end + len(content[argument.end :]) - len(content[argument.end :].lstrip())
            at = end + 1 if content[end : end + 1] == "," else None


def _without_strings(text: str) -> str:
    parts, last = [], 0
    for start, end, _ in comments_and_strings(text):
        parts.append(text[last:start])
        last = end
    return " ".join([*parts, text[last:]])


def _parameters(written: str) -> dict[str, int]:
    """The number of each parameter, by its name."""
    names = [name.strip() for name in written.replace("\\", " ").split(",")]
    numbers = {name: number for number, name in enumerate(names) if name}
    if names[-1].endswith("..."):
        numbers[names[-1].removesuffix("...").strip() or "__VA_ARGS__"] = len(names) - 1 + REST
    return numbers


def _end(content: str, start: int) -> int:
    """Where the argument that goes on at `start` ends; the length of `content` if nothing ends it."""
    depth = 0
    for at in range(start, min(len(content), start + _MOST)):
        character = content[at]
        if depth == 0 and character in ",)":
            return at
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (character == ";" and depth == 0):
            break
    return len(content)


def _behind(content: str, start: int) -> int:
    """Behind the parenthesis that closes the list in which an argument ends at `start`."""
    depth = 0
    for at in range(start, min(len(content), start + _MOST)):
        character = content[at]
        if character == ")" and depth == 0:
            return at + 1
        depth += (character in "([{") - (character in ")]}")
    return len(content)
