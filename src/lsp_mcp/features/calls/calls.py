"""Callers and callees under the language's names for functions: methods with their receivers."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.features.hierarchy import Node
from lsp_mcp.requests.containers import Containers
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol


class Named:
    """Completes the names of functions in call hierarchies, which some servers shorten."""

    def __init__(self, backend: Backend, containers: Containers | None = None) -> None:
        self._is_whole = bool(backend.plugin.symbols.scope_separator)
        self._containers = containers or Containers(backend)

    async def nodes(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """`nodes` and their subtrees, with full names."""
        return tuple([await self._node(node) for node in nodes])

    async def symbol(self, symbol: Symbol) -> Symbol:
        """`symbol` with its full name, its declared kind and its extent."""
        if self._is_whole:
            return symbol
        found = await self._containers.at(symbol.place)
        return replace(symbol, name=found.name, kind=found.kind, extent=found.extent) if found else symbol

    async def _node(self, node: Node) -> Node:
        return replace(node, symbol=await self.symbol(node.symbol), children=await self.nodes(node.children))


def functions(nodes: Iterable[Node]) -> dict[Place, Node]:
    """The distinct functions of a tree by the places of their names, those nearest to the root first."""
    found: dict[Place, Node] = {}
    level = list(nodes)
    while level:
        for node in level:
            found.setdefault(node.symbol.place, node)
        level = [child for node in level for child in node.children]
    return found
