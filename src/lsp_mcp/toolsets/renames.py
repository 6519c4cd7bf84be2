"""The tool `rename_symbol_by_anchor` of the toolset `code`: symbols, and files and packages if the server supports
that.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lsp_mcp.backend import Backend, Scope
from lsp_mcp.edits.plan import EditPlan, RenameFile
from lsp_mcp.errors import AnchorError, CallerError, PathError, RefusedError
from lsp_mcp.features.checking.problems import Delta
from lsp_mcp.features.editing.moving import build_changes, moved, package_move
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.gaps import Gap, news
from lsp_mcp.prose import count
from lsp_mcp.render.answers import Rename
from lsp_mcp.render.problems import counted
from lsp_mcp.requests.asking import answer
from lsp_mcp.toolsets.answers import Confirmed, SymbolAnchor, without_places
from lsp_mcp.toolsets.changing import ChangingToolset
from lsp_mcp.toolsets.deltas import Looked, limited, look
from lsp_mcp.toolsets.renaming import Renamed, ask_rename, told_of_text
from lsp_mcp.toolsets.tool import UNLISTED, Call, FormatChoice, tool
from lsp_mcp.visible import quoted
from lsp_mcp.workspace import named_path

_BY_HAND = "Move it by a command, then check names each place that this breaks"


class RenameTools(ChangingToolset):
    """New names for symbols, new places for files."""

    @tool(title="Rename by anchor", read_only=False, destructive=True, parses=True)
    async def rename_symbol_by_anchor(
        self,
        call: Call,
        symbol_anchor: SymbolAnchor,
        new_name: Annotated[str, Field(description="New name; of a file or package folder its new path")],
        apply: Annotated[bool, Field(description="false: only preview the edits")] = True,
        allow_partial: Annotated[
            bool, Field(description="Apply even if uses may be missed, as status says"), UNLISTED
        ] = False,
        include_uncompiled: Annotated[
            bool, Field(description="Rename by text in files that cannot be compiled here"), UNLISTED
        ] = False,
        confirmed: Confirmed = False,
        verbose: Annotated[bool, Field(description="List each place of many"), UNLISTED] = False,
        format: FormatChoice = None,
    ) -> str:
        """Rename a symbol in the whole workspace. Writes all files or none; refuses names that clash or are invalid."""
        if not new_name.strip():
            raise CallerError("new_name is empty; pass a valid identifier.")
        old = await self._place(symbol_anchor, new_name)
        if old:
            backend = await self._of(old)
            return await self._move(call, backend, old, new_name, apply=apply, partial_=allow_partial, agreed=confirmed)

        asking = partial(self._questions.about_symbol, call, symbol_anchor)
        try:
            renamed = await ask_rename(asking, self._targets, new_name)
        except AnchorError as error:
            if self._is_folder(symbol_anchor):
                raise AnchorError(f"{error}\nIt is a folder: pass {symbol_anchor.strip()}/ to move that.") from None
            raise
        by_text = await renamed.by_text(new_name)
        if include_uncompiled:
            renamed = renamed.with_text(by_text, self._targets)
        way_out = (
            f"{'' if include_uncompiled else told_of_text(by_text)}"
            "preview with apply=false, or accept it with allow_partial=true and check those places."
        )
        renamed = await renamed.checked(self._targets, new_name, way_out, allow_partial=allow_partial or not apply)
        plan, gaps = renamed.plan, renamed.gaps
        remarks = await self._done(plan, apply=apply, confirmed=confirmed)
        verb = "Successfully renamed symbol to" if apply else "Preview, nothing written: would rename symbol to"
        edits, files = count(plan.edit_count, "edit"), count(len(plan.files), "file")
        return self._render(
            call,
            Rename(
                message=f"{verb} '{new_name}' with {edits} across {files}.",
                arguments=call.arguments,
                gaps=[*without_places(gaps), *remarks],
                plan=plan,
                with_places=verbose,
            ),
        )

    # --- files and folders -------------------------------------------------------------------------

    async def _place(self, spelled: str, new_name: str) -> Path | None:
        """The file or folder that a caller wants to move; None if it is a symbol."""
        # A symbol may have the name of a folder.
        if ("/" in spelled or "/" in new_name) and self._is_folder(spelled):
            return self._existing(spelled.strip())
        addressed = await self._targets.addressed(spelled)
        whole = addressed is not None and not addressed[1].line and not addressed[1].name
        return addressed[0] if addressed and whole else None

    def _is_folder(self, spelled: str) -> bool:
        """Whether the workspace has a folder of this name."""
        with suppress(PathError):
            return Path(os.path.normpath(named_path(spelled.strip(), self._sessions.workspace.root))).is_dir()
        return False

    async def _of(self, old: Path) -> Backend:
        """The backend of the code at or below `old`. Raises `PathError`: there is none."""
        for backend in self._sessions.backends if old.is_dir() else ():
            if await asyncio.to_thread(source_files, old, backend):
                return backend
        return self._sessions.for_path(old)

    async def _move(
        self, call: Call, backend: Backend, old: Path, new_name: str, *, apply: bool, partial_: bool, agreed: bool
    ) -> str:
        new = self._new_place(old, new_name)
        await backend.ready(call.report)
        before = (await look(call, backend)).value if apply else None
        renamed = await self._package(call, backend, old, new)
        if renamed:
            if not partial_:
                way_out = "or accept it with allow_partial=true and check those places."
                renamed = await renamed.checked(self._targets, new_name, way_out, allow_partial=not apply)
            plan, gaps = renamed.plan, renamed.gaps
        else:

            async def ask() -> EditPlan:
                return await moved(backend, old, new)

            try:
                answered = await answer(backend, ask, lambda _: Scope(), report=call.report)
            except RefusedError as error:
                packages = backend.plugin.renaming.packages and old.is_file()
                instead = "A package moves as a whole: pass its folder. " if packages else ""
                raise RefusedError(f"{error}. {instead}{_BY_HAND}.", error.code) from None
            plan, gaps = answered.value, list(answered.gaps)
            self._refuse_forbidden(plan)
            if not partial_ and (changes := await build_changes(backend, plan)):
                why = "; ".join(changes)
                raise RefusedError(f"{old.name} was not renamed, because {why}. Accept that with allow_partial=true.")
        gaps += await self._done(plan, apply=apply, confirmed=agreed)
        delta = None
        errors = ""
        if before is not None:
            delta, more = await self._made(call, backend, plan, before)
            gaps += more
            errors = f"; {counted(delta.new, 'new ')}"
        show = self._sessions.workspace.display_path
        edits = f"{count(plan.edit_count, 'edit')} across {count(len(plan.files), 'file')}"
        edits = edits if plan.edit_count else "no edits"
        verb = "Moved" if apply else "Preview, nothing written: would move"
        return self._render(
            call,
            Rename(
                message=f"{verb} {show(old)} to {show(new)} with {edits}{errors}.",
                arguments=call.arguments,
                gaps=without_places(gaps),
                plan=plan,
                delta=delta,
            ),
        )

    def _new_place(self, old: Path, new_name: str) -> Path:
        """The destination of `old`: a path relative to the workspace root or, for a plain name, to its own folder.

        Raises:
            PathError: something is there already, or it is outside the workspace.
        """
        workspace, spelled = self._sessions.workspace, new_name.strip()
        new = Path(os.path.normpath(named_path(spelled, workspace.root if "/" in spelled else old.parent)))
        if not workspace.contains(new):
            raise PathError(f"{spelled} is outside the workspace root {workspace.root}.")
        if new.exists() and not (new.is_dir() and old.is_dir() and not any(new.iterdir())):
            raise PathError(f"{workspace.display_path(new)} exists already; nothing is overwritten.")
        if old.is_file() and new.suffix != old.suffix:
            raise PathError(
                f"{old.name} names a file, not a symbol: new_name is then its new path, with {old.suffix}, "
                f"and {quoted(spelled)} is not."
            )
        return new

    async def _package(self, call: Call, backend: Backend, old: Path, new: Path) -> Renamed | None:
        """The rename of the package in the folder `old` that moves it to `new`; None if it is not a package."""
        if not old.is_dir() or (move := await package_move(backend, old, new)) is None:
            return None
        asking = partial(self._questions.about_symbol, call, self._targets.anchor(move.path, move.point))
        return await ask_rename(asking, self._targets, move.new_name)

    async def _done(self, plan: EditPlan, *, apply: bool, confirmed: bool) -> list[Gap]:
        """Apply `plan` if requested; returns the answer."""
        generated = self._told_of_generated(plan)
        if not apply:
            needed = [news("applied", f"confirmed=true is needed to apply it: {what}") for what in plan.confirmations]
            return [*needed, *generated]
        done = await self._context.apply(self._sessions, plan, confirmed=confirmed)
        return [*(news("applied", text) for text in self._sessions.remarks(done)), *generated]

    async def _made(self, call: Call, backend: Backend, plan: EditPlan, before: Looked) -> tuple[Delta, list[Gap]]:
        """The problems caused by `plan`, which moved files, and what is unknown about them."""
        moves = [(step.old, step.new) for step in plan.steps if isinstance(step, RenameFile)]

        def now(path: Path) -> Path:
            for old, new in moves:
                if path.is_relative_to(old):
                    return new / path.relative_to(old)
            return path

        found, checked = before
        was = [replace(one, place=one.place._replace(path=now(one.place.path))) for one in found]
        outcome = await self._outcome(call, backend, plan, (was, checked), [now(path) for path in plan.files])
        delta = limited(outcome.delta, None, "error")
        self._targets.hand_out_readable(one.place for one in delta.new)
        return delta, list(outcome.gaps)
