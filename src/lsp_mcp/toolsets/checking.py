"""Compile errors without a build: the tool `check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from lsp_mcp.backend import Backend
from lsp_mcp.features.checking.problems import Delta
from lsp_mcp.gaps import Gap
from lsp_mcp.render.answers import Check
from lsp_mcp.render.problems import delta_message, not_checked
from lsp_mcp.requests.asking import ask_each
from lsp_mcp.toolsets.answers import AnchorToolset
from lsp_mcp.toolsets.deltas import compared_with, joined, limited, look, remembered, undated_gaps, with_fixes
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool

_MOST_BELOW = 50  # files that are checked because a caller named their folder

Least = Literal["error", "warning", "hint"]


class CheckTools(AnchorToolset):
    """The errors that a compiler would report."""

    @tool(title="Check", read_only=True, parses=True)
    async def check(
        self,
        call: Call,
        path: Annotated[str | None, Field(description="Only this file or folder")] = None,
        severity: Least = "error",
        all: Annotated[bool, Field(description="Also list the remaining ones")] = False,  # noqa: A002 - the published name
        since: Annotated[
            Literal["last", "start"],
            Field(description="start: compare with the state before any change, without affecting the next check"),
            UNLISTED,
        ] = "last",
        format: FormatChoice = None,
    ) -> str:
        """Find compile errors without a build: new, fixed and remaining since the last check, in changed files and
        their dependents. Call it after edits."""
        below = await self._below(path or "")
        deltas: list[Delta] = []
        compared = True
        looked_at: int | None = None
        backends: Sequence[Backend] = [] if below is None or below.is_dir() else [self._sessions.for_path(below)]
        gaps: list[Gap] = []
        if not backends:
            backends, gaps = await self._sessions.ready(call.report)
        named = {backend: self._also(backend, below) for backend in backends}
        answers, silent = await ask_each(
            backends, lambda one: look(call, one, named[one][:_MOST_BELOW], only=bool(named[one])), last=True
        )
        gaps += [replace(gap, kind="not_read") for gap in silent]
        for backend, looked in answers:
            checks = self._sessions.checks
            before = checks.start(backend) if since == "start" else checks.before(call.client.key, backend)
            also = named[backend]
            found, checked = looked.value
            if checked.covers is not None and len(also) > _MOST_BELOW:
                text = f"checked {_MOST_BELOW} of {len(also):,} files below {path}; pass a smaller folder"
                gaps.append(Gap("capped", text))
            if since == "last" and (repeated := remembered(found, checked, before, below)):
                checks.reported(call.client.key, backend, repeated)
            delta = compared_with(found, checked, before)
            deltas.append(await with_fixes(backend, limited(delta, below, severity)))
            gaps += [
                *looked.gaps,
                *checked.gaps,
                *_unread_warnings(backend, severity),
                *undated_gaps(self._sessions, delta if before else None),
            ]
            compared &= before is not None
            if not (backend.plugin.compiles_files or checked.covers is None):
                looked_at = (looked_at or 0) + len(checked.covers)
        delta = joined(deltas)
        self._targets.hand_out_readable(one.place for one in (*delta.new, *delta.remaining))
        unchecked = not_checked(gaps)
        call.is_unfinished = bool(unchecked)
        call.found_errors = any(one.severity == "error" for one in (*delta.new, *delta.remaining))
        return self._render(
            call,
            Check(
                message=delta_message(
                    delta,
                    compared=compared,
                    looked_at=looked_at,
                    unchecked=unchecked,
                    is_dated=not any(gap.about == "undated" for gap in gaps),
                ),
                arguments=call.arguments,
                gaps=gaps,
                delta=delta,
                with_remaining=all,
            ),
        )

    async def _below(self, path: str) -> Path | None:
        """The file or folder at `path`; None for the whole workspace."""
        root = self._sessions.workspace.root
        try:
            folder = (root / path).resolve()
            is_folder = folder.is_dir()
        except (OSError, ValueError, RuntimeError):
            return await self._file(path)  # which says what is wrong with the name
        if not path.strip() or folder == root:
            return None
        return folder if is_folder and folder.is_relative_to(root) else await self._file(path)

    def _also(self, backend: Backend, below: Path | None) -> list[Path]:
        """The files to check because the caller named them."""
        if below is None or below.is_file():
            return [] if below is None else [below]
        return [path for path in sorted(below.rglob("*")) if backend.plugin.language_of(path) and path.is_file()]


def _unread_warnings(backend: Backend, severity: str) -> list[Gap]:
    """The gap for files with known errors only, if warnings or hints were requested."""
    if severity == "error" or not backend.plugin.compiles_files:
        return []
    text = f"{backend.plugin.name} gives warnings only of changed and open files, and of errors in all"
    return [Gap("not_searched", text, brief="warnings of changed and open files only", about="warnings")]
