"""How every toolset asks about a symbol: `Questions`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from lsp_mcp.backend import Backend, Reach, Scope, Use
from lsp_mcp.errors import RefusedError
from lsp_mcp.features.asking import settled
from lsp_mcp.features.places import Place
from lsp_mcp.features.scope import outside_use
from lsp_mcp.gaps import Gap, hiding
from lsp_mcp.text import Point
from lsp_mcp.toolsets.by_name import Prefer
from lsp_mcp.toolsets.context import TasksOn
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import Call

Value = TypeVar("Value")
_MOST_USES = 1_000  # symbols whose way of being used elsewhere is remembered


@dataclass(frozen=True)
class SymbolAnswer(Generic[Value]):
    """An answer about one symbol, and what it may lack."""

    target: SymbolTarget
    value: Value
    gaps: tuple[Gap, ...]


def _no_places(_: object) -> Iterable[Place]:
    return ()


def _nothing(_: object) -> frozenset[Path]:
    return frozenset()


class Questions:
    """Asks about symbols: handle → ready → settled(target → ask → gaps) → remember → tasks.

    The answer and its gaps are of one state of the workspace. `tasks_on` tells of tasks about a symbol. What is asked
    about no symbol goes through `features.asking.answer`.
    """

    def __init__(self, targets: Targets, tasks_on: TasksOn | None) -> None:
        self._targets = targets
        self._tasks_on = tasks_on
        self._uses: dict[tuple[Path, Point], tuple[int, Use | None]] = {}  # with the generation they were found in

    async def about_symbol(
        self,
        call: Call,
        symbol_anchor: str,
        ask: Callable[[SymbolTarget], Awaitable[Value]],
        *,
        places: Callable[[Value], Iterable[Place]] = _no_places,
        reach: Reach = "workspace",
        searched: Callable[[Value], frozenset[Path]] = _nothing,
        prefer: Prefer = "any",
    ) -> SymbolAnswer[Value]:
        """The answer of `ask` about the symbol that `symbol_anchor`, an anchor or a name, stands for.

        `places` gives those of the answer that are handed out as anchors; `reach` is what the answer depends on,
        `searched` which files it takes in though the build leaves them out; `prefer` what the tool is about, if a
        name means several symbols.

        Raises:
            AnchorError, PathError: see `Targets.handle` and `Targets.target`.
            RefusedError: the server's refusal, with what it was about, and why it may know too little.
        """
        handle = await self._targets.handle(call, symbol_anchor, prefer)
        find = partial(self._targets.target, handle)
        return await self.about(call, handle.backend, find, ask, places=places, reach=reach, searched=searched)

    async def about(
        self,
        call: Call,
        backend: Backend,
        find: Callable[[], Awaitable[SymbolTarget]],
        ask: Callable[[SymbolTarget], Awaitable[Value]],
        *,
        places: Callable[[Value], Iterable[Place]] = _no_places,
        reach: Reach = "workspace",
        searched: Callable[[Value], frozenset[Path]] = _nothing,
    ) -> SymbolAnswer[Value]:
        """The same about the symbol that `find` finds, of `backend`, which is ready."""

        async def ask_target() -> tuple[SymbolTarget, Value]:
            target = await find()
            try:
                return target, await ask(target)
            except RefusedError as error:
                raise await self.refused(target, error) from None

        async def gaps(found: tuple[SymbolTarget, Value]) -> list[Gap]:
            target, value = found
            if reach != "workspace":
                return await target.backend.gaps(Scope(reach, target.path))
            return await self._use_gaps(target, searched(value))

        answered = await settled(backend, ask_target, gaps)
        target, value = answered.value
        self._targets.hand_out_readable(places(value))
        await self.tell_tasks(call, target.path, target.identifier.start, target.name)
        return SymbolAnswer(target, value, (*answered.gaps, *target.resolved))

    async def refused(self, target: SymbolTarget, error: RefusedError) -> RefusedError:
        """The server's refusal with what it was about, and why it may know too little."""
        gaps = hiding(await target.backend.gaps(Scope("file", target.path)))
        where = self._targets.anchor(target.path, target.identifier.start)
        why = "".join(f" ({gap.text})" for gap in gaps)
        return RefusedError(f"{target.backend.name} refuses for {target.name} at {where}: {error}{why}", error.code)

    async def tell_tasks(self, call: Call, path: Path, point: Point, name: str) -> None:
        """Remark on what is planned or known about the symbol called `name` at `point`."""
        if self._tasks_on and (line := await self._tasks_on(path, point, name)):
            call.remark(line)

    async def _use_gaps(self, target: SymbolTarget, searched: frozenset[Path]) -> list[Gap]:
        """What could hide uses of the target from its server."""
        backend, path, point = target.backend, target.path, target.identifier.start
        scope = Scope(path=path, use=Use(target.name), unsearched=target.unsearched, searched=searched)
        gaps = await backend.gaps(scope)
        if not hiding(gaps):
            return gaps
        # How it can be used there at all is worth asking only now, and once while nothing changes.
        generation = backend.generation
        known = self._uses.get((path, point))
        if known is None or known[0] != generation:
            known = generation, await outside_use(backend, path, point, target.name)
            self._uses[path, point] = known
            if len(self._uses) > _MOST_USES:
                del self._uses[next(iter(self._uses))]
        return gaps if known[1] == scope.use else await backend.gaps(replace(scope, use=known[1]))
