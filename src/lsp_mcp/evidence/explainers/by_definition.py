"""What the server says that a word means, asked place by place: `ByDefinition`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import FileChange
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site, misread
from lsp_mcp.evidence.explainers.in_function import kind_before
from lsp_mcp.evidence.identity import Identity, sites_of
from lsp_mcp.evidence.inactive import is_inactive
from lsp_mcp.evidence.run_time_exports import exposed_in, values_of
from lsp_mcp.evidence.through_objects import is_through_object
from lsp_mcp.evidence.twins import is_declared_in_twin
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.requests.edit_plans import asked_rename, plan_of
from lsp_mcp.requests.other_builds import not_now
from lsp_mcp.requests.places import Place, position_params, text_or_none
from lsp_mcp.requests.references import references
from lsp_mcp.syntax.dependent_calls import depends_on_instance
from lsp_mcp.syntax.grammars import has_query
from lsp_mcp.syntax.made import MADE, is_made
from lsp_mcp.words.lexing import blanked

MOST_ASKED = 3_000  # occurrences of one word; of more, those in the likeliest files
_BEFORE = 200  # characters examined before a word
NEVER_TRUSTED = 20  # occurrences asked about even if the server is exact: it may be temporarily wrong


class ByDefinition:
    """The server's definition of a word says which symbol it is.

    If the server is exact in files that it has read, only the likeliest places are asked about unless the question is
    `thorough`; the others when nobody waits.
    """

    keeps_time = True

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        places, definitions = so_far.unasked, question.definitions
        is_exact = question.backend.plugin.word_check.exact and not question.thorough
        needed = [
            place for number, place in enumerate(places)
            if not is_exact or place.path in question.doubted or number < NEVER_TRUSTED
        ]  # fmt: skip
        later = await not_now(question.backend, (place.path for place in needed))
        await definitions.learn([place for place in needed[:MOST_ASKED] if place.path not in later])
        budget.present().is_cut |= any(place.path in later for place in needed)
        await definitions.learn(places[:MOST_ASKED], when=budget.present().is_whole)
        made = await _made_with(question) if question.thorough and places else frozenset[Site]()
        same: list[Place] = []
        other: list[Place] = []
        unknown: list[Place] = []
        inexplicable: list[Place] = []
        for place in places:
            meaning = definitions.known((place.path, place.span.start))
            if meaning is not None:
                meaning = await _without_constructors(question, meaning)
                said = await says(question, place, meaning, made)
                if place.path != question.claim.at[0] and question.backend.plugin.adapter.one_file:
                    said = None  # it has not looked into the file of the symbol
                if said is False and (
                    await _may_be_specialized(question, place, meaning)
                    or await _may_be_found(question, place, meaning)
                    or await _may_be_of_object(question, place)
                ):
                    inexplicable.append(place)
                else:
                    if said and question.backend.plugin.word_check.leads_back:
                        said = await _leads_back(question, place)
                    if not said and await _is_exposed(question, meaning):
                        if not (led := await _is_led_to(question, place, meaning)):
                            said = led
                        else:  # a rename of what is exported has to reach those who load it
                            said = True if not question.thorough else None if await _is_exported(question) else said
                    if said is False and await is_declared_in_twin(question.backend, question.symbol.sites, meaning):
                        said = None
                    if said is False and await is_inactive(question.backend, place):
                        said = None
                    (unknown if said is None else same if said else other).append(place)
        found = so_far.explained(same=same, other=other, unknown=unknown, inexplicable=inexplicable)
        asked = frozenset(needed)
        return replace(
            found, unasked=tuple(place for place in found.unasked if place in asked),
            trusted=tuple(place for place in found.unasked if place not in asked),
        )  # fmt: skip


async def says(question: Question, place: Place, meaning: Meaning, made: frozenset[Site] = frozenset()) -> bool | None:
    """Whether `meaning`, the server's answer about `place`, is the symbol; None if it does not tell.

    What is declared at the sites `made` is renamed with the symbol.
    """
    backend, claim, symbol = question.backend, question.claim, question.symbol
    sites = frozenset(claim.sites)
    if not meaning:
        return None
    if any(map(symbol.is_meant_by, meaning)):
        # One of several possible meanings, unless the others only forward the name.
        rest = (other for other in meaning if not symbol.is_meant_by(other))
        return True if all(other.sites <= sites for other in rest) else None
    if (
        await _is_grouped(backend, question.definitions, sites_of(meaning) & sites)
        or _is_alias(backend, place, meaning, symbol)
        or _is_linked(meaning, symbol)
        or not sites_of(meaning).isdisjoint(claim.family)
        or not made.isdisjoint(sites_of(meaning))
    ):
        return True
    if misread(meaning, claim.name, backend.plugin.word_check) or await _is_made_with(backend, symbol, meaning):
        return None
    return False


# --- inside ------------------------------------------------------------------------------------


async def _without_constructors(question: Question, meaning: Meaning) -> Meaning:
    """`meaning` without constructors, if there is something else."""
    name = question.backend.plugin.word_check.constructors
    if not name or len(sites_of(meaning)) < 2:
        return meaning
    kept = []
    for one in meaning:
        texts = [(await text_or_none(question.backend, path), point) for path, point in one.sites]
        words = [text.slice(word) if text and (word := text.identifier_at(point)) else "" for text, point in texts]
        if any(word != name for word in words):
            kept.append(one)
    return frozenset(kept) or meaning


async def _leads_back(question: Question, place: Place) -> bool | None:
    """Whether the references of a place that is defined as the symbol have its definition; None if it has none.

    TypeScript 7.0 leads from the use of a property to the variable that `{ a }` puts there.
    """
    if not (led := await _has_references_to(question, place)):
        return led
    if not question.thorough or await _is_renamed_with(question, place):
        return True
    return None if await _is_exported(question) else False


async def _has_references_to(question: Question, place: Place) -> bool | None:
    """Whether the references of a place have the symbol; None if it has none."""
    try:
        found = (await references(question.backend, place.path, place.span.start)).sites
    except RefusedError:
        return None
    return not found.isdisjoint(question.symbol.sites) if found else None


async def _is_led_to(question: Question, place: Place, meaning: Meaning) -> bool | None:
    """Whether a place with this `meaning` has it through the symbol; None if that is not known.

    Where several modules export one declaration by the same other name, its uses all lead to that: their references
    tell by which module.
    """
    values = await values_of(question.backend, question.definitions, question.symbol.sites)
    return values.isdisjoint(sites_of(meaning)) or await _has_references_to(question, place)


async def _is_exposed(question: Question, meaning: Meaning) -> bool:
    """Whether all that is meant is the symbol, or what its module exports it as at run time: `exports.name = name`.

    To TypeScript 7.0 that is a symbol of its own, whose uses are in other modules: with `exports.name = other`, these
    lead to what is declared as `other`.
    """
    backend, sites = question.backend, frozenset((*question.claim.sites, *question.symbol.sites))
    strange = sites_of(meaning) - question.symbol.sites
    values = await values_of(backend, question.definitions, question.symbol.sites)
    is_exported = bool(values & strange)
    strange -= values
    for path in {path for path, _ in strange or question.symbol.sites}:
        if (text := await text_or_none(backend, path)) is None:
            return False
        found = await exposed_in(backend, path, text)
        words = (text.identifier_at(value) for value in found.values())
        is_exported |= any(word and text.slice(word) == question.claim.name for word in words)
        strange -= {(path, name) for name, value in found.items() if (path, value) in sites}
    return bool(meaning) and is_exported and not strange


async def _is_exported(question: Question) -> bool:
    """Whether the symbol is what a module exports at run time, not only what that stands for: `exports.name = …`."""
    backend, sites = question.backend, question.symbol.sites
    for path in {path for path, _ in sites}:
        text = await text_or_none(backend, path)
        if text and any((path, name) in sites for name in await exposed_in(backend, path, text)):
            return True
    return False


async def _is_renamed_with(question: Question, place: Place) -> bool:
    """Whether the server would change the symbol's declaration if it renamed what is at `place`.

    TypeScript 7.0 renames a function in `module.exports = { f }` to `f: g`, so others use it by its old name.
    """
    backend = question.backend
    at = position_params(place.path, place.text, place.span.start, backend.encoding)
    edit = await asked_rename(backend, at, f"{question.claim.name}_")
    changed = (step for step in (await plan_of(backend, [edit])).steps if isinstance(step, FileChange))
    return any((step.path, change.span.start) in question.symbol.sites for step in changed for change in step.changes)


async def _may_be_specialized(question: Question, place: Place, meaning: Meaning) -> bool:
    """Whether `meaning` is a member of the same template as the symbol, and only an instance decides which is meant.

    The server says that such a word means the member of the template itself. A rename of that one must not leave
    behind those of specializations.
    """
    rules = question.backend.plugin.word_check
    if not rules.of_template_pattern or question.symbol.role == "type":
        return False
    own = {one.written for one in await question.definitions.meaning(question.claim.at)}
    of_templates = {one for one in own if re.search(rules.of_template_pattern, one)}
    plain = {re.sub(rules.template_marks, "", one) for one in of_templates}
    related = [one for one in meaning if re.sub(rules.template_marks, "", one.written) in plain]
    if not related or not any(re.search(rules.of_template_pattern, one.written) for one in related):
        return False
    if not any(re.search(rules.of_any_pattern, one) for one in (*of_templates, *(one.written for one in related))):
        return False  # of two types, whose arguments are all known
    if (place.path, place.span.start) in sites_of(meaning):
        return question.thorough
    return re.search(rules.template_pattern, place.text.content) is not None


async def _may_be_of_object(question: Question, place: Place) -> bool:
    """Whether the word is a member of an object that may be of the type that has the symbol, as only a call decides."""
    return question.symbol.role != "type" and await is_through_object(place, question.backend.plugin.word_check)


async def _may_be_found(question: Question, place: Place, meaning: Meaning) -> bool:
    """Whether the word is a call in a template that an instance may find the symbol for, by the types of arguments."""
    rules, backend = question.backend.plugin.word_check, question.backend
    if not rules.found_by_argument or not meaning:
        return False
    own = await question.definitions.meaning(question.claim.at)
    if not own or not all(re.search(rules.found_by_argument, one.written) for one in (*own, *meaning)):
        return False
    if (place.path, place.span.start) in sites_of(meaning):
        return False
    start, end = (place.text.point_offset(point) for point in (place.span.start, place.span.end))
    if re.search(rules.member_pattern, place.text.content[max(0, start - _BEFORE) : start]):
        return False
    blank = blanked(place.text, backend.plugin.language_of(place.path))
    return depends_on_instance(blank, start, end)


async def _is_grouped(backend: Backend, definitions: Definitions, declared: Iterable[Site]) -> bool:
    """Whether one of `declared`, which the answer contains, is the declaration of the server's meaning."""
    rules = backend.plugin.word_check
    if rules.grouped or rules.lists_implementations:
        for one in declared:
            if sites_of(await definitions.meaning(one)) == {one}:
                return True
    return False


