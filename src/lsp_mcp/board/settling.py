"""Making a board agree with `workflow` whose stages and tasks come from elsewhere: an older board, a broken one.

Older boards told the stage and the status of a task apart, and no stage completed tasks. That stage is then the one
that is called so; else the last one, unless it has pending tasks or is the default one: then a new one, "Done". What
is in it is completed, as the person or agent that moved it there meant; what was completed elsewhere moves there.

Board version 0002 does this too: what is written here in SQL must hold for its tables.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from lsp_mcp.board import workflow


def settle(connection: Connection) -> list[str]:
    """Make stages and tasks agree; the ids of the tasks that this changed, none on a board on which they do."""
    done = _ending_stage(connection)
    return [] if done is None else _agree(connection, *done)


# --- inside ----------------------------------------------------------------------------------------


def _ending_stage(connection: Connection) -> tuple[str, str] | None:
    """The id and name of the stage that completes tasks from now on; None on a board without stages."""
    found = connection.execute(
        sa.text("SELECT id, name, is_default, completes, position FROM stages ORDER BY position")
    )
    rows = [dict(row) for row in found.mappings()]
    if not rows:
        return None
    if known := next((row for row in rows if row["completes"]), None):
        return known["id"], known["name"]

    def has_pending(stage: workflow.Stage) -> bool:
        pending = sa.text("SELECT count(*) FROM tasks WHERE stage = :stage AND status = 'pending'")
        return bool(connection.execute(pending, {"stage": stage["id"]}).scalar())

    last = workflow.ending(rows, has_pending)
    if last is not None:
        completes = sa.text("UPDATE stages SET completes = :yes WHERE id = :id")
        connection.execute(completes, {"yes": True, "id": last["id"]})
        return last["id"], last["name"]
    ids, names = {row["id"] for row in rows}, {row["name"].casefold() for row in rows}
    number = 1
    while (id_ := f"done-{number}" if number > 1 else "done") in ids:
        number += 1
    name = next(one for one in ("Done", "Completed", f"Done {number + 1}") if one.casefold() not in names)
    connection.execute(
        sa.text(
            "INSERT INTO stages (id, name, color, position, is_default, completes, revision, activities)"
            " VALUES (:id, :name, '#15803d', :position, :no, :yes, 1, '[]')"
        ),
        {"id": id_, "name": name, "position": float(rows[-1]["position"]) + 1.0, "yes": True, "no": False},
    )
    return id_, name


def _agree(connection: Connection, stage: str, name: str) -> list[str]:
    """Make status and stage of all tasks agree, with an entry in the history of each that changes."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    behind = sa.text("SELECT max(position) FROM tasks WHERE stage = :stage")
    position = float(connection.execute(behind, {"stage": stage}).scalar() or 0.0)
    wrong = connection.execute(
        sa.text(
            "SELECT tasks.id, tasks.revision, tasks.stage, tasks.position, stages.completes FROM tasks"
            " JOIN stages ON stages.id = tasks.stage WHERE (stages.completes AND status = 'pending')"
            " OR (NOT stages.completes AND status = 'completed') ORDER BY tasks.updated_at, tasks.id"
        )
    ).all()
    for row in wrong:
        moves = not row.completes
        position += moves
        fields: dict[str, Any] = {"stage": [row.stage, stage]} if moves else {"status": ["pending", "completed"]}
        message = f"moved to {name}, where completed tasks are" if moves else "completed: its stage says so"
        connection.execute(
            sa.text(
                "UPDATE tasks SET stage = :stage, status = 'completed', position = :position, revision = :revision,"
                " completed_at = coalesce(completed_at, updated_at), claimed_by = NULL, claimed_at = NULL"
                " WHERE id = :id"
            ),
            {
                "id": row.id,
                "stage": stage,
                "position": position if moves else row.position,
                "revision": row.revision + 1,
            },
        )
        connection.execute(
            sa.text(
                "INSERT INTO history (kind, ref, revision, at, who, message, fields)"
                " VALUES ('task', :ref, :revision, :at, 'lsp-mcp', :message, :fields)"
            ),
            {
                "ref": row.id,
                "revision": row.revision + 1,
                "at": now,
                "message": message,
                "fields": json.dumps(fields),
            },
        )
    return [row.id for row in wrong]
