"""The types that a text bases on others, and what else may base one on another there: `heads_of`.

One thing is read by a pattern: the head of a type, up to its brace, in the parts of a text that its grammar could not
parse, most of them because of a macro, as in `class ALIGN_AS(64) Name : Base {`. The text is parsed again without that
macro, and what the pattern found counts in any case: the server judges each type that is found, and no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.syntax.codes import code_of, is_kept
from lsp_mcp.syntax.grammars import Grammar, grammar_of
from lsp_mcp.syntax.preprocessor import Macro, MacroUse, last_words, macro_uses, without_conditions
from lsp_mcp.syntax.trees import Parsed, parsed
from lsp_mcp.text import Text

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_QUERY = "bases"
_PARAMETER = re.compile(r"(\w+)\s*(?:[,=]|\Z)")
_CALL = re.compile(r"\s*\(")
_Stretch = tuple[int, int]


class Head(Struct, frozen=True):
    """A type with bases: its `name`, the `clause` with its bases, and of each base the last word of the name.

    It is in the definition of `macro`, if that has parameters; `is_named_by_use`: by one of these.
    """

    name: _Stretch
    clause: _Stretch
    bases: tuple[_Stretch, ...]
    parameters: frozenset[str] = frozenset()  # of the template that it is
    macro: Macro | None = None
    is_named_by_use: bool = False


class Alias(Struct, frozen=True):
    """Another `name` for a type, and the last word of the `type`."""

    name: _Stretch
    type: _Stretch


class Heads(Struct, frozen=True):
    """What one text says about bases, in order; all places are offsets."""

    heads: tuple[Head, ...] = ()
    aliases: tuple[Alias, ...] = ()
    uses: tuple[MacroUse, ...] = ()  # of macros


def heads_of(text: Text, language_id: str) -> Heads:
    """What `text` says about bases; nothing for a language without such a query.

    Takes about 200 ms for a megabyte: call it in a thread.
    """
    grammar = grammar_of(language_id)
    query = grammar.query(_QUERY) if grammar else None
    if grammar is None or query is None:
        return Heads()
    tree = None if is_kept(text, language_id) else parsed(text, grammar)
    if (code := code_of(text, language_id, tree)) is None:
        return Heads()
    content, blank, settings = text.content, code.blank(text.content), _settings(query)
    uses = tuple(macro_uses(blank, code.macro))
    if not settings.words.search(blank):
        return Heads(uses=uses)
    reader = _Reader(grammar, query, settings.head)
    found = [reader.read(content, blank, tree or parsed(text, grammar))]
    for macro in code.macros:
        if settings.words.search(blank, macro.text_start, macro.end):
            # To the grammar of the whole text, that of a macro is one word.
            own = content[macro.text_start : macro.end].replace("\\", " ")
            of_macro = blank[macro.text_start : macro.end].replace("\\", " ")
            found.append(reader.read(own, of_macro, parsed(Text(own), grammar), macro.text_start))
    heads = sorted((one for said in found for one in said.heads), key=lambda one: one.name)
    return Heads(
        tuple(_in_macro(blank, one, code.macro(one.name[0])) for one in heads),
        tuple(alias for said in found for alias in said.aliases),
        uses,
    )


class _Settings(Struct, frozen=True):
    words: re.Pattern[str]  # what a text has that may say something
    head: re.Pattern[str]  # of a type: the groups `parameters` (of a template), `macro`, `name` and `bases`


@cache
def _settings(query: Query) -> _Settings:
    found: dict[str, str | None] = {}
    for number in range(query.pattern_count):
        found |= query.pattern_settings(number)
    return _Settings(re.compile(found["words"] or ""), re.compile(found["head"] or ""))


class _Said(Struct, frozen=True):
    """What a tree says."""

    heads: tuple[Head, ...]
    aliases: tuple[Alias, ...]
    errors: tuple[_Stretch, ...]


class _Reader(Struct, frozen=True):
    """Reads texts of one language."""

    grammar: Grammar
    query: Query
    head: re.Pattern[str]

    def read(self, content: str, blank: str, tree: Parsed, first: int = 0) -> _Said:
        """What `content` says, that of `tree`, which is the text from the offset `first`; see `Code.blank`."""
        said = self._said(tree, first)
        if not said.errors:
            return said
        found = list(_unparsed(blank, self.head, said.errors, first))
        if any(start < end for (start, end), _ in found):
            for (start, end), _ in found:
                content = f"{content[: start - first]}{' ' * (end - start)}{content[end - first :]}"
            said = self._said(parsed(Text(content), self.grammar), first)
        heads = {one.name: one for one in said.heads}
        for _, one in found:
            known = heads.get(one.name, one)
            bases = tuple(sorted({*known.bases, *one.bases}))
            heads[one.name] = replace(known, bases=bases, parameters=known.parameters | one.parameters)
        return replace(said, heads=tuple(heads.values()))

    def _said(self, tree: Parsed, first: int) -> _Said:
        from tree_sitter import QueryCursor

        def stretch(node: Node) -> _Stretch:
            start, end = tree.offsets(node)
            return first + start, first + end

        named: list[tuple[Node, Node]] = []
        aliases: list[Alias] = []
        bases: dict[int, list[_Stretch]] = {}
        lists: dict[int, int] = {}  # the parameters of a template, by its name
        parameters: dict[int, set[str]] = {}
        errors: list[_Stretch] = []
        for _, captures in QueryCursor(self.query).matches(tree.root):
            one = {name: nodes[0] for name, nodes in captures.items()}
            if "clause" in one:
                named.append((one["name"], one["clause"]))
            elif "alias" in one:
                aliases.append(Alias(stretch(one["alias"]), stretch(_own_word(one["type"]))))
            elif "base" in one and (clause := one["base"].parent):
                bases.setdefault(clause.id, []).append(stretch(_own_word(one["base"])))
            elif "template" in one:
                lists[one["template"].id] = one["parameters"].id
            elif "list" in one:
                name = tree.data[slice(*one["parameter"].byte_range)].decode("utf-8", "replace")
                parameters.setdefault(one["list"].id, set()).add(name)
            elif "error" in one:
                errors.append(stretch(one["error"]))
        heads = (
            Head(
                stretch(_own_word(name)),
                stretch(clause),
                tuple(bases.get(clause.id, ())),
                frozenset(parameters.get(lists.get(name.id, -1), ())),
            )
            for name, clause in named
        )
        return _Said(tuple(heads), tuple(aliases), tuple(errors))


def _own_word(type_: Node) -> Node:
    """The last word of a type's name, without its arguments: `C` of `typename A::B<T>::C<U>`."""
    while inner := type_.child_by_field_name("name") or next(iter(type_.named_children), None):
        type_ = inner
    return type_


