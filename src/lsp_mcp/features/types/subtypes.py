"""The types directly below a type, for a server whose index loses some and keeps outdated ones: `Subtypes`.

The index is compared with the text: the places where a type names the other as its base. Only where the two differ, or
after a change, is a file opened, and the server's own parse of it decides.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.namesakes import is_defined
from lsp_mcp.features.finding.namesakes import with_namesakes
from lsp_mcp.features.types.base_clauses import BaseClauses
from lsp_mcp.features.types.class_heads import Bases
from lsp_mcp.features.types.supertypes import Supertypes, is_instance, item_place
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import first_few
from lsp_mcp.protocol.lsp import HierarchyItem, Position, Range
from lsp_mcp.requests.places import Place, last_word, text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.symbols import Symbol, kind_name
from lsp_mcp.text import Point, Text
from lsp_mcp.uris import path_uri, uri_path
from lsp_mcp.waiting import dispensable, share_of_rest

log = logging.getLogger(__name__)

_AT_ONCE = 4  # files opened
_MOST_OPENED = 24  # for one type; each costs the server a parse
_MOST_NAMES = 33  # of one type, searched: a template may have one for each kind of number
_SHARE = 0.5  # share of the time that a call has left
_MOST_WALKED = 200  # types whose subtypes are searched before another request is sent
_SUBTYPES = "typeHierarchy/subtypes"
# Methods that lead to subtypes, with their depth unless given; the last two predate LSP 3.17.
_DOWN = {"textDocument/implementation": 3, _SUBTYPES: 1, "textDocument/typeHierarchy": 0, "typeHierarchy/resolve": 0}
_PARENTS = 1  # the `direction` to supertypes


class Subtypes:
    """Asks one backend for subtypes, for one answer.

    `refuted` are pairs of a type's identity and a type that the index wrongly lists below it; `unread` lists, by the
    name of a type, the files that may have more of its subtypes.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._clauses = BaseClauses(backend) if backend.plugin.hierarchy else None
        self.refuted: set[tuple[object, object]] = set()
        self.unread: dict[str, set[Path]] = {}
        self._unknown: dict[str, str] = {}  # words, and why more files may have them
        self._templates: dict[str, set[Path]] = {}  # by instance: files of templates based on the same template
        self._mixins: dict[str, set[Path]] = {}  # by type: files of templates with a parameter as a base, used with it
        self._undecided: set[object] = set()  # types that may be below one that was asked about
        # The names of types that have a base by an alias, where the server has no type.
        self._unparsed: set[tuple[Path, Point]] = set()
        self._doubts: list[Gap] = []
        self._supertypes = Supertypes(backend)
        self.identity = self._supertypes.identity

    async def directly_below(self, item: HierarchyItem) -> list[HierarchyItem]:
        """The items of the types directly below that of `item`. Raises the errors of `Backend.request`."""
        known: list[HierarchyItem] = await self._backend.request(_SUBTYPES, {"item": item}) or []
        name = last_word(str(item["name"]).partition("<")[0])
        if not self._clauses or not name:
            return known
        names, said = await self._bases_by_file(name, self._clauses)
        made = await self._made(frozenset(macro for bases in said.values() for macro in bases.macros), self._clauses)
        shown = {item_place(one) for one in known}
        heads = {(path, point) for path, bases in said.items() for point in bases.heads}
        text_places = {place: await self._point(*place) for place in shown}
        missing = heads.difference(text_places.values())
        self._unparsed |= made.difference(text_places.values())
        if mixing := await self._mixing(names, self._clauses):
            self._mixins.setdefault(name, set()).update(mixing)
        doubtful = [one for one in known if self._backend.coverage.has_reread(uri_path(one["uri"]))]
        hiding = {
            path
            for path, bases in said.items()
            if bases.makers > sum(path == place[0] and text_places[place] not in heads for place in shown)
        }
        if missing or doubtful or hiding:
            found = await self._read(item, name, missing, doubtful, hiding)
            known = await self._joined(found, known, item, again=bool(missing or hiding))
        kept = [one for one in known if self._pair(item, one) not in self.refuted]
        kept += await self._made_again(kept)
        if not await self._has_twin(item, name):
            return kept
        return [one for one in kept if await self._supertypes.names(one, item) is not False]

    async def _has_twin(self, item: HierarchyItem, name: str) -> bool:
        """Whether another file seems to define a type of the name of `item`, which is defined at its own place."""
        path, line, character = item_place(item)
        text = await text_or_none(self._backend, path)
        at = await self._point(path, line, character)
        if not text or not at or not (span := text.identifier_at(at[1])):
            return False
        return is_defined(self._backend, Place(path, span, text)) and await self._supertypes.is_defined_twice(name)

    async def _made_again(self, known: Sequence[HierarchyItem]) -> list[HierarchyItem]:
        """The types that share an identity with one of `known` which a macro makes, and are made by it elsewhere."""
        found: list[HierarchyItem] = []
        for one in known:
            path, line, character = item_place(one)
            text, at = await text_or_none(self._backend, path), await self._point(path, line, character)
            span, name = text.identifier_at(at[1]) if text and at else None, last_word(str(one["name"]))
            if not text or not span or (macro := text.slice(span)) == name:
                continue
            symbol = Symbol(name, kind_name(one["kind"], self._backend.plugin), Place(path, span, text))
            twins, gaps = await with_namesakes(self._backend, [symbol], name)
            self._doubts += [gap for gap in gaps if gap not in self._doubts]
            for place in [twin.place for twin in twins if twin.place.path != path]:
                if place.text.content.startswith(macro, place.text.point_offset(place.span.start)):
                    start = place.text.point_position(place.span.start, self._backend.encoding)
                    range_: Range = {"start": start, "end": start}
                    there = {"uri": path_uri(place.path), "range": range_, "selectionRange": range_}
                    found.append(cast("HierarchyItem", {**one, **there}))
        return found

    async def _joined(
        self, found: Sequence[HierarchyItem], known: Sequence[HierarchyItem], item: HierarchyItem, *, again: bool
    ) -> list[HierarchyItem]:
        """The types `found` in the text and those `known` to the index before and, if `again`, now.

        Of types of several programs with one identity the index knows one: their places tell them apart.
        """
        indexed = [*known, *((await self._backend.request(_SUBTYPES, {"item": item}) or []) if again else ())]
        seen = {self.identity(one) for one in found}
        left = [one for one in indexed if self.identity(one) not in seen or await self._supertypes.names(one, item)]
        return list({item_place(one): one for one in (*found, *left)}.values())

    async def below(self, items: list[HierarchyItem], levels: int) -> None:
        """Make the server read the types up to `levels` steps below `items`, at most `_MOST_WALKED` types."""
        walked = 0
        for _ in range(levels):
            room = asyncio.Semaphore(_AT_ONCE)

            async def ask(item: HierarchyItem, room: asyncio.Semaphore = room) -> list[HierarchyItem]:
                async with room:
                    return await self.directly_below(item)

            items = items[: _MOST_WALKED - walked]
            walked += len(items)
            items = [below for found in await asyncio.gather(*map(ask, items)) for below in found]

    def without_refuted(self, result: Any, above: HierarchyItem | None = None) -> Any:
        """A server's answer, items with or without `children`, without types wrongly listed below another.

        `above` is the item that a list was requested for.
        """
        if not self.refuted:
            return result
        if isinstance(result, list):
            kept = [one for one in result if not above or self._pair(above, one) not in self.refuted]
            return [self.without_refuted(one) for one in kept]
        if not isinstance(result, dict) or not isinstance(children := result.get("children"), list):
            return result
        item: Any = result
        return {**result, "children": self.without_refuted(children, item)}

    def _pair(self, above: HierarchyItem, below: HierarchyItem) -> tuple[object, object]:
        return self.identity(above), self.identity(below)

    def gaps(self) -> list[Gap]:
        """The gaps of the subtypes found."""
        gaps = [Gap("not_searched", f"subtypes of {word}: {why}") for word, why in sorted(self._unknown.items())]
        for name, files in sorted(self.unread.items()):
            named = first_few([str(path.relative_to(self._backend.root)) for path in sorted(files)])
            server = self._backend.plugin.name
            text = f"not read: {named}, where a type may be based on {name}; {server}'s index lacks some"
            gaps.append(Gap("not_read", text, tuple(sorted(files)), brief=f"not read for subtypes of {name}"))
        through, mixing = "through another template", "as the argument of a template"
        for how, found in ((through, self._templates), (mixing, self._mixins)):
            for name, files in sorted(found.items()):
                named = first_few([str(path.relative_to(self._backend.root)) for path in sorted(files)])
                text = f"not searched: types based on {name} {how}, in {named}"
                gaps.append(Gap("not_searched", text, tuple(sorted(files))))
        for path, point in sorted(self._unparsed):
            place = f"{path.relative_to(self._backend.root)} line {point.line}"
            text = f"not compiled, so not searched: {place}, where a type has a base"
            gaps.append(Gap("not_compiled", text, (path,), lines=(point.line,), place=place))
        return [*gaps, *self._doubts, *self._supertypes.gaps(self._undecided)]

    async def before(self, method: str, params: Mapping[str, Any]) -> None:
        """Make the server read the types that the answer to `method` may contain, if that leads to subtypes."""
        if method not in _DOWN or not self._clauses or params.get("direction") == _PARENTS:
            return
        try:
            if "item" in params:
                items = [params["item"]]
            else:
                at = {key: value for key, value in params.items() if key in ("textDocument", "position")}
                with dispensable():
                    items = await self._backend.request("textDocument/prepareTypeHierarchy", at) or []
            await self.below(items, _DOWN[method] or int(params.get("resolve") or 0))
        except NO_ANSWER as error:
            if "textDocument" in params:
                note(uri_path(params["textDocument"]["uri"]), error)

    # --- inside ------------------------------------------------------------------------------------

    async def _bases_by_file(self, name: str, clauses: BaseClauses) -> tuple[set[str], dict[Path, Bases]]:
        """The type's names, `name` and its aliases, and the statements of each file about it."""
        names = {name}
        files = await self._scan(names, clauses)
        while aliases := {alias for bases in files.values() for alias in bases.aliases} - names:
            names |= aliases
            if len(names) > _MOST_NAMES:
                self._unknown[name] = f"it has more than {_MOST_NAMES - 1} other names"
                break
            files = await self._scan(names, clauses)
        return names, files

    async def _made(self, macros: frozenset[str], clauses: BaseClauses) -> set[tuple[Path, Point]]:
        """The names of the types that one of `macros` bases on what it is used with."""
        made: set[tuple[Path, Point]] = set()
        for path, text in await self._texts_with(macros):
            said = (await clauses.statements(path, text)).by_parameter
            made |= {(path, head) for macro in macros & said.keys() for head in said[macro]}
        return made

    async def _mixing(self, names: Collection[str], clauses: BaseClauses) -> set[Path]:
        """The files of templates used with one of `names` that have a parameter as a base: `struct Mixin : T`."""
        used: set[str] = set()
        for path, text in await self._texts_with(names):
            used |= await clauses.templates_around(path, text, names)
        texts = await self._texts_with(used.difference(names))
        return {path for path, text in texts if not (await clauses.statements(path, text)).mixins.isdisjoint(used)}

    async def _scan(self, names: Collection[str], clauses: BaseClauses) -> dict[Path, Bases]:
        return {
            path: (await clauses.statements(path, text)).bases_of(names) for path, text in await self._texts_with(names)
        }

    async def _texts_with(self, names: Collection[str]) -> list[tuple[Path, Text]]:
        files: set[Path] = set()
        for word in sorted(names):
            having = await self._backend.coverage.built_files_with(word)
            files.update(having.files)
            if having.unknown:
                self._unknown[word] = having.unknown
        texts = [(path, await text_or_none(self._backend, path)) for path in sorted(files)]
        return [(path, text) for path, text in texts if text]

    async def _point(self, path: Path, line: int, character: int) -> tuple[Path, Point] | None:
        """The place of the identifier at a server's position."""
        text = await text_or_none(self._backend, path)
        position: Position = {"line": line, "character": character}
        if not text or text.contained_range_span({"start": position, "end": position}, self._backend.encoding) is None:
            return None
        point = text.position_point(position, self._backend.encoding)
        word = text.identifier_at(point)
        return path, word.start if word else point

    async def _read(
        self,
        item: HierarchyItem,
        name: str,
        missing: set[tuple[Path, Point]],
        doubtful: list[HierarchyItem],
        hiding: set[Path],
    ) -> list[HierarchyItem]:
        """Open the likeliest of these files; returns the items of those `missing` that are below `item`."""
        wanted = dict.fromkeys(path for path, _ in sorted(missing))
        wanted |= dict.fromkeys(uri_path(one["uri"]) for one in doubtful)
        wanted |= dict.fromkeys(sorted(hiding))
        chosen = list(wanted)[:_MOST_OPENED]
        unread = set(wanted)
        found: list[HierarchyItem] = []
        room = asyncio.Semaphore(_AT_ONCE)

        async def look(path: Path) -> None:
            async with room:
                for point in sorted(point for file, point in missing if file == path):
                    found.extend(await self._below(item, path, point))
                for one in doubtful:
                    if uri_path(one["uri"]) == path:
                        await self._doubt(item, one)
                if path in hiding:
                    await self._backend.documents.open(path)
                    # Answered once the document is parsed and its types are in the index.
                    document = {"textDocument": {"uri": path_uri(path)}}
                    await self._backend.request("textDocument/documentSymbol", document)
                unread.discard(path)

        try:
            async with asyncio.timeout(share_of_rest(_SHARE)):
                await asyncio.gather(*map(look, chosen))
        except TimeoutError:
            log.warning("%d files were not read in time for subtypes of %s", len(unread), name)
        if unread:
            self.unread.setdefault(name, set()).update(unread)
        return found

    async def _below(self, item: HierarchyItem, path: Path, point: Point) -> list[HierarchyItem]:
        """The types at `point` if they are directly below that of `item`."""
        try:
            text = await self._backend.documents.open(path)
            with dispensable():
                types = await self._types(path, text.point_position(point, self._backend.encoding))
        except NO_ANSWER as error:
            note(path, error)
            return []
        if not types and not await self._is_named(item, path, text, point):
            self._unparsed.add((path, point))
        return [one for one in types if await self._is_below(item, one)]

    async def _is_named(self, item: HierarchyItem, path: Path, text: Text, head: Point) -> bool:
        """Whether the type at `head` has the name of `item` itself among its bases: other checks look for that."""
        assert self._clauses
        named = (await self._clauses.statements(path, text)).bases.get(head, [])
        return last_word(str(item["name"]).partition("<")[0]) in {base.name for base in named}

    async def _types(self, path: Path, position: Position) -> list[HierarchyItem]:
        at = {"textDocument": {"uri": path_uri(path)}, "position": position}
        return await self._backend.request("textDocument/prepareTypeHierarchy", at) or []

    async def _is_below(self, item: HierarchyItem, below: HierarchyItem) -> bool:
        above = await self._supertypes.directly_above(below)
        if self.identity(item) in map(self.identity, above):
            return True
        there = [one for one in above if item_place(one) == item_place(item)]
        if is_instance(item) and not all(map(is_instance, there)):
            self._templates.setdefault(str(item["name"]), set()).add(uri_path(below["uri"]))
        if there and not is_instance(item):  # types below instances of a template are listed below it
            return True
        self._undecided |= {self.identity(below)} & self._supertypes.unresolved.keys()
        return False

    async def _doubt(self, item: HierarchyItem, known: HierarchyItem) -> None:
        """Determine whether the type of `known` is still directly below that of `item`."""
        path, line, character = item_place(known)
        try:
            await self._backend.documents.open(path)
            with dispensable():
                types = await self._types(path, {"line": line, "character": character})
        except NO_ANSWER as error:
            note(path, error)
            return
        same = [one for one in types if self.identity(one) == self.identity(known)]
        if same and not any([await self._is_below(item, one) for one in same]):
            self.refuted.add(self._pair(item, known))
