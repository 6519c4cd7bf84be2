"""clangd's `textDocument/ast`, cut to a readable size (clangd.llvm.org/extensions, "AST")."""

from __future__ import annotations

from msgspec import Struct

from lsp_mcp.backend import Json


class CutTree(Struct, frozen=True):
    """A tree, and the number of omitted nodes."""

    tree: Json
    left_out: int


def cut_tree(node: Json, *, depth: int | None, nodes: int, with_arcana: bool) -> CutTree:
    """The `nodes` nodes of `node` nearest to its root, at most `depth` steps below it.

    Without `with_arcana` the compiler's own description of each node, with its addresses, is left out.
    """
    root = _bare(node, with_arcana)
    level, kept, total, below = [(node, root)], 1, 1, 0
    while level:
        deeper = []
        for original, copy in level:
            for child in original.get("children") or ():
                total += 1
                if kept < nodes and (depth is None or below < depth):
                    kept += 1
                    copy.setdefault("children", []).append(_bare(child, with_arcana))
                    deeper.append((child, copy["children"][-1]))
                else:
                    total += _count_below(child)
        level, below = deeper, below + 1
    return CutTree(root, total - kept)


def _bare(node: Json, with_arcana: bool) -> Json:
    left_out = {"children"} if with_arcana else {"children", "arcana"}
    return {key: value for key, value in node.items() if key not in left_out}


def _count_below(node: Json) -> int:
    """How many nodes lie below `node`; without recursion, a tree may be deeper than Python's stack."""
    count, todo = 0, [node]
    while todo:
        children = todo.pop().get("children") or ()
        count += len(children)
        todo += children
    return count
