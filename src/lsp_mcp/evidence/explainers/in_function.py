"""The meaning of a word in unparsed text, by the function around it: `InFunction`; and `OfParameter`.

A server knows nothing about code that the preprocessor excludes, or arguments that a macro drops. Such a word means
what it means everywhere else in the same function, spelled the same way (`n`, `state->n`), or in the declaration of a
template parameter. If a function or class around it declares the word, it means that. A member of a template's
parameter, of which a server may know nothing either, is not what is declared outside of classes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.evidence.definitions import Definitions, Site, Symbol, misread
from lsp_mcp.evidence.identity import Identity, is_parameter, sites_of
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.containers import Containers, function_around
from lsp_mcp.requests.hover import hover
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.servers.traits import WordCheck
from lsp_mcp.syntax.preprocessor import argument_at, definitions_of, is_spliced, names_member
from lsp_mcp.syntax.scopes import declared_around
from lsp_mcp.text import Span, Text
from lsp_mcp.words.lexing import blanked, macro_at

_BEFORE = 200  # characters examined beside a word
_MOST = 100  # limit on other occurrences in a function to ask about


class _Spelling(Struct, frozen=True):
    """The spelling of a word: after which `operator`, of which `operand`; `operand`: None if not a plain name."""

    operator: str = ""
    operand: str | None = ""


class OfParameter:
    """A member of a template's parameter, about which no server knows anything, is not explained for a reader.

    It may be any member, but neither a local nor what is declared outside of classes.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if question.thorough or question.symbol.role in ("local", "value"):
            return so_far
        return so_far.explained(
            inexplicable=[place for place in so_far.unasked if _is_dependent(question.backend, place)]
        )


class InFunction:
    """A word that the server does not know means what it means in the rest of its function."""

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if not (so_far.unknown and question.backend.plugin.word_check.member_pattern):
            return so_far
        containers = Containers(question.backend)
        same: list[Place] = []
        other: list[Place] = []
        for place in so_far.unknown:
            said = await _means(question, containers, place)
            if said is not None:
                (same if said else other).append(place)
        return replace(so_far.explained(same=same, other=other), by_spelling=tuple(same))


async def _means(question: Question, containers: Containers, place: Place) -> bool | None:
    """Whether the word at `place` is the symbol; None if that is not known."""
    backend, definitions, symbol = question.backend, question.definitions, question.symbol
    rules = backend.plugin.word_check
    if macro_at(place.text, place.span, backend.plugin.language_of(place.path)):
        return None  # see `InMacro`
    spelling = _spelling(place.text, place.span, rules)
    if spelling == _Spelling() and (taken := await _taken_by_macro(backend, place)):
        return False if taken == "spliced" or symbol.role in ("local", "value", "type") else None
    if symbol.role in ("local", "value", "type") and _is_members(place, spelling, symbol, rules):
        return False
    if symbol.role in ("local", "value") and await _is_of_parameter(backend, definitions, place, spelling, rules):
        return False
    if await _lacks_its_kind(backend, place, spelling, symbol):
        return False
    if spelling == _Spelling() and await _is_in_its_template(backend, place, symbol):
        return True
    sites = frozenset(question.claim.sites)
    known = await _beside(backend, definitions, containers, place, spelling, sites, symbol)
    if len(known) != 1 and await _is_declared_there(backend, place, spelling, symbol):
        return False
    return True in known if len(known) == 1 else None


def _is_dependent(backend: Backend, place: Place) -> bool:
    """Whether the word is a member of a template's parameter, about which the server knows nothing."""
    rules = backend.plugin.word_check
    content, start = place.text.content, place.text.point_offset(place.span.start)
    found = rules.dependent_pattern and re.search(rules.dependent_pattern, content[max(0, start - _BEFORE) : start])
    if not found or not re.search(rules.type_parameter_pattern.format(name=found["parameter"]), content):
        return False
    return macro_at(place.text, place.span, backend.plugin.language_of(place.path)) is None


