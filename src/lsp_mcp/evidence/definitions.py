"""The meanings of many places, according to a server: `Definitions`, which caches the answers until something changes.

Uses textDocument/definition (LSP 3.17) or the adapter's replacement, or another request that returns places.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Json
from lsp_mcp.errors import PathError, PointError, RefusedError
from lsp_mcp.protocol.lsp import Location
from lsp_mcp.requests.other_builds import in_order_of_builds
from lsp_mcp.requests.places import Place, position_params
from lsp_mcp.requests.scope import locations
from lsp_mcp.servers.traits import WordCheck
from lsp_mcp.syntax.imports import has_aliases, imported_as
from lsp_mcp.text import Point, PositionEncoding, Span, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.words.workspace_words import Reached

Site = tuple[Path, Point]
"""Where an identifier begins."""

ToSite = Callable[[Location], Awaitable[Site]]
"""Called with a `Location`: where it begins."""


class Symbol(Struct, frozen=True):
    """One possible meaning of a place: where the symbol is declared and defined.

    `id` is the server's own identifier, `name` its name, each "" if the server gives none. If `internal`, only files
    that include its declaration can mean it. An alias of a symbol with the same name and scope has that symbol's ids as
    `aliased`. `defined` is the definition among the sites, if the server knows it. `written` is its identifier in a
    form that says what it is made of.
    """

    sites: frozenset[Site]
    id: str = ""
    name: str = ""
    internal: bool = False
    aliased: frozenset[str] = frozenset()
    defined: frozenset[Site] = frozenset()
    written: str = ""
    linked: str = ""  # the name by which a linker joins it with others, whatever their scopes
    is_alone: bool = False  # no linker joins it with another of its name: it is internal, a type, or a member of one

    def is_another(self, defined: Collection[Site]) -> bool:
        """Whether this is not the symbol that is `defined` at these sites, in other files, though it has its id.

        A server may give one id to symbols of programs that are never linked together.
        """
        if not (self.defined and defined):
            return False
        return {path for path, _ in self.defined}.isdisjoint(path for path, _ in defined)


Meaning = frozenset[Symbol]
"""The meaning of a place; several symbols if one forwards another's name, or if the server is unsure; none if unknown.
"""

_AT_ONCE = 4  # requests in flight


def misread(meaning: Meaning, word: str, rules: WordCheck) -> str:
    """The other name under which the server understands `word`; "" if it may be right."""
    names = sorted({symbol.name for symbol in meaning})
    is_right = not all(names) or word in rules.standing_for or any(word in re.findall(r"\w+", name) for name in names)
    return "" if is_right or not names else names[0]


async def is_misread_alone(backend: Backend, path: Path) -> bool:
    """Whether names in `path` mean something else if a server reads it alone, and not where it is included."""
    return bool(await backend.coverage.part_of(path) or await backend.coverage.wholes_of(path))


def spelled(elements: Sequence[Json], word: str, rules: WordCheck) -> Sequence[Json]:
    """Those of `elements`, a server's answer about the place of `word`, that it names, without what an alias stands
    for.
    """
    if not rules.alias_field:
        return elements
    named = [one for one in elements if rules.name_field and one.get(rules.name_field) == word] or elements
    aliases = [one for one in named if re.search(rules.alias_pattern, str(one.get(rules.alias_field) or ""))]
    return aliases or named


def _is_declared_as_before(meaning: Meaning, reached: Reached) -> bool:
    """Whether what changed adds no site to the symbols of `meaning`, and takes none away."""
    if reached.words is None:
        return True
    for symbol in meaning:
        named = re.findall(r"\w+", symbol.name)
        if not named or not reached.words.isdisjoint(named) or any(reached.has(path) for path, _ in symbol.sites):
            return False
    return True


def _of_part(symbol: Symbol, path: Path, whole: Path) -> Symbol:
    """`symbol` as the server calls it where it is not shown `path` as a part of `whole`: by the file that has it."""
    if not symbol.internal or any(site[0] != path for site in symbol.sites):
        return symbol
    return replace(symbol, id="", written=symbol.written.replace(whole.name, path.name, 1))


class _Given(Struct, frozen=True):
    """A `word` that imports of its file give to what has one of these `names` elsewhere."""

    word: str
    names: frozenset[str]

    def joined(self, name: str, at: Site) -> str:
        """`name` with the word, if what is declared at the site may be called so; a module is at its beginning."""
        means = at[1] == Point(1, 1) or not self.names.isdisjoint(re.findall(r"\w+", name))
        return f"{name} {self.word}" if means else name


class Joined:
    """The `text` of `whole` with that of `path` put in for `line`, which includes it."""

    def __init__(self, path: Path, part: Text, whole: Path, around: Text, line: int) -> None:
        self.part, self.whole, self._path, self._around = part, whole, path, around
        self._start = around.point_offset(Point(line, 1))
        end = around.content.find("\n", self._start)
        self._end = len(around.content) if end < 0 else end
        self.text = Text(f"{around.content[: self._start]}{part.content}{around.content[self._end :]}")

    def of_part(self, point: Point) -> Point:
        """The place of one in the part."""
        return self.text.offset_point(self._start + self.part.point_offset(point))

    def site(self, point: Point) -> Site:
        """The file and place of one in the joined text."""
        offset, length = self.text.point_offset(point), len(self.part.content)
        if self._start <= offset < self._start + length:
            return self._path, self.part.offset_point(offset - self._start)
        is_behind = offset >= self._start + length
        return self.whole, self._around.offset_point(offset - length + self._end - self._start if is_behind else offset)


class Definitions:
    """Where one server says that symbols are defined; or, with another `request`, what they are related to.

    The meaning of a word depends on its file and on everything that is included or imported there, through others too.
    An edit is known not to affect the others, whose answers stay. Where code is included, the sites of a symbol depend
    on other files, too, since a definition that is new in another source is one of them: there, answers stay only about
    symbols that no affected file names or has. Any other change makes all answers forgotten: `generation` also grows
    for a file loaded or a build changed, without saying which. So do edits the places of another `request`, such as
    implementations.
    """

    def __init__(self, backend: Backend, request: str = "") -> None:
        self._backend = backend
        self._other_request = request
        self._generation = -1
        self._known: dict[Site, Meaning] = {}
        self._texts: dict[Path, Text | None] = {}
        self._parts: set[Path] = set()  # files asked about in the code around them
        self._included: dict[Site, Meaning] = {}  # see `where_included`
        self._opened: dict[Path, Path] = {}  # one open file, by folder

    def known(self, site: Site) -> Meaning | None:
        """The server's answer about `site`, empty if it knows nothing there; None if it was not asked."""
        self._forget_if_changed()
        return self._known.get(site)

    async def meaning(self, site: Site) -> Meaning:
        """The symbols that the identifier at `site` means.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        await self._keep_unaffected()
        if (known := self.known(site)) is not None:
            return known
        generation = self._generation
        found = await self._ask(site)
        if generation == self._backend.generation == self._generation:
            self._known[site] = found
        return found

    async def where_included(self, site: Site) -> Meaning:
        """What the identifier at `site` means where its file is included; none if that is read well alone, or unknown.

        Raises:
            UnavailableError: see `Backend.request`.
        """
        await self._keep_unaffected()
        self._forget_if_changed()
        if site not in self._included:
            path, point = site
            part = await self._backend.coverage.part_of(path)
            await self._in_wholes(path, point, [part] if part else await self._backend.coverage.wholes_of(path))
        return self._included.get(site, frozenset())

    async def learn(self, places: Iterable[Place], *, when: bool = True) -> None:
        """Ask about unknown `places`, a few at a time in this order, as long as the present `budget` lasts.

        Only `when` that is so; otherwise notes that something is left. Raises the errors of `meaning`.
        """
        await self._keep_unaffected()
        sites = [site for place in places if self.known(site := (place.path, place.span.start)) is None]
        if not (sites and when):
            budget.present().is_cut |= bool(sites)
            return
        try:
            async with asyncio.timeout(budget.left()):
                await self._learn(sites)
        except TimeoutError:
            budget.cut()

    async def _learn(self, sites: Iterable[Site]) -> None:
        by_folder = self._backend.plugin.word_check.by_folder
        by_file: dict[Path, list[Site]] = {}
        for site in sites:
            by_file.setdefault(site[0], []).append(site)
        excluded = {path: at for path, at in by_file.items() if await self._backend.coverage.excludes(path)}
        groups: dict[Path, list[Site]] = {}
        for path, at in by_file.items():
            if path not in excluded:
                groups.setdefault(path.parent if by_folder else path, []).extend(at)
        left = iter(groups.values())

        async def ask(groups: Iterable[Sequence[Site]]) -> None:
            for group in groups:
                for site in group:
                    await self.meaning(site)

        asking = [asyncio.ensure_future(ask(left)) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*asking)
        finally:
            for one in asking:
                one.cancel()
        await ask([excluded[path] for path in await in_order_of_builds(self._backend, excluded)])

    # --- inside ------------------------------------------------------------------------------------

    async def _ask(self, site: Site) -> Meaning:
        path, point = site
        if part := await self._backend.coverage.part_of(path):  # shown it alone, the server would forget what it means
            return await self._in_wholes(path, point, [part])
        try:
            if (self._backend.plugin.word_check.by_folder and self._is_open_beside(path)) and (
                found := await self._request(path, await self._backend.documents.text(path), point)
            ):
                return found
            text = await self._backend.documents.visit(path)
            self._opened[path.parent] = path
            found = await self._request(path, text, point)
        except (PathError, PointError):
            return frozenset()
        wholes = await self._backend.coverage.wholes_of(path)
        return await self._in_wholes(path, point, wholes) or found

    async def _in_wholes(self, path: Path, point: Point, wholes: Iterable[tuple[Path, int]]) -> Meaning:
        """What the word at `point` of `path` means where that is included: in lines of `wholes`."""
        backend, generation = self._backend, self._generation
        found: dict[Site, Meaning] = {}
        for whole, line in wholes:
            for site, meaning in (await self._in_whole(path, point, whole, line)).items():
                found[site] = found.get(site, frozenset()) | meaning
        if found and generation == backend.generation == self._generation:
            self._parts.add(path)
            self._included.update(found)
            self._known.update((site, meaning) for site, meaning in found.items() if meaning)
        return found.get((path, point), frozenset())

    async def _in_whole(self, path: Path, point: Point, whole: Path, line: int) -> dict[Site, Meaning]:
        """What the word at `point` of `path`, and each other like it there, means in `line` of `whole`.

        A server of its own is shown `whole` with the contents of `path` in that line.
        """
        backend = self._backend
        if self._other_request or not backend.plugin.trial_arguments or await backend.coverage.part_of(whole):
            return {}
        try:
            joined = Joined(path, await backend.documents.text(path), whole, await backend.documents.text(whole), line)
            if not (identifier := joined.part.identifier_at(point)):
                return {}
            spans = await backend.words.occurrences(path, joined.part, joined.part.slice(identifier))
            found: dict[Site, Meaning] = {}
            async with backend.problems.trial(with_dependents=True) as trial:
                trial.show(whole, joined.text)
                await trial.read(whole)
                for start in {point, *(span.start for span in spans)}:
                    params = position_params(whole, joined.text, joined.of_part(start), trial.encoding)
                    result = await trial.request(backend.plugin.word_check.request, params)
                    to_site = partial(self._site_in, joined, trial.encoding)
                    meaning = await self._symbols(result, path, joined.part, start, to_site)
                    found[path, start] = frozenset(_of_part(symbol, path, whole) for symbol in meaning)
        except (PathError, PointError, RefusedError):
            return {}
        return found

    async def _site_in(self, joined: Joined, encoding: PositionEncoding, location: Location) -> Site:
        """The start of a `Location` in a text that the server was shown with a part put in."""
        if uri_path(location["uri"]) != joined.whole:
            return await self.site(location)
        return joined.site(joined.text.position_point(location["range"]["start"], encoding))

    def _is_open_beside(self, path: Path) -> bool:
        other = self._opened.get(path.parent)
        return other is not None and self._backend.documents.version(other) is not None

    async def _request(self, path: Path, text: Text, point: Point) -> Meaning:
        rules = self._backend.plugin.word_check
        params = position_params(path, text, point, self._backend.encoding)
        try:
            result = await self._backend.request(self._other_request or rules.request, params)
        except RefusedError:
            return frozenset()
        if self._other_request:  # being related to nothing is an answer
            return frozenset([Symbol(frozenset([await self.site(one) for one in locations(result)]))])
        if not rules.location_fields:
            identifier = text.identifier_at(point)
            asked = text.slice(identifier) if identifier else ""
            sites = [await self._named_site(one, asked) for one in locations(result)]
            names = [await self._name_at(one) for one in sites]
            if any(names) and (given := await self._given(path, text, point)):
                names = [given.joined(name, at) for name, at in zip(names, sites, strict=True)]
            return frozenset([Symbol(frozenset([at]), name=name) for at, name in zip(sites, names, strict=True)])
        return await self._symbols(result, path, text, point, self.site)

    async def _symbols(
        self, result: Sequence[Any] | None, path: Path, text: Text, point: Point, to_site: ToSite
    ) -> Meaning:
        """The symbols that `result`, about `point` in the `text` of `path`, consists of."""
        rules, identifier = self._backend.plugin.word_check, text.identifier_at(point)
        word = text.slice(identifier) if identifier else ""
        aliases = spelled(result or [], word, rules)
        if rules.alias_field and len(aliases) > 1:
            aliases = await self._written(aliases, word, (path, point), to_site)
        scopes = [one.get("containerName") for one in aliases]
        others = [one for one in result or [] if one not in aliases and one.get("containerName") in scopes]
        aliased = frozenset(str(one.get(rules.id_field) or "") for one in others)
        return frozenset([await self._symbol(one, aliased, to_site) for one in aliases])

    async def _written(self, aliases: Sequence[Json], word: str, at: Site, to_site: ToSite) -> Sequence[Json]:
        """Of `aliases` called `word`, which stand for each other, the one that is written `at` a place; all of them if
        they do not.

        Where one is declared the server says what it stands for, too.
        """
        rules = self._backend.plugin.word_check
        written = [str(one.get(rules.alias_field) or "") for one in aliases]
        if any(one.get(rules.name_field) != word for one in aliases) or not all(
            re.search(rules.alias_pattern, one) for one in written
        ):
            return aliases
        ids = {str(one.get(rules.id_field)) for one in aliases}
        for one in aliases:
            sites = {await to_site(one[field]) for field in rules.location_fields if one.get(field)}
            if at in sites:
                return [one]
            if ids == await self._ids_at(sites, word):
                return [one]
        return aliases

    async def _ids_at(self, sites: Iterable[Site], word: str) -> set[str]:
        """What the server says that `word` means where it is declared, at one of `sites`, aliases and all."""
        rules = self._backend.plugin.word_check
        for path, point in sites:
            if await self._backend.coverage.part_of(path):
                continue
            try:
                text = await self._backend.documents.open(path)
                params = position_params(path, text, point, self._backend.encoding)
                result = await self._backend.request(rules.request, params)
            except (PathError, PointError, RefusedError):
                continue
            return {str(one.get(rules.id_field)) for one in spelled(result or [], word, rules)}
        return set()

    async def _name_at(self, site: Site) -> str:
        """The name that the text has at `site`, if that is needed; at the beginning of a file, also the file's own."""
        path, point = site
        if not self._backend.plugin.word_check.named_by_text or not (text := await self._text(path)):
            return ""
        identifier = text.identifier_at(point)
        name = text.slice(identifier) if identifier else ""
        return f"{path.parent.name} {path.stem} {name}" if point == Point(1, 1) else name

    async def _given(self, path: Path, text: Text, point: Point) -> _Given | None:
        """The word at `point`, if imports of the file give it to something of another name."""
        language, span = self._backend.plugin.language_of(path), text.identifier_at(point)
        if language is None or span is None or not has_aliases(language.id):
            return None
        word = text.slice(span)
        aliases = await asyncio.to_thread(imported_as, text, language.id)
        ends = [end for end, start in aliases.items() if text.content.startswith(word, start)]
        there = {end: text.identifier_at(text.offset_point(end - 1)) for end in ends}
        return _Given(word, frozenset(text.slice(one) for one in there.values() if one)) if ends else None

    async def _symbol(self, element: Any, aliased: frozenset[str], to_site: ToSite) -> Symbol:
        rules = self._backend.plugin.word_check
        there = [element[field] for field in rules.location_fields if element.get(field)]
        name = str(element.get(rules.name_field) or "")
        sites = frozenset([await to_site(one) for one in there])
        named = str(element.get(rules.alias_field) or "")
        internal = bool(rules.internal_pattern) and bool(re.search(rules.internal_pattern, named))
        is_shared = bool(rules.shared_id_pattern) and bool(re.search(rules.shared_id_pattern, named))
        id_ = "" if is_shared else str(element.get(rules.id_field) or "")
        if internal and id_ and there:  # files of one name share it
            id_ = f"{id_} {uri_path(there[0]['uri'])}"
        kind = next((rule for rule in rules.namesakes if re.search(rule.id_pattern, named)), None)
        definition = [element[field] for field in (rules.definition_field,) if element.get(field)]
        if kind and kind.is_declared_once:
            definition = there
        defined = frozenset([await to_site(one) for one in definition])
        is_alone = internal or (kind is not None and kind.is_alone)
        joined = re.search(rules.linked_pattern, named) if rules.linked_pattern else None
        linked = joined[1] if joined else ""
        return Symbol(sites, id_, name, internal, aliased, defined, named, linked, is_alone)

    async def site(self, location: Location) -> Site:
        """The start of a `Location`, in the text that the server has."""
        path, start = uri_path(location["uri"]), location["range"]["start"]
        text = await self._text(path)
        # For an unreadable file any place will do: no answer contains it.
        return path, text.position_point(start, self._backend.encoding) if text else Point(1, 1)

    async def _named_site(self, location: Location, name: str) -> Site:
        """As `site`; of a server whose `Location` is all of a declaration, the place of the `name` in it."""
        path, start = await self.site(location)
        text = await self._text(path)
        if not text or not name or text.content.startswith(name, text.point_offset(start)):
            return path, start
        end = text.position_point(location["range"]["end"], self._backend.encoding)
        declared = text.slice(Span(start, end)) if start != end else text.line(start.line)
        if name not in declared or start == end == Point(1, 1):  # of a whole file
            return path, start
        named = (span.start for span in await self._backend.words.occurrences(path, text, name))
        inside = (one for one in named if start <= one and (one < end or (start == end and one.line == start.line)))
        return path, next(inside, start)

    async def _text(self, path: Path) -> Text | None:
        if path not in self._texts:
            try:
                self._texts[path] = await self._backend.documents.text(path)
            except PathError:
                self._texts[path] = None
        return self._texts[path]

    async def _keep_unaffected(self) -> None:
        """Forget what edits may have affected, and keep the rest; without it, `_forget_if_changed` keeps nothing."""
        before, now = self._generation, self._backend.generation
        edited = None if before == now or self._other_request else self._backend.edited_since(before)
        if edited is None:
            return
        reached = await self._backend.words.reached_from(edited, seconds=budget.left())
        if reached is None or (self._generation, self._backend.generation) != (before, now):
            return
        # What the server did not know, it may know by now, whatever changed.
        self._known = {
            site: meaning
            for site, meaning in self._known.items()
            if meaning
            and not reached.has(site[0])
            and site[0] not in self._parts  # it depends on the code around the file
            and _is_declared_as_before(meaning, reached)
        }
        self._included.clear()
        self._texts = {path: text for path, text in self._texts.items() if path not in edited}
        self._generation = now

    def _forget_if_changed(self) -> None:
        if self._generation != self._backend.generation:
            self._generation = self._backend.generation
            self._known.clear()
            self._included.clear()
            self._texts.clear()
