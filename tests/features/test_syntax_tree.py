"""A syntax tree is cut from its leaves, and says how much is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lsp_mcp.requests.syntax_tree import cut_tree

Node = dict[str, Any]


def node(kind: str, *children: Node) -> Node:
    return {"kind": kind, "arcana": f"{kind} 0x55", **({"children": list(children)} if children else {})}


TREES = st.recursive(
    st.builds(node, st.sampled_from("abc")),
    lambda trees: st.builds(
        lambda kind, below: node(kind, *below), st.sampled_from("abc"), st.lists(trees, max_size=4)
    ),
    max_leaves=20,
)


def levels(tree: Node) -> list[int]:
    """How many nodes there are at each depth."""
    found, level = [], [tree]
    while level:
        found.append(len(level))
        level = [child for one in level for child in one.get("children", [])]
    return found


def bare(tree: Node, depth: int) -> Node:
    """Everything down to a depth, without arcana."""
    below = [bare(child, depth - 1) for child in tree.get("children", [])] if depth else []
    return {"kind": tree["kind"], **({"children": below} if below else {})}


def test_the_whole_tree_is_as_it_was() -> None:
    tree = node("a", node("b", node("c")), node("d"))
    cut = cut_tree(tree, depth=None, nodes=4, with_arcana=True)
    assert (cut.tree, cut.left_out) == (tree, 0)


@given(TREES, st.none() | st.integers(0, 5), st.integers(1, 30))
def test_what_is_kept_is_nearest_to_the_root_and_nothing_is_lost_from_the_count(
    tree: Node, depth: int | None, nodes: int
) -> None:
    cut = cut_tree(tree, depth=depth, nodes=nodes, with_arcana=False)
    there = levels(tree)
    kept = levels(cut.tree)
    reachable = there if depth is None else there[: depth + 1]
    assert sum(kept) == min(nodes, sum(reachable))
    assert kept[:-1] == there[: len(kept) - 1]  # all levels but the last are whole
    assert cut.left_out == sum(there) - sum(kept)


@given(TREES, st.integers(0, 5))
def test_a_depth_keeps_everything_down_to_it(tree: Node, depth: int) -> None:
    assert cut_tree(tree, depth=depth, nodes=1_000, with_arcana=False).tree == bare(tree, depth)


def test_a_tree_deeper_than_the_stack_is_cut_too() -> None:
    tree = node("leaf")
    for _ in range(100_000):
        tree = node("a", tree)
    cut = cut_tree(tree, depth=3, nodes=1_000, with_arcana=False)
    assert cut.left_out == 100_001 - 4
    while below := tree.pop("children", None):  # Python itself frees a tree by recursion
        (tree,) = below
