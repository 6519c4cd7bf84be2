"""Questions about a symbol, for every toolset: `Questions`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from lsp_mcp import budget
from lsp_mcp.backend import Backend, Reach, Scope
from lsp_mcp.errors import RefusedError
from lsp_mcp.evidence.check_gaps import added
from lsp_mcp.evidence.definitions import Site
from lsp_mcp.evidence.occurrences import Claim
from lsp_mcp.evidence.word_check import Checked, WordCheck
from lsp_mcp.gaps import Gap, hiding, texts
from lsp_mcp.requests.asking import settled
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.references import References
from lsp_mcp.requests.refusals import without_told
from lsp_mcp.text import Point
from lsp_mcp.toolsets.by_name import Prefer
from lsp_mcp.toolsets.context import TasksOn
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import Call

Value = TypeVar("Value")


@contextmanager
def _preparing(word_check: WordCheck, name: str) -> Iterator[None]:
    """The time that a server takes to answer is used for the comparison with the text."""
    task = asyncio.create_task(word_check.prepare(name), context=Context())
    try:
        yield
    finally:
        task.cancel()


class SymbolAnswer(Struct, Generic[Value], frozen=True):
    """An answer about one symbol, and its gaps."""

    target: SymbolTarget
    value: Value
    gaps: tuple[Gap, ...]


def _unknown(_: object) -> None:
    return None


def _no_files(_: object) -> frozenset[Path]:
    return frozenset()


def _none(_: object) -> Collection[Site]:
    return ()


class Check(Protocol[Value]):
    """How an answer is compared with the text."""

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: Value, /
    ) -> tuple[Value, Sequence[Gap]]:
        """`value` with the places that the text adds as long as the present `budget` lasts, and the remaining gaps."""


class PlacesCheck(Struct, Generic[Value], frozen=True):
    """The check of an answer that consists of places of the symbol: see `evidence.word_check`.

    `sites` are its places, `joined` is the same answer with the places `missing` in it. `searched` are excluded files
    that it covers; None: it covers none; `pending` are those that there was no time for. `family` are the declarations
    of other symbols whose places it includes, `apart` those of others that the server does not tell apart.
    """

    sites: Callable[[Value], Collection[Site]]
    joined: Callable[[Value, Checked], Value]
    apart: Callable[[Value], frozenset[Site]]
    thorough: bool = False
    searched: Callable[[Value], frozenset[Path] | None] = _unknown
    pending: Callable[[Value], frozenset[Path]] = _no_files
    family: Callable[[Value], Collection[Site]] = _none

    async def __call__(
        self, word_check: WordCheck, target: SymbolTarget, value: Value, /
    ) -> tuple[Value, Sequence[Gap]]:
        """See `Check`."""
        at = target.path, target.identifier.start
        family = self.family(value)
        claim = Claim(
            target.name, at, self.sites(value), target.unsearched, self.searched(value), self.pending(value), family,
            apart=self.apart(value),
        )  # fmt: skip
        checked = await word_check.check(claim, thorough=self.thorough)
        if checked.missing:
            value = self.joined(value, checked)
        return value, [*checked.gaps, *added(target.backend, checked.missing, checked.by_spelling)]


def references_check(
    found: Callable[[Value], References], joined: Callable[[Value, Checked], Value], *, thorough: bool = False
) -> PlacesCheck[Value]:
    """The check of an answer that has the references `found` in it."""
    return PlacesCheck(
        sites=lambda value: found(value).sites,
        joined=joined,
        apart=lambda value: found(value).apart,
        thorough=thorough,
        searched=lambda value: found(value).searched,
        pending=lambda value: found(value).pending,
    )


def _no_places(_: object) -> Iterable[Place]:
    return ()


class Questions:
    """Asks about symbols: handle → ready → settled(target → ask → gaps) → remember → tasks.

    The answer and its gaps describe one state of the workspace. `tasks_on` returns remarks about a symbol's tasks.
    Questions about no symbol go through `requests.asking.answer`.
    """

    def __init__(self, targets: Targets, tasks_on: TasksOn | None) -> None:
        self._targets = targets
        self._tasks_on = tasks_on

    async def about_symbol(
        self,
        call: Call,
        symbol_anchor: str,
        ask: Callable[[SymbolTarget], Awaitable[Value]],
        *,
        places: Callable[[Value], Iterable[Place]] = _no_places,
        reach: Reach = "workspace",
        check: Check[Value] | None = None,
        prefer: Prefer = "any",
    ) -> SymbolAnswer[Value]:
        """The answer of `ask` about the symbol that `symbol_anchor`, an anchor or a name, stands for.

        `places` gives those of the answer that are handed out as anchors; `reach` is what the answer depends on. With
        `check` an answer about the workspace is compared with the text; `prefer` is what the tool is about, if a name
        means several symbols.

        Raises:
            AnchorError, PathError: see `Targets.handle` and `Targets.target`.
            RefusedError: the server's refusal, with what it was about, and why it may know too little.
        """
        handle = await self._targets.handle(call, symbol_anchor, prefer)
        find = partial(self._targets.target, handle)
        return await self.answer_found(call, handle.backend, find, ask, places=places, reach=reach, check=check)

    async def answer_found(
        self,
        call: Call,
        backend: Backend,
        find: Callable[[], Awaitable[SymbolTarget]],
        ask: Callable[[SymbolTarget], Awaitable[Value]],
        *,
        places: Callable[[Value], Iterable[Place]] = _no_places,
        reach: Reach = "workspace",
        check: Check[Value] | None = None,
    ) -> SymbolAnswer[Value]:
        """The answer of `ask` about the symbol that `find` finds, of `backend`, which is ready."""

        async def ask_target() -> tuple[SymbolTarget, Value, Sequence[Gap]]:
            target = await find()
            present = budget.present()
            present.asked()
            word_check = self._targets.sessions.word_checks.for_backend(target.backend)
            try:
                with _preparing(word_check, target.name if check and reach == "workspace" else ""):
                    value = await ask(target)
                await word_check.refuse_misread(target.name, (target.path, target.identifier.start))
            except RefusedError as error:
                raise await self.refused(target, error) from None
            present.answered()
            if reach != "workspace":
                return target, value, await target.backend.gaps(Scope(reach, target.path))
            return target, *await self._checked(target, value, check)

        answered = await settled(backend, ask_target)
        target, value, gaps = answered.value
        self._targets.hand_out_readable(places(value))
        await self.tell_tasks(call, target.path, target.identifier.start, target.name)
        return SymbolAnswer(target, value, (*without_told(answered.gaps, gaps), *gaps, *target.resolved))

    async def refused(self, target: SymbolTarget, error: RefusedError) -> RefusedError:
        """The server's refusal with what it was about, and why it may know too little."""
        gaps = hiding(await target.backend.gaps(Scope("file", target.path)))
        where = self._targets.anchor(target.path, target.identifier.start)
        known = [(target.path, target.text, target.identifier.start)]
        hint = await asyncio.to_thread(target.backend.plugin.build_hint, known)
        why = "".join(f" ({reason})" for reason in filter(None, (*texts(gaps), hint)))
        return RefusedError(
            f"{target.backend.plugin.name} refuses for {target.name} at {where}: {error}{why}", error.code
        )

    async def tell_tasks(self, call: Call, path: Path, point: Point, name: str) -> None:
        """A remark on plans or facts about the symbol called `name` at `point`."""
        if self._tasks_on and (line := await self._tasks_on(path, point, name)):
            call.remark(line)

    async def _checked(
        self, target: SymbolTarget, value: Value, check: Check[Value] | None
    ) -> tuple[Value, Sequence[Gap]]:
        """`value` with the places that the text adds, and the remaining gaps."""
        backend, name, at = target.backend, target.name, (target.path, target.identifier.start)
        if not re.search(r"\w", name):  # a place of the server that is not a word, or an operator
            return value, await backend.gaps(Scope(path=target.path))
        word_check = self._targets.sessions.word_checks.for_backend(backend)
        if check is None:
            return value, await word_check.possible(Claim(name, at, (), target.unsearched))
        return await check(word_check, target, value)
