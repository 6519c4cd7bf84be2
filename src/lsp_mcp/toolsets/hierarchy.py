"""The hierarchy tools of the toolset `code`: callers, callees and types by anchor, for every language server."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from lsp_mcp.errors import RefusedError
from lsp_mcp.features.hierarchy import Tree, call_tree, type_tree
from lsp_mcp.gaps import hiding
from lsp_mcp.render.answers import Hierarchy
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Limit, SymbolAnchor
from lsp_mcp.toolsets.questions import Check
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import Call, FormatChoice, tool
from lsp_mcp.toolsets.trees import CallersCheck, TypesCheck, counted, instead, node_places, tree_gaps

_OF_METHODS = "find_implementations takes methods, too; find_calls has the callers of a function"
Depth = Annotated[int, Field(ge=1, le=10, description="How many steps to follow")]
Walk = Callable[[SymbolTarget], Awaitable[Tree]]


class HierarchyTools(AnchorToolset):
    """Callers, callees, supertypes and subtypes as trees, under their established names; find_calls and
    find_implementations are listed in their place.
    """

    @tool(title="Find callers by anchor", read_only=True, proven=True, listed=False)
    async def find_callers_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        depth: Depth = 1,
        limit: Limit = 100,
        include_code: Code = False,
        format: FormatChoice = None,
    ) -> str:
        """Find the functions that call a function, and who calls those, as a tree with every call's place."""
        return await self._calls(call, symbol_anchor, "incoming", depth, limit, with_code=include_code)

    @tool(title="Find callees by anchor", read_only=True, proven=True, listed=False)
    async def find_callees_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        depth: Depth = 1,
        limit: Limit = 100,
        include_code: Code = False,
        format: FormatChoice = None,
    ) -> str:
        """Find the functions that a function calls, and what those call, as a tree with every call's place."""
        return await self._calls(call, symbol_anchor, "outgoing", depth, limit, with_code=include_code)

    @tool(title="Find type hierarchy by anchor", read_only=True, proven=True, listed=False)
    async def find_type_hierarchy_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        direction: Annotated[Literal["both", "supertypes", "subtypes"], Field(description="Where to go")] = "both",
        depth: Depth = 3,
        limit: Limit = 100,
        include_code: Code = False,
        format: FormatChoice = None,
    ) -> str:
        """Find the types above and below a type: its interfaces or bases, and what implements or extends it."""
        ways: list[Literal["supertypes", "subtypes"]] = (
            ["supertypes", "subtypes"] if direction == "both" else [direction]
        )
        walks: dict[str, Walk] = {way: partial(_type_tree, direction=way, depth=depth, limit=limit) for way in ways}
        return await self._answer(call, symbol_anchor, walks, limit, check=TypesCheck(), with_code=include_code)

    async def _calls(
        self,
        call: Call,
        symbol_anchor: str,
        direction: Literal["incoming", "outgoing"],
        depth: int,
        limit: int,
        *,
        with_code: bool,
    ) -> str:
        field = "callers" if direction == "incoming" else "callees"
        walk = partial(_call_tree, direction=direction, depth=depth, limit=limit)
        check = CallersCheck[dict[str, Tree]](depth, lambda trees: trees[field], lambda _, tree: {field: tree})
        return await self._answer(call, symbol_anchor, {field: walk}, limit, check=check, with_code=with_code)

    async def _answer(
        self,
        call: Call,
        symbol_anchor: str,
        walks: dict[str, Walk],
        limit: int,
        *,
        check: Check[dict[str, Tree]] | None = None,
        with_code: bool,
    ) -> str:

        is_about_types = not walks.keys() & {"callers", "callees"}

        async def ask(target: SymbolTarget) -> dict[str, Tree]:
            try:
                return {field: await walk(target) for field, walk in walks.items()}
            except RefusedError as error:
                hint = _OF_METHODS if is_about_types else instead(target.backend)
                raise RefusedError(f"{error}; {hint}", error.code) from None

        answered = await self._questions.about_symbol(
            call,
            symbol_anchor,
            ask,
            places=lambda trees: node_places(node for tree in trees.values() for node in tree.found),
            # The calls of a function are in its own body, so other projects do not matter.
            reach="file" if "callees" in walks else "workspace",
            check=check,
            prefer="types" if is_about_types else "functions",
        )
        target, trees, gaps = answered.target, answered.value, list(answered.gaps)
        gaps += await self._implied(target) if "callers" in walks else []
        unsure = bool(hiding(gaps))
        found = {field: tree.found for field, tree in trees.items()}
        gaps += tree_gaps(trees, target.backend.plugin.name)
        said = " and ".join(counted(field, nodes) for field, nodes in found.items())
        unknown = ", but that is not known for sure yet" if unsure and not all(found.values()) else ""
        answer = Hierarchy(
            message=f"Found {said} of {_of(target, trees)}{unknown}.",
            arguments=call.arguments,
            gaps=gaps,
            trees=found,
            with_code=with_code,
        )
        return self._render(call, answer)


def _of(target: SymbolTarget, trees: dict[str, Tree]) -> str:
    """The subject of a hierarchy: a server may return that of the type that contains a method."""
    roots = {root.symbol.name for tree in trees.values() for root in tree.roots}
    name = next(iter(roots), target.name)
    return target.name if target.name in re.findall(r"\w+", name) else f"{name}, which {target.name} belongs to"


async def _call_tree(
    target: SymbolTarget, *, direction: Literal["incoming", "outgoing"], depth: int, limit: int
) -> Tree:
    return await call_tree(target.backend, target.path, target.identifier.start, direction, depth, limit)


async def _type_tree(
    target: SymbolTarget, *, direction: Literal["supertypes", "subtypes"], depth: int, limit: int
) -> Tree:
    return await type_tree(target.backend, target.path, target.identifier.start, direction, depth, limit)
