"""The one place that decides when a task is done. Pure.

A stage completes tasks or it doesn't. A task is completed exactly while it is in a stage that does: entering one
completes it, leaving it reopens it, and completing a task means moving it there. So status, stage, claim and dependents
are always consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from lsp_mcp.errors import CallerError
from lsp_mcp.prose import first_few

Status = Literal["pending", "completed"]
_DONE = ("done", "completed", "complete", "finished", "closed", "shipped")
Stage = Mapping[str, Any]  # a row of the table: `id`, `name`, `is_default`, `completes`


def status_in(stage: Stage) -> Status:
    """The status of all tasks in a stage."""
    return "completed" if stage["completes"] else "pending"


def entering(stage: Stage, before: Status | None, now: str) -> dict[str, Any]:
    """The update of a task's row when it enters `stage`; `before` is its status until then, None if it is new."""
    status = status_in(stage)
    values: dict[str, Any] = {"stage": stage["id"], "status": status}
    if status == before:
        return values
    if status == "completed":
        return {**values, "completed_at": now, "claimed_by": None, "claimed_at": None}
    return {**values, "completed_at": None, "archived_at": None}


def destination(
    stages: Sequence[Stage],
    here: Stage | None,
    *,
    stage: Stage | None = None,
    status: Status | None = None,
    came_from: Stage | None = None,
) -> Stage:
    """The stage that a task belongs in; `stages` are all of the board, in order.

    Args:
        here: where it is; None: it is new.
        stage: where somebody wants it.
        status: what somebody wants it to be.
        came_from: where it was before it was completed, which is where a reopened one goes.

    Raises:
        CallerError: the stage and the status that are wanted contradict each other.
    """
    if stage is not None:
        if status is not None and status_in(stage) != status:
            fitting = first_few([one["name"] for one in stages if status_in(one) == status])
            raise CallerError(
                f"a task in {stage['name']} is {status_in(stage)}, not {status}. Leave out stage or status, "
                f"or name a stage in which tasks are {status}: {fitting}."
            )
        return stage
    if here is not None and status in (None, status_in(here)):
        return here
    if status == "completed":
        ending = [one for one in stages if one["completes"]]
        behind = [one["id"] for one in stages][[one["id"] for one in stages].index(here["id"]) :] if here else []
        return next((one for one in ending if one["id"] in behind), ending[0])
    if came_from is not None and not came_from["completes"]:
        return came_from
    return next(one for one in stages if one["is_default"])


def ending(stages: Sequence[Stage], has_pending: Callable[[Stage], bool]) -> Stage | None:
    """The stage that completes tasks on a board where none says so: the one that is called like that, else the last.

    The last one counts only if it is not the default one and has no pending tasks; None: a new one is needed.
    """
    for stage in stages:
        if stage["name"].casefold() in _DONE and not stage["is_default"]:
            return stage
    last = stages[-1]
    return None if last["is_default"] or has_pending(last) else last


def check(stages: Sequence[Stage]) -> None:
    """Raises CallerError unless there is a default stage, in which tasks are pending, and one that completes them."""
    default = next(one for one in stages if one["is_default"])
    if default["completes"]:
        raise CallerError(
            f"{default['name']} would be the default stage, which new tasks come into, and complete them at once; "
            "make another stage the default one."
        )
    if not any(one["completes"] for one in stages):
        raise CallerError("no stage would complete tasks any more; set completes=true on another stage first.")
