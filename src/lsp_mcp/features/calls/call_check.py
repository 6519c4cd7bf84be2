"""Callers compared with the text: `checked_callers` explains every call that is not in a tree of callers.

Each function whose callers the tree contains is one claim of the word check: its name, followed by arguments, is a call
in the tree, a declaration, or another symbol.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from lsp_mcp import budget
from lsp_mcp.backend import Backend
from lsp_mcp.evidence.check_gaps import added
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.namesakes import Namesakes, of_namesakes
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.evidence.word_check import WordCheck
from lsp_mcp.features.calls.calls import Named
from lsp_mcp.features.hierarchy import Node, Tree, call_tree
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.requests.call_places import is_called
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.import_aliases import uses_by_alias
from lsp_mcp.requests.places import Place, last_word
from lsp_mcp.requests.references import references
from lsp_mcp.requests.refusals import NO_ANSWER, note
from lsp_mcp.requests.scope import implementation_places
from lsp_mcp.requests.symbols import FUNCTIONS, Symbol
from lsp_mcp.syntax.imports import has_aliases

_MOST_MORE = 1_000  # callers of one function found in the text


async def checked_callers(
    word_check: WordCheck, backend: Backend, tree: Tree, depth: int, unsearched: frozenset[Path]
) -> tuple[Tree, list[Gap]]:
    """`tree`, callers up to `depth` calls away, with further callers found in the text, and its remaining gaps.

    The nearest functions are checked first; those for which the present `budget` does not suffice are reported.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    search = _Search(word_check, backend, depth, unsearched)
    tree = replace(tree, roots=tuple([await search.without_namesakes(root, is_root=True) for root in tree.roots]))
    if tree.left_out:  # missing calls in the text are unknown in this case
        gaps = [gap for root in tree.roots for gap in await word_check.possible(_claim(root, unsearched))]
        return tree, _distinct([*gaps, *search.mixed])
    gaps = [*await search.gaps(tree.roots), *search.mixed]
    return replace(tree, roots=tuple(map(search.whole, tree.roots))), _distinct(gaps)


