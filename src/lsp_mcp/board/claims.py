"""Claims: which agent works on a task, and what others may do with it until then."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import RowMapping

from lsp_mcp.board import agents, dependencies, fields, history, people, views
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.views import Task
from lsp_mcp.errors import CallerError, ConflictError


def claim(at: Transaction, actor: Actor, typed: str | None, branch: str | None = None) -> Task:
    """Claim a task for the actor: `typed`, else the first that is ready. Two actors never get the same one.

    Raises:
        CallerError: there is none, or it is completed, blocked, or claimed by another.
    """
    if typed is None and (typed := views.next_ready(at)) is None:
        raise CallerError("no task is ready: all are completed, claimed, or wait for others. See list_tasks.")
    row = views.row(at, typed)
    values: dict[str, Any] = {} if branch is None else {"branch": fields.branch(branch)}
    said = {name: [row[name], value] for name, value in values.items() if row[name] != value}
    if row["claimed_by"] == actor.id:
        if said:
            history.advance(at, row, values, f"works on the branch {branch}", said)
            at.change("claimed", "task", row["id"], row["title"])
        return views.one(at, row["id"])
    if row["status"] == "completed":
        raise CallerError(f"{row['id']} is completed; set its status to pending first, with update_task.")
    if waits := dependencies.waits_for(at, row["id"]):
        raise CallerError(f"{row['id']} waits for {', '.join(waits)}; complete those first.")
    holder = row["holder_name"]
    if holder and row["holder_connected"]:
        raise CallerError(f"{holder} works on {row['id']} since {row['claimed_at'][:16]}Z. See list_tasks ready=true.")
    message = f"claimed by {actor.name}" + (f", who takes over from {holder}" if holder else "")
    values |= {"claimed_by": actor.id, "claimed_at": at.now}
    history.advance(at, row, values, message, said)
    at.change("claimed", "task", row["id"], row["title"])
    stored = {**values, "revision": row["revision"] + 1, "updated_at": at.now}
    return views.after(row, stored, holder=actor.name)


def assign(at: Transaction, typed: str, to: str) -> Task:
    """Assign a task to the agent or person of that id, who is notified; so is its previous holder.

    Raises:
        CallerError: there is no such task or connected agent, or the task is completed.
    """
    row = views.row(at, typed)
    person = people.find(at, to)
    new = person or agents.row(at, to)
    if row["status"] == "completed":
        raise CallerError(f"{row['id']} is completed; reopen it first.")
    if person is None and not new["connected"]:
        raise CallerError(f"{new['name']} is not connected; give {row['id']} to an agent that is.")
    if row["claimed_by"] == new["id"]:
        return views.one(at, row["id"])
    message = f"given to {new['name']}" + (f", taken from {row['holder_name']}" if row["holder_name"] else "")
    history.advance(at, row, {"claimed_by": new["id"], "claimed_at": at.now}, message, {})
    at.change("claimed", "task", row["id"], row["title"])
    tell_holder(at, row, f"{who(at)} gave {row['id']} ({row['title']}) to {new['name']}: stop working on it")
    given = f"{who(at)} gave you {row['id']} ({row['title']}): work on it"
    _tell(at, new["id"], given, row["id"], is_person=person is not None)
    return views.one(at, row["id"])


def release(at: Transaction, actor: Actor, typed: str) -> Task:
    """Release a task.

    Raises:
        CallerError: there is none, or it is claimed by another agent that is connected.
    """
    row = views.row(at, typed)
    holder = row["holder_name"]
    if holder is None:
        return views.one(at, row["id"])
    if actor.id not in (None, row["claimed_by"]) and row["holder_connected"]:
        raise CallerError(f"{holder} works on {row['id']}, and only {holder} or a person can release it.")
    history.advance(at, row, {"claimed_by": None, "claimed_at": None}, f"released by {actor.name}", {})
    at.change("released", "task", row["id"], row["title"])
    tell_holder(at, row, f"{who(at)} released {row['id']} ({row['title']}): stop working on it")
    return views.one(at, row["id"])


def protect(at: Transaction, row: RowMapping, *, force: bool) -> dict[str, str]:
    """Check that no other agent has claimed a task; with `force` the holder is notified, and named in the answer.

    Raises:
        ConflictError: another agent has.
    """
    if at.actor.id in (None, row["claimed_by"]) or not row["holder_connected"]:
        return {}
    holder = row["holder_name"]
    if not force:
        raise ConflictError(
            f"{holder} works on {row['id']} since {row['claimed_at'][:16]}Z. Nothing was changed: add a comment, "
            f"take another task, or pass force=true, which notifies {holder}."
        )
    tell_holder(at, row, f"{at.actor.name} changed {row['id']}, on which {holder} works; read it again")
    return {"overrode": holder}


def tell_holder(at: Transaction, row: RowMapping, text: str) -> None:
    """Notify the agent that holds a task, unless it is the actor: at once or with its next answer."""
    if row["claimed_by"] not in (None, at.actor.id) and row["holder_connected"]:
        _tell(at, row["claimed_by"], text, row["id"], is_person=row["holder_is_person"])


def who(at: Transaction) -> str:
    """The actor's name in notices; a person who has not said who they are is "the user"."""
    return at.actor.name if at.actor.id or at.actor.person else "the user"


def _tell(at: Transaction, id_: str, text: str, task: str, *, is_person: bool) -> None:
    """Notify an agent or a person."""
    if is_person:
        people.tell(at, id_, text, task)
    else:
        at.change("told", "agent", id_, text)
