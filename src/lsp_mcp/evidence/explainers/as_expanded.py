"""Words in the code of macros that a server reads only where they are called: `AsExpanded`, and `meant_in_macro`."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.evidence.absolute_paths import absolute_meanings, absolute_paths
from lsp_mcp.evidence.definitions import Meaning, Site, Symbol
from lsp_mcp.evidence.explainers.by_definition import end_of_call, says
from lsp_mcp.evidence.verdicts import Question, Verdicts
from lsp_mcp.remembered import RememberedOf
from lsp_mcp.requests.places import Place, by_file, position_params, text_or_none
from lsp_mcp.requests.scope import definition_places, locations
from lsp_mcp.syntax.expansions import EXPANSIONS, Macro, Macros, macros_in
from lsp_mcp.syntax.grammars import has_query
from lsp_mcp.text import Span, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import share_of_rest
from lsp_mcp.words.lexing import blanked

_MOST_PLACES = 60  # in macros, for one question
_MOST_FILES = 100  # with the name of such a macro
_MOST_CALLS = 60  # expanded
_MOST_KEPT = 2_000  # places
_SHARE = 0.2  # of the time of a call, to say where one word is declared
_Group = tuple[Site, ...]
_MEANT: RememberedOf[Backend, _Group, int, Mapping[Site, Meaning]] = RememberedOf(_MOST_KEPT)
_STATES: RememberedOf[Backend, int, int, int] = RememberedOf(_MOST_KEPT)  # generations that are an earlier one


class AsExpanded:
    """Such a word means what it means in each expansion of its macro, if that is one symbol; or what its path means.

    The server expands each call with marks in place of the words, and is shown the expansions in place of the calls.
    Only if the question is thorough: others that are being answered begin again.
    """

    keeps_time = False

    async def explain(self, question: Question, so_far: Verdicts) -> Verdicts:
        """See `Explainer`."""
        if not question.backend.plugin.word_check.expand_request or not so_far.unknown:
            return so_far
        inside, other = await _in_macros(question.backend, so_far.unknown)
        meant = await meanings_in_macros(question.backend, inside) if question.thorough else {}
        same: list[Place] = []
        for place in inside:
            if meaning := meant.get(place.site):
                said = await says(question, place, meaning)
                if said is not None:
                    (same if said else other).append(place)
        return so_far.explained(same=same, other=other)


async def meanings_in_macros(backend: Backend, places: Sequence[Place]) -> Mapping[Site, Meaning]:
    """What `places` of one name in the code of macros mean, as far as all expansions agree.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not places or len(places) > _MOST_PLACES:
        return {}
    group, before = tuple(sorted(place.site for place in places)), _state(backend)
    kept = _MEANT.for_owner(backend)
    if (known := kept.get(group, before)) is not None:
        return known
    paths = absolute_paths(backend, places)
    search = _Search(backend, rest) if (rest := [place for place in places if place not in paths]) else None
    if search and not await search.find_calls():
        search = None
    if not (paths or search):
        return {}
    try:
        async with backend.problems.trial() as trial:
            began, state = backend.generation, _state(backend)
            found = await absolute_meanings(backend, trial, paths) if paths else {}
            found |= await search.meanings(trial) if search else {}
    except (RefusedError, CallerError):
        return {}
    if backend.generation == began + 1:  # which the trial alone makes it grow by
        _STATES.for_owner(backend).put(backend.generation, 0, state, 1)
        if state == before:  # so these are the texts that were searched for calls
            kept.put(group, state, found, 1 + len(found))
    return found