def kind_before(text: Text, span: Span, rules: WordCheck) -> str:
    """The keyword before `span` that gives the kind of its word, such as `struct`; "" if there is none."""
    end = text.point_offset(span.start)
    found = re.search(rules.kind_pattern, text.content[max(0, end - _BEFORE) : end]) if rules.kind_pattern else None
    return found[0].strip() if found else ""


def _is_members(place: Place, spelling: _Spelling, symbol: Identity, rules: WordCheck) -> bool:
    """Whether the word is that of a member, and so not of `symbol`, which is none.

    What qualifies the member (`p->Base::f()`) is none, nor is the type that a function returns (`f() -> Base`).
    """
    if spelling.operator not in rules.member_operators:
        return False
    content, text = place.text.content, place.text
    start, end = text.point_offset(place.span.start), text.point_offset(place.span.end)
    if rules.qualifier_pattern and re.match(rules.qualifier_pattern, content[end : end + _BEFORE]):
        return False
    before = content[max(0, start - _BEFORE) : start]
    return symbol.role != "type" or not (rules.returned_pattern and re.search(rules.returned_pattern, before))


async def _is_of_parameter(
    backend: Backend, definitions: Definitions, place: Place, spelling: _Spelling, rules: WordCheck
) -> bool:
    """Whether the word is a member of a template's parameter, `T::word`, which only what is in a class can be."""
    if spelling.operator in ("", *rules.member_operators) or not spelling.operand:
        return False
    start = place.text.point_offset(place.span.start)
    found = re.search(rules.member_pattern, place.text.content[max(0, start - _BEFORE) : start])
    assert found
    operand = place.text.offset_point(max(0, start - _BEFORE) + found.start("operand"))
    declared = sites_of(await definitions.meaning((place.path, operand)))
    return bool(declared) and all([await is_parameter(backend, site) for site in declared])


async def _taken_by_macro(backend: Backend, place: Place) -> Literal["", "member", "spliced"]:
    """What a macro takes the word for, if that is an argument of it.

    The name of a member, as `offsetof` does its second; or only something to make names and strings of, as those do
    that declare a test.
    """
    rules = backend.plugin.word_check
    if not rules.expansion_pattern:
        return ""
    content = blanked(place.text, backend.plugin.language_of(place.path))
    if (found := argument_at(content, place.text.point_offset(place.span.start))) is None:
        return ""
    name, called = content[found[0] : found[1]], place.text.offsets_span(found[0], found[1])
    try:
        sites = await definition_places(backend, place.path, called.start)
        for path, point in sites:
            text = await text_or_none(backend, path)
            language = backend.plugin.language_of(path)
            span = text.identifier_at(point) if text else None
            if not text or not span or macro_at(text, span, language) != span:
                continue
            definition = text.content[text.point_offset(point) :]
            if names_member(definition, found[2]):
                return "member"
            if len(definitions_of(text.content, name)) == 1:
                said = re.search(rules.expansion_pattern, await hover(backend, place._replace(span=called)))
                if said and is_spliced(definition, found[2], said["code"], place.text.slice(place.span)):
                    return "spliced"
    except (RefusedError, PathError):
        pass
    return ""


async def _lacks_its_kind(backend: Backend, place: Place, spelling: _Spelling, symbol: Identity) -> bool:
    """Whether the word stands alone, in a language where the symbol's kind stands before each use: `struct S`."""
    language = backend.plugin.language_of(place.path)
    if spelling != _Spelling() or not language or not language.kinds_spelled:
        return False
    for path, point in symbol.sites:
        text = await text_or_none(backend, path)
        span = text.identifier_at(point) if text else None
        if text and span and kind_before(text, span, backend.plugin.word_check):
            return True
    return False


