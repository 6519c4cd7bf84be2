"""Places where a text bases a type on another, by the patterns of an adapter: `ClassHeads`. Pure."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct, field

from lsp_mcp.adapters import Language
from lsp_mcp.servers.traits import Hierarchy
from lsp_mcp.text import Point, Span, Text
from lsp_mcp.words.lexing import blanked
from lsp_mcp.words.nested import replaced_inside_out

_CALL = re.compile(r"\s*\(")
_INNERMOST = re.compile(r"<[^<>]*>")
_PARAMETER = re.compile(r"(\w+)\s*(?:[,=]|\Z)")
_BEFORE = 500  # characters in which the parameters of a template are
_LONGEST = 100  # characters of a name
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|el|endif)(?:\\\r?\n|[^\n])*", re.MULTILINE)


class Bases(Struct, frozen=True):
    """What one text says about a type: the types that name it as a base, and places that may hide others."""

    heads: frozenset[Point] = frozenset()  # the names of types that name it as a base
    makers: int = 0  # uses as an argument of something that may define types: a macro
    aliases: frozenset[str] = frozenset()  # other names for it
    macros: frozenset[str] = frozenset()  # those that it is an argument of


class Base(NamedTuple):
    """A base of a type: the last word of its name, and where that is."""

    name: str
    at: Point


class Statements(Struct, frozen=True):
    """All that one text says about bases of types, by the last words of the types' names."""

    bases: dict[Point, list[Base]] = field(default_factory=dict)  # of the type whose name is there, in their order
    makers: tuple[frozenset[str], ...] = ()  # the arguments of each thing that may define types: a macro
    aliases: tuple[tuple[str, str], ...] = ()  # other names of types, each with the type
    macros: tuple[tuple[str, frozenset[str]], ...] = ()  # uses of macros, each with its arguments
    # Of types in the definition of a macro that have a parameter of it as a base, by the macro.
    by_parameter: dict[str, frozenset[Point]] = field(default_factory=dict)
    mixins: frozenset[str] = frozenset()  # templates of types that have a parameter of it as a base

    def bases_of(self, names: Collection[str]) -> Bases:
        """What is said about the type with one of these `names`."""
        return Bases(
            frozenset(head for head, bases in self.bases.items() if any(base.name in names for base in bases)),
            sum(not arguments.isdisjoint(names) for arguments in self.makers),
            frozenset(alias for alias, of in self.aliases if of in names and alias not in names),
            frozenset(macro for macro, arguments in self.macros if not arguments.isdisjoint(names)),
        )

    def __len__(self) -> int:
        return sum(map(len, self.bases.values())) + len(self.makers) + len(self.aliases) + len(self.macros)