async def declared_by_macros(backend: Backend, place: Place) -> Place | None:
    """Where the word at `place`, in the code of a macro, is declared, if the server does not know that by itself.

    None if that takes long: others cannot ask this server in the meantime.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    if not backend.plugin.word_check.expand_request or not (await _in_macros(backend, [place]))[0]:
        return None
    if await definition_places(backend, place.path, place.span.start):
        return None
    meant: Mapping[Site, Meaning] = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(share_of_rest(_SHARE)):
            meant = await meanings_in_macros(backend, [place])
    for meaning in meant.values():
        for path, start in (site for one in meaning for site in one.sites):
            text = await backend.documents.open(path)
            if span := text.identifier_at(start):
                return Place(path, span, text)
    return None


# --- inside ------------------------------------------------------------------------------------


def _state(backend: Backend) -> int:
    """The generation of the present texts: trials make it grow, and leave the texts as they were."""
    known = _STATES.for_owner(backend).get(backend.generation, 0)
    return backend.generation if known is None else known


async def _in_macros(backend: Backend, places: Iterable[Place]) -> tuple[list[Place], list[Place]]:
    """Those of `places` in the code of macros, and those in patterns of macros."""
    inside: list[Place] = []
    patterns: list[Place] = []
    for path, there in by_file(places).items():
        if macros := await _macros(backend, path, there[0].text):
            for place in there:
                offset = place.text.point_offset(place.span.start)
                if macros.around(offset):
                    (patterns if macros.is_pattern(offset) else inside).append(place)
    return inside, patterns


async def _macros(backend: Backend, path: Path, text: Text) -> Macros | None:
    language = backend.plugin.language_of(path)
    if language is None or not has_query(language.id, EXPANSIONS):
        return None
    return await asyncio.to_thread(macros_in, text, language.id)


class _Expanded(Struct):
    """A text with expansions in place of calls: each part's place in the text, its end there, and what stands there."""

    text: Text
    parts: list[tuple[int, int, str]] = field(default_factory=list)

    @property
    def shown(self) -> Text:
        """The new text."""
        pieces, at = [], 0
        for start, end, code in self.parts:
            pieces += [self.text.content[at:start], code]
            at = end
        return Text("".join([*pieces, self.text.content[at:]]))

    def before(self, offset: int) -> int | None:
        """Where the text has what is at `offset` of the new one; None in an expansion."""
        grown = 0
        for start, end, code in self.parts:
            if offset < start + grown:
                break
            if offset < start + grown + len(code):
                return None
            grown += len(code) - (end - start)
        return offset - grown

    def starts(self) -> list[int]:
        """Where the expansions begin in the new text."""
        found, grown = [], 0
        for start, end, code in self.parts:
            found.append(start + grown)
            grown += len(code) - (end - start)
        return found


