"""What a task still lacks when somebody completes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsp_mcp.board import dependencies, fields, proofs
from lsp_mcp.board.store import Transaction
from lsp_mcp.errors import UnprovenError
from lsp_mcp.prose import count, first_few


def check(at: Transaction, row: Mapping[Any, Any], *, is_waiting: bool, force: bool, reason: str | None) -> str:
    """An addition to the history's message: what the completed task lacks and why; empty if it lacks nothing.

    `row` has `id` and the present `boxes`, `ticked` and proofs; a task that is not `is_waiting` depends on no pending
    one.
    People need `force` to complete it all the same, agents also a `reason`.

    Raises:
        UnprovenError: something is missing, without these.
    """
    lacks = []
    if left := row["boxes"] - row["ticked"]:
        boxes = count(left, "checkbox", "checkboxes")
        lacks.append(f"{boxes} of {row['boxes']} {'is' if left == 1 else 'are'} not ticked")
    if is_waiting and (waits := dependencies.waits_for(at, row["id"])):
        lacks.append(f"it waits for {first_few(waits)}")
    unproven = proofs.missing(row["required_proof"], row["proof"])
    if unproven:
        lacks.append(f"it requires as proof: {', '.join(unproven)}")
    if not lacks:
        return ""
    said = "; ".join(lacks)
    why = fields.message(reason, "reason") if reason is not None else ""
    if not force or (at.actor.id and not why):
        first = "finish it and pass proof to complete_task" if unproven else "finish it"
        how = f": {first}, or pass force=true and reason=WHY_IT_IS_DONE, which is kept in its history"
        raise UnprovenError(f"{row['id']} is not done: {said}. Nothing was changed{how if at.actor.id else ''}.")
    return f", although {said}" + (f": {why}" if why else "")
