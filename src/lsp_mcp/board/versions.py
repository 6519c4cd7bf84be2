"""Earlier revisions of tasks, stages, standards and snippets: reading and restoring them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from lsp_mcp.anchors import parse_anchor
from lsp_mcp.board import dependencies, history, library, stages, tables, tasks, trash, views, workflow
from lsp_mcp.board.history import Kind
from lsp_mcp.board.ids import read_id
from lsp_mcp.board.positions import last
from lsp_mcp.board.store import Transaction
from lsp_mcp.errors import CallerError
from lsp_mcp.prose import count

_TASK = ("title", "description", "tags", "stage", "priority", "branch", "due", "required_proof", "proof")
_STAGE = ("name", "color", "is_default", "completes", "activities")
_TEXTS = {"standard": ("content", "description"), "snippet": ("title", "content", "tags")}


def revisions(at: Transaction, kind: Kind, typed: str) -> dict[str, Any]:
    """The present state: `id`, `revision`, and `entries`, its history, the oldest first.

    Raises:
        CallerError: there is none, in the trash neither.
    """
    try:
        ref, revision, _ = _now(at, kind, typed)
    except CallerError:
        ref = _ref(kind, typed)
        done = history.entries(at, kind, ref)
        if not done:
            raise
        return {"kind": kind, "id": ref, "revision": done[-1]["revision"], "entries": done}
    return {"kind": kind, "id": ref, "revision": revision, "entries": history.entries(at, kind, ref)}


def as_of(at: Transaction, kind: Kind, typed: str, revision: int) -> dict[str, Any]:
    """All fields of an item at a revision.

    Raises:
        CallerError: there is no such item or revision, or its text was not stored.
    """
    ref, _, now = _now(at, kind, typed)
    return history.as_of(now, revision, history.entries(at, kind, ref), ref)


def revert(at: Transaction, kind: Kind, typed: str, revision: int | None = None) -> dict[str, Any]:
    """Restore an item to a revision, else to before its last change, else to before it was deleted; `id`, `revision`.

    This is an ordinary change: a new revision with an entry in the history.

    Raises:
        CallerError: there is no such item or revision, its text was not stored, or it no longer fits.
    """
    ref = _ref(kind, typed)
    if revision is None and not _is_there(at, kind, ref) and (found := trash.take(at, kind, ref)) is not None:
        return _restore(at, kind, *found)
    ref, _, now = _now(at, kind, typed)
    done = history.entries(at, kind, ref)
    if revision is None:
        last_change = next((at for at in reversed(range(len(done))) if done[at]["fields"]), None)
        if last_change is None:
            raise CallerError(f"{ref} has not changed since it was created; there is nothing to undo.")
        revision = int(done[last_change]["revision"]) - 1
    before = history.as_of(now, revision, done, ref)
    wanted = {name: value for name, value in before.items() if value != now[name]}
    return {"id": ref, "revision": _change(at, kind, ref, wanted, f"went back to revision {revision}")}


# --- inside ----------------------------------------------------------------------------------------


def _ref(kind: Kind, typed: str) -> str:
    return read_id("t", typed) if kind == "task" else " ".join(typed.split()).casefold()


def _is_there(at: Transaction, kind: Kind, ref: str) -> bool:
    table = tables.metadata.tables[f"{kind}s"]
    return at.connection.execute(sa.select(table.c.id).where(table.c.id == ref)).first() is not None


def _now(at: Transaction, kind: Kind, typed: str) -> tuple[str, int, dict[str, Any]]:
    """The id, the revision and the fields that a history has."""
    match kind:
        case "task":
            row: Mapping[str, Any] = dict(views.row(at, typed))
            found = {name: row[name] for name in _TASK} | {"archived": row["archived_at"] is not None}
            found["status"] = row["status"]
            found["depends_on"] = dependencies.both_ways(at, row["id"])[0]
            found["anchors"] = [one["anchor"] for one in views.anchors_of(at, row["id"])]
        case "stage":
            row = stages.find(at, typed)
            found = {name: row[name] for name in _STAGE} | {"order": [one["id"] for one in stages.rows(at)]}
        case "standard":
            row = library.get_standard(at, typed)
            found = {name: row[name] for name in _TEXTS[kind]}
        case "snippet":
            row = library.get_snippet(at, typed)
            found = {name: row[name] for name in _TEXTS[kind]}
    return str(row["id"]), int(row["revision"]), found


def _change(at: Transaction, kind: Kind, ref: str, wanted: dict[str, Any], message: str) -> int:
    """Give an item these values; returns its new revision."""
    match kind:
        case "task":
            # A person who goes back to a completed revision has seen it, and is not asked again.
            values = {**_task_values(at, ref, wanted), "force": not at.actor.id}
            return int(tasks.update(at, ref, message=message, **values)["revision"])
        case "stage":
            values = {name: wanted[name] for name in ("color", "completes", "activities") if name in wanted}
            if "name" in wanted:
                values["new_name"] = wanted["name"]
            if wanted.get("is_default"):  # it no longer is by itself if another one became that
                values["is_default"] = True
            if "order" in wanted:
                values["after"] = _after(at, ref, wanted["order"])
            stage = next(one for one in stages.rows(at) if one["id"] == ref)
            return int(stages.update(at, stage["name"], message=message, **values)["revision"])
        case "standard":
            content = wanted.pop("content", None) or library.get_standard(at, ref)["content"]
            return int(library.update_standard(at, ref, content, message=message, **wanted)["revision"])
        case "snippet":
            return int(library.update_snippet(at, ref, message=message, **wanted)["revision"])


def _task_values(at: Transaction, ref: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
    plain = ("title", "description", "tags", "priority", "required_proof", "proof")
    values = {name: wanted[name] for name in plain if name in wanted}
    values |= {name: wanted[name] or "" for name in ("branch", "due") if name in wanted}
    names = {stage["id"]: stage["name"] for stage in stages.rows(at)}
    if wanted.get("stage") in names:  # else it stays where it is: that stage is gone
        values["stage"] = names[wanted["stage"]]
    if "archived" in wanted and views.row(at, ref)["status"] == "completed" and "stage" not in values:
        values["archived"] = wanted["archived"]
    if "depends_on" in wanted:
        there = sa.select(tables.tasks.c.id).where(tables.tasks.c.id.in_(wanted["depends_on"]))
        known = set(at.connection.execute(there).scalars())
        values["depends_on"] = [one for one in wanted["depends_on"] if one in known]
    if "anchors" in wanted:
        columns = ("anchor", "file", "symbol", "code", "state")
        rows = at.connection.execute(sa.select(tables.anchors).where(tables.anchors.c.task == ref)).mappings()
        here = {row["anchor"]: {name: row[name] for name in columns} for row in rows}
        values["anchored"] = [here.get(one) or _unseen(one) for one in wanted["anchors"]]
    return values


def _unseen(anchor: str) -> dict[str, Any]:
    """An anchor at which nobody has looked since it was taken away."""
    file = parse_anchor(anchor).file
    return {"anchor": anchor, "file": file, "symbol": None, "code": None, "state": "unknown"}


def _after(at: Transaction, ref: str, order: Sequence[str]) -> str:
    """The name of the stage that one stood behind, of those there still are; empty if it was the first."""
    names = {stage["id"]: stage["name"] for stage in stages.rows(at)}
    before = [one for one in order[: order.index(ref)] if one in names] if ref in order else list(names)
    return names[before[-1]] if before else ""


def _restore(at: Transaction, kind: Kind, ref: str, content: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Restore an item from the trash."""
    row = content[f"{kind}s"][0]
    revision = row["revision"] = history.last_revision(at, kind, ref) + 1
    edges: list[dict[str, Any]] = []
    there = stages.rows(at)
    if kind == "task":
        here = next((one for one in there if one["id"] == row["stage"]), None)
        place = workflow.destination(there, here, status=row["status"])
        row |= {"stage": place["id"], "position": last(at, place["id"]), "updated_at": at.now}
        row |= {"claimed_by": None, "claimed_at": None}
        edges = content.pop("dependencies", [])
    elif kind == "stage":
        if any(one["name"].casefold() == row["name"].casefold() for one in there):
            raise CallerError(f"the stage {row['name']!r} exists again; rename it first.")
        row |= {"position": len(there), "is_default": False}
    trash.put_back(at, content)
    left_out = [edge for edge in edges if not dependencies.add(at, edge["task"], edge["depends_on"])]
    more = f"; {count(len(left_out), 'dependency', 'dependencies')} did not fit any more" if left_out else ""
    history.remember(at, kind, ref, revision, f"restored from the trash{more}")
    at.change("restored", kind, ref, str(row.get("title") or row.get("name") or ref))
    return {"id": ref, "revision": revision}