class _Search:
    """The expansions with some `places`, all of one name."""

    def __init__(self, backend: Backend, places: Sequence[Place]) -> None:
        self._backend, self._places = backend, places
        self._name = places[0].text.slice(places[0].span)
        self._marks = [f"{self._name}_lsp_mcp_{number}_" for number in range(len(places))]
        self._mark = re.compile(rf"\b{re.escape(self._name)}_lsp_mcp_(\d+)_\b")
        self._texts: dict[Path, Text] = {}
        self._macros: dict[Path, Macros] = {}
        self._calls: list[tuple[Path, int]] = []  # by their numbers in the file

    async def find_calls(self) -> bool:
        """Whether all calls of the macros, through others too, are known."""
        present = {path: await text_or_none(self._backend, path) for path in {place.path for place in self._places}}
        if any(place.text != present[place.path] for place in self._places):
            return False  # they changed since the question began
        todo = {macro.name for place in self._places if (macro := await self._around(place))}
        names, files = set[str](), set[Path]()
        while todo:
            name = todo.pop()
            names.add(name)
            with_name = await self._backend.words.files_with(name)
            files |= {path for path in with_name.files if self._backend.plugin.language_of(path)}
            if with_name.unknown or len(files) > _MOST_FILES:
                return False
            word, alias = (re.compile(rf"\b{re.escape(name)}\b{after}") for after in ("", r"\s+as\b"))
            for path in files:
                if (macros := await self._read(path)) is None:
                    return False
                content = self._texts[path].content
                if alias.search(content):
                    return False  # called by another name
                for one in macros.definitions:
                    if one.name not in names and word.search(content, one.start, one.end):
                        todo.add(one.name)
        self._unexpanded = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\s*!(?!=)")
        for path in sorted(files):
            calls = self._macros[path].calls
            self._calls += [(path, number) for number, call in enumerate(calls) if self._has(path, call, names)]
        return 0 < len(self._calls) <= _MOST_CALLS

    def _has(self, path: Path, call: Macro, names: set[str]) -> bool:
        """Whether one of the macros is called, or given to another, which may call it."""
        return not names.isdisjoint(re.findall(r"\w+", self._texts[path].content[call.start : call.end]))

    async def meanings(self, trial: Trial) -> dict[Site, Meaning]:
        """What the places mean in all expansions."""
        said: dict[int, set[Site | None]] = {}
        while left := [number for number in range(len(self._places)) if number not in said]:
            # A call of what is marked is not expanded: what is in there is found without that mark.
            more = await self._meant(trial, left)
            if not more:
                break
            said |= more
        found: dict[Site, Meaning] = {}
        for number, sites in said.items():
            site = next(iter(sites))
            if len(sites) == 1 and site is not None:
                found[self._places[number].site] = frozenset([Symbol(frozenset([site]), name=self._name)])
        return found

    async def _meant(self, trial: Trial, numbers: Sequence[int]) -> dict[int, set[Site | None]]:
        """What those places mean that are in an expansion if places are marked by these `numbers`."""
        expanded = await self._expand(trial, numbers)
        if expanded is None:
            return {}
        for path, now in expanded.items():
            trial.show(path, now.shown)
        said: dict[int, set[Site | None]] = defaultdict(set)
        for path, now in expanded.items():
            shown = now.shown
            for start, (_, _, code) in zip(now.starts(), self._marked[path], strict=True):
                for number, offset in self._words(code):
                    span = shown.identifier_at(shown.offset_point(start + offset))
                    said[number].add(await self._asked(trial, path, shown, span, expanded) if span else None)
        return said

    async def _around(self, place: Place) -> Macro | None:
        self._texts[place.path] = place.text
        macros = await self._read(place.path)
        return macros.around(place.text.point_offset(place.span.start)) if macros else None

    async def _read(self, path: Path) -> Macros | None:
        if path not in self._macros:
            text = self._texts.get(path) or await text_or_none(self._backend, path)
            if text is None or (macros := await _macros(self._backend, path, text)) is None:
                return None
            self._texts[path], self._macros[path] = text, macros
        return self._macros[path]

    async def _expand(self, trial: Trial, numbers: Sequence[int]) -> dict[Path, _Expanded] | None:
        """The texts with all expansions that have one of the places; None if a call cannot be expanded to its end.

        `_marked` has the same parts with marks.
        """
        marked = self._with_marks(numbers)
        for path, text in {**{path: self._texts[path] for path, _ in self._calls}, **marked}.items():
            trial.show(path, text)
        self._marked: dict[Path, list[tuple[int, int, str]]] = defaultdict(list)
        found: dict[Path, _Expanded] = {}
        shown_macros = {path: await _macros(self._backend, path, text) for path, text in marked.items()}
        for path, number in self._calls:
            text, call = self._texts[path], self._macros[path].calls[number]
            shown = marked.get(path, text)
            macros = shown_macros.get(path, self._macros[path])
            if macros is None or len(macros.calls) != len(self._macros[path].calls):
                return None
            code = await self._expansion(trial, path, shown, macros.calls[number].at)
            parts = [(call, code)]
            if code is not None and self._unexpanded.search(code):
                parts = [
                    (one, await self._expansion(trial, path, shown, there.at))
                    for one, there in self._given(path, text, call, shown, macros.calls[number])
                ]
            if not parts or any(code is None or self._unexpanded.search(code) for _, code in parts):
                return None
            for one, code in parts:
                if code and self._mark.search(code):
                    self._marked[path].append((one.start, one.end, code))
                    plain = self._mark.sub(self._name, code)
                    found.setdefault(path, _Expanded(text)).parts.append((one.start, one.end, plain))
        for path in marked:
            if path not in found:
                trial.show(path, self._texts[path])
        return found

    async def _expansion(self, trial: Trial, path: Path, shown: Text, at: int) -> str | None:
        """What the call at an offset of `shown` becomes; None if the server does not expand it."""
        rules = self._backend.plugin.word_check
        asked = position_params(path, shown, shown.offset_point(at), trial.encoding)
        answer = await trial.request(rules.expand_request, asked)
        return str(answer[rules.expansion_field]) if answer else None

    def _given(self, path: Path, text: Text, call: Macro, shown: Text, now: Macro) -> Iterator[tuple[Macro, Macro]]:
        """The calls that `call` of `text`, which is `now` that of `shown`, is given and does not expand, in both texts.

        What formats a string is none of the macros that a server expands.
        """
        language = self._backend.plugin.language_of(path)
        contents = [blanked(one, language) for one in (text, shown)]
        ends = [-1, -1]
        spans = (call, now)
        pairs = zip(
            *(self._unexpanded.finditer(one, span.start, span.end) for one, span in zip(contents, spans, strict=True)),
            strict=False,
        )
        for pair in pairs:
            if pair[0].start() < ends[0]:
                continue  # in another one, whose expansion has it
            ends = [end_of_call(content, one.end()) for content, one in zip(contents, pair, strict=True)]
            both = [Macro("", one.start(), one.start(), end) for one, end in zip(pair, ends, strict=True)]
            yield both[0], both[1]

    def _with_marks(self, numbers: Sequence[int]) -> dict[Path, Text]:
        """The texts of the places, with marks in place of those with these `numbers`."""
        found: dict[Path, Text] = {}
        by_path: dict[Path, list[tuple[int, int, str]]] = defaultdict(list)
        for place, mark in ((self._places[number], self._marks[number]) for number in numbers):
            start = place.text.point_offset(place.span.start)
            by_path[place.path].append((start, start + len(self._name), mark))
        for path, parts in by_path.items():
            found[path] = _Expanded(self._texts[path], sorted(parts)).shown
        return found

    def _words(self, code: str) -> list[tuple[int, int]]:
        """The numbers of the places in an expansion with marks, and where their words are without them."""
        found, grown = [], 0
        for one in self._mark.finditer(code):
            found.append((int(one[1]), one.start() - grown))
            grown += len(one[0]) - len(self._name)
        return found

    async def _asked(
        self, trial: Trial, path: Path, shown: Text, span: Span, expanded: Mapping[Path, _Expanded]
    ) -> Site | None:
        """The one place where the word is declared; None if it is not known, or made by a macro itself."""
        at = position_params(path, shown, span.start, trial.encoding)
        said = locations(await trial.request(self._backend.plugin.word_check.request, at))
        if len(said) != 1:
            return None
        file, start = uri_path(said[0]["uri"]), said[0]["range"]["start"]
        text = expanded[file].shown if file in expanded else await text_or_none(self._backend, file)
        if text is None:
            return None
        offset = text.point_offset(text.position_point(start, trial.encoding))
        if file in expanded:
            if (offset_before := expanded[file].before(offset)) is None:
                return None
            text, offset = expanded[file].text, offset_before
        point = text.offset_point(offset)
        named = text.identifier_at(point)
        macros = await _macros(self._backend, file, text)
        is_declared = macros is not None and (
            offset in macros.declared or any(one.at == offset for one in macros.definitions)
        )
        return (file, point) if is_declared and named and text.slice(named) == self._name else None
