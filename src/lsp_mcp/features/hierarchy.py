"""callHierarchy and typeHierarchy: callers, callees, supertypes and subtypes, as a tree (LSP 3.17)."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence, Set
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError, SilentError
from lsp_mcp.features.types.subtypes import Subtypes
from lsp_mcp.features.types.supertypes import Supertypes, item_place, symbol_id
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count, first_few
from lsp_mcp.protocol.lsp import CallHierarchyIncomingCall, CallHierarchyOutgoingCall, HierarchyItem, Location, Range
from lsp_mcp.requests.call_places import PLACED, really_calling, with_places
from lsp_mcp.requests.places import Locator, Place, location_key, position_params
from lsp_mcp.requests.references import references
from lsp_mcp.requests.refusals import note
from lsp_mcp.requests.scope import definition_places
from lsp_mcp.requests.symbols import SCOPES, Symbol, kind_name
from lsp_mcp.text import Point
from lsp_mcp.uris import uri_path
from lsp_mcp.waiting import dispensable, share_of_rest

Direction = Literal["incoming", "outgoing", "supertypes", "subtypes"]
Mark = Literal["", "cycle", "shown above"]
Ends = Callable[[Path, str], bool]
"""Called with a function's file and its name as the server gives it: whether a walk stops there."""

_AT_ONCE = 8  # requests in flight
_SHARE = 0.4  # share of a call's time spent asking; the answer must still be rendered


class Node(Struct, frozen=True):
    """A symbol of a hierarchy and its subtree; `sites` are the calls that connect it to its parent.

    `mark` says why it was not expanded: it is its own ancestor, or appears elsewhere in the tree.
    """

    symbol: Symbol
    sites: tuple[Place, ...] = ()
    children: tuple[Node, ...] = ()
    mark: Mark = ""

    def count(self) -> int:
        """The number of nodes in this subtree, itself included."""
        return 1 + sum(child.count() for child in self.children)


class Tree(Struct):
    """The result of a walk: the roots (the symbols asked about), and what was left out."""

    roots: tuple[Node, ...] = ()
    left_out: int = 0  # nodes over the limit
    dropped: list[Path] = field(default_factory=list)  # the files of nodes that cannot be shown
    unfollowed: int = 0  # nodes that were not asked about in time
    gaps: tuple[Gap, ...] = ()  # other gaps
    unplaced: int = 0  # nodes whose calls are not where the server says: clangd treats all `main` as one

    @property
    def found(self) -> list[Node]:
        """The nodes that are one step away from the roots."""
        return [child for root in self.roots for child in root.children]


def _never(_: Path, __: str) -> bool:
    return False


def dropped_gap(noun: str, files: Sequence[Path]) -> list[Gap]:
    """The gap for results in `files` that cannot be shown, if there are any."""
    if not files:
        return []
    named = tuple(dict.fromkeys(files))
    where = first_few([path.name for path in named])
    text = f"{count(len(files), noun)} left out in {where}: not a source file, or changed since it was indexed"
    return [Gap("dropped", text, named)]


async def call_tree(
    backend: Backend,
    path: Path,
    point: Point,
    direction: Literal["incoming", "outgoing"],
    depth: int,
    limit: int,
    *,
    ends: Ends = _never,
) -> Tree:
    """The callers (`incoming`) or callees (`outgoing`) of the function at `point`, up to `depth` calls away.

    Functions for which `ends` is true are not expanded.

    Raises:
        RefusedError: the server has no call hierarchy, or none for this symbol.
        PathError, PointError, UnavailableError: see `references`.
    """

    async def walk(file: Path, start: Point) -> Tree:
        items = await _prepare_calls(backend, file, start)
        return await _Walk(backend, f"callHierarchy/{direction}Calls", depth, limit, ends).tree(items)

    tree = await walk(path, point)
    if direction == "outgoing" and tree.unplaced:
        # Asked at a declaration, clangd 22 knows which functions are called, but not where.
        for place in await definition_places(backend, path, point):
            other = await walk(*place)
            tree = other if other.unplaced < tree.unplaced else tree
    return tree


