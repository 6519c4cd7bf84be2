"""What types inside functions and types without a name declare, where names come first: `declared_unlisted`. Pure.

For Go's declarations, `type T struct { a, b int }`, in code that a formatter accepts: a line end ends a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from lsp_mcp.adapters import Language
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import blanked
from lsp_mcp.words.local_types import Declared, Kind
from lsp_mcp.words.nested import read_up_to

_TOKEN = re.compile(r"[{}()\[\];\n]")
_HEAD = 400  # characters before a bracket that are looked at
_NAMES_BEFORE = re.compile(r"\s*(?:\w+\s*,\s*)*\Z")
_TYPE_BEFORE = re.compile(r"\s*type\s+\Z")
_FIELD_AFTER = re.compile(r"\s*,|[ \t]+(?:[\w*(\[]|<-)")
_EMBEDDED_BEFORE = re.compile(r"\s*\*?(?:\w+\.)?")
_EMBEDDED_AFTER = re.compile(r"[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?:[\n\r;}`\"]|//|/\*|\Z)")
_METHOD_AFTER = re.compile(r"[ \t]*\(")
_TYPE_AFTER = re.compile(
    r"[ \t]*(?:\[[ \t]*[^\W\d]\w*(?:[ \t]*,|[ \t])[^\]\n]*\][ \t]*)?=?[ \t]*"
    r"(?:(?P<kind>struct|interface)\b|[\w*(\[]|<-)"
)
_NO_TYPES = frozenset({"break", "case", "continue", "default", "defer", "else", "go", "goto", "return", "var", "const"})
_PARAMETERS = r"(?:\[\s*[^\W\d]\w*(?:\s*,|\s)[^{}]*(?:\{[^{}]*\}[^{}]*)*\]\s*)?"
_MEMBERS = re.compile(r"\b(?P<kind>struct|interface)\s*\Z")
_NAMED_TYPE = re.compile(rf"\s*(?P<word>type\s+)?(?P<name>\w+)\s*{_PARAMETERS}=?\s*(?:struct|interface)\s*\Z")
_NAMED_FIELD = re.compile(r"\s*(?P<name>\w+)(?:\s*,\s*\w+)*\s+(?:struct|interface)\s*\Z")
_TYPES = re.compile(r"\s*type\s*\Z")
_FUNCTION = re.compile(r"\s*func\s*(?:\([^()]*\)\s*)?(?P<name>\w+)\b")


class _Open(Struct):
    """An open bracket: what it is around, and where the present statement in it begins.

    `listed`: a search by name knows its members. `code`: it is a body, or within one.
    """

    sign: str
    kind: str  # of a type's members "struct" or "interface", of a list of types "types", else ""
    name: str
    listed: bool
    code: bool
    statement: int


def declared_unlisted(text: Text, spans: Iterable[Span], language: Language | None) -> list[Declared]:
    """Those of the words at `spans` that a type without a name declares, or one in a function, or that are such a type.

    Such a type is one that is not itself declared by name outside functions, or directly a field of one that is:
    `var v struct { a int }`, `type S []struct { a int }`.
    """
    content = text.content
    places = [(text.point_offset(span.start), text.point_offset(span.end), span) for span in spans]
    places = [one for one in places if _may_be_declared(content, *one[:2])]
    if not places:
        return []
    code = blanked(text, language)
    found = []
    for (start, end, span), around in zip(places, _around(code, [one[0] for one in places]), strict=True):
        names = tuple(one.name for one in around if one.name)
        if _is_embedded(code, start, end, around[-1]):
            found.append(Declared(span, "field", names, embedded=True))
        elif kind := _kind(code, start, end, around):
            found.append(Declared(span, kind, names))
    return found


def _may_be_declared(content: str, start: int, end: int) -> bool:
    """Whether what is on the line of a word does not tell that it is only used there."""
    before = re.split(r"[{;(\n]", content[max(0, start - _HEAD) : start])[-1]
    rest = content[end : end + _HEAD]
    if _EMBEDDED_BEFORE.fullmatch(before) and _EMBEDDED_AFTER.match(rest):
        return True
    if not (_NAMES_BEFORE.match(before) or _TYPE_BEFORE.match(before)):
        return False
    return bool(_FIELD_AFTER.match(rest) or _METHOD_AFTER.match(rest) or _TYPE_AFTER.match(rest))


def _around(code: str, places: Sequence[int]) -> Iterator[list[_Open]]:
    """For each of `places`, in order: the brackets around it, after one for the whole file."""
    stack = [_Open("", "", "", True, False, 0)]
    for _ in read_up_to(places, _TOKEN, code, partial(_read, stack, code)):
        yield stack


def _read(stack: list[_Open], code: str, token: re.Match[str]) -> None:
    sign, inner = token[0], stack[-1]
    if sign in "{([":
        stack.append(
            _opened(sign, code[max(inner.statement, token.start() - _HEAD) : token.start()], stack, token.end())
        )
    elif sign in "})]":
        if len(stack) > 1:
            stack.pop()
    else:
        inner.statement = token.end()


def _opened(sign: str, head: str, stack: Sequence[_Open], after: int) -> _Open:
    """What the bracket `sign` after `head` opens."""
    outer = stack[-1]
    if sign != "{":
        kind = "types" if sign == "(" and _TYPES.match(head) else ""
        return _Open(sign, kind, "", outer.listed and bool(kind), outer.code, after)
    if not (members := _MEMBERS.search(head)):
        function = _FUNCTION.match(head)
        return _Open(sign, "", function["name"] if function and len(stack) == 1 else "", False, True, after)
    named = (_NAMED_FIELD if outer.kind in ("struct", "interface") else _NAMED_TYPE).match(head)
    if named and outer.kind not in ("struct", "interface", "types") and not named["word"]:
        named = None  # `return struct {`
    return _Open(sign, members["kind"], named["name"] if named else "", bool(named) and outer.listed, outer.code, after)


def _is_embedded(code: str, start: int, end: int, inner: _Open) -> bool:
    """Whether the word from `start` to `end` is a type that is embedded in a struct which no search by name knows."""
    if inner.kind != "struct" or inner.listed:
        return False
    return bool(_EMBEDDED_BEFORE.fullmatch(code, inner.statement, start) and _EMBEDDED_AFTER.match(code, end))


def _kind(code: str, start: int, end: int, around: Sequence[_Open]) -> Kind | None:
    """What the word is that is declared from `start` to `end`; None if it is nothing that is looked for."""
    inner = around[-1]
    before, after = code[inner.statement : start], code[end : end + _HEAD]
    if inner.code and (_TYPE_BEFORE.match(before) or (inner.kind == "types" and not before.strip())):
        if (
            inner.kind in ("struct", "interface")
            or code[start:end] in _NO_TYPES
            or not (found := _TYPE_AFTER.match(after))
        ):
            return None
        return found["kind"] or "type"  # type: ignore[return-value]
    if inner.listed or not _NAMES_BEFORE.match(before):
        return None
    if inner.kind == "struct" and _FIELD_AFTER.match(after):
        return "field"
    return "method" if inner.kind == "interface" and not before.strip() and _METHOD_AFTER.match(after) else None