async def _made_with(question: Question) -> frozenset[Site]:
    """Places of the symbol in calls of macros that declare items, and what is declared or used by the words there.

    `getters!(name)` reads a field and makes a method: one rename changes both names.
    """
    backend, together = question.backend, set[Site]()
    for path, point in question.claim.sites:
        language = backend.plugin.language_of(path)
        if language is None or not has_query(language.id, MADE) or (text := await text_or_none(backend, path)) is None:
            continue
        is_both: bool = await asyncio.to_thread(is_made, text, language.id, point)
        if is_both:
            together |= {(path, point), *sites_of(await question.definitions.meaning((path, point)))}
    return frozenset(together)


def _is_linked(meaning: Meaning, symbol: Identity) -> bool:
    """Whether a linker joins all that is meant with the symbol, by a name that is the same in any scope."""
    is_here = any(not one.is_another(symbol.defined) for one in meaning)
    return bool(symbol.linked) and is_here and all(one.linked == symbol.linked for one in meaning)


async def _is_made_with(backend: Backend, symbol: Identity, meaning: Meaning) -> bool:
    """Whether `meaning` is at the name of a macro in whose call the symbol is declared: it may be that.

    rust-analyzer 1.95 leads there from a workspace that has its own copy of the crate.
    """
    for path, point in sites_of(meaning):
        text = await text_or_none(backend, path) if path in symbol.files else None
        found = text and re.compile(backend.plugin.word_check.maker_pattern).match(
            text.content, text.point_offset(point)
        )
        if text and found:
            blank = blanked(text, backend.plugin.language_of(path))
            end = text.offset_point(end_of_call(blank, found.end()))
            if any(path == own and point <= at <= end for own, at in symbol.sites):
                return True
    return False


def end_of_call(content: str, start: int) -> int:
    """Where the brackets that open after `start` are closed."""
    depth = 0
    for found in re.compile(r"[(\[{]|[)\]}]").finditer(content, start):
        depth += 1 if found[0] in "([{" else -1
        if depth <= 0:
            return found.end()
    return len(content)


def _is_alias(backend: Backend, place: Place, meaning: Meaning, symbol: Identity) -> bool:
    """Whether the symbol, an alias, is at `place`, where the server reports only the alias's target.

    clangd 22 does that for base classes. After a keyword (`struct S`), the word is not an alias.
    """
    is_aliased = all(one.id in symbol.aliased for one in meaning)
    return is_aliased and not kind_before(place.text, place.span, backend.plugin.word_check)
