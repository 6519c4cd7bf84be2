"""Uses of other symbols that a server takes for uses of one because both have one id: `of_namesakes`.

clangd 22 tells static functions, and all of an unnamed namespace, apart by the last part of their file's name only, and
everything else by its qualified name, in whichever programs of the workspace it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.definitions import Definitions, Meaning, Site, Symbol
from lsp_mcp.evidence.identity import sites_of
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count, first_few
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.requests.references import References, references
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.servers.traits import Namesake
from lsp_mcp.text import Point
from lsp_mcp.words.lexing import macro_at

_AROUND = 500  # characters around a place
_MOST_NAMED = 5
_MOST_FILES = 200  # that have a name


class Namesakes(Struct, frozen=True):
    """The files that mean `others`, those of which it is `unknown`, and where the others are declared and
    `defined`; `misread` places mean others, too, in files that the server does not read well alone. The files of `same`
    mean the symbol itself."""

    others: frozenset[Path] = frozenset()
    unknown: frozenset[Path] = frozenset()
    sites: frozenset[Site] = frozenset()
    defined: frozenset[Site] = frozenset()
    misread: frozenset[Site] = frozenset()
    same: frozenset[Path] = frozenset()

    def own(self, places: Iterable[Place]) -> list[Place]:
        """Those of `places` that do not mean another symbol."""
        return [place for place in places if not self.has(place)]

    def has(self, place: Place) -> bool:
        """Whether `place` means another symbol."""
        return place.path in self.others or (place.path, place.span.start) in self.misread

    def gaps(self, backend: Backend, name: str, places: Iterable[Place]) -> list[Gap]:
        """The gap for those of `places`, uses of `name`, of which it is unknown what they mean."""
        unsure = [place for place in places if place.path in self.unknown]
        if not unsure:
            return []
        files = tuple(dict.fromkeys(place.path for place in unsure))
        root = backend.root  # a library's file may have the name, too
        names = [(path.relative_to(root) if path.is_relative_to(root) else path).as_posix() for path in files]
        shown = first_few(names, _MOST_NAMED)
        text = (
            f"{count(len(unsure), 'use')} may mean another {name}, from which {backend.plugin.name} does not tell it "
            f"apart: {shown}"
        )
        return [Gap("doubt", text, files)]


async def of_namesakes(
    backend: Backend, definitions: Definitions, places: Sequence[Place], at: Site, family: Collection[Site] = ()
) -> Namesakes:
    """What `places`, uses of the symbol at `at` to its server, mean; those of its `family` are its own, too.

    One place of each file is asked about, and only if there seems to be another definition. Files mean the same symbol
    if they have a declaration in common, also through others, and different ones if these have definitions.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.word_check.internal_pattern:
        return Namesakes()
    misread = await _misread(backend, definitions, places, at)
    left = [place for place in places if (place.path, place.span.start) not in misread]
    found = [await _in_other_files(backend, definitions, left, site) for site in (at, *family)]
    same = frozenset[Path]().union({path for path, _ in family}, *(one.same for one in found))
    return Namesakes(
        frozenset[Path]().union(*(one.others for one in found)) - same,
        frozenset[Path]().union(*(one.unknown for one in found)) - same,
        frozenset(site for one in found for site in one.sites if site[0] not in same),
        frozenset(site for one in found for site in one.defined if site[0] not in same),
        misread,
        same,
    )


def is_definition(rule: Namesake, place: Place) -> bool:
    """Whether `place` looks like the definition of a symbol that `rule` is for."""
    content = place.text.content
    start, end = place.text.point_offset(place.span.start), place.text.point_offset(place.span.end)
    before, after = content[max(0, start - _AROUND) : start], content[end : end + _AROUND]
    return bool(re.search(rule.before_pattern, before) and re.match(rule.after_pattern, after))


def is_defined(backend: Backend, place: Place) -> bool:
    """Whether `place` looks like the definition of a symbol that is not a member."""
    return any(is_definition(rule, place) for rule in backend.plugin.word_check.namesakes if not rule.owner_pattern)


async def seems_defined_elsewhere(backend: Backend, name: str, known: Collection[Path], owner: str = "") -> bool:
    """Whether a file other than the `known` ones seems to define a symbol called `name`, which a type `owner` has.

    Judged by its text, and only for a server that may give one id to both.
    """
    rules = backend.plugin.word_check.namesakes
    owning = [rule.owner_pattern.replace("{owner}", owner) for rule in rules if owner and rule.owner_pattern]
    plain = [rule for rule in rules if not rule.owner_pattern]
    return bool(await _defining(backend, name, plain, owning, known, 1))


async def files_with_type(backend: Backend, name: str, most: int) -> list[Path]:
    """The files, up to `most`, that seem to define a type called `name`; none for a server that tells them apart."""
    rules = [rule for rule in backend.plugin.word_check.namesakes if rule.is_alone and not rule.owner_pattern]
    return await _defining(backend, name, rules, (), (), most)


