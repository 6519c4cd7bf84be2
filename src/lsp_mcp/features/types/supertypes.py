"""typeHierarchy/supertypes, completed from the text: `Supertypes` (LSP 3.17)."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.backend import Backend
from lsp_mcp.evidence.identity import is_parameter
from lsp_mcp.evidence.namesakes import files_with_type
from lsp_mcp.features.types.base_clauses import BaseClauses
from lsp_mcp.gaps import Gap
from lsp_mcp.protocol.lsp import HierarchyItem
from lsp_mcp.requests.places import last_word, position_params, text_or_none
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.servers.traits import Hierarchy
from lsp_mcp.text import Point, PositionEncoding, Text
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import dispensable


class Supertypes:
    """Asks one backend for the types directly above a type, for one answer.

    clangd 22 lists only bases that its index has, which instances of templates are not: of `struct Names : Set<int>` it
    lists none. The item of the type has the identifiers of all bases but those that depend on a template's parameters,
    and the server knows the one at each place where the text names a base. `unresolved` are the types with bases that
    are not found there either.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._rules = rules = backend.plugin.hierarchy
        self._clauses = BaseClauses(backend) if rules and rules.bases_field else None
        self._twice: dict[str, bool] = {}
        self.unresolved: dict[object, tuple[str, Path]] = {}  # by identity: the type's name, and its file

    async def directly_above(self, item: HierarchyItem) -> list[HierarchyItem]:
        """The items of the types directly above that of `item`. Raises the errors of `Backend.request`."""
        known: list[HierarchyItem] = await self._backend.request("typeHierarchy/supertypes", {"item": item}) or []
        if not self._clauses:
            return known
        parents = self._parents(item)
        bases = await self._bases(item, self._clauses)
        depends = len(bases) > len(parents)
        if not depends and not set(parents) - {self.identity(one) for one in known} and not await self._has_twin(known):
            return known
        named, unknown = await self._named(uri_path(item["uri"]), bases)
        found = {self.identity(one): one for one in (*named, *known)}
        for one in named:  # the index may know a type of another program
            found[self.identity(one)] = {**found[self.identity(one)], **_whereabouts(one)}  # type: ignore[typeddict-item]
        missing = set(parents).difference(found)
        # In an instance, the text names the bases of the template.
        if (missing and len(named) != len(parents)) or (depends and unknown):
            self.unresolved[self.identity(item)] = str(item["name"]), uri_path(item["uri"])
        if missing:
            return list(found.values())
        above = {parent: found[parent] for parent in parents}
        return list(
            (above | {self.identity(one): found[self.identity(one)] for one in named} if depends else above).values()
        )

    async def names(self, below: HierarchyItem, above: HierarchyItem) -> bool | None:
        """Whether `below` names the type of `above` as a base, not another one with its identity; None if unknown."""
        bases = await self._bases(below, self._clauses) if self._clauses else []
        named = [one for base in bases for one in (await self._named(uri_path(below["uri"]), [base]))[0]]
        there = {item_place(one) for one in named if self.identity(one) == self.identity(above)}
        return item_place(above) in there if there else None

    def identity(self, item: HierarchyItem) -> object:
        """The identity of the symbol of `item`: the same at each of its declarations."""
        known = symbol_id(self._rules, item)
        return item_place(item) if known is None else known

    def gaps(self, of: Collection[object] | None = None) -> list[Gap]:
        """The gaps of the supertypes found: of these types, by their identities, or of all."""
        return [
            Gap(
                "not_searched",
                f"some bases of {name} ({path.name}): {self._backend.plugin.name} has no item for them",
                (path,),
            )
            for identity, (name, path) in sorted(self.unresolved.items(), key=lambda known: known[1])
            if of is None or identity in of
        ]

    async def is_defined_twice(self, name: str) -> bool:
        """Whether two files seem to define a type called `name`, which may have the same identity then."""
        if name not in self._twice:
            self._twice[name] = len(await files_with_type(self._backend, name, 2)) > 1
        return self._twice[name]

    async def _has_twin(self, types: Collection[HierarchyItem]) -> bool:
        names = {last_word(str(one["name"]).partition("<")[0]) for one in types}
        return any([await self.is_defined_twice(name) for name in names])

    def _parents(self, item: HierarchyItem) -> list[object]:
        """The identities of the bases of `item`, as far as the item tells."""
        data = item.get("data")
        if not self._rules or not isinstance(data, dict):
            return []
        return list(dict.fromkeys(one[self._rules.id_field] for one in data.get(self._rules.bases_field) or ()))

    async def _bases(self, item: HierarchyItem, clauses: BaseClauses) -> list[Point]:
        """Where the text of the type names its bases, in their order; none if its file cannot be read."""
        path = uri_path(item["uri"])
        if not (text := await text_or_none(self._backend, path)):
            return []
        head = text.position_point(item["selectionRange"]["start"], self._backend.encoding)
        return [base.at for base in (await clauses.statements(path, text)).bases.get(head, [])]

    async def _named(self, path: Path, bases: list[Point]) -> tuple[list[HierarchyItem], bool]:
        """The items of the types at `bases` of `path`, and whether one of these has none."""
        backend = self._backend
        found: dict[object, HierarchyItem] = {}
        unknown = False
        try:
            with dispensable():
                text = await backend.documents.open(path)
                for base in bases:
                    at = position_params(path, text, base, backend.encoding)
                    items = await backend.request("textDocument/prepareTypeHierarchy", at) or []
                    # Of a base that it cannot resolve, clangd 22 may give the type around it.
                    items = [one for one in items if not _encloses(one, path, text, base, backend.encoding)]
                    found |= {self.identity(one): one for one in items if self.identity(one) not in found}
                    unknown = unknown or not (items or await self._is_parameter(path, text, base))
        except NO_ANSWER as error:
            note(path, error)
        return list(found.values()), unknown

    async def _is_parameter(self, path: Path, text: Text, base: Point) -> bool:
        """Whether the word at `base` is a parameter of a template itself, not a member of one."""
        declared = await definition_places(self._backend, path, base)
        words = {_word(await self._backend.documents.text(file), point) for file, point in declared}
        return words == {_word(text, base)} and all([await is_parameter(self._backend, site) for site in declared])


def _word(text: Text, point: Point) -> str:
    word = text.identifier_at(point)
    return text.slice(word) if word else ""


def _encloses(item: HierarchyItem, path: Path, text: Text, point: Point, encoding: PositionEncoding) -> bool:
    span = text.range_span(item["range"], encoding) if uri_path(item["uri"]) == path else None
    return span is not None and span.start <= point < span.end


def symbol_id(rules: Hierarchy | None, item: HierarchyItem) -> object | None:
    """The server's own identifier for the symbol of a hierarchy's `item`, the same in every file; None if unknown."""
    data = item.get("data")
    return data.get(rules.id_field) if rules and isinstance(data, dict) else None


def item_place(item: HierarchyItem) -> tuple[Path, int, int]:
    """The position of the name of `item`, in the server's numbers."""
    start = item["selectionRange"]["start"]
    return uri_path(item["uri"]), start["line"], start["character"]


def _whereabouts(item: HierarchyItem) -> dict[str, object]:
    return {"uri": item["uri"], "range": item["range"], "selectionRange": item["selectionRange"]}


def is_instance(item: HierarchyItem) -> bool:
    """Whether `item` is an instance of a template, which has the place of the template and another identity."""
    return "<" in str(item["name"])