class ClassHeads:
    """Finds candidates for types derived from one of some names; the server decides which really are."""

    def __init__(self, rules: Hierarchy) -> None:
        self._class = re.compile(rules.class_pattern)
        self._maker = re.compile(rules.maker_pattern) if rules.maker_pattern else None
        self._use = re.compile(rules.macro_use_pattern) if rules.macro_use_pattern else None
        self._aliases = list(map(re.compile, rules.alias_patterns))
        self._parameters = re.compile(rules.parameters_pattern) if rules.parameters_pattern else None

    def statements(self, text: Text, language: Language | None) -> Statements:
        """All that `text` says; takes about a millisecond for 10 kB."""
        blank = blanked(text, language)
        code, parts = _without_conditions(blank, " "), _without_conditions(blank, ",")
        classes = self._class.finditer(code)
        made = self._maker.finditer(code) if self._maker else ()
        others = (match for pattern in self._aliases for match in pattern.finditer(code))
        bases: dict[Point, list[Base]] = {}
        macros = _Macros(code, language)
        by_parameter: dict[str, set[Point]] = {}
        mixins: set[str] = set()
        for match in classes:
            of_template = self._parameters_before(code, match.start("name"))
            macro, parameters = macros.at(match.start("name"))
            # What is before a condition and what is behind it may be bases in two builds.
            for start, end in _last_spans(parts[slice(*match.span("bases"))], match.start("bases")):
                head, name = text.offset_point(match.start("name")), code[start:end]
                if name in of_template:
                    mixins.add(match["name"])
                if name not in parameters:
                    bases.setdefault(head, []).append(Base(name, text.offset_point(start)))
                # With a name that the use gives it the type is found there.
                elif match["name"] not in parameters and not _CALL.match(code, match.end("name")):
                    by_parameter.setdefault(macro, set()).add(head)
        return Statements(
            bases,
            tuple(_words(code, match) for match in made),
            tuple((match["name"], match["type"]) for match in others),
            tuple(
                (match["macro"], arguments)
                for match in (self._use.finditer(code) if self._use else ())
                if (arguments := _words(code, match) - macros.at(match.start())[1])
            ),
            {macro: frozenset(heads) for macro, heads in by_parameter.items()},
            frozenset(mixins),
        )

    def _parameters_before(self, code: str, name: int) -> frozenset[str]:
        """The parameters of the template whose `name` begins there."""
        found = self._parameters.search(code, max(0, name - _BEFORE), name) if self._parameters else None
        return frozenset(_PARAMETER.findall(found["parameters"])) if found else frozenset()

    def stretches(self, text: Text, language: Language | None) -> list[tuple[Span, Point | None]]:
        """The places in `text` where naming a type bases another on it, or gives it another name.

        For a list of bases, with the place of the derived type's name.
        """
        code = _without_conditions(blanked(text, language), " ")
        heads = self._class.finditer(code)
        found = [(text.offsets_span(*one.span("bases")), text.offset_point(one.start("name"))) for one in heads]
        made = self._maker.finditer(code) if self._maker else ()
        others = [span for one in made for span in _arguments(one)]
        others += [match.span("type") for pattern in self._aliases for match in pattern.finditer(code)]
        return [*found, *((text.offsets_span(*span), None) for span in others)]


def templates_around(code: str, names: Collection[str]) -> set[str]:
    """The words before the `<` that stands open before one of `names`: `Mixin` of `Mixin<const Type>`."""
    found: set[str] = set()
    for word in re.finditer(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b", code):
        closed = 0
        for at in range(word.start() - 1, max(0, word.start() - _BEFORE), -1):
            if code[at] in ";{}":
                break
            closed += code[at] == ">"
            if code[at] == "<" and closed:
                closed -= 1
            elif code[at] == "<" and (before := re.search(r"\w+\s*\Z", code[max(0, at - _LONGEST) : at])):
                found.add(before[0].rstrip())
    return found


class _Macros:
    """The definitions of macros in `code`, which their parameters have a meaning in."""

    def __init__(self, code: str, language: Language | None) -> None:
        pattern = language.lexing.macro if language and language.lexing else ""
        found = re.finditer(pattern, code, re.MULTILINE) if pattern else ()
        self._with_parameters = [match for match in found if match.groupdict().get("parameters")]
        self._starts = [match.start() for match in self._with_parameters]

    def at(self, offset: int) -> tuple[str, frozenset[str]]:
        """The name and the parameters of the macro whose definition contains `offset`; empty if there is none."""
        before = bisect.bisect_right(self._starts, offset)
        if not before or (match := self._with_parameters[before - 1]).end() <= offset:
            return "", frozenset()
        return match["macro"], frozenset(re.findall(r"\w+", match["parameters"]))


def _without_conditions(code: str, filler: str) -> str:
    """`code` with the lines of preprocessor conditions replaced by `filler`, so that offsets stay the same."""
    return _CONDITION.sub(lambda found: filler * len(found[0]), code)


def _words(code: str, made: re.Match[str]) -> frozenset[str]:
    return frozenset(code[slice(*span)] for span in _arguments(made))


def _arguments(made: re.Match[str]) -> list[tuple[int, int]]:
    return _last_spans(made["arguments"], made.start("arguments"))


def _last_spans(listed: str, offset: int) -> list[tuple[int, int]]:
    """Where, from `offset`, the last word outside type arguments of each comma-separated part of `listed` is: the
    type's own name.
    """
    blank = replaced_inside_out(_INNERMOST, lambda found: " " * len(found[0]), listed)
    parts = [(part.start(), list(re.finditer(r"\w+", part[0]))) for part in re.finditer("[^,]+", blank)]
    return [(offset + start + words[-1].start(), offset + start + words[-1].end()) for start, words in parts if words]