async def _defining(
    backend: Backend,
    name: str,
    rules: Sequence[Namesake],
    owning: Sequence[str],
    known: Collection[Path],
    most: int,
) -> list[Path]:
    """The files, up to `most`, with text like `owning`, or with `name` defined as one of `rules` says."""
    found: list[Path] = []
    for path in (await backend.words.files_with(name)).files[:_MOST_FILES] if rules else ():
        if path in known or not (text := await text_or_none(backend, path)):
            continue
        spans = await backend.words.occurrences(path, text, name)
        places = (Place(path, span, text) for span in spans)
        if any(re.search(pattern, text.content) for pattern in owning) or any(
            is_definition(rule, place) for place in places for rule in rules
        ):
            found.append(path)
            if len(found) == most:
                break
    return found


async def own_references(
    backend: Backend, definitions: Definitions, path: Path, point: Point, family: Collection[Site] = ()
) -> References:
    """`references` of the symbol at `point` without uses of others that have its id, or that of one of its `family`.

    They include its definition. Raises the errors of `references`.
    """
    found = await _with_definition(backend, definitions, await references(backend, path, point), (path, point))
    namesakes = await of_namesakes(backend, definitions, found.places, (path, point), family)
    if not (namesakes.others or namesakes.unknown or namesakes.misread):
        return found
    places = namesakes.own(found.places)
    name = next((place.text.slice(place.span) for place in places), "")
    gaps = (*found.gaps, *namesakes.gaps(backend, name, places))
    return replace(found, places=tuple(places), gaps=gaps, apart=namesakes.sites, strange=namesakes.others)


# --- inside ------------------------------------------------------------------------------------


async def _with_definition(backend: Backend, definitions: Definitions, found: References, at: Site) -> References:
    """`found` with the definition in the workspace, if it has none and the server does not say where that is declared.

    clangd 22 does not list the `#define` of a macro that has another one where the header was indexed.
    """
    if not found.places or sites_of(await definitions.meaning(at)):
        return found
    try:
        sites = frozenset(await definition_places(backend, *at))
    except RefusedError as error:
        note(at[0], error)
        return found
    if not sites.isdisjoint(found.sites):
        return found
    name, more = found.places[0].text.slice(found.places[0].span), list[Place]()
    for path, point in sites:
        text = await text_or_none(backend, path) if backend.plugin.adapter.owns(path, backend.root) else None
        span = text.identifier_at(point) if text else None
        if text and span and span.start == point and text.slice(span) == name:
            more.append(Place(path, span, text))
    return found.joined_by(more, backend.root) if more else found


async def _misread(backend: Backend, definitions: Definitions, places: Sequence[Place], at: Site) -> frozenset[Site]:
    """Those of `places` that mean another symbol where their file is included, which the server has read alone.

    So do other words for which the server has guessed the symbol: with an error, it corrects what is not declared.
    """
    own = await definitions.meaning(at)
    ids = frozenset[str]().union(*map(_ids, own))
    sites, names = sites_of(own), {symbol.name for symbol in own}
    others = [place for place in places if place.text.slice(place.span) not in names]
    guessed = {(place.path, place.span.start) for place in others if own and _is_guessed(backend, place)}
    alone = {path for path in {place.path for place in places} if await backend.coverage.wholes_of(path)}
    doubtful = [place for place in places if place.path in alone and place.text.slice(place.span) in names]
    await definitions.learn(doubtful)
    found = {(place.path, place.span.start) for place in doubtful}
    meanings = {site: definitions.known(site) or frozenset() for site in found}
    return frozenset(guessed).union(
        site
        for site, meaning in meanings.items()
        if own and meaning and all(ids.isdisjoint(_ids(one)) and sites.isdisjoint(one.sites) for one in meaning)
    )


def _is_guessed(backend: Backend, place: Place) -> bool:
    start, guessed = place.text.point_position(place.span.start, backend.encoding), backend.plugin.diagnostics.guessed
    problems = backend.problems.diagnostics(place.path) if guessed else ()
    return any(one["range"]["start"] == start and re.search(guessed, str(one.get("code", ""))) for one in problems)


