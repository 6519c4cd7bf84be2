"""Applies an `EditPlan` where a Neovim has files open: in its buffers, else on disk (`apply_in_neovim`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.edits.apply import apply_plan
from lsp_mcp.edits.plan import EditPlan, FileChange, RenameFile, Step, TextChange
from lsp_mcp.edits.policy import CheckedPlan
from lsp_mcp.errors import EditError, LspMcpError
from lsp_mcp.nvim.buffers import Buffer
from lsp_mcp.nvim.host import NvimHost
from lsp_mcp.text import PositionEncoding
from lsp_mcp.workspace import display_path


class Edited(Struct, frozen=True):
    """The result for one file."""

    path: Path
    where: Literal["buffer", "disk"]
    edits: int
    saved: bool
    reason: str = ""  # why it was not saved, unless the caller asked for that

    def __str__(self) -> str:
        done = "saved" if self.saved else "not saved"
        return f"{self.where}, {done}" + (f" ({self.reason})" if self.reason else "")


class Done(Struct, frozen=True):
    """The result for each file; `leftovers` as in `AppliedEdit`."""

    files: list[Edited]
    leftovers: tuple[Path, ...] = ()


async def apply_in_neovim(host: NvimHost, checked: CheckedPlan, *, save: bool) -> Done:
    """Apply all of a plan, or nothing; returns the result. Nothing else changes the text of buffers.

    A file with a buffer is changed there, in one undo step, and saved unless it had unsaved changes. Others are changed
    on disk; without `save`, in a hidden buffer. No window, cursor or list of buffers is touched. A plan that creates,
    renames or deletes files is applied on disk, and buffers follow.

    Raises:
        EditError: nothing was changed, because a file is not as it was when the plan was made, was changed on disk
            while it has unsaved changes, or Neovim or the system refuses.
        UnavailableError: Neovim is gone, or waits for something.
    """
    plan = checked.plan
    await host.buffers.want(plan.files)
    if any(not isinstance(step, FileChange) for step in plan.steps):
        return await _on_disk(host, checked)
    changes = _folded(plan)
    if not save:
        for path in changes:
            if host.buffers.get(path) is None:
                await host.show(path)
        await host.buffers.want(changes)
    buffers = {path: buffer for path in changes if (buffer := host.buffers.get(path))}
    for path, buffer in buffers.items():
        _check(path, buffer, changes[path])
    await _edit(host, [(buffer, changes[path]) for path, buffer in buffers.items()], checked)
    rest = [step for path, step in changes.items() if path not in buffers]
    try:
        applied = apply_plan(checked.only(rest))
    except EditError:
        await host.present().lua.change("undo", [buffer.number for buffer in buffers.values()])
        raise
    done = {step.path: Edited(step.path, "disk", len(step.changes), saved=True) for step in rest}
    for path, buffer in buffers.items():
        done[path] = await _saved(host, buffer, changes[path], save=save)
    await host.buffers.sync()
    return Done([done[path] for path in plan.files], applied.leftovers)


def _folded(plan: EditPlan) -> dict[Path, FileChange]:
    """The one change of each file; several in a row become one that replaces the whole text."""
    folded: dict[Path, FileChange] = {}
    for step in plan.steps:
        assert isinstance(step, FileChange)
        folded[step.path] = _both(first, step) if (first := folded.get(step.path)) else step
    return folded


def _both(first: FileChange, second: FileChange) -> FileChange:
    before = first.before
    whole = TextChange(before.offsets_span(0, len(before.content)), before.content, second.after)
    return FileChange(first.path, before, second.after, (whole,))


def _check(path: Path, buffer: Buffer, change: FileChange) -> None:
    if buffer.conflict:
        raise EditError(
            f"{path} was changed on disk and has unsaved changes in Neovim: save or reload it there first. "
            "Nothing was changed."
        )
    if buffer.text != change.before:
        raise EditError(f"{path} changed during the call. Nothing was written; ask again.")


async def _edit(host: NvimHost, changes: Sequence[tuple[Buffer, FileChange]], checked: CheckedPlan) -> None:
    wanted = [
        {
            "number": buffer.number,
            "tick": buffer.tick,
            "edits": _text_edits(change),
            "after": change.after,
        }
        for buffer, change in changes
    ]
    refused = await host.present().lua.change("edit", wanted) if wanted else None
    if refused:
        names = {buffer.number: display_path(change.path, checked.policy.root) for buffer, change in changes}
        changed = ", ".join(names[number] for number in refused.get("changed") or ())
        then = f"Undo in Neovim what stays changed: {changed}." if changed else "Nothing was changed."
        raise EditError(f"{names[refused['number']]} {refused['reason']}. {then}")


def _text_edits(change: FileChange) -> list[dict[str, Any]]:
    content = change.before.content
    # Where a buffer's lines end is Neovim's `fileformat`: with CR alone only if all of them do.
    encoding = PositionEncoding("utf-16", lone_cr_ends_line="\n" not in content)
    return [{"range": change.before.span_range(one.span, encoding), "newText": one.new_text} for one in change.changes]


async def _saved(host: NvimHost, buffer: Buffer, change: FileChange, *, save: bool) -> Edited:
    done = Edited(change.path, "buffer", len(change.changes), saved=False)
    if buffer.modified:
        return replace(done, reason="it had unsaved changes before")
    if not save:
        return done
    failed = await host.present().lua.change("save", buffer.number)
    return replace(done, saved=not failed, reason=f"Neovim: {failed}" if failed else "")


async def _on_disk(host: NvimHost, checked: CheckedPlan) -> Done:
    plan = checked.plan
    named = {path for step in plan.steps for path in _paths(step)}
    for buffer in host.buffers.all():
        if buffer.modified and any(buffer.path.is_relative_to(path) for path in named):
            shown = display_path(buffer.path, checked.policy.root)
            raise EditError(
                f"{shown} has unsaved changes in Neovim, and the edit creates, renames or deletes files: "
                "save it there first. Nothing was changed."
            )
    applied = apply_plan(checked)
    for old, new in applied.renamed:
        try:
            await host.present().lua.change("moved", str(old), str(new))
        except LspMcpError as error:
            raise EditError(f"The files are changed, but Neovim's buffer of {old} is not: {error}") from None
    await host.buffers.sync()
    counts: dict[Path, int] = {}
    for step in plan.steps:
        for path in _paths(step):
            counts[path] = counts.get(path, 0) + (len(step.changes) if isinstance(step, FileChange) else 0)
    files = [Edited(path, "disk", count, saved=True) for path, count in counts.items()]
    return Done(files, applied.leftovers)


def _paths(step: Step) -> tuple[Path, ...]:
    return (step.old, step.new) if isinstance(step, RenameFile) else (step.path,)
