"""The tool `find_calls` of the toolset `code`: callers, callees, and call paths between two functions."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Literal, TypeVar

from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import CallerError, RefusedError
from lsp_mcp.features.calls.calls import Named
from lsp_mcp.features.hierarchy import Tree, Way, call_path, call_tree
from lsp_mcp.features.types.overrides import Overrides, related
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count
from lsp_mcp.render.answers import CallPath, Hierarchy
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Limit, capped, without_places
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.toolsets.trees import CallersCheck, counted, instead, node_places, tree_gaps

Value = TypeVar("Value")
_LONGEST_WAY = 20  # calls
_MOST_SEEN = 3_000  # functions examined for a call path


class CallTools(AnchorToolset):
    """Call hierarchies, by the names of functions."""

    @tool(title="Find calls", read_only=True, proven=True)
    async def find_calls(
        self,
        call: Call,
        symbol: Annotated[str, Field(description="Function or method: name, FILE:LINE or anchor")],
        direction: Literal["callers", "callees"] = "callers",
        depth: Annotated[int | None, Field(ge=1, le=_LONGEST_WAY, description="Levels to follow; default 1")] = None,
        to: Annotated[
            str | None, Field(description="Another function: find the shortest call path from symbol to it")
        ] = None,
        limit: Annotated[Limit, UNLISTED] = 100,
        include_code: Code = False,
        format: FormatChoice = None,
    ) -> str:
        """Find the callers or callees of a function, also through interfaces, with the location of every call."""
        if to is not None:
            return await self._path(call, symbol, to, depth or _LONGEST_WAY)

        async def ask(target: SymbolTarget) -> tuple[Tree, Symbol | None, Overrides]:
            tree = await _with_hint(
                call_tree(
                    target.backend,
                    target.path,
                    target.identifier.start,
                    "incoming" if direction == "callers" else "outgoing",
                    depth or 1,
                    limit,
                ),
                target.backend,
            )
            named = Named(target.backend)
            tree.roots = await named.nodes(tree.roots)
            at = target.backend, target.path, target.identifier.start
            family = await related(*at) if direction == "callers" else Overrides()
            return tree, tree.roots[0].symbol if tree.roots else None, family

        check = CallersCheck[tuple[Tree, Symbol | None, Overrides]](
            depth or 1, lambda found: found[0], lambda found, tree: (tree, *found[1:])
        )
        answered = await self._questions.about_symbol(
            call,
            symbol,
            ask,
            places=lambda found: node_places(found[0].found),
            check=check,
            # The calls of a function are in its own body, so other projects do not matter.
            reach="file" if direction == "callees" else "workspace",
            prefer="functions",
        )
        tree, root, family = answered.value
        name = root.name if root else answered.target.name
        gaps = [
            *answered.gaps,
            *tree_gaps({direction: tree}, answered.target.backend.plugin.name),
            *self._told_of(family),
        ]
        if direction == "callers":
            direct = [site for one in tree.roots for caller in one.children for site in caller.sites]
            gaps += await self._overloads(answered.target, direct)
            gaps += await self._implied(answered.target)
            gaps += await self._not_counted(answered.target, "calls", direct, is_alone=not direct)
        unknown = ", but that is not known for sure yet" if hiding(answered.gaps) and not tree.found else ""
        shown = tree.found[:limit]  # the check may have found more than were asked for
        return self._render(
            call,
            Hierarchy(
                message=f"Found {counted(direction, tree.found)} of {name}{unknown}.",
                arguments=call.arguments,
                gaps=[*gaps, *capped(len(shown), len(tree.found))],
                trees={direction: shown},
                with_code=include_code,
            ),
        )

    async def _path(self, call: Call, symbol: str, to: str, depth: int) -> str:
        handle = await self._targets.handle(call, to, "functions")

        async def ask(target: SymbolTarget) -> tuple[str, Way, bool]:
            if handle.backend is not target.backend:
                raise CallerError(
                    f"{symbol} and {to} belong to different language servers: no call path can be found between them"
                )
            end = await self._targets.target(handle)
            start, goal = ((one.path, one.identifier.start) for one in (target, end))
            way = await _with_hint(call_path(target.backend, start, goal, depth, _MOST_SEEN), target.backend)
            turned = not way.nodes
            if turned and not way.left_out:
                back = await call_path(target.backend, goal, start, depth, _MOST_SEEN)
                way = replace(back, seen=way.seen)
            nodes = await Named(target.backend).nodes(way.nodes)
            return end.name, replace(way, nodes=nodes), turned

        answered = await self._questions.about_symbol(
            call, symbol, ask, places=lambda found: node_places(found[1].nodes), prefer="functions"
        )
        name, way, turned = answered.value
        gaps = without_places([*answered.gaps, *handle.resolved])
        if way.left_out:
            gaps.append(Gap("capped", f"capped at {way.seen:,} functions that reach {name}"))
        steps = count(max(len(way.nodes) - 1, 0), "call")
        source = answered.target.backend.plugin.name
        if not turned:
            message = f"The shortest call path that {source} knows from {answered.target.name} to {name} has {steps}."
        else:
            # A path consists of calls that exist; that there is none is true only as far as the server knows.
            gaps.append(news("unverified", f"calls that {source} does not know were not looked for"))
            sure = ", as far as is known" if hiding(gaps) else ""
            message = f"No call path from {answered.target.name} to {name} within {depth}{sure}"
            message += f"; in the other direction there are {steps}:" if way.nodes else "."
        return self._render(call, CallPath(message=message, arguments=call.arguments, gaps=gaps, nodes=way.nodes))


async def _with_hint(answer: Awaitable[Value], backend: Backend) -> Value:
    """The awaited `answer`; a refusal also names the tools for symbols that are not functions."""
    try:
        return await answer
    except RefusedError as error:
        raise RefusedError(f"{error}; {instead(backend)}", error.code) from None