async def _is_in_its_template(backend: Backend, place: Place, symbol: Identity) -> bool:
    """Whether the symbol is a parameter of the template around `place`, where no other may have its name."""
    file, scope = symbol.local or (None, None)
    if file != place.path or not scope or not scope.start <= place.span.start < scope.end:
        return False
    return any([await is_parameter(backend, site) for site in symbol.sites])


async def _beside(
    backend: Backend,
    definitions: Definitions,
    containers: Containers,
    place: Place,
    spelling: _Spelling,
    sites: Collection[Site],
    symbol: Identity,
) -> set[bool]:
    """Whether the word at `place` means the symbol, judged by equal spellings in the same function.

    Empty if unknown.
    """
    local = symbol.local[1] if symbol.local and symbol.local[0] == place.path else None
    around = await function_around(containers, place) or local
    if around is None or spelling.operand is None:
        return set()
    rules, path, text = backend.plugin.word_check, place.path, place.text
    known: set[bool] = set()
    requests = 0
    for span in await backend.words.occurrences(path, text, symbol.name):
        if not around.start <= span.start < around.end or _spelling(text, span, rules) != spelling:
            continue
        site = path, span.start
        if site in sites:
            known.add(True)
            continue
        requests += definitions.known(site) is None
        if requests > _MOST:
            return set()
        meaning = await definitions.meaning(site)
        if meaning and not misread(meaning, symbol.name, rules):
            known.update(map(symbol.is_meant_by, meaning))
            for other in meaning:
                if not symbol.is_meant_by(other) and await _is_overload(containers, symbol, other):
                    return set()
    return known


async def _is_declared_there(backend: Backend, place: Place, spelling: _Spelling, symbol: Identity) -> bool:
    """Whether a function or class around `place` declares its word, and that is surely not the symbol.

    A class with the symbol's own name, or any local, may be the same for another system. A method of another class may
    override the symbol, or be overridden by it, unless neither class has bases.
    """
    if symbol.role not in ("member", "value", "type") or (spelling != _Spelling("") and spelling.operand != "this"):
        return False
    language = backend.plugin.language_of(place.path)
    found = await asyncio.to_thread(declared_around, place.text, place.span, language.id if language else "")
    if found is None or found.owner in (symbol.owner or None, symbol.name):
        return False
    if not found.owner or symbol.role != "member" or not symbol.overrides:
        return True
    return not found.has_bases and await _has_no_bases(backend, symbol)


async def _has_no_bases(backend: Backend, symbol: Identity) -> bool:
    """Whether the class that declares the symbol surely inherits from no other: it overrides nothing then."""
    for path, point in symbol.sites:
        text = await text_or_none(backend, path)
        span = text.identifier_at(point) if text else None
        language = backend.plugin.language_of(path)
        if text and span and language:
            found = await asyncio.to_thread(declared_around, text, span, language.id)
            if found and found.owner == symbol.owner:
                return not found.has_bases
    return False


async def _is_overload(containers: Containers, symbol: Identity, other: Symbol) -> bool:
    """Whether `other` is declared beside `symbol` under the same full name: then one call proves nothing about the
    next.
    """
    for path in {path for path, _ in symbol.sites}:
        sites = [point for file, point in other.sites if file == path]
        names = {one.place.span.start: one.name for one in await containers.known(path)} if sites else {}
        own = {names[point] for file, point in symbol.sites if file == path and point in names}
        if any(names.get(point) in own for point in sites):
            return True
    return False


def _spelling(text: Text, span: Span, rules: WordCheck) -> _Spelling:
    end = text.point_offset(span.start)
    before = text.content[max(0, end - _BEFORE) : end]
    if member := re.search(rules.member_pattern, before):
        left = before[: member.start()].rstrip()
        # `f(x).y->word`: the text before `y` is not examined.
        is_whole = member["operand"] and not left.endswith((*rules.member_operators, member["operator"]))
        operand = re.sub(r"\s+", "", member["operand"]) if is_whole else None
        return _Spelling(member["operator"], operand)
    return _Spelling(kind_before(text, span, rules))
