"""What declares a word in code that nobody has parsed, by the braces around it: `declared_around`. Pure.

For languages with braces and C's declarations. Only what no other configuration can change is looked at: there is no
directive of the preprocessor between a declaration and the word, and none in a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.text import Span, Text

_MOST = 30_000  # characters before a word that are looked at
_MOST_HEAD = 2_000  # of these, before a brace
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*$", re.MULTILINE)
_CLASS = re.compile(
    r"\b(?:class|struct|union)\s+(?:[A-Z_]\w*\s+|alignas\([^()]*\)\s*)*(?P<name>[^\W\d]\w*)\s*(?:final\s*)?(?:(?<!:):(?!:)[^()]*)?\Z"
)
_NOT_TYPES = (
    "return|else|delete|goto|case|throw|new|using|friend|namespace|operator|sizeof|if|while|for|switch|do|"
    "co_return|co_yield|co_await|public|private|protected"
)
_TYPE = rf"(?!(?:{_NOT_TYPES})\b)[^\W\d](?:[\w<>,\s&*\[\]]|::)*[\s&*>]"
_BEFORE = re.compile(
    rf"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*(?:template\s*<[^;{{}}()]*>\s*)?{_TYPE}\Z", re.ASCII
)
_AFTER = re.compile(r"\s*(?:[;,=(\[{]|:(?!:)|\Z)")
_FUNCTION = re.compile(
    r"(?P<name>[^=()]*(?:\boperator\s*(?:\(\s*\)|[-+*/%^&|~!=<>,\[\]]{1,3})\s*)?)\((?P<parameters>(?:[^()]|\([^()]*\))*)\)\s*(?:(?:const|noexcept|override|final|volatile|&&?)\s*)*"
    r"(?:->[\w:<>,\s&*]+|:(?!:).*)?",
    re.DOTALL,
)
_TAGGED = re.compile(r"\b(?:struct|class|union|enum)\s+\w+\s*\Z")  # `struct PACKED(4) {` is not a function
# A block inside a function; the head of a `for` is cut at its semicolons.
_BLOCK = re.compile(
    r"\s*(?:(?:(?:else|do|try)\b\s*)*(?:(?:else\s+)?(?:if|while|for|switch|catch)\b.*\))?|case\b.*:|default\s*:"
    r"|[^()]*(?:\([^()]*\)[^()]*)*\))\s*",
    re.DOTALL,
)


class Declared(Struct, frozen=True):
    """Where a word is declared: in the class of that name, or, if that is "", in a function."""

    owner: str = ""


def declared_around(text: Text, span: Span, language: Language | None) -> Declared | None:
    """What declares the word at `span` for its place, if that is surely a function or a class around it.

    The word stands by itself there, or behind `this->`.
    """
    word, code = text.slice(span), blanked(text.content, language)
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    directives = _directives(code)
    first = max(max((to for _, to in directives if to <= start), default=0), start - _MOST)
    is_member = bool(re.search(r"\bthis\s*->\s*\Z", code[first:start]))
    is_local = False
    for brace in _braces_around(code, first, start):
        head = re.split(r"[;{}]", code[max(first, brace - _MOST_HEAD) : brace])[-1]
        is_block = bool(_BLOCK.fullmatch(head))
        function = None if is_block else _FUNCTION.fullmatch(head)
        if function and _TAGGED.search(function["name"]):
            return None
        if not (is_block or function):
            found = _CLASS.search(head)
            if found is None or is_local:
                return None
            close = _closing(code, brace)
            has_directives = any(brace < at < close for at, _ in directives)
            if has_directives or not any(_declares(one, word) for one in _statements(code[brace + 1 : close])):
                return None
            return Declared(found["name"])
        inside = code[brace + 1 : end] + (_AFTER.match(code, end) or [""])[0]
        is_local = is_local or (not is_member and any(_declares(one, word) for one in _statements(inside)))
        if function and (is_local or (not is_member and _has_parameter(function["parameters"], word))):
            return Declared()
    return None


@lru_cache(maxsize=8)
def blanked(content: str, language: Language | None) -> str:
    """`content` with comments and strings replaced by white space, so that offsets stay the same."""
    lexing = language.lexing if language else None
    if lexing is None:
        return content
    return re.sub(f"{lexing.comment}|{lexing.string}", _white, content, flags=re.MULTILINE)


def _white(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


@lru_cache(maxsize=8)
def _directives(code: str) -> list[tuple[int, int]]:
    return [match.span() for match in _DIRECTIVE.finditer(code)]


def _braces_around(code: str, first: int, at: int) -> Iterator[int]:
    """The opening braces around `at`, the innermost first, back to `first`."""
    closed = 0
    for place in range(at - 1, first - 1, -1):
        if code[place] == "}":
            closed += 1
        elif code[place] == "{":
            if not closed:
                yield place
            closed = max(closed - 1, 0)


def _closing(code: str, brace: int) -> int:
    """Where the brace that closes the one at `brace` is; the end if there is none."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(code, brace):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.start()
    return len(code)


def _statements(body: str) -> Iterator[str]:
    """The statements of a body on its own level, without what is in braces inside."""
    while (shorter := re.sub(r"\{[^{}]*\}", ";", body)) != body:
        body = shorter
    # What is open behind these is around the place that was asked about: an inner block has its own turn.
    yield from re.split(r"[;{}]", body)


def _declares(statement: str, word: str) -> bool:
    """Whether `statement` declares `word`, one way or another: as a variable, function, or type."""
    for found in _whole(word).finditer(statement):
        if _BEFORE.fullmatch(statement[: found.start()]) and _AFTER.match(statement, found.end()):
            return True
    return False


def _has_parameter(parameters: str, word: str) -> bool:
    """Whether one of a function's `parameters` is called `word`."""
    parameter = re.compile(rf"(?:^|,)\s*{_TYPE}\s*{re.escape(word)}\s*(?:=[^,]*|\[[^\]]*\]\s*)?(?=,|\Z)")
    return bool(parameter.search(parameters))


@lru_cache(maxsize=64)
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
