"""textDocument/implementation and typeHierarchy: subtypes and supertypes of a type, overrides of a method, in both
directions (LSP 3.17).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.namesakes import files_with_type, is_defined
from lsp_mcp.features.calls.calls import Named
from lsp_mcp.features.finding.namesakes import with_namesakes
from lsp_mcp.features.hierarchy import Node, Tree, type_tree
from lsp_mcp.features.types.outdated_relations import Relations, mistrust_outdated
from lsp_mcp.features.types.passed_bases import passed_bases
from lsp_mcp.features.types.subtypes import Subtypes
from lsp_mcp.features.types.supertypes import item_place
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.requests.containers import TYPES, Container, Containers
from lsp_mcp.requests.places import Locator, Place, last_word, position_params
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import declaration_places, definition_places, locations
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.requests.workspace_symbol import parts_of
from lsp_mcp.text import Point
from lsp_mcp.waiting import dispensable
from lsp_mcp.words.lexing import macro_at

_LEVELS = 10
_MOST_SHOWN = 60  # characters of code without a name
_MOST = 10_000  # types in one hierarchy
_MOST_ASKED = 60  # methods whose implementations are requested one by one
_INTERFACE = "interface"


class Implementation(Struct, frozen=True):
    """A type or method above or below another; `of` names its neighbour, unless that is the symbol asked about."""

    symbol: Symbol
    of: str = ""


class Implementations(Struct):
    """What implements or extends `symbol` (`below`), and what it implements or extends (`above`), on all levels.

    `beside`: the methods that must share the name of a method because one method overrides both, or because what it
    overrides is overridden by them too; only if asked for. `dropped`: the number of results in files that are gone.
    `unasked`: further methods that might have some. `gaps`: other gaps. `twins`: methods among them that share an
    identity with one of another program.
    """

    symbol: Symbol
    below: list[Implementation]
    above: list[Implementation]
    beside: tuple[Symbol, ...] = ()
    dropped: int = 0
    unasked: int = 0
    gaps: tuple[Gap, ...] = ()
    twins: tuple[Place, ...] = ()


async def implementations(
    backend: Backend, path: Path, point: Point, *, below: bool = True, above: bool = True, beside: bool = False
) -> Implementations:
    """The types or methods above and below the one at `point` of `path`, and those `beside` a method.

    Raises:
        RefusedError: it is neither, or the server has no implementations.
        PathError, PointError, UnavailableError: see `references`.
    """
    return await _Search(backend, below=below, above=above, beside=beside).run(path, point)


async def interfaces_of(backend: Backend, path: Path, point: Point, *, elsewhere: bool = False) -> list[str]:
    """The methods of interfaces that the method at `point` implements, `sort.Interface.Less`.

    With `elsewhere` only those outside the workspace. Empty for anything that is not a method, and for a server that
    does not tell by what a method is called.
    """
    if not backend.plugin.symbols.implementation_goes_up:
        return []
    try:
        found = await implementations(backend, path, point, below=False)
    except RefusedError:
        return []
    above = [one.symbol for one in found.above if one.symbol.kind == "method"]
    return [
        f"{symbol.place.path.parent.name}.{symbol.name}"
        for symbol in above
        if not elsewhere or not symbol.place.path.is_relative_to(backend.root)
    ]


class _Search:
    def __init__(self, backend: Backend, *, below: bool, above: bool, beside: bool) -> None:
        self._backend = backend
        self._below, self._above, self._beside = below, above, beside
        self._containers = Containers(backend)
        self._named = Named(backend, self._containers)
        self._locator = Locator(backend)
        self._own: set[tuple[Path, Point]] = set()  # where the symbol is declared and defined
        self._dropped = 0
        self._unasked = 0
        self._gaps: list[Gap] = []
        self._twins: dict[Site, Place] = {}
        self._owners: dict[str, bool] = {}  # names of types, and whether there may be two

    async def run(self, path: Path, point: Point) -> Implementations:
        offered = self._backend.capabilities
        if not offered.get("implementationProvider") and not offered.get("typeHierarchyProvider"):
            raise RefusedError("it knows neither implementations nor types above and below others")
        declared = await self._declared(path, point)
        if declared and declared.kind not in TYPES:
            found = await self._of_method(declared)
            if self._beside:
                found.beside = tuple(await self._family(declared, found))
        else:
            found = await self._of_type(path, point, declared)
        return replace(
            found,
            dropped=self._dropped,
            unasked=self._unasked,
            gaps=tuple(self._gaps),
            twins=tuple(self._twins.values()),
        )

    async def _declared(self, path: Path, point: Point) -> Container | None:
        """The declaration of the symbol at `point`, from the outline of its type if it is a member."""
        found: Container | None = None
        declares = bool(self._backend.capabilities.get("declarationProvider"))
        for find in (_itself, definition_places, *([declaration_places] if declares else [])):
            there = await find(self._backend, path, point)
            for file, start in there:
                self._own.add((file, start))
                one = await self._containers.named_at(file, start)
                if one and one.kind in TYPES:
                    return one
                found = one if one and one.owner and not (found and found.owner) else found or one
        return found

    # --- types -------------------------------------------------------------------------------------

    async def _of_type(self, path: Path, point: Point, declared: Container | None) -> Implementations:
        trees: dict[str, Tree] = {}
        ways: list[tuple[Literal["subtypes", "supertypes"], bool]] = [
            ("subtypes", self._below),
            ("supertypes", self._above),
        ]
        for way, wanted in ways:
            if wanted and self._backend.capabilities.get("typeHierarchyProvider"):
                tree = await type_tree(self._backend, path, point, way, _LEVELS, _MOST)
                self._dropped += len(tree.dropped)
                self._note(tree)
                trees[way] = tree
        roots = [root for tree in trees.values() for root in tree.roots]
        if declared:
            symbol = Symbol(declared.name, declared.kind, declared.place)
        elif roots:
            symbol = roots[0].symbol
        else:
            raise RefusedError("it sees no type or method there")
        below = await self._flat(trees["subtypes"].found) if "subtypes" in trees else []
        above = await self._flat(trees["supertypes"].found) if "supertypes" in trees else []
        # A kind that a hierarchy does not support, such as an alias or an instance, may still be an implementation.
        upwards = self._goes_up and symbol.kind != _INTERFACE
        # Of types that share an identity it gives what is below any of them.
        has_twin = bool(trees) and len(await files_with_type(self._backend, last_word(symbol.name), 2)) > 1
        more = [] if has_twin else [Implementation(one) for one in await self._request_part(path, point, "type")]
        if upwards and self._above:
            above += more
        elif not upwards and self._below:
            below += more
        return Implementations(symbol, _distinct(below, symbol), _distinct(above, symbol))

    async def _flat(self, nodes: Sequence[Node], of: str = "") -> list[Implementation]:
        """The types of a tree, the nearest first."""
        named = await self._named.nodes(nodes)
        found = [Implementation(node.symbol, of) for node in named]
        for node in named:
            found += await self._flat(node.children, node.symbol.name)
        return found

    # --- methods -----------------------------------------------------------------------------------

    async def _of_method(self, declared: Container) -> Implementations:
        symbol = Symbol(declared.name, declared.kind, declared.place)
        owner = await self._owner(declared)
        upwards = self._goes_up and not (owner and owner.kind == _INTERFACE)
        methods = await self._methods_below(declared.place)
        below: list[Implementation] = []
        above: list[Implementation] = []
        if upwards:
            above = [Implementation(one) for one in methods]
        else:
            below = await self._where_made(declared, owner, await self._all_below(methods)) if self._below else []
            above = await self._overridden(declared, owner) if owner and self._above else []
        return Implementations(symbol, _distinct(below, symbol), _distinct(above, symbol) if self._above else [])

    async def _all_below(self, first: Sequence[Symbol]) -> list[Implementation]:
        """`first` and their overrides: some servers return only the next level."""
        found = [Implementation(one) for one in first]
        if self._goes_up:  # it returns all levels at once
            return found
        seen = {one.place for one in first}
        level = list(first)
        requests = 0
        while level:
            beyond = []
            for one in level:
                if requests == _MOST_ASKED:
                    self._unasked += 1
                    continue
                requests += 1
                for next_ in await self._methods_of(one.place):
                    if next_.place not in seen:
                        seen.add(next_.place)
                        beyond.append(next_)
                        found.append(Implementation(next_, one.name))
            level = beyond
        return found

    async def _where_made(
        self, declared: Container, owner: Container | None, below: list[Implementation]
    ) -> list[Implementation]:
        """`below` with the methods that macros make where the types stand that have them.

        clangd 22 places each in the definition of its macro, all that one macro makes at one place.
        """
        made = [one for one in below if self._is_in_macro(one.symbol.place)]
        if not made:
            return below
        found = [one for one in below if one not in made]
        known = {(one.symbol.place.path, one.symbol.place.span.start) for one in found}
        own, placed = _last(declared), dict[tuple[Path, Point], Implementation]()
        for type_ in await self._types_below(owner):
            for member in await self._members(type_):
                at = member.place.path, member.place.span.start
                if last_word(member.name) == own and at not in known:
                    name = f"{type_.name}{self._backend.plugin.symbols.scope_separator}{own}"
                    placed.setdefault(at, Implementation(Symbol(name, member.kind, member.place)))
        if len(placed) < len(made):
            place = made[0].symbol.place
            where = f"{place.path.name}:{place.span.start.line}"
            text = f"{count(len(made), 'method')} made by a macro ({where}), {len(placed)} found where it is used"
            self._gaps.append(Gap("unverified", text, (place.path,), about=own))
        return [*found, *placed.values()]

    async def _types_below(self, owner: Container | None) -> list[Symbol]:
        if not owner or not self._backend.capabilities.get("typeHierarchyProvider"):
            return []
        place = owner.place
        tree = await type_tree(self._backend, place.path, place.span.start, "subtypes", _LEVELS, _MOST)
        self._note(tree)
        return [one.symbol for one in await self._flat(tree.found)]

    async def _members(self, type_: Symbol) -> list[Container]:
        """The members that the outline of its file has for `type_`."""
        known, start = await self._containers.known(type_.place.path), type_.place.span.start
        here = [one for one in known if one.kind in TYPES and one.place.span.start == start]
        names = {one.name for one in here if last_word(one.name) == last_word(type_.name)}
        return [one for one in known if one.owner in names]

    def _is_in_macro(self, place: Place) -> bool:
        return macro_at(place.text, place.span, self._backend.plugin.language_of(place.path)) is not None

    async def _overridden(self, declared: Container, owner: Container) -> list[Implementation]:
        """The methods of supertypes that `declared` overrides or implements."""
        place = owner.place
        if not self._backend.capabilities.get("typeHierarchyProvider"):
            return []
        tree = await type_tree(self._backend, place.path, place.span.start, "supertypes", _LEVELS, _MOST)
        self._note(tree)
        own = declared.place.text.slice(declared.place.span)
        found = []
        for one in await self._flat(tree.found):
            for member in await self._containers.known(one.symbol.place.path):
                if member.owner and member.owner == one.symbol.name and _last(member) == own:
                    below = await self._all_below(await self._methods_of(member.place))
                    if any((other.symbol.place.path, other.symbol.place.span.start) in self._own for other in below):
                        found.append(Implementation(Symbol(member.name, member.kind, member.place)))
        return found

    async def _family(self, declared: Container, known: Implementations) -> list[Symbol]:
        """The methods beside `declared`: below what it overrides, above what overrides it, and so on."""
        own, found, walked = _last(declared), list[Symbol](), set[Site]()
        lower = [declared.place, *(one.symbol.place for one in known.below)]
        upper = [one.symbol.place for one in known.above]
        sites = set(self._own).union(*[await self._sites(place) for place in (*lower, *upper)])
        asked = 0
        while lower or upper:
            if asked == _MOST_ASKED:
                self._unasked += len(lower) + len(upper)
                break
            asked += 1
            if upper:
                met, further = await self._below_on_all_levels(upper.pop()), lower
            else:
                met, further = await self._overridden_by(lower.pop(), own, sites, walked), upper
            for one in met:
                if one.place.site not in sites:
                    same = await self._sites(one.place)
                    if sites.isdisjoint(same):
                        found.append(one)
                        further.append(one.place)
                    sites |= same
        return found

    async def _below_on_all_levels(self, place: Place) -> list[Symbol]:
        return [one.symbol for one in await self._all_below(await self._methods_below(place))]

    async def _overridden_by(self, place: Place, own: str, sites: set[Site], walked: set[Site]) -> list[Symbol]:
        """The methods called `own` above the one at `place` that one at `sites` overrides; not of types `walked`."""
        method = await self._containers.at(place)
        if method is None or not method.owner:
            method = await self._declared(*place.site)  # it is defined outside its type
        owner = await self._owner(method) if method else None
        found = []
        for type_ in await self._types_above(owner, method, walked) if method and owner else []:
            for member in await self._members(type_):
                if _last(member) == own and member.kind == "method" and member.place.site not in sites:
                    below = await self._below_on_all_levels(member.place)
                    if not sites.isdisjoint(one.place.site for one in below):
                        found.append(Symbol(member.name, member.kind, member.place))
        return found

    async def _sites(self, place: Place) -> set[Site]:
        """Where the method at `place` is declared and defined; the server need not read more files for that."""
        at = self._backend, *place.site
        declared = await declaration_places(*at) if self._backend.capabilities.get("declarationProvider") else []
        return {place.site, *declared, *await definition_places(*at)}

    async def _types_above(self, owner: Container, method: Container, walked: set[Site]) -> list[Symbol]:
        """The types above `owner`, which declares `method`, on all levels; without those above types `walked`."""
        found, level = list[Symbol](), [Symbol(owner.name, owner.kind, owner.place)]
        while level:
            beyond: list[Symbol] = []
            for type_ in level:
                if (at := type_.place.site) in walked:
                    continue
                walked.add(at)
                self._gaps += [gap for gap in await passed_bases(self._backend, type_, method) if gap not in self._gaps]
                try:
                    tree = await type_tree(self._backend, *at, "supertypes", 1, _MOST)
                except RefusedError as error:
                    text = f"what {_last(method)} overrides above {type_.name} is not known: {error}"
                    self._gaps.append(Gap("unverified", text, (type_.place.path,), about=_last(method)))
                    continue
                self._gaps += [gap for gap in tree.gaps if gap not in self._gaps]
                beyond += [one.symbol for one in await self._flat(tree.found)]
            found += beyond
            level = beyond
        return found

    async def _owner(self, declared: Container) -> Container | None:
        """The type that declares the method."""
        if not declared.owner:
            return None
        types = [one for one in await self._containers.known(declared.place.path) if one.kind in TYPES]
        return next((one for one in types if one.name == declared.owner), None)

    # --- both --------------------------------------------------------------------------------------

    @property
    def _goes_up(self) -> bool:
        return self._backend.plugin.symbols.implementation_goes_up

    async def _methods_below(self, place: Place) -> list[Symbol]:
        """The methods directly below the one at `place`; the server may have to read some files first."""
        subtypes, path = Subtypes(self._backend), place.path
        text = await self._backend.documents.open(path)
        params = position_params(path, text, place.span.start, self._backend.encoding)
        await subtypes.before("textDocument/implementation", params)
        self._gaps += subtypes.gaps()
        return await self._of_programs(await self._request(place.path, place.span.start, "method"), place)

    async def _of_programs(self, methods: Sequence[Symbol], above: Place) -> list[Symbol]:
        """`methods` below the one at `above`, and those that share an identity with one, if they are below it, too.

        Of such, which are in several programs, the server gives one, maybe one that is not below.
        """
        found: list[Symbol] = []
        relations = Relations(self._backend)
        for method in methods:
            if not await self._may_have_twin(method):
                found.append(method)
                continue
            twins, gaps = await with_namesakes(self._backend, [method], method.name)
            self._gaps += [gap for gap in gaps if gap not in self._gaps]
            if len(twins) == 1:
                found.append(method)
                continue
            wanted = await relations.types_of([above.site])
            by_type: dict[object, list[Symbol]] = {}
            for twin in twins:
                at = self._backend, *twin.place.site
                types = await relations.types_of([twin.place.site])
                types = types or await relations.types_of(await declaration_places(*at))  # it is defined outside
                if not (wanted and types) or await relations.is_below(wanted, types):
                    by_type.setdefault(item_place(types[0]) if types else twin.place.site, []).append(twin)
            for same in by_type.values():
                self._twins.update((one.place.site, one.place) for one in same)
                found += same
        defined = [one for one in found if one.place.site in self._twins and is_defined(self._backend, one.place)]
        again = {(one.name, one.place.path) for one in defined}
        return [one for one in found if one in defined or (one.name, one.place.path) not in again]

    async def _may_have_twin(self, method: Symbol) -> bool:
        """Whether two files seem to define a type of the name of the one that has `method`, or a macro defines it."""
        parts = parts_of(method.name)
        if len(parts) < 2:
            return True
        owner = parts[-2]
        if owner not in self._owners:
            self._owners[owner] = len(await files_with_type(self._backend, owner, 2)) != 1
        return self._owners[owner]

    async def _methods_of(self, place: Place) -> list[Symbol]:
        return await self._of_programs(await self._request_part(place.path, place.span.start, "method"), place)

    async def _request_part(self, path: Path, point: Point, kind: str) -> list[Symbol]:
        """As `_request`; nothing, which is noted, if there is no answer in time."""
        try:
            with dispensable():
                return await self._request(path, point, kind)
        except SilentError as error:
            note(path, error)
            return []

    def _note(self, tree: Tree) -> None:
        """Note why `tree` may be incomplete."""
        self._gaps += tree.gaps
        if tree.unfollowed:
            text = f"types above or below {count(tree.unfollowed, 'type')} not found in time; ask again"
            self._gaps.append(Gap("capped", text))
        if tree.left_out:
            self._gaps.append(Gap("capped", f"capped at {_MOST:,} types"))

    async def _request(self, path: Path, point: Point, kind: str) -> list[Symbol]:
        """The result of textDocument/implementation for `point`; entries without an outline get `kind`."""
        if not self._backend.capabilities.get("implementationProvider"):
            return []
        text = await self._backend.documents.open(path)
        params = position_params(path, text, point, self._backend.encoding)
        given = locations(await self._backend.request("textDocument/implementation", params))
        await mistrust_outdated(self._backend, path, point, given)
        found = []
        for location in given:
            place = await self._locator.place(location)
            if place is None:
                self._dropped += 1
            else:
                found.append(await self._symbol(place, kind))
        return found

    async def _symbol(self, place: Place, kind: str) -> Symbol:
        declared = await self._containers.at(place)
        if declared:
            return Symbol(declared.name, declared.kind, declared.place)
        around = await self._containers.around(place.path, place.span.start)
        name = place.text.slice(place.span)
        # The value that has the type, such as `{ run() {} }`, a class without a name, or the call of a macro.
        if place.text.identifier_at(place.span.start) != place.span:
            is_block = around is not None and around.kind == "object"  # that implements it for a type without a name
            if around is None:
                return Symbol(name.partition("\n")[0][:_MOST_SHOWN], "code", place)
            return Symbol(around.name, "object" if is_block else "literal", place)
        return Symbol(f"{around.name}.{name}" if around else name, kind if around is None else "local", place)


async def _itself(_: Backend, path: Path, point: Point) -> list[tuple[Path, Point]]:
    return [(path, point)]


def _last(member: Container) -> str:
    return member.place.text.slice(member.place.span)


def _distinct(found: Iterable[Implementation], symbol: Symbol) -> list[Implementation]:
    """Each once, without the symbol itself."""
    first: dict[tuple[Path, Point], Implementation] = {}
    for one in found:
        first.setdefault((one.symbol.place.path, one.symbol.place.span.start), one)
    first.pop((symbol.place.path, symbol.place.span.start), None)
    return list(first.values())