class _Search:
    def __init__(self, word_check: WordCheck, backend: Backend, depth: int, unsearched: frozenset[Path]) -> None:
        self._word_check = word_check
        self._backend = backend
        self._depth = depth
        self._unsearched = unsearched
        self._containers = Containers(backend)
        self._named = Named(backend, self._containers)
        self._children: dict[Site, tuple[Node, ...]] = {}  # of functions that have more callers than the server said
        self._shown: set[Site] = set()
        self._apart: dict[Site, frozenset[Site]] = {}  # declarations of other symbols, by the function
        self.mixed: list[Gap] = []
        self._added: list[Place] = []
        self._by_spelling: list[Place] = []  # those of them that the server does not know

    async def gaps(self, roots: Sequence[Node]) -> list[Gap]:
        gaps: list[Gap] = []
        queue = deque((root, self._depth) for root in roots)
        self._shown = {_site(node) for node in _all(roots)}
        seen: set[Site] = set()
        unchecked = 0
        while queue:
            node, depth = queue.popleft()
            if not depth or node.mark or _site(node) in seen:
                continue
            seen.add(_site(node))
            name = node.symbol.place.text.slice(node.symbol.place.span)
            is_plain = name.isidentifier() and name == last_word(node.symbol.name) and node.symbol.kind in FUNCTIONS
            children = node.children
            if is_plain and budget.left() <= 0 and len(seen) > len(roots):
                unchecked += 1
            elif is_plain:
                children, more = await self._checked(node, depth)
                gaps += more
            queue.extend((child, depth - 1) for child in children)
        if unchecked:
            budget.cut()
            text = f"calls of {len(seen) - unchecked:,} of {count(len(seen), 'function')} were compared with the text"
            exact = self._backend.plugin.word_check.exact
            gaps.append(news("unverified", text) if exact else Gap("unverified", f"{text}; ask again", about="calls"))
        return [*gaps, *added(self._backend, self._added, self._by_spelling)]

    def whole(self, node: Node) -> Node:
        """`node` with the added callers."""
        children = node.children if node.mark else self._children.get(_site(node), node.children)
        return replace(node, children=tuple(map(self.whole, children)))

    async def without_namesakes(self, node: Node, *, is_root: bool = False) -> Node:
        """`node` without callers of another function that the server takes for it; what is unsure joins `mixed`.

        Of functions below the root, only those of files of one name are looked at.
        """
        place, sites = node.symbol.place, [site for child in node.children for site in child.sites]
        elsewhere = [site for site in sites if site.path != place.path]
        found = Namesakes()
        if sites and (is_root or any(site.path.name == place.path.name for site in elsewhere)):
            uses = sites
            if is_root and node.symbol.kind in FUNCTIONS:
                uses = [*sites, *(await references(self._backend, place.path, place.span.start)).places]
            found = await of_namesakes(self._backend, self._word_check.definitions, uses, _site(node))
        self._apart[_site(node)] = found.sites
        self.mixed += found.gaps(self._backend, place.text.slice(place.span), sites)
        kept = [replace(one, sites=tuple(found.own(one.sites))) for one in node.children]
        kept = [new for new, one in zip(kept, node.children, strict=True) if new.sites or not one.sites]
        return replace(node, children=tuple([await self.without_namesakes(one) for one in kept]))

    # --- inside ------------------------------------------------------------------------------------

    async def _checked(self, node: Node, depth: int) -> tuple[tuple[Node, ...], list[Gap]]:
        claim = _claim(node, self._unsearched, self._apart.get(_site(node), frozenset()))
        if self._backend.plugin.word_check.lists_implementations:
            claim = replace(claim, family=await self._implementations(node))
        checked = await self._word_check.check(claim)
        calls = [place for place in checked.missing if await self._containers.at(place) is None]
        by_alias, gaps = await self._by_alias(node)
        checked = replace(checked, gaps=(*checked.gaps, *gaps))
        calls += by_alias
        if not calls:
            return node.children, list(checked.gaps)
        children = {_site(child): child for child in node.children}
        for place in calls:
            child = await self._caller(place)
            known = children.get(_site(child))
            if known is None:
                known = await self._with_callers(child, depth - 1)
            sites = sorted({*known.sites, place}, key=lambda site: site.span)
            children[_site(child)] = replace(known, sites=tuple(sites))
        found = self._children[_site(node)] = tuple(children.values())
        self._added += [place for place in calls if place not in by_alias]
        self._by_spelling += [place for place in calls if place in checked.by_spelling]
        return found, list(checked.gaps)

    async def _implementations(self, node: Node) -> frozenset[Site]:
        """What implements the function: a call of that may be one of the function."""
        path, point = _site(node)
        try:
            return frozenset(await implementation_places(self._backend, path, point)) - {_site(node)}
        except NO_ANSWER as error:
            note(path, error)
            return frozenset()

    async def _by_alias(self, node: Node) -> tuple[list[Place], Sequence[Gap]]:
        """The calls of a function by names that imports give it."""
        place = node.symbol.place
        language = self._backend.plugin.language_of(place.path)
        if language is None or not has_aliases(language.id):
            return [], ()
        uses = await references(self._backend, place.path, place.span.start)
        found, gaps = await uses_by_alias(self._backend, uses.places)
        return [use for use in found if is_called(use)], gaps

    async def _caller(self, place: Place) -> Node:
        """The function that contains the call at `place`, or its file if there is none."""
        around = await self._containers.around(place.path, place.span.start)
        if around:
            return Node(Symbol(around.name, around.kind, around.place))
        return Node(Symbol(place.path.name, "file", place))

    async def _with_callers(self, node: Node, depth: int) -> Node:
        if not depth or node.symbol.kind not in FUNCTIONS:
            return node
        if _site(node) in self._shown:
            return replace(node, mark="shown above")
        place = node.symbol.place
        tree = await call_tree(self._backend, place.path, place.span.start, "incoming", depth, _MOST_MORE)
        found = replace(node, children=await self._named.nodes(tree.found))
        self._shown.update(_site(one) for one in _all([found]))
        return found


def _claim(node: Node, unsearched: frozenset[Path], apart: frozenset[Site] = frozenset()) -> Claim:
    place = node.symbol.place
    sites = {(site.path, site.span.start) for child in node.children for site in child.sites}
    name = place.text.slice(place.span)
    return Claim(name, _site(node), {*sites, _site(node)}, unsearched, counts=is_called, in_macros=False, apart=apart)


def _all(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        yield from _all(node.children)


def _site(node: Node) -> Site:
    return node.symbol.place.path, node.symbol.place.span.start


def _distinct(gaps: Sequence[Gap]) -> list[Gap]:
    return list(dict.fromkeys(gaps))
