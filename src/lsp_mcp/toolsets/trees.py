"""What the tools that answer with hierarchies share: what a tree lacks, the places in it, and how it is counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lsp_mcp.features.calls import functions
from lsp_mcp.features.hierarchy import Node, Tree
from lsp_mcp.features.places import Place
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import count
from lsp_mcp.toolsets.answers import dropped


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
