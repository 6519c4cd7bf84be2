"""Where a word is in the code of a text, outside comments and strings, by its syntax tree: `occurrences`.

Anything that is not certainly a comment or a string counts as code. In a language without a grammar an adapter may have
patterns for them; without these, everything counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

from msgspec import Struct

from lsp_mcp.adapters import Language, Lexing
from lsp_mcp.syntax.code import Code, code_without
from lsp_mcp.syntax.codes import code_in_thread, code_of
from lsp_mcp.syntax.grammars import has_grammar
from lsp_mcp.syntax.preprocessor import Macro, in_condition, macro_line
from lsp_mcp.text import Span, Text


class Occurrences(Struct, frozen=True):
    """The places of a word in one text, in order."""

    spans: tuple[Span, ...] = ()
    in_macros: frozenset[Span] = frozenset()  # those in the definition of a macro: they can mean several symbols
    lexed: bool = True  # False: nothing tells what is code, so some may be in comments and strings

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


NONE = Occurrences()


@lru_cache(maxsize=8)
def blanked(text: Text, language: Language | None) -> str:
    """The content of `text` with its comments and strings as white space, so that offsets stay the same."""
    code = code_in(text, language)
    return code.blank(text.content) if code else text.content


def occurrences(text: Text, word: str, language: Language | None) -> Occurrences:
    """All places of `word` as a whole word in the code of `text`.

    Text that the preprocessor excludes is code, except in every configuration (`#if 0`); so are comments that name
    symbols for a compiler (`//go:linkname`). Takes a while for a large text: see `occurrences_in_thread`.
    """
    found = _places(text, word)
    return _in_code(text, found, code_in(text, language)) if found else NONE


async def occurrences_in_thread(text: Text, word: str, language: Language | None) -> Occurrences:
    """As `occurrences`, without keeping the event loop busy."""
    found = _places(text, word)
    return _in_code(text, found, await _code_in_thread(text, language)) if found else NONE


def in_strings(text: Text, word: str, language: Language | None) -> list[Span]:
    """The places where a string of `text` uses `word` as a key: all of the string, or after a dot.

    As in `getattr(x, "word")` and the template `{{.word}}`; not in prose, nor as a call in quoted code.
    """
    if language is None or word not in text.content:
        return []
    # Most places are in plain code, which this detects without parsing the file.
    found = [match.span() for match in re.finditer(rf"(?<![\w\s]){re.escape(word)}(?![\w(])", text.content)]
    code = code_in(text, language) if found else None
    named = []
    for start, end in found:
        around = code.around(start) if code and code.part(start) == "string" else None
        if around is None:
            continue
        before, behind = text.content[around[0] : start], text.content[end : around[1]]
        if before.endswith(".") or not re.search(r"\w", before + behind):
            named.append(text.offsets_span(start, end))
    return named


def identifiers_in_code(text: Text, line: int, language: Language | None) -> list[Span]:
    """The identifiers of line `line` (from 1) that are not keywords, left to right, outside comments and strings.

    Where nothing tells what is code, those in comments and strings too.
    """
    keywords = language.keywords if language else frozenset()
    spans = [span for span in text.identifiers(line) if text.slice(span) not in keywords]
    code = code_in(text, language) if spans else None
    if code is None:
        return spans
    return [span for span in spans if code.part(text.point_offset(span.start)) == "code"]


def names_in(text: Text, span: Span, language: Language | None) -> list[Span]:
    """`identifiers_in_code` of all lines of `span`, those that begin in it."""
    found = [name for line, _ in text.numbered(span) for name in identifiers_in_code(text, line, language)]
    return [name for name in found if span.start <= name.start < span.end]


def macro_at(text: Text, span: Span, language: Language | None) -> Span | None:
    """The name of the macro whose definition contains `span`; None if there is none."""
    macro = _macro(text, span, language)
    return text.offsets_span(macro.name_start, macro.name_end) if macro else None


def is_macro_parameter(text: Text, span: Span, language: Language | None) -> bool:
    """Whether `span` is in the definition of a macro that has a parameter of that name: it means nothing else."""
    macro = _macro(text, span, language)
    return (
        macro is not None and text.slice(span) in macro.parameters and text.point_offset(span.start) != macro.name_start
    )


def is_for_preprocessor(text: Text, span: Span, language: Language | None) -> bool:
    """Whether `span` is the name of a macro where it is defined, or in a condition: both are read before all code."""
    if language is None or code_of(text, language.id) is None:
        return False
    if macro_at(text, span, language) == span:
        return True
    return in_condition(text.content, text.point_offset(span.start))


def code_in(text: Text, language: Language | None) -> Code | None:
    """What of `text` is code; None if nothing tells."""
    if language is None or (found := code_of(text, language.id)) is not None:
        return found if language else None
    return _code_by_patterns(text, language.lexing) if language.lexing else None


async def _code_in_thread(text: Text, language: Language | None) -> Code | None:
    if language and has_grammar(language.id):
        await code_in_thread(text, language.id)
    return code_in(text, language)


def _code_by_patterns(text: Text, rules: Lexing) -> Code:
    """What of `text` is code by an adapter's patterns, in a language without a grammar."""
    pattern = _compiled(f"(?P<naming>{rules.naming or '(?!)'})|(?P<comment>{rules.comment})|{rules.string}")
    found = [match for match in pattern.finditer(text.content) if match["naming"] is None]
    return code_without((*match.span(), match["comment"] is not None) for match in found)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _macro(text: Text, span: Span, language: Language | None) -> Macro | None:
    start = text.point_offset(span.start)
    # Examining only the line and those that it continues is many times as fast as the whole text.
    if language is None or not macro_line(text.content, start):
        return None
    code = code_of(text, language.id)
    return code.macro(start) if code else None


def _places(text: Text, word: str) -> list[tuple[int, int]]:
    """Where `word` is in `text` as a whole word, in code or not."""
    content = text.content
    if word not in content:  # many times as fast as the pattern
        return []
    return [match.span() for match in _whole(word).finditer(content) if not _is_marked(content, match.end())]


def _in_code(text: Text, found: list[tuple[int, int]], code: Code | None) -> Occurrences:
    """Those of the places `found` that are in code."""
    if code is None:
        return Occurrences(tuple(text.offsets_span(*place) for place in found), lexed=False)
    places = [place for place in found if code.part(place[0]) == "code"]
    spans = tuple(text.offsets_span(*place) for place in places)
    if not code.macros:
        return Occurrences(spans)
    return Occurrences(
        spans, frozenset(span for span, place in zip(spans, places, strict=True) if code.macro(place[0]))
    )


@lru_cache(maxsize=64)
def _whole(word: str) -> re.Pattern[str]:
    # `~A` and `operator==` begin or end with a character that is not a letter: then its neighbour may be anything.
    before = r"(?<!\w)" if word[:1].isalnum() or word[:1] == "_" else ""
    after = r"(?!\w)" if word[-1:].isalnum() or word[-1:] == "_" else ""
    return re.compile(f"{before}{re.escape(word)}{after}")


def _is_marked(content: str, end: int) -> bool:
    """Whether a combining mark follows, which makes another word of it, but is not a letter for `re`."""
    following = content[end : end + 1]
    return not following.isascii() and following != "" and category(following) in ("Mn", "Mc")
