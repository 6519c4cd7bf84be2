"""Shared by the tools that answer with hierarchies: gaps of a tree, its places, and counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.adapters import Adapter
from lsp_mcp.backend import Backend
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.calls.call_check import checked_callers
from lsp_mcp.features.calls.calls import functions
from lsp_mcp.features.hierarchy import Node, Tree, dropped_gap
from lsp_mcp.features.types.class_heads import stretches
from lsp_mcp.features.types.implementation_check import checked_implementations
from lsp_mcp.features.types.implementations import Implementation, Implementations
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.requests.containers import TYPES
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Span
from lsp_mcp.toolsets.symbols import SymbolTarget

Value = TypeVar("Value")


class CallersCheck(Struct, Generic[Value], frozen=True):
    """The `Check` of an answer that has a tree of callers, `depth` calls away: see `features.calls.call_check`."""

    depth: int
    tree: Callable[[Value], Tree]
    joined: Callable[[Value, Tree], Value]

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: Value, /
    ) -> tuple[Value, Sequence[Gap]]:
        """See `Check`."""
        tree, gaps = await checked_callers(word_check, target.backend, self.tree(value), self.depth, target.unsearched)
        return self.joined(value, tree), gaps


class ImplementationsCheck(Struct, frozen=True):
    """The `Check` of implementations, searched `below` and `above`: see `features.types.implementation_check`."""

    below: bool
    above: bool

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: Implementations, /
    ) -> tuple[Implementations, Sequence[Gap]]:
        """See `Check`."""
        backend, unsearched = target.backend, target.unsearched
        if not backend.plugin.symbols.implementation_goes_up:
            claim = Claim(target.name, (target.path, target.identifier.start), (), unsearched)
            if backend.plugin.hierarchy and value.symbol.kind in TYPES:
                known = {(one.symbol.place.path, one.symbol.place.span.start) for one in value.below}
                # Errors in its own file may hide the bases of the type itself.
                own = value.symbol.place.path if self.above else None
                bases = _Bases(backend.plugin.adapter, known)
                claim = replace(claim, counts=lambda place: place.path == own or bases(place))
            return value, await word_check.possible(claim)
        return await checked_implementations(word_check, backend, value, unsearched, below=self.below, above=self.above)


class _Bases:
    """Whether a place names a type so that there may be one below it that is not `known`."""

    def __init__(self, adapter: Adapter, known: Collection[Site]) -> None:
        self._adapter = adapter
        self._known = known
        self._stretches: dict[Path, list[Span]] = {}

    def __call__(self, place: Place) -> bool:
        if place.path not in self._stretches:
            language = self._adapter.language_of(place.path)
            found = stretches(place.text, language.id) if language else []
            self._stretches[place.path] = [
                span for span, of in found if of is None or (place.path, of) not in self._known
            ]
        return any(one.start <= place.span.start < one.end for one in self._stretches[place.path])


class TypesCheck(Struct, frozen=True):
    """Compares trees of types with the text, by the name of the direction; a type found there joins those next to the
    root.
    """

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: dict[str, Tree], /
    ) -> tuple[dict[str, Tree], Sequence[Gap]]:
        """See `Check`."""
        root = next((root for tree in value.values() for root in tree.roots), None)
        below, above = (
            [Implementation(node.symbol) for node in functions(value[field].found).values()] if field in value else []
            for field in ("subtypes", "supertypes")
        )
        symbol = (
            root.symbol if root else Symbol(target.name, "type", Place(target.path, target.identifier, target.text))
        )
        check = ImplementationsCheck(below="subtypes" in value, above="supertypes" in value)
        found, gaps = await check(word_check, target, Implementations(symbol, below, above))
        more = {"subtypes": found.below[len(below) :], "supertypes": found.above[len(above) :]}
        return {field: _with_types(tree, more[field]) for field, tree in value.items()}, gaps


def _with_types(tree: Tree, more: Sequence[Implementation]) -> Tree:
    nodes = tuple(Node(one.symbol) for one in more)
    roots = tuple(
        replace(root, children=(*root.children, *(() if number else nodes))) for number, root in enumerate(tree.roots)
    )
    return replace(tree, roots=roots)


def instead(backend: Backend) -> str:
    """The tools to use for symbols that cannot be called, of those that `backend` can answer for."""
    offered = backend.capabilities
    has_more = offered.get("implementationProvider") or offered.get("typeHierarchyProvider")
    more = ", find_implementations what implements a type or method" if has_more else ""
    return f"find_symbol_references_by_anchor has all uses{more}"


def tree_gaps(trees: Mapping[str, Tree], server: str) -> list[Gap]:
    """The gaps of the trees of `server`, by the names of their fields."""
    gaps: list[Gap] = []
    for field, tree in trees.items():
        gaps += [*tree.gaps, *dropped_gap(field.removesuffix("s"), tree.dropped)]
        if tree.unplaced:
            text = (
                f"calls not shown of {count(tree.unplaced, 'function')}: {server} takes functions of "
                "the same name for one; find_symbol_references_by_anchor has them all"
            )
            gaps.append(Gap("dropped", text))
        if tree.unfollowed:
            text = f"{field} of {count(tree.unfollowed, 'symbol')} not found in time; pass a smaller depth"
            gaps.append(Gap("capped", text))
        if tree.left_out:
            shown = size(tree.found)
            least = shown + tree.left_out
            gaps.append(Gap("capped", f"capped at {shown:,} {field} of at least {least:,}"))
    return gaps


def size(nodes: Iterable[Node]) -> int:
    """The number of nodes, with all below them."""
    return sum(node.count() for node in nodes)


def counted(field: str, nodes: list[Node]) -> str:
    """`3 callers`; of a deeper tree `3 direct callers (12 in all)`, each function counted once."""
    one = field.removesuffix("s")
    every = len(functions(nodes))
    if every == len(nodes):
        return count(len(nodes), one)
    return f"{count(len(nodes), f'direct {one}')} ({every:,} in all)"


def node_places(nodes: Iterable[Node]) -> Iterator[Place]:
    """The places of `nodes`, of the calls at each, and of all below."""
    for node in nodes:
        yield node.symbol.place
        yield from node.sites
        yield from node_places(node.children)
