"""What a type inside a function declares, by the braces around it: `declared_inside_functions`. Pure.

For languages with braces and C's declarations. Which of the branches of a condition of the preprocessor is compiled
does not matter: each begins in the same scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import blanked
from lsp_mcp.words.nested import read_up_to, replaced_inside_out

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<what>\w*)(?:\\\r?\n|[^\n])*$", re.MULTILINE)
_TOKEN = re.compile(r"[{};()]|^[ \t]*#[ \t]*(?:if|el|endif)\w*(?:\\\r?\n|[^\n])*$", re.MULTILINE)
_PARENTHESES = re.compile(r"\([^()]*\)")
_MASK = "\x01"  # a pair of parentheses
_ARGUMENTS = re.compile(r"<[^<>;]*>")
_ATTRIBUTE = re.compile(rf"\[\[[^\[\]]*\]\]|\b(?:alignas|__attribute__|__declspec)\s*{_MASK}")
_TYPE_HEAD = re.compile(
    rf"\b(?:class|struct|union)\b(?P<names>(?:\s+\w+\s*{_MASK}|\s+\w+|\s*::\s*\w+)*)\s*(?::(?!:)[^{_MASK}]*)?\Z"
)
_AFTER_PARAMETERS = frozenset({"const", "noexcept", "override", "mutable", "volatile"})
_NO_NAMES = _AFTER_PARAMETERS | {"final", "operator"}
_OTHER_SCOPE = re.compile(r"\b(?:namespace|enum|extern)\b")
_BODY = re.compile(rf"{_MASK}|\]\s*\Z")
_LABEL = re.compile(r"\s*(?:(?:public|private|protected|signals|\w+\s+slots)\s*:(?!:)\s*)*")
_NO_DECLARATION = re.compile(
    r"\b(?:return|else|delete|goto|case|throw|new|friend|operator|if|while|for|switch|do|co_return|co_yield|co_await|using)\b"
)
_INITIALIZER = re.compile(rf"{_MASK}[^:]*:(?!:)")
_USED_AFTER = frozenset(".(!-+%^|?")
_USED_BEFORE = frozenset(".)]>-+%^|?")
_BEFORE_NAME = re.compile(r"(?:[\w\s&*,\[\]:]|->)*[^\W\d][\w\s&*,\[\]:]*[\s&*,\]]\Z")
_AFTER_NAME = re.compile(rf"\s*(?:[;,\[{{{_MASK}]|=(?!=)|:(?!:)|\Z)")

Kind = Literal["class", "struct", "interface", "type", "method", "field"]


class Declared(Struct, frozen=True):
    """A name at `span` that a type in a function declares, or that is this type's; `around` are the names it is in.

    An `embedded` field has the name of its type.
    """

    span: Span
    kind: Kind
    around: tuple[str, ...]  # of functions and types, the innermost last
    embedded: bool = False


class _Scope(Struct, frozen=True):
    """What braces are around: a type of that name, the body of a function, or something else."""

    kind: Literal["type", "body", "other"]
    name: str = ""


_Braces = tuple[int, int]
"""Where the head before an opening brace begins, and where it ends."""


def declared_inside_functions(text: Text, spans: Iterable[Span], language: Language | None) -> list[Declared]:
    """Those of the words at `spans` that seem to be declared as a type in a function, or as a member of one."""
    places = [(text.point_offset(span.start), text.point_offset(span.end), span) for span in spans]
    places = [one for one in places if _may_be_declared(text.content, *one[:2])]
    if not places:
        return []
    code = blanked(text, language)
    known: dict[_Braces, _Scope] = {}
    found = []
    for (start, end, span), (around, statement) in zip(places, _around(code, [one[0] for one in places]), strict=True):
        for head in around:
            if head not in known:
                known[head] = _scope(code[slice(*head)])
        scopes = [known[head] for head in around]
        if not any(scope.kind == "body" for scope in scopes):
            continue
        if kind := _kind(code, start, end, scopes[-1], statement):
            found.append(Declared(span, kind, tuple(scope.name for scope in scopes if scope.name)))
    return found


def _may_be_declared(content: str, start: int, end: int) -> bool:
    """Whether what is directly beside a word does not tell that it is only used there."""
    if content[start:end] in _NO_NAMES:
        return False
    return content[start - 1 : start] not in _USED_AFTER and content[end : end + 1] not in _USED_BEFORE


def _around(code: str, places: Sequence[int]) -> Iterator[tuple[tuple[_Braces, ...], int]]:
    """For each of `places`, in order: the braces around it, and where its statement begins."""
    state = _State()
    for _ in read_up_to(places, _TOKEN, code, state.read):
        yield tuple(state.braces), state.statement


class _State:
    """The open braces at a place of code, and the beginning of its statement."""

    def __init__(self) -> None:
        self.braces: list[_Braces] = []
        self.statement = 0
        self._parentheses = 0
        self._conditions: list[list[_Braces]] = []  # what was open before each `#if`

    def read(self, token: re.Match[str]) -> None:
        """Go on to the end of `token`."""
        sign = token[0]
        if sign in "()":
            self._parentheses = max(0, self._parentheses + (1 if sign == "(" else -1))
        elif sign == ";":
            if not self._parentheses:  # not in the head of a `for`
                self.statement = token.end()
        elif sign in "{}":
            if sign == "{":
                self.braces.append((self.statement, token.start()))
            elif self.braces:
                self.braces.pop()
            self.statement, self._parentheses = token.end(), 0
        else:
            self._read_directive(sign.lstrip(" \t#"), token.end())

    def _read_directive(self, directive: str, end: int) -> None:
        if directive.startswith("if"):
            self._conditions.append([*self.braces])
        elif directive.startswith("el") and self._conditions:
            self.braces, self.statement, self._parentheses = [*self._conditions[-1]], end, 0
        elif directive.startswith("endif") and self._conditions:
            self._conditions.pop()


def _masked(code: str) -> str:
    """`code` without directives and arguments of templates, and each pair of parentheses as one character."""
    code = _DIRECTIVE.sub("", code)
    for pattern, instead in ((_PARENTHESES, _MASK), (_ARGUMENTS, " "), (_ATTRIBUTE, " ")):
        code = replaced_inside_out(pattern, instead, code)
    return code


def _scope(head: str) -> _Scope:
    head = _LABEL.sub("", _masked(head), count=1)
    if found := _TYPE_HEAD.search(head):
        names = [name for name in re.findall(rf"\w+(?!\s*{_MASK}|\w)", found["names"]) if name != "final"]
        if not _AFTER_PARAMETERS.intersection(names) and not found["names"].rstrip().endswith(_MASK):
            return _Scope("type", names[-1] if names else "")
    if _OTHER_SCOPE.search(head) or not _BODY.search(head):
        return _Scope("other")
    named = re.search(rf"(\w+)\s*{_MASK}", head)
    return _Scope("body", named[1] if named else "")


def _kind(code: str, start: int, end: int, inner: _Scope, statement: int) -> Kind | None:
    """What the word is that is declared from `start` to `end`; None if it is not what a type declares."""
    before = _LABEL.sub("", _masked(code[statement:start]), count=1)
    following = re.split(r"[;{}]", code[end:], maxsplit=1)[0]
    after = _masked(code[end : end + len(following) + 1])
    if re.search(r"\b(?:class|struct|union)\s*\Z", before) and re.match(rf"[^{_MASK}]*\{{\Z", after):
        # `enum class X {` declares no members that are found by place only.
        return "class" if not re.search(r"\benum\b", before) and re.match(r"\s*(?:final\s*)?[:{]", after) else None
    if inner.kind != "type":
        return None
    if re.search(r"\busing\s*\Z", before) and re.match(r"\s*=(?!=)", after):
        return "class"
    if _NO_DECLARATION.search(before) or _INITIALIZER.search(before):
        return None
    if not (_BEFORE_NAME.match(before.replace(_MASK, " ")) and _AFTER_NAME.match(after)):
        return None
    return "method" if after.lstrip().startswith(_MASK) else "field"
