"""Shared by the tools of the toolset `code`: common arguments, and the wording of answers."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from lsp_mcp import budget
from lsp_mcp.anchors import is_anchor, parse_anchor
from lsp_mcp.errors import LspMcpError, PathError
from lsp_mcp.evidence.implied import implied
from lsp_mcp.features.finding.outlines import with_extents
from lsp_mcp.features.finding.unnamed_uses import unnamed_uses
from lsp_mcp.features.renaming.mentions import mentioned
from lsp_mcp.features.renaming.named_after import relied_on_by
from lsp_mcp.features.renaming.shared_calls import shared_uses
from lsp_mcp.features.types.implementations import interfaces_of
from lsp_mcp.features.types.overrides import Overrides
from lsp_mcp.gaps import Gap, hiding, news
from lsp_mcp.prose import count, first_few
from lsp_mcp.render.answers import Answer
from lsp_mcp.render.compact import compact
from lsp_mcp.render.document import document
from lsp_mcp.requests.containers import with_owners
from lsp_mcp.requests.places import Place
from lsp_mcp.requests.symbols import Symbol
from lsp_mcp.text import Point
from lsp_mcp.toolsets.by_name import ONLY_ITS_PLACE
from lsp_mcp.toolsets.context import ToolContext, Toolset
from lsp_mcp.toolsets.elsewhere import OtherRepositories
from lsp_mcp.toolsets.questions import Questions
from lsp_mcp.toolsets.symbols import SymbolTarget, Targets
from lsp_mcp.toolsets.tool import UNLISTED, Call
from lsp_mcp.visible import quoted
from lsp_mcp.workspace import named_path

MAX_LIMIT = 10_000
_MOST_OVERRIDES = 12  # listed in each direction

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Most results to return")]
Hover = Annotated[bool, Field(description="Add signature and documentation of each symbol"), UNLISTED]
Code = Annotated[bool, Field(description="Add the source line of each place"), UNLISTED]
Confirmed = Annotated[bool, Field(description="Set only if a refusal asks for it"), UNLISTED]
SymbolAnchor = Annotated[
    str, Field(description="SCHEME://FILE#LINE:CHAR, or an unambiguous name: Func, Type.Method, pkg.Type.Method")
]


def as_list(value: object) -> object:
    """`value` as a list. Callers may also give a single name, or a list as JSON text."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        with suppress(ValueError):
            return json.loads(value)
    return [value]


