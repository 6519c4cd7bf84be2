"""The history of tasks, stages, standards and snippets: who, when, what, with whole texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import sqlalchemy as sa

from lsp_mcp.board import text_changes
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import history, tasks
from lsp_mcp.errors import CallerError, ConflictError

CREATED = "created"  # recorded for a new stage, standard or snippet; an earlier one may have had its id
Kind = Literal["task", "stage", "standard", "snippet"]
Entry = dict[str, Any]  # `revision`, `at`, `who`, `message`, `fields`: by name what `text_changes.change` keeps

_CUT = 200  # characters that a text had at most in the history of board version 0001; one more says that it was cut
_COLUMNS = (history.c.revision, history.c.at, history.c.who, history.c.message, history.c.fields)


def remember(
    at: Transaction, kind: Kind, ref: str, revision: int, message: str, said: Mapping[str, list[Any]] | None = None
) -> None:
    """Record an event; `said` has [before, after] of each field that changed."""
    fields = {name: text_changes.change(*pair) for name, pair in (said or {}).items()}
    values = {"kind": kind, "ref": ref, "revision": revision, "message": message, "fields": fields}
    at.put(sa.insert(history).values(**values, at=at.now, who=at.actor.name))


def advance(
    at: Transaction, row: Mapping[Any, Any], values: Mapping[str, Any], message: str, said: Mapping[str, list[Any]]
) -> None:
    """Update a task's row as its next revision, and record that as `remember` does."""
    revision = row["revision"] + 1
    at.put(sa.update(tasks).where(tasks.c.id == row["id"]).values(**values, revision=revision, updated_at=at.now))
    remember(at, "task", row["id"], revision, message, said)


def entries(at: Transaction, kind: Kind, ref: str, *, after: int = 0) -> list[Entry]:
    """What was done, the oldest first; with `after` only what made a later revision."""
    of_it = (history.c.kind == kind) & (history.c.ref == ref) & (history.c.revision > after)
    rows = at.connection.execute(sa.select(*_COLUMNS).where(of_it).order_by(history.c.id)).mappings()
    return [dict(row) for row in rows]


def last_revision(at: Transaction, kind: Kind, ref: str) -> int:
    """The newest revision that there ever was under an id; 0 if there was none."""
    of_it = (history.c.kind == kind) & (history.c.ref == ref)
    return at.connection.execute(sa.select(sa.func.max(history.c.revision)).where(of_it)).scalar() or 0


def expect(at: Transaction, kind: Kind, ref: str, revision: int, expected: int | None) -> None:
    """Raises ConflictError unless `revision` is the expected one, if given; the message lists the changes since."""
    if expected is None or expected == revision:
        return
    changes = "; ".join(f"{one['who']}: {one['message']}" for one in entries(at, kind, ref, after=expected))
    name = ref if kind == "task" else f"{kind} {ref}"
    raise ConflictError(
        f"{name} has revision {revision}, not {expected}"
        + (f"; since then: {changes}" if changes else "")
        + f". Nothing was changed: read it with get_{kind}, then try again."
    )


def as_of(now: Mapping[str, Any], revision: int, done: Iterable[Entry], name: str) -> dict[str, Any]:
    """The fields of an item at a `revision`; `now` are its present ones, `done` its entries in order. Pure.

    Raises:
        CallerError: there was no such revision, or its text was not stored.
    """
    done = list(done)
    # What made the first one that is known is not, of what was there before histories were: it can be gone back to.
    known = [entry["revision"] for entry in done] or [0]
    first = min(known) - 1 if done and done[0]["fields"] else min(known)
    if not max(first, 1) <= revision <= max(known):
        raise CallerError(f"{name} has no revision {revision}; available: {max(first, 1)} to {max(known)}.")
    found = dict(now)
    for entry in reversed(done):
        if entry["revision"] <= revision:
            continue
        if entry["message"] == CREATED:
            raise CallerError(f"revision {revision} was of another {name}, which was deleted. It is in the trash.")
        for field, kept in entry["fields"].items():
            # Until board version 0002 texts were cut, and what was appended stood alone.
            if field == "added" or (isinstance(kept, list) and isinstance(kept[0], str) and len(kept[0]) > _CUT):
                raise CallerError(
                    f"the text that {name} had at revision {revision} is not known: an older lsp-mcp kept only the "
                    f"beginning of texts, until revision {entry['revision']}."
                )
            try:
                found[field] = text_changes.before(found.get(field), kept)
            except ValueError:
                raise CallerError(
                    f"the text that {name} had at revision {revision} is not known: its history has a gap "
                    f"at revision {entry['revision']}."
                ) from None
    return found
