"""New problems, for every tool that reports them: `look`, `compared_with`, `with_fixes`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from lsp_mcp.backend import Backend, Checked, Scope
from lsp_mcp.errors import PathError, RefusedError, SilentError
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import SEVERITIES, Delta, Kind, Known, Problem, compare, known
from lsp_mcp.gaps import Gap
from lsp_mcp.prose import first_few
from lsp_mcp.requests.asking import Answered, answer
from lsp_mcp.requests.code_actions import code_actions
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.waiting import within

_FIXES_OF = 8  # different messages for which quick fixes are requested
_FIXES_IN = 4  # files: with more, none are requested
_FIXES = 3  # names listed
_FIXES_WITHIN = 60.0  # seconds, of which half are used: errors matter more than their fixes

Looked = tuple[list[Problem], Checked]


async def look(call: Call, backend: Backend, also: Sequence[Path] = (), *, only: bool = False) -> Answered[Looked]:
    """The problems in one state of the workspace; see `backend.Problems.check`.

    Raises the errors of `requests.asking.answer`.
    """

    async def ask() -> Looked:
        checked = await backend.problems.check(also, only=only)
        return await problems(backend, checked), checked

    return await answer(backend, ask, lambda _: Scope(), report=call.report, to_check=True)


def remembered(
    found: Sequence[Problem], checked: Checked, before: Known | None, below: Path | None = None
) -> Known | None:
    """The problems last reported to a caller, `below` a folder or in a file; None: nothing about the rest."""
    if below is None:
        return known(found, checked.covers, checked.incomplete, before)
    if before is None:
        return None
    within = [one for one in found if one.place.path.is_relative_to(below)]
    files = {one.place.path for one in within} | {one.path for one in before.lines if one.path.is_relative_to(below)}
    return replace(known(within, files, (), before), covers=before.covers, incomplete=before.incomplete)


def compared_with(found: Sequence[Problem], checked: Checked, before: Known | None) -> Delta:
    """The changes since `before`; without it, all problems are new."""
    return Delta(found) if before is None else compare(found, checked.covers, before)


def limited(delta: Delta, below: Path | None, severity: str) -> Delta:
    """The part of `delta` that is `below` a folder, or in a file, and at least as severe as `severity`."""
    shown = SEVERITIES[: SEVERITIES.index(severity) + 1]

    def fits_kind(kind: Kind) -> bool:
        return kind.severity in shown and (below is None or kind.path.is_relative_to(below))

    def fits(one: Problem) -> bool:
        return fits_kind(one.kind)

    return replace(
        delta,
        new=[one for one in delta.new if fits(one)],
        remaining=[one for one in delta.remaining if fits(one)],
        fixed=[one for one in delta.fixed if fits_kind(one)],
    )


async def with_fixes(backend: Backend, delta: Delta) -> Delta:
    """`delta` with the names of the quick fixes of the first few new problems, if the server answers soon."""
    try:
        async with asyncio.timeout(within(_FIXES_WITHIN) / 2):
            return await _with_fixes(backend, delta)
    except (TimeoutError, SilentError):
        return delta


async def _with_fixes(backend: Backend, delta: Delta) -> Delta:
    firsts: dict[str, Problem] = {}
    for one in delta.new:
        if len(firsts) < _FIXES_OF and backend.plugin.language_of(one.place.path):
            firsts.setdefault(one.message, one)
    # No quick fix repairs an edit that breaks many files, and checking them in detail is slow.
    if not firsts or len({one.place.path for one in delta.new}) > _FIXES_IN:
        return delta
    said = await _document_problems(backend, {one.place.path for one in firsts.values()})
    fixes: dict[str, tuple[str, ...]] = {}
    for message, one in firsts.items():
        place, raw = one.place, next((other.raw for other in said if _is_same(one, other)), one.raw)
        try:
            found = await code_actions(
                backend, place.path, place.text, place.span, only=["quickfix"], diagnostics=[raw] if raw else []
            )
        except (RefusedError, PathError):
            continue  # a server may have nothing to say of a file that it cannot load, but for the error
        fixes[message] = tuple(action.name for action in found[:_FIXES])
    return replace(delta, new=[replace(one, fixes=fixes.get(one.message, ())) for one in delta.new])


def _is_same(one: Problem, said: Problem) -> bool:
    """Whether the document's own diagnostics include it, possibly with more words and fixes."""
    here, there = one.place, said.place
    at = (here.path, here.span.start) == (there.path, there.span.start)
    return at and said.message.startswith(one.message)


async def _document_problems(backend: Backend, paths: Collection[Path]) -> list[Problem]:
    """The server's diagnostics for `paths` as open documents: some servers report more for those, with fixes."""
    for path in paths:
        with suppress(PathError):
            await backend.documents.open(path)
    if not backend.plugin.compiles_files:
        return await problems(backend, await backend.problems.check(paths, only=True))
    diagnostics = {}
    for path in paths:
        if await backend.problems.diagnosed(path):
            diagnostics[path] = backend.problems.diagnostics(path)
    return await problems(backend, Checked(diagnostics))


def undated_gaps(sessions: Sessions, delta: Delta | None) -> list[Gap]:
    """The gap for files without an earlier look: their problems may be old."""
    if delta is None or not delta.undated:
        return []
    named = first_few([sessions.workspace.display_path(path) for path in delta.undated])
    text = f"not looked at before, so their errors may be old: {named}"
    return [Gap("unverified", text, tuple(delta.undated), hides=False)]


def joined(deltas: Sequence[Delta]) -> Delta:
    """The deltas of several backends as one."""
    return Delta(
        [one for delta in deltas for one in delta.new],
        [one for delta in deltas for one in delta.remaining],
        [one for delta in deltas for one in delta.fixed],
        [one for delta in deltas for one in delta.undated],
    )
