"""The tool `find_implementations` of the toolset `code`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from lsp_mcp.backend import Backend
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.types.implementations import Implementation, Implementations, implementations
from lsp_mcp.gaps import Gap, hiding
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import ImplementationList
from lsp_mcp.requests.places import Place
from lsp_mcp.toolsets.answers import AnchorToolset, Code, Limit, capped, dropped, without_places
from lsp_mcp.toolsets.symbols import SymbolTarget
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.toolsets.trees import ImplementationsCheck
from lsp_mcp.workspace import Workspace

_FEW = 3  # dependencies listed


class ImplementationTools(AnchorToolset):
    """Implementations."""

    @tool(title="Find implementations", read_only=True, proven=True)
    async def find_implementations(
        self,
        call: Call,
        symbol: Annotated[str, Field(description="Type or method: name, FILE:LINE or anchor")],
        direction: Annotated[
            Literal["down", "up", "both"],
            Field(description="down: its implementations or subtypes; up: what it implements or extends"),
        ] = "both",
        dependencies: Annotated[bool, Field(description="List those in dependencies too"), UNLISTED] = False,
        limit: Annotated[Limit, UNLISTED] = 100,
        include_code: Code = False,
        format: FormatChoice = None,
    ) -> str:
        """Find all implementations of an interface, subclasses of a class or overrides of a method, on all levels,
        and the interfaces, bases or methods above one."""

        async def ask(target: SymbolTarget) -> Implementations:
            try:
                return await implementations(
                    target.backend,
                    target.path,
                    target.identifier.start,
                    below=direction != "up",
                    above=direction != "down",
                )
            except RefusedError as error:
                advice = "find_calls has the callers of a function, find_symbol_references_by_anchor all uses"
                raise RefusedError(f"{error}; {advice}", error.code) from None

        def places(found: Implementations) -> Iterable[Place]:
            return (one.symbol.place for one in (*found.below, *found.above))

        check = ImplementationsCheck(below=direction != "up", above=direction != "down")
        answered = await self._questions.about_symbol(call, symbol, ask, places=places, check=check, prefer="types")
        found, gaps = (
            answered.value,
            [*without_places(answered.gaps), *answered.value.gaps, *dropped(answered.value.dropped)],
        )
        if found.unasked:
            gaps.append(Gap("capped", f"overrides of {count(found.unasked, 'method')} not asked for"))
        others, unasked = await self._elsewhere.found(answered.target, "implementation")
        gaps += unasked
        lists: dict[str, Sequence[Implementation]] = {}
        said = []
        own = partial(_is_own, workspace=self._sessions.workspace, names=_dependency_names(answered.target.backend))
        none_inside = not any(own(one) for one in (*found.below, *found.above))
        for field, wanted, every, noun in (
            ("implementations", direction != "up", found.below, "implementation"),
            ("above", direction != "down", found.above, "method" if found.symbol.kind == "method" else "type"),
        ):
            inside = [one for one in every if own(one)]
            outside = [one for one in every if not own(one)]
            listed = [*inside, *(outside if dependencies or none_inside else ())]
            if listed:
                lists[field] = sorted(listed[:limit], key=lambda one: (not own(one), one.symbol.place.path))
            if wanted or listed:
                said.append(f"{count(len(inside), noun)}{' above' if field == 'above' else ''}{_others(outside)}")
            gaps += capped(len(listed[:limit]), len(listed))
        unknown = ", but that is not known for sure yet" if hiding(gaps) and not lists else ""
        return self._render(
            call,
            ImplementationList(
                message=f"Found {' and '.join(said)} of {found.symbol.kind} {found.symbol.name}{unknown}.",
                arguments=call.arguments,
                gaps=gaps,
                kind=found.symbol.kind,
                lists=lists,
                elsewhere=others,
                with_code=include_code,
            ),
        )


def _others(outside: Sequence[Implementation]) -> str:
    """The number of results in each dependency."""
    if not outside:
        return ""
    folders = Counter("/".join(one.symbol.place.path.parent.parts[-2:]) for one in outside)
    if len(folders) == 1:
        return f" (and {len(outside):,} in {next(iter(folders))}, a dependency)"
    named = first_few([f"{folder} {number:,}" for folder, number in folders.most_common()], _FEW)
    return f" (and {len(outside):,} in dependencies: {named})"


def _dependency_names(backend: Backend) -> frozenset[str]:
    return frozenset(backend.plugin.adapter.workspace.dependency_folder_names)


def _is_own(one: Implementation, workspace: Workspace, names: frozenset[str]) -> bool:
    """Whether it is in the workspace, but not in a vendored dependency."""
    path = one.symbol.place.path
    return path.is_relative_to(workspace.root) and names.isdisjoint(path.relative_to(workspace.root).parts)