async def callers_of(
    backend: Backend, places: Iterable[tuple[Path, Point]], depth: int, limit: int, *, ends: Ends = _never
) -> Tree:
    """The callers of several functions in one tree, whose roots those are; a root without callers stays alone.

    Raises:
        RefusedError: the server has no call hierarchy.
        PathError, PointError, UnavailableError: see `references`.
    """
    items: list[HierarchyItem] = []
    refused: list[str] = []
    for path, point in places:
        try:
            items += await _prepare_calls(backend, path, point)
        except RefusedError:
            if not backend.capabilities.get("callHierarchyProvider"):
                raise
            text = await backend.documents.text(path)
            span = text.identifier_at(point)
            refused.append(text.slice(span) if span else f"{path.name}:{point.line}")
    tree = await _Walk(backend, "callHierarchy/incomingCalls", depth, limit, ends).tree(items)
    if refused:
        lacking = f"{backend.plugin.name} cannot list the callers of {first_few(list(dict.fromkeys(refused)))}"
        tree.gaps = (*tree.gaps, Gap("not_searched", lacking))
    return tree


class Way(Struct, frozen=True):
    """The shortest way of calls: `nodes` from the first caller to the last callee; `sites` of each are its calls by the
    one before. Empty if there is none. `seen`: functions examined; `left_out` as in `Tree`.
    """

    nodes: tuple[Node, ...]
    seen: int
    left_out: int


async def call_path(
    backend: Backend, start: tuple[Path, Point], goal: tuple[Path, Point], depth: int, limit: int
) -> Way:
    """The shortest way of at most `depth` calls from the function at `start` to the one at `goal`.

    Goes from the goal to its callers: a server knows who may call a method through its interface, but not which method
    a call reaches. Raises the errors of `call_tree`.
    """
    walk = _Walk(backend, "callHierarchy/incomingCalls", depth, limit)
    walk.wanted = {walk.key(item) for item in await _prepare_calls(backend, *start)}
    tree = await walk.tree(await _prepare_calls(backend, *goal))
    chain = list(tree.roots[:1])
    while chain and chain[-1].children:
        chain.append(chain[-1].children[0])
    sites: tuple[Place, ...] = ()
    nodes: list[Node] = []
    for node in reversed(chain):
        nodes.append(replace(node, sites=sites, children=()))
        sites = node.sites
    return Way(tuple(nodes), walk.kept, tree.left_out + tree.unfollowed)


async def _prepare_calls(backend: Backend, path: Path, point: Point) -> list[HierarchyItem]:
    if not backend.capabilities.get("callHierarchyProvider"):
        raise RefusedError("it has no call hierarchy")
    method = "textDocument/prepareCallHierarchy"
    try:
        items = await _prepare_named(backend, method, path, point)
    except RefusedError:
        # clangd 22 finds none at a call of a member function template, but does at its definition.
        if (there := await _defined_elsewhere(backend, path, point)) is None:
            raise
        return await _prepare_named(backend, method, *there)
    # basedpyright 1.40 takes `pkg.name`, a use of what a package imports, for a module without callers.
    if all(kind_name(item["kind"], backend.plugin) in SCOPES for item in items):
        there = await _defined_elsewhere(backend, path, point)
        return await _prepare(backend, method, *there) if there else items
    return items


async def _defined_elsewhere(backend: Backend, path: Path, point: Point) -> tuple[Path, Point] | None:
    places = await definition_places(backend, path, point)
    return next((place for place in places if place != (path, point)), None)


async def type_tree(
    backend: Backend, path: Path, point: Point, direction: Literal["supertypes", "subtypes"], depth: int, limit: int
) -> Tree:
    """The types above (`supertypes`) or below (`subtypes`) the type at `point`, up to `depth` steps away.

    Raises:
        RefusedError: the server has no type hierarchy, or none for this symbol.
        PathError, PointError, UnavailableError: see `references`.
    """
    if not backend.capabilities.get("typeHierarchyProvider"):
        raise RefusedError("it has no type hierarchy")
    walk = _Walk(backend, f"typeHierarchy/{direction}", depth, limit)
    return await walk.tree(await _prepare(backend, "textDocument/prepareTypeHierarchy", path, point))


async def _prepare_named(backend: Backend, method: str, path: Path, point: Point) -> list[HierarchyItem]:
    """As `_prepare`, without what does not have the name that is asked about.

    In `a(f(1))`, the initializer of a member, clangd 22 takes `f` for the member.
    """
    items = await _prepare(backend, method, path, point)
    rules, text = backend.plugin.word_check, await backend.documents.text(path)
    span = text.identifier_at(point)
    word = text.slice(span) if span else ""
    if not (rules.name_field and word.isidentifier()) or word in rules.standing_for:
        return items
    named = [item for item in items if word in re.findall(r"\w+", str(item["name"]))]
    if not named:
        raise RefusedError(f"it takes that place for {items[0]['name']}; ask at another use of {word}")
    return named