def _unparsed(
    blank: str, head: re.Pattern[str], errors: Sequence[_Stretch], first: int
) -> Iterator[tuple[_Stretch, Head]]:
    """The heads that the pattern finds where there are `errors`, each with the macro before its name.

    `blank` begins at the offset `first`.
    """
    # What is before a condition and what is behind it may be bases in two builds.
    plain, parts = without_conditions(blank, " "), without_conditions(blank, ",")

    def moved(start: int, end: int) -> _Stretch:
        return first + start, first + end

    for match in head.finditer(plain):
        whole = moved(*match.span())
        if any(start < whole[1] and whole[0] <= end for start, end in errors):
            name, clause = moved(*match.span("name")), moved(*match.span("bases"))
            bases = tuple(moved(*one) for one in last_words(parts, *match.span("bases")))
            parameters = frozenset(_PARAMETER.findall(match["parameters"] or ""))
            yield moved(*match.span("macro")), Head(name, clause, bases, parameters)


def _in_macro(blank: str, head: Head, macro: Macro | None) -> Head:
    if macro is None or not macro.parameters:
        return head
    # With a name that the use gives it the type is found there.
    is_named = blank[slice(*head.name)] in macro.parameters or _CALL.match(blank, head.name[1]) is not None
    return replace(head, macro=macro, is_named_by_use=is_named)
