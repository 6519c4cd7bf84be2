"""Places where a text bases a type on another, by the patterns of an adapter: `ClassHeads`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from lsp_mcp.adapters import Hierarchy, Language
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.words.scopes import blanked

_INNERMOST = re.compile(r"<[^<>]*>")


class Bases(Struct, frozen=True):
    """What one text says about a type: the types that name it as a base, and places that may hide others."""

    heads: frozenset[Point] = frozenset()  # the names of types that name it as a base
    makers: int = 0  # uses as an argument of something that may define types: a macro
    aliases: frozenset[str] = frozenset()  # other names for it


class ClassHeads:
    """Finds candidates for types derived from one of some names; the server decides which really are."""

    def __init__(self, rules: Hierarchy) -> None:
        self._class = re.compile(rules.class_pattern)
        self._maker = re.compile(rules.maker_pattern) if rules.maker_pattern else None
        self._aliases = list(map(re.compile, rules.alias_patterns))

    def of(self, text: Text, language: Language | None, names: Collection[str]) -> Bases:
        """What `text` says about the type with one of these `names`."""
        if not any(name in text.content for name in names):
            return Bases()
        code = blanked(text.content, language)
        heads = {
            text.offset_point(match.start("name"))
            for match in self._class.finditer(code)
            if not _last_words(match["bases"]).isdisjoint(names)
        }
        made = self._maker.finditer(code) if self._maker else ()
        makers = [match for match in made if not _last_words(match["arguments"]).isdisjoint(names)]
        aliases = {
            match["name"]
            for pattern in self._aliases
            for match in pattern.finditer(code)
            if match["type"] in names and match["name"] not in names
        }
        return Bases(frozenset(heads), len(makers), frozenset(aliases))

    def bases(self, text: Text, language: Language | None, head: Point) -> list[Point]:
        """Where the type whose name is at `head` names its bases, in their order: the last word of each."""
        code = blanked(text.content, language)
        start = text.point_offset(head)
        found = (match for match in self._class.finditer(code) if match.start("name") == start)
        return [
            text.offset_point(begin)
            for match in found
            for begin, _ in _last_spans(match["bases"], match.start("bases"))
        ]

    def stretches(self, text: Text, language: Language | None) -> list[tuple[Span, Point | None]]:
        """The places in `text` where naming a type bases another on it, or gives it another name.

        For a list of bases, with the place of the derived type's name.
        """
        code = blanked(text.content, language)
        heads = self._class.finditer(code)
        found = [(text.offsets_span(*one.span("bases")), text.offset_point(one.start("name"))) for one in heads]
        made = self._maker.finditer(code) if self._maker else ()
        others = [span for one in made for span in _last_spans(one["arguments"], one.start("arguments"))]
        others += [match.span("type") for pattern in self._aliases for match in pattern.finditer(code)]
        return [*found, *((text.offsets_span(*span), None) for span in others)]


def _last_words(listed: str) -> set[str]:
    """The last word outside type arguments of each comma-separated part of `listed`: the type's own name."""
    return {listed[start:end] for start, end in _last_spans(listed, 0)}


def _last_spans(listed: str, offset: int) -> list[tuple[int, int]]:
    """Where these words are in `listed`, from `offset`."""
    blank = listed
    while (shorter := _INNERMOST.sub(lambda found: " " * len(found[0]), blank)) != blank:
        blank = shorter
    parts = [(part.start(), list(re.finditer(r"\w+", part[0]))) for part in re.finditer("[^,]+", blank)]
    return [(offset + start + words[-1].start(), offset + start + words[-1].end()) for start, words in parts if words]
