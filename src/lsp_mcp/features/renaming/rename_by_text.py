"""Renames by text alone, in files that a server cannot read: `changed_by_text`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.edits.plan import EditPlan, FileChange, Step, TextChange
from lsp_mcp.requests.places import Place, text_or_none


class ByText(Struct, frozen=True):
    """A plan with the changes made by text alone, and their places."""

    plan: EditPlan
    places: tuple[Place, ...] = ()


async def changed_by_text(backend: Backend, plan: EditPlan, files: Iterable[Path], name: str, new_name: str) -> ByText:
    """`plan`, with `new_name` for each further `name` in the code of `files`; comments and strings are not code."""
    steps: list[Step] = list(plan.steps)
    places: list[Place] = []
    for path in sorted(set(files)):
        index = next((at for at, step in enumerate(steps) if isinstance(step, FileChange) and step.path == path), None)
        planned = steps[index] if index is not None else None
        before = planned.before if isinstance(planned, FileChange) else await text_or_none(backend, path)
        if before is None or not name.isidentifier():
            continue
        changes = list(planned.changes) if isinstance(planned, FileChange) else []
        known = {change.span for change in changes}
        there = await backend.words.occurrences(path, before, name)
        found = [span for span in there if span not in known]
        if not found:
            continue
        places += [Place(path, span, before) for span in found]
        changes += [TextChange(span, name, new_name) for span in found]
        ordered = tuple(sorted(changes, key=lambda change: change.span))
        change = FileChange(path, before, "", ordered).without(())
        assert change
        if index is None:
            steps.append(change)
        else:
            steps[index] = change
    return ByText(replace(plan, steps=tuple(steps)), tuple(places))
