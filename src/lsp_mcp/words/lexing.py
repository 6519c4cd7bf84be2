"""Where a word is in the code of a text, outside comments and strings: `occurrences`.

The patterns of a language's comments and strings are data of its adapter. A complete grammar would take 25 times as
long (tree-sitter 0.26, Go: 6 MB a second), and fails where code doesn't parse: in macros, in text that the preprocessor
excludes. Anything that is not certainly a comment or a string counts as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

from msgspec import Struct

from lsp_mcp.adapters import Language, Lexing
from lsp_mcp.text import Span, Text


class Occurrences(Struct, frozen=True):
    """The places of a word in one text, in order; iterating gives them."""

    spans: tuple[Span, ...] = ()
    in_macros: frozenset[Span] = frozenset()  # those in the definition of a macro: they can mean several symbols
    lexed: bool = True  # False: the language is unknown, so some may be in comments and strings

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    def __len__(self) -> int:
        return len(self.spans)


NONE = Occurrences()


def occurrences(text: Text, word: str, language: Language | None) -> Occurrences:
    """All places of `word` as a whole word in the code of `text`.

    Text that the preprocessor excludes is code, except in every configuration (`#if 0`); so are comments that name
    symbols for a compiler (`Lexing.naming`).
    """
    content = text.content
    if word not in content:  # many times as fast as the pattern
        return NONE
    found = [match.span() for match in _whole(word).finditer(content) if not _is_marked(content, match.end())]
    rules = language.lexing if language else None
    if rules is None or not found:
        return Occurrences(tuple(text.offsets_span(*place) for place in found), lexed=rules is not None)
    code = _in_code(content, found, rules)
    spans = tuple(text.offsets_span(*place) for place in code)
    if not rules.macro:
        return Occurrences(spans)
    macros = _regions(_compiled(rules.macro), content, code)
    return Occurrences(spans, frozenset(span for span, region in zip(spans, macros, strict=True) if region))


def in_strings(text: Text, word: str, language: Language | None) -> list[Span]:
    """The places where a string of `text` uses `word` as a key: all of the string, or after a dot.

    As in `getattr(x, "word")` and the template `{{.word}}`; not in prose, nor as a call in quoted code.
    """
    rules = language.lexing if language else None
    if rules is None or word not in text.content:
        return []
    # Most places are in plain code, which this detects without lexing the file.
    found = [match.span() for match in re.finditer(rf"(?<![\w\s]){re.escape(word)}(?![\w(])", text.content)]
    if not found:
        return []
    regions = _regions(_compiled(f"(?P<comment>{rules.comment})|{rules.string}"), text.content, found)
    named = []
    for place, region in zip(found, regions, strict=True):
        if region is None or region["comment"] is not None:
            continue
        start, end = place
        before, behind = region[0][: start - region.start()], region[0][end - region.start() :]
        if before.endswith(".") or not re.search(r"\w", before + behind):
            named.append(text.offsets_span(*place))
    return named


def identifiers_in_code(text: Text, line: int, language: Language | None) -> list[Span]:
    """The identifiers of line `line` (from 1) that are not keywords, left to right, outside comments and strings.

    Of an unknown language, those in comments and strings too.
    """
    keywords = language.keywords if language else frozenset()
    spans = [span for span in text.identifiers(line) if text.slice(span) not in keywords]
    if not language or not language.lexing or not spans:
        return spans
    places = [(text.point_offset(span.start), text.point_offset(span.end)) for span in spans]
    return [text.offsets_span(*place) for place in _in_code(text.content, places, language.lexing)]


def macro_at(text: Text, span: Span, language: Language | None) -> Span | None:
    """The name of the macro whose definition contains `span`; None if there is none."""
    rules = language.lexing if language else None
    if rules is None or not rules.macro:
        return None
    content, start, end = text.content, text.point_offset(span.start), text.point_offset(span.end)
    # Examining only the line and those that it continues is many times as fast as the whole text.
    first = content.rfind("\n", 0, start) + 1
    while content.endswith(("\\\n", "\\\r\n"), 0, first):
        first = content.rfind("\n", 0, first - 1) + 1
    for region in _compiled(rules.macro).finditer(content, first, end):
        if region.start() <= start < region.end():
            return text.offsets_span(*region.span("macro"))
    return None


def is_macro_parameter(text: Text, span: Span, language: Language | None) -> bool:
    """Whether `span` is in the definition of a macro that has a parameter of that name: it means nothing else."""
    macro = macro_at(text, span, language)
    if macro is None or macro == span:
        return False
    found = re.compile(r"\(([^()]*)\)").match(text.content, text.point_offset(macro.end))
    return bool(found) and text.slice(span) in re.findall(r"\w+", found[1] if found else "")


def _in_code(content: str, found: list[tuple[int, int]], rules: Lexing) -> list[tuple[int, int]]:
    """Those of the places `found` outside comments and strings."""
    pattern = _compiled(f"(?P<naming>{rules.naming or '(?!)'})|{rules.comment}|{rules.string}")
    regions = _regions(pattern, content, found)
    code = [place for place, region in zip(found, regions, strict=True) if region is None or region["naming"]]
    never = _never_compiled(content, rules) if code else []
    return [(start, end) for start, end in code if not any(first <= start < last for first, last in never)]


def _never_compiled(content: str, rules: Lexing) -> list[tuple[int, int]]:
    """The ranges that no configuration compiles."""
    pattern = _compiled(rules.conditional)
    if not rules.conditional or not any(match["never"] for match in pattern.finditer(content)):
        return []
    found: list[tuple[int, int]] = []
    begun: list[int | None] = []  # for each open condition: the start of the part that is never compiled
    for match in _compiled(f"{rules.comment}|{rules.string}|{rules.conditional}").finditer(content):
        if match["never"] or match["begin"]:
            begun.append(match.end() if match["never"] else None)
        elif begun and (match["branch"] or match["end"]):
            if (start := begun.pop()) is not None:
                found.append((start, match.start()))
            if match["branch"]:
                begun.append(None)
    return found


def _regions(pattern: re.Pattern[str], content: str, places: list[tuple[int, int]]) -> list[re.Match[str] | None]:
    """For each of `places`, which are in order, the match of `pattern` that contains it, if there is one."""
    regions: list[re.Match[str] | None] = []
    matches = pattern.finditer(content)
    region = next(matches, None)
    for start, _ in places:
        while region and region.end() <= start:
            region = next(matches, None)
        regions.append(region if region and region.start() <= start else None)
    return regions


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


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
