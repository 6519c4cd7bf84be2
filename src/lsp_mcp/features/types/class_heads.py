"""What a text says about the bases of types, by names: `statements`, `stretches`, `templates_around`. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct, field

from lsp_mcp.syntax.bases import heads_of
from lsp_mcp.text import Point, Span, Text

_BEFORE = 500  # characters in which a template is around a name
_LONGEST = 100  # characters of a name


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


def statements(text: Text, language_id: str) -> Statements:
    """All that `text` says; the server decides which types really are derived. Takes a while: call it in a thread."""
    said, content = heads_of(text, language_id), text.content
    bases: dict[Point, list[Base]] = {}
    by_parameter: dict[str, set[Point]] = {}
    mixins: set[str] = set()
    for head in said.heads:
        at, own = text.offset_point(head.name[0]), head.macro.parameters if head.macro else frozenset[str]()
        for start, end in head.bases:
            name = content[start:end]
            if name in head.parameters:
                mixins.add(content[slice(*head.name)])
            if name not in own:
                bases.setdefault(at, []).append(Base(name, text.offset_point(start)))
            elif head.macro and not head.is_named_by_use:
                by_parameter.setdefault(head.macro.name, set()).add(at)
    uses = [(use, frozenset(content[slice(*one)] for one in use.arguments)) for use in said.uses]
    return Statements(
        bases,
        tuple(arguments for use, arguments in uses if use.begins_line),
        tuple((content[slice(*alias.name)], content[slice(*alias.type)]) for alias in said.aliases),
        tuple((use.name, arguments) for use, arguments in uses),
        {macro: frozenset(heads) for macro, heads in by_parameter.items()},
        frozenset(mixins),
    )


def stretches(text: Text, language_id: str) -> list[tuple[Span, Point | None]]:
    """The places in `text` where naming a type bases another on it, or gives it another name.

    For a list of bases, with the place of the derived type's name.
    """
    said = heads_of(text, language_id)
    found = [(text.offsets_span(*head.clause), text.offset_point(head.name[0])) for head in said.heads]
    others = [one for use in said.uses if use.begins_line for one in use.arguments]
    others += [alias.type for alias in said.aliases]
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
