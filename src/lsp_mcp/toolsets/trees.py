"""What the tools that answer with hierarchies share: what a tree lacks, the places in it, and how it is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from lsp_mcp.features.call_check import checked_callers
from lsp_mcp.features.calls import functions
from lsp_mcp.features.hierarchy import Node, Tree
from lsp_mcp.features.places import Place
from lsp_mcp.features.word_check import WordCheck
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.toolsets.answers import dropped
from lsp_mcp.toolsets.symbols import SymbolTarget

Value = TypeVar("Value")


@dataclass(frozen=True)
class CallersCheck(Generic[Value]):
    """The `Check` of an answer that has a tree of callers, `depth` calls away: see `features.call_check`."""

    depth: int
    tree: Callable[[Value], Tree]
    joined: Callable[[Value, Tree], Value]
    thorough: bool = False

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: Value, seconds: float, /
    ) -> tuple[Value, Sequence[Gap]]:
        """See `Check`."""
        tree, gaps = await checked_callers(
            word_check, target.backend, self.tree(value), self.depth, target.unsearched, seconds
        )
        return self.joined(value, tree), gaps


def tree_gaps(trees: Mapping[str, Tree], server: str) -> list[Gap]:
    """What the trees of `server`, by the names of their fields, leave out."""
    gaps: list[Gap] = []
    for field, tree in trees.items():
        gaps += [*tree.gaps, *dropped(tree.dropped)]
        if tree.unplaced:
            text = (
                f"calls not shown of {count(tree.unplaced, 'function')}: {server} takes functions of "
                "the same name for one; find_symbol_references_by_anchor has them all"
            )
            gaps.append(Gap("dropped", text))
        if tree.left_out:
            shown = size(tree.found)
            least = shown + tree.left_out
            gaps.append(Gap("capped", f"capped at {shown:,} {field} of at least {least:,}"))
    return gaps


def size(nodes: Iterable[Node]) -> int:
    """How many nodes there are, with all below them."""
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
