"""The errors that a rename would cause, according to its server, before anything is written: `errors_made`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lsp_mcp.backend import Backend, Trial
from lsp_mcp.edits.plan import EditPlan, FileChange
from lsp_mcp.errors import UnavailableError
from lsp_mcp.features.checking.checking import problems
from lsp_mcp.features.checking.problems import Problem, compare, known
from lsp_mcp.text import Text

_PLACE = re.compile(r":\d+:\d+\b")  # of another declaration, in a message


def can_be_tried(backend: Backend, plan: EditPlan) -> bool:
    """Whether the server's errors for the texts of `plan` will hold once they are written.

    They won't if files move, or if the server reads from disk what another edited file includes. If diagnostics don't
    identify their text, nobody knows when they are complete.
    """
    if not all(isinstance(step, FileChange) for step in plan.steps):
        return False
    whole = backend.adapter.diagnostics.command_covers == "workspace"
    return whole or (len(plan.files) == 1 and backend.has_versions)


async def errors_made(backend: Backend, plan: EditPlan, old_name: str, new_name: str) -> list[Problem]:
    """The errors with `plan`, which renames `old_name`, that are not there without it.

    Nothing is written. The server gets the new texts and, if those have errors, the old texts as open documents too, so
    that both are checked in the same way.

    Raises:
        UnavailableError: it could not answer in time.
    """
    steps = [step for step in plan.steps if isinstance(step, FileChange) and backend.adapter.language_of(step.path)]
    async with backend.trial() as trial:
        after = await _errors(backend, trial, {step.path: Text(step.after) for step in steps})
        if not after:
            return []
        before = await _errors(backend, trial, {step.path: step.before for step in steps})
    same = [_renamed(one, old_name, new_name) for one in after]
    was = known((_renamed(one, old_name, new_name) for one in before), None, (), None)
    new = {id(one) for one in compare(same, None, was).new}
    return [one for one, folded in zip(after, same, strict=True) if id(folded) in new]


async def _errors(backend: Backend, trial: Trial, texts: Mapping[Path, Text]) -> Sequence[Problem]:
    for path, text in texts.items():
        trial.show(path, text)
    checked = await trial.check()
    for gap in checked.gaps:
        if gap.kind == "not_read":
            raise UnavailableError(gap.text)
    return [one for one in await problems(backend, checked, dict(texts)) if one.severity == "error"]


def _renamed(problem: Problem, old_name: str, new_name: str) -> Problem:
    """`problem` with a message that does not depend on the rename."""
    message = re.sub(rf"\b{re.escape(old_name)}\b", lambda _: new_name, problem.message)
    return replace(problem, message=_PLACE.sub("", message))
