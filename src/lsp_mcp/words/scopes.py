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
from lsp_mcp.words.lexing import blanked
from lsp_mcp.words.nested import replaced_inside_out

_MOST = 30_000  # characters before a word that are looked at
_MOST_HEAD = 2_000  # of these, before a brace
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*$", re.MULTILINE)
_CLASS = re.compile(
    r"\b(?:class|struct|union)\s+(?:[A-Z_][A-Z\d_]*\s+|alignas\([^()]*\)\s*)*(?P<name>[^\W\d]\w*)\s*(?:final\s*)?(?:(?<!:):(?!:)[^()]*)?\Z"
)
_NOT_TYPES = re.compile(
    r"\b(?:return|else|delete|goto|case|throw|new|using|friend|namespace|operator|sizeof|if|while|for|switch|do|extern|"
    r"not|and|or|co_return|co_yield|co_await|public|private|protected)\b"
)
_QUALIFIERS = re.compile(r"(?:\b(?:const|constexpr|volatile|register|static|inline|typename)\b\s*)+")
_TYPE = r"[^\W\d](?:[\w\s&*]|::)*[\s&*]"
_TYPED = re.compile(_TYPE, re.ASCII)
# `LOCK⏎ size = 3` has no type, nor has `LOCK⏎ *size = 3`.
_OTHER_LINE = re.compile(r"\w[ \t\r]*\n[\s&*]*\Z")
_DECLARATOR = re.compile(r"[\s&*]*[^\W\d]\w*\s*(?:\[[^\[\]]*\]\s*)*(?::\s*\w+\s*)?", re.ASCII)
_LEAD = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*(?:template\s*<[^;{}()]*>\s*)?")
_ARGUMENTS = re.compile(r"<[^<>()=]*>")
# What is in parentheses is masked: parameters, and what else there may be, as in `size (*get)(int)`.
_PARAMETERS, _OTHER_PARENTHESES = "\x01", "\x02"
_PARENTHESES = re.compile(r"\((?P<pointer>\s*(?:\w+\s*::\s*)*[*&^])?[^()]*\)")
_BRACES = re.compile(r"\{[^{}]*\}")
_NEXT = re.compile(r"\s*(?:==|\S)")
_AFTER_LOCAL = re.compile(r"\s*(?:[;,\[{]|=(?!=)|\Z)")
_AFTER_MEMBER = re.compile(rf"\s*(?:[;,\[{{{_PARAMETERS}]|=(?!=)|:(?!:)|\Z)")
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
    """Where a word is declared: in the class of that name, or, if that is "", in a function.

    `has_bases`: the class may inherit from others.
    """

    owner: str = ""
    has_bases: bool = False


def declared_around(text: Text, span: Span, language: Language | None) -> Declared | None:
    """What declares the word at `span` for its place, if that is surely a function or a class around it.

    The word stands by itself there, or behind `this->`.
    """
    word, code = text.slice(span), blanked(text, language)
    start, end = text.point_offset(span.start), text.point_offset(span.end)
    directives = _directives(code)
    first = max(max((to for _, to in directives if to <= start), default=0), start - _MOST)
    is_member = bool(re.search(r"\bthis\s*->\s*\Z", code[first:start]))
    is_local = False
    in_body = False
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
            if has_directives or not _declares(code[brace + 1 : close], word, _AFTER_MEMBER):
                return None
            # `size *size;`, `char name[size]`: what that means differs between C and C++.
            if not (in_body or _is_declared(code, brace, start, end) or _is_initialized(code, brace, start)):
                return None
            return Declared(found["name"], has_bases=":" in found[0][found.end("name") - found.start() :])
        in_body = True
        inside = code[brace + 1 : end] + (_NEXT.match(code, end) or [""])[0]
        is_local = is_local or (not is_member and _declares(inside, word, _AFTER_LOCAL))
        if function and (is_local or (not is_member and _has_parameter(function["parameters"], word))):
            return Declared()
    return None


@lru_cache(maxsize=8)
def _directives(code: str) -> list[tuple[int, int]]:
    return [match.span() for match in DIRECTIVE.finditer(code)]


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


def _declares(body: str, word: str, after: re.Pattern[str]) -> bool:
    """Whether a statement of `body`, on its own level, declares `word`, which `after` follows, if that is sure."""
    body = replaced_inside_out(_BRACES, ";", body)
    # What is open behind these is around the place that was asked about: an inner block has its own turn.
    for statement in re.split(r"[;{}]", _masked(body)):
        for found in _whole(word).finditer(statement):
            if after.match(statement, found.end()) and _is_type(statement[: found.start()]):
                return True
    return False


def _is_declared(code: str, brace: int, start: int, end: int) -> bool:
    """Whether the word itself is what is declared at `start`, in the class that begins at `brace`."""
    before = re.split(r"[;{}]", code[brace + 1 : start])[-1]
    return bool(_AFTER_MEMBER.match(_masked(code[end : end + _MOST_HEAD]))) and _is_type(_masked(before))


def _is_initialized(code: str, brace: int, start: int) -> bool:
    """Whether the word at `start` is in the list behind the head of a constructor."""
    before = re.split(r"[;{}]", code[brace + 1 : start])[-1]
    return bool(re.search(rf"{_PARAMETERS}\s*(?:noexcept\s*)?:(?!:)[^=]*\Z", _masked(before)))


def _masked(body: str) -> str:
    """`body` with each pair of parentheses as one character; from one that is not closed on nothing is sure."""
    body = replaced_inside_out(_PARENTHESES, _mask, body)
    return body[: body.find("(") + 1] or body


def _mask(match: re.Match[str]) -> str:
    return _OTHER_PARENTHESES if match["pointer"] else _PARAMETERS


def _is_type(before: str) -> bool:
    """Whether `before`, from the beginning of a statement, is a type, or declares other variables of one."""
    before = _LEAD.sub("", before, count=1)
    before = _without_arguments(before)
    if _NOT_TYPES.search(before) or _OTHER_LINE.search(before):
        return False
    first, *others = before.split(",")
    if not others:
        return bool(_TYPED.fullmatch(first)) and not _QUALIFIERS.fullmatch(first)
    *others, last = others
    return (
        bool(_TYPED.match(first) and re.fullmatch(rf"{_TYPE}{_DECLARATOR.pattern}", first, re.ASCII))
        and all(_DECLARATOR.fullmatch(one) for one in others)
        and not last.strip(" \t\r\n*&")
    )


def _without_arguments(code: str) -> str:
    """`code` without the arguments of templates."""
    return replaced_inside_out(_ARGUMENTS, " ", code)


def _has_parameter(parameters: str, word: str) -> bool:
    """Whether one of a function's `parameters` is called `word`."""
    masked = _without_arguments(_masked(parameters))
    named = re.compile(rf"\s*(?P<type>{_TYPE})\s*{re.escape(word)}\s*(?:=.*|\[[^\]]*\]\s*)?", re.ASCII | re.DOTALL)
    found = (named.fullmatch(one) for one in masked.split(","))
    return any(one and _is_type(one["type"]) for one in found)


@lru_cache(maxsize=64)
def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