class AnchorToolset(Toolset):
    """Tools over all running backends whose answers contain anchors."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._sessions = context.sessions
        self._targets = Targets(context.sessions)
        self._questions = Questions(self._targets, context.tasks_on)
        self._elsewhere = OtherRepositories(context.settings.index_store, self._targets)

    async def _file(self, named: str) -> Path:
        """The existing file for a caller's path, or for a place in it: an anchor, `FILE:LINE`, a `file:` URI.

        Raises:
            PathError: there is none, or it may not be read.
        """
        try:
            return await self._sessions.file(named)
        except PathError:
            with suppress(LspMcpError):
                if is_anchor(named):
                    return await self._sessions.file(parse_anchor(named).file)
                if addressed := await self._targets.addressed(named):
                    return addressed[0]
            raise

    def _existing(self, path: str) -> Path:
        """The existing file or folder of the workspace for a caller's `path`.

        Raises:
            PathError: it does not exist, or is outside the workspace.
        """
        workspace = self._sessions.workspace
        there = Path(os.path.normpath(named_path(path, workspace.root)))
        if not there.exists():
            raise PathError(f"{quoted(path)} does not exist in {workspace.root}.")
        if not workspace.contains(there):
            raise PathError(f"{quoted(path)} is outside the workspace root {workspace.root}.")
        return there

    async def _with_extents(self, symbols: Sequence[Symbol]) -> list[Symbol]:
        """`symbols` with their types and the ends of their declarations, where these are known in time."""
        found = await with_owners(self._sessions.backends, symbols)
        for backend in self._sessions.backends:
            own = {n: one for n, one in enumerate(found) if backend.plugin.language_of(one.place.path)}
            for number, one in zip(own, await with_extents(backend, list(own.values())), strict=True):
                found[number] = one
        return found

    def _told_of(self, family: Overrides) -> list[Gap]:
        """A remark about methods that this one overrides or that override it."""
        parts = []
        for how, methods in (
            ("overrides", family.above),
            ("overridden by", family.below),
            ("must share its name with", family.beside),
        ):
            if methods:
                self._targets.hand_out_readable(method.place for method in methods)
                listed = [
                    f"{method.name} {self._targets.anchor(method.place.path, method.place.span.start)}"
                    for method in methods[:_MOST_OVERRIDES]
                ]
                more = [f"{len(methods) - _MOST_OVERRIDES:,} more"] if len(methods) > _MOST_OVERRIDES else []
                parts.append(f"{how} {', '.join([*listed, *more])}")
        if not parts:
            return list(family.gaps)
        text = f"{'; '.join(parts)}; calls through those are found by asking about them"
        return [*family.gaps, news("overrides", text, brief="other methods of the same call")]

    async def _not_counted(
        self, target: SymbolTarget, kind: str, known: Sequence[Place], *, is_alone: bool, role: str = "all"
    ) -> list[Gap]:
        """That some `kind` of the symbol are not among those `known`: by code that does not name it, or not as code.

        If it `is_alone`, without uses, interfaces of dependencies that have it are looked for, too. What the server
        does not tell within the present `budget` is unverified: it may still load what the proof has asked for.
        """
        try:
            async with asyncio.timeout(budget.present().rest()):
                return await self._uncounted(target, kind, known, is_alone=is_alone, role=role)
        except TimeoutError:
            budget.cut()
            text = f"not known yet whether there are {kind} that do not name {target.name}; ask again"
            return [Gap("unverified", text, about="uncounted")]

    async def _uncounted(
        self, target: SymbolTarget, kind: str, known: Sequence[Place], *, is_alone: bool, role: str
    ) -> list[Gap]:
        at = target.backend, target.path, target.identifier.start
        told = []
        what = await relied_on_by(*at, target.name)
        if not what and is_alone:
            what = first_few(await interfaces_of(*at, elsewhere=True))
        if what:
            told.append(f"{kind} through {what}, which do not name {target.name}")
        if kind == "uses":
            told += await unnamed_uses(*at, writes=role == "write")
        if where := await mentioned(*at, known):
            told.append(f"{target.name} in {where}")
        return [news("elsewhere", f"not counted: {'; '.join(told)}")] if told else []

    async def _implied(self, target: SymbolTarget) -> list[Gap]:
        """The gap for uses of a function that have no name, if there may be any."""
        definitions = self._sessions.word_checks.for_backend(target.backend).definitions
        return await implied(target.backend, definitions, target.path, target.text, target.identifier)

    async def _overloads(self, target: SymbolTarget, places: Sequence[Place]) -> list[Gap]:
        """The remarks on uses that may mean an overload of the symbol."""
        definitions = self._sessions.word_checks.for_backend(target.backend).definitions
        place = Place(target.path, target.identifier, target.text)
        found = await shared_uses(target.backend, definitions, place, places)
        told = []
        if found.shared:
            told.append(f"in templates these may mean another {target.name}, too: {self._listed(found.shared)}")
        if found.unknown:
            told.append(f"not known whether {count(len(found.unknown), 'use')} may mean another {target.name}")
        return [news("overrides", text) for text in told]

    def _listed(self, places: Sequence[Place]) -> str:
        """The first of `places`, with file and line."""
        shown = self._sessions.workspace.display_path
        return first_few([f"{shown(one.path)} {one.span.start.line}" for one in places])

    def _render(self, call: Call, answer: Answer) -> str:
        # The caller may edit next: record the baseline before that.
        self._sessions.begin_baselines()
        gaps, known = self._sessions.reported.take(call.client.key, answer.gaps)
        shown = replace(answer, gaps=gaps, known=known)
        call.is_complete = not hiding(answer.gaps)
        display_path = self._sessions.workspace.display_path

        def anchor(path: Path, point: Point | None) -> str:
            if answer.reads:
                call.files.add(path)
            return self._targets.anchor(path, point)

        if call.format == "compact":
            return compact(shown, display_path, anchor)
        return document(shown, display_path, anchor, self._settings.base)


def without_places(gaps: Iterable[Gap]) -> list[Gap]:
    """`gaps` without the anchors of symbols whose names were unambiguous, for answers that show them."""
    return [gap for gap in gaps if gap.about != ONLY_ITS_PLACE]


def found(number: int, noun: str, gaps: Sequence[Gap]) -> str:
    """`Found 3 references`; with gaps, an empty result does not mean that there are none."""
    if number:
        return f"Found {count(number, noun)}"
    return f"Not known yet whether there are {noun}s: none found" if hiding(gaps) else f"No {noun}s found"


def capped(listed: int, total: int, offset: int | None = None) -> list[Gap]:
    """The gap for results beyond a limit, if there are any; `offset` is that of a tool with paging."""
    if listed >= total:
        return []
    how = f"pass offset={offset + listed} for more" if offset is not None else "pass a greater limit"
    return [Gap("capped", f"capped at {listed:,} of {total:,}; {how}")]


def dropped(number: int) -> list[Gap]:
    """The gap for results in files that cannot be shown, if there are any."""
    text = f"{count(number, 'result')} dropped: file gone or not readable as source"
    return [Gap("dropped", text)] if number else []