async def _prepare(backend: Backend, method: str, path: Path, point: Point) -> list[HierarchyItem]:
    text = await backend.documents.open(path)
    items = await backend.request(method, position_params(path, text, point, backend.encoding))
    if not items:
        what = "function or method" if "Call" in method else "type"
        raise RefusedError(f"it sees no {what} there with a hierarchy")
    return list(items)


class _Walk(Struct, dict=True):
    """One walk through a hierarchy, level by level, so that the limit cuts the most distant nodes."""

    backend: Backend
    method: str
    depth: int
    limit: int
    ends: Ends = _never
    wanted: Set[object] = frozenset()  # the walk ends with the level that has one of these, and keeps what leads there
    _seen: set[object] = field(default_factory=set)
    kept: int = 0

    def __post_init__(self) -> None:
        self._locator = Locator(self.backend)
        self._subtypes = Subtypes(self.backend)
        self._supertypes = Supertypes(self.backend)
        self._uses: dict[tuple[Path, Point], frozenset[tuple[Path, Point]]] = {}  # of callees, by their places
        self._until = time.monotonic() + share_of_rest(_SHARE)

    async def tree(self, items: list[HierarchyItem]) -> Tree:
        tree = Tree()
        roots = [_Branch(item, ()) for item in items]
        level = roots
        self._seen.update(self.key(item) for item in items)
        for _ in range(self.depth):
            room = asyncio.Semaphore(_AT_ONCE)
            answers = await asyncio.gather(*(self._in_time(branch, room) for branch in level))
            beyond: list[_Branch] = []
            for branch, answer in zip(level, answers, strict=True):
                tree.unfollowed += answer is None
                beyond += self._grow(branch, answer or [], tree)
            if any(self.key(branch.item) in self.wanted for branch in beyond):
                break
            level = [
                branch for branch in beyond if not self.ends(uri_path(branch.item["uri"]), str(branch.item["name"]))
            ]
        if self.wanted:
            roots = [root for root in roots if self._leads_to_wanted(root)]
        built = [await self._node(branch, branch.item, tree) for branch in roots]
        tree.roots = tuple(node for node in built if node)
        tree.gaps = (*self._subtypes.gaps(), *self._supertypes.gaps())
        return tree

    async def _in_time(self, branch: _Branch, room: asyncio.Semaphore) -> list[_Next] | None:
        """The answer about `branch`; None if time is up: part of a tree is better than a timeout."""
        async with room:
            if time.monotonic() >= self._until:
                return None
            if not branch.above:
                return await self._ask(branch.item)
            try:
                with dispensable():
                    return await self._ask(branch.item)
            except SilentError as error:
                note(uri_path(branch.item["uri"]), error)
                return None

    async def _ask(self, item: HierarchyItem) -> list[_Next]:
        match self.method:
            case "typeHierarchy/subtypes":
                return [(below, []) for below in await self._subtypes.directly_below(item)]
            case "typeHierarchy/supertypes":
                return [(above, []) for above in await self._supertypes.directly_above(item)]
            case "callHierarchy/incomingCalls":
                callers: list[CallHierarchyIncomingCall] = await self.backend.request(self.method, {"item": item}) or []
                callers = await really_calling(self.backend, await with_places(self.backend, item, callers))
                made = self.backend.plugin.adapter.is_generated  # what a build tool makes for its own use calls nothing
                return [
                    (call["from"], call.get("fromRanges") or [])
                    for call in callers
                    if not made(uri_path(call["from"]["uri"]))
                ]
            case _:
                callees: list[CallHierarchyOutgoingCall] = await self.backend.request(self.method, {"item": item}) or []
                return [(call["to"], call.get("fromRanges") or []) for call in callees]

    def _grow(self, branch: _Branch, answer: list[_Next], tree: Tree) -> list[_Branch]:
        """Add the answer's items to `branch`; returns those to expand next."""
        on = []
        for item, ranges in sorted(answer, key=lambda one: location_key(_location(one[0]), self.backend.root)):
            if self.kept == self.limit:
                tree.left_out += 1
                continue
            self.kept += 1
            key = self.key(item)
            child = _Branch(item, (*branch.above, self.key(branch.item)), ranges)
            branch.children.append(child)
            if key in child.above:
                child.mark = "cycle"
            elif key in self._seen:
                child.mark = "shown above"
            else:
                self._seen.add(key)
                on.append(child)
        return on

    async def _node(self, branch: _Branch, parent: HierarchyItem, tree: Tree) -> Node | None:
        item = branch.item
        place = await self._locator.place(_location(item), "" if PLACED in item else str(item["name"]))
        if place is None:
            tree.dropped.append(uri_path(item["uri"]))
            return None
        # A call's ranges are in the caller's file: the item itself if incoming, its parent if outgoing.
        caller = item if self._finds_callers else parent
        called = str((parent if self._finds_callers else item)["name"]) if self._goes_by_mtime else ""
        # basedpyright 1.40 has the call in `Disk.build().save()` twice.
        ranges = {(one["start"]["line"], one["start"]["character"]): one for one in branch.ranges}
        there: list[Location] = [{"uri": caller["uri"], "range": range_} for range_ in ranges.values()]
        sites = [await self._locator.place(location, called) for location in there]
        placed = [site for site in sites if site]
        if self._finds_callers:
            placed = await self._really_there(parent, placed)
        # A call without a place is in another file than the server says.
        tree.unplaced += len(placed) < max(len(sites), bool(self.method.startswith("callHierarchy") and branch.above))
        children = [await self._node(child, item, tree) for child in branch.children]
        return Node(
            Symbol(
                self._name(item, place),
                kind_name(item["kind"], self.backend.plugin),
                place,
                str(item.get("detail") or ""),
            ),
            tuple(sorted(placed, key=lambda site: site.span)),
            tuple(child for child in children if child),
            branch.mark,
        )

    def key(self, item: HierarchyItem) -> object:
        """The identity of a symbol: the server's own id if it has one, which is the same everywhere.

        Types of several programs may share one: each is at its own place.
        """
        if (known := symbol_id(self.backend.plugin.hierarchy, item)) is not None:
            return (known, item_place(item)) if self.method.startswith("typeHierarchy/") else known
        if data := item.get("data"):
            return json.dumps(data, sort_keys=True)
        start = item["selectionRange"]["start"]
        return item["uri"], start["line"], start["character"], item["name"]

    def _leads_to_wanted(self, branch: _Branch) -> bool:
        """Whether `branch` contains a wanted node; the rest of the branch is then removed, except the way to it."""
        if self.key(branch.item) in self.wanted:
            branch.children.clear()
            return True
        branch.children = [child for child in branch.children if self._leads_to_wanted(child)][:1]
        return bool(branch.children)

    @property
    def _finds_callers(self) -> bool:
        return self.method == "callHierarchy/incomingCalls"

    @property
    def _goes_by_mtime(self) -> bool:
        return self.backend.plugin.goes_by_mtime

    def _name(self, item: HierarchyItem, place: Place) -> str:
        """Its full name, which some servers give as a detail."""
        plugin, name, detail = self.backend.plugin, str(item["name"]), item.get("detail")
        separator = plugin.symbols.scope_separator
        if separator and f"{detail}".endswith(f"{separator}{name}"):
            return str(detail)
        if name == str(place.path):  # the code of a file outside of functions
            return place.path.name
        is_in_text = kind_name(item["kind"], plugin) in plugin.symbols.names_in_text
        return place.text.slice(place.span) if is_in_text else name

    async def _really_there(self, callee: HierarchyItem, sites: list[Place]) -> list[Place]:
        """Those of `sites` that spell the callee, or are among its references (a macro, an operator)."""
        place = await self._locator.place(_location(callee))
        if place is None:
            return []
        # A variable has another name as a caller than in the text.
        names = {*re.findall(r"\w+", str(callee["name"]))[-1:], place.text.slice(place.span)}
        if all(site.text.slice(site.span) in names for site in sites):
            return sites
        at = place.path, place.span.start
        if at not in self._uses:
            self._uses[at] = (await references(self.backend, *at)).sites
        return [site for site in sites if (site.path, site.span.start) in self._uses[at]]


_Next = tuple[HierarchyItem, list[Range]]
"""An item of an answer, and where the call is."""


class _Branch(Struct):
    """A node while the tree grows."""

    item: HierarchyItem
    above: tuple[object, ...]
    ranges: list[Range] = field(default_factory=list)
    children: list[_Branch] = field(default_factory=list)
    mark: Mark = ""


def _location(item: HierarchyItem) -> Location:
    return {"uri": item["uri"], "range": item["selectionRange"]}