async def _in_other_files(backend: Backend, definitions: Definitions, places: Sequence[Place], at: Site) -> Namesakes:
    """`of_namesakes`, of whole files."""
    rules = backend.plugin.word_check
    if not any(place.path != at[0] for place in places):
        return Namesakes()
    own = await definitions.meaning(at)
    ids = frozenset[str]().union(*[{*_ids(symbol), *symbol.aliased} for symbol in own])
    parts = {path for path in {place.path for place in places} if await backend.coverage.part_of(path)}
    names = {symbol.name for symbol in own}
    having = {path for name in names for path in (await backend.words.files_with(name)).files}
    if not ids or not any(_may_be_another(rules.namesakes, symbol, places, parts, having) for symbol in own):
        return Namesakes()
    home = {path for path, _ in sites_of(own)}
    named = [place for place in reversed(places) if place.text.slice(place.span) in names]
    first = {place.path: place for place in named if place.path not in home}
    await definitions.learn(first.values())
    meanings = {path: definitions.known((path, place.span.start)) or frozenset() for path, place in first.items()}
    same = {path: _with_id(meaning, ids, names) for path, meaning in meanings.items()}
    left = {path: meaning for path, meaning in same.items() if meaning or not meanings[path]}
    own = _with_id(own, ids, names)
    # What a macro declares is declared by its definition, in all programs that use it.
    theirs = frozenset[Site]().union(*map(sites_of, left.values()))
    return _grouped(left, own, await _in_macros(backend, sites_of(own) & theirs))


async def _in_macros(backend: Backend, sites: Collection[Site]) -> frozenset[Site]:
    """Those of `sites` that are in the definition of a macro."""
    found: set[Site] = set()
    for path, point in sites:
        text, language = await text_or_none(backend, path), backend.plugin.language_of(path)
        if text and (span := text.identifier_at(point)) and macro_at(text, span, language) is not None:
            found.add((path, point))
    return frozenset(found)


def _with_id(meaning: Meaning, ids: frozenset[str], names: Collection[str]) -> Meaning:
    return frozenset(
        symbol for symbol in meaning if symbol.name in names and not ids.isdisjoint({*_ids(symbol), *symbol.aliased})
    )


def _ids(symbol: Symbol) -> frozenset[str]:
    """What the server knows `symbol` by, which others may share."""
    return frozenset(one for one in (symbol.id.partition(" ")[0], symbol.written) if one)


def _may_be_another(
    rules: Sequence[Namesake],
    symbol: Symbol,
    places: Sequence[Place],
    parts: Collection[Path],
    having: Collection[Path],
) -> bool:
    """Whether another symbol seems to be defined at one of `places`, or to own it: in `parts` of other code, unseen.

    Of internal ones it seems so if another file of the name of theirs is `having` the word.
    """
    home = {path for path, _ in symbol.sites}
    if symbol.internal:
        names = {path.name for path in home}
        if any(path not in home and path.name in names for path in having):
            return True
        if not symbol.aliased:
            return False
    for rule in rules:
        if found := re.search(rule.id_pattern, symbol.written):
            break
    else:
        return False
    defined = {path for path, _ in symbol.defined}
    others = [place for place in places if place.path not in defined]
    if rule.owner_pattern:
        pattern = re.compile(rule.owner_pattern.replace("{owner}", re.escape(found["owner"])))
        texts = {place.path: place.text.content for place in others}
        owning = {path for path, text in texts.items() if path in parts or pattern.search(text)}
        if not any(pattern.search(place.text.content) for place in places):  # a macro makes the owner
            plain = [rule for rule in rules if not rule.owner_pattern]
            owning |= {place.path for place in others if any(is_definition(rule, place) for rule in plain)}
    else:
        owning = {place.path for place in others if is_definition(rule, place) or _is_made(place, symbol)}
    return len(owning) > (not defined)


def _is_made(place: Place, symbol: Symbol) -> bool:
    """Whether a macro that does not spell the name of `symbol` may define it at `place`."""
    return bool(symbol.name) and place.text.slice(place.span) != symbol.name


def _grouped(meanings: Mapping[Path, Meaning], own: Meaning, but: Collection[Site]) -> Namesakes:
    """`meanings` by what they have in common, `but` for these sites."""
    groups: list[tuple[set[Path], set[Site], set[Site]]] = []  # files, declarations, definitions
    for path, meaning in [*meanings.items(), (None, own)]:
        files, sites = {path} if path else set[Path](), set(sites_of(meaning).difference(but))
        # What is internal is itself wherever it is declared, as by `static int count;`.
        defined = {site for symbol in meaning for site in (symbol.sites if symbol.internal else symbol.defined)} - {
            *but
        }
        for group in [one for one in groups if not one[1].isdisjoint(sites)]:
            groups.remove(group)
            files, sites, defined = files | group[0], sites | group[1], defined | group[2]
        groups.append((files, sites, defined))
    *rest, (same, _, definition) = groups
    others = [one for one in rest if one[2] and definition]
    unknown = [one for one in rest if not (one[2] and definition)]
    return Namesakes(
        frozenset[Path]().union(*(files for files, _, _ in others)),
        frozenset[Path]().union(*(files for files, _, _ in unknown)),
        frozenset[Site]().union(*(sites for _, sites, _ in others)),
        frozenset[Site]().union(*(defined for _, _, defined in others)),
        same=frozenset(same),
    )
