"""Agents: who is connected, under which name."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from lsp_mcp.board import fields
from lsp_mcp.board.ids import new_id, slug_of
from lsp_mcp.board.processes import has_ended
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.tables import agents, questions, tasks

SILENT = 90.0  # seconds after which a process that says nothing counts as ended
_MOST_CLIENT = 120


def connect(at: Transaction, client: str, process: str) -> Actor:
    """A new agent, which is connected to `process` (of ours); its name is made of what its `client` is called."""
    base = slug_of(re.sub(r"[-_ ]?mcp[-_ ]?client$", "", client, flags=re.I))[:40] or "agent"
    actor = Actor(_free_name(at, base, None), _free_id(at))
    at.connection.execute(
        sa.insert(agents).values(
            id=actor.id,
            name=actor.name,
            client=fields.printable(client, _MOST_CLIENT),
            connected=True,
            process=process,
            first_seen=at.now,
            last_seen=at.now,
        )
    )
    at.change("connected", "agent", str(actor.id), actor.name)
    return actor


def register(at: Transaction, actor: Actor, name: str | None) -> Actor:
    """The agent under the name that it wants, or with a number behind it while another agent has that one.

    An agent that is not connected any more is succeeded: who takes its name is it, with its tasks and questions, and
    with those of its own until then.
    """
    if name is None:
        return actor
    wanted = fields.name(name, "name")
    row = (
        at.connection.execute(
            sa.select(agents).where(sa.func.lower(agents.c.name) == wanted.lower(), agents.c.id != actor.id)
        )
        .mappings()
        .first()
    )
    mine = at.connection.execute(sa.select(agents).where(agents.c.id == actor.id)).mappings().one()
    if row and not row["connected"]:
        at.connection.execute(sa.update(tasks).where(tasks.c.claimed_by == actor.id).values(claimed_by=row["id"]))
        at.connection.execute(sa.update(questions).where(questions.c.agent == actor.id).values(agent=row["id"]))
        at.connection.execute(sa.delete(agents).where(agents.c.id == actor.id))
        at.change("disconnected", "agent", str(actor.id), actor.name)
        at.connection.execute(
            sa.update(agents)
            .where(agents.c.id == row["id"])
            .values(connected=True, process=mine["process"], client=mine["client"], last_seen=at.now)
        )
        at.change("connected", "agent", row["id"], row["name"])
        return Actor(row["name"], row["id"])
    found = _free_name(at, wanted, actor.id)
    if found == mine["name"]:
        return Actor(found, actor.id)
    at.connection.execute(sa.update(agents).where(agents.c.id == actor.id).values(name=found, last_seen=at.now))
    at.change("renamed", "agent", str(actor.id), found)
    return Actor(found, actor.id)


def disconnect(at: Transaction, actor: Actor) -> None:
    """The agent is gone; its tasks can be claimed by others, and its questions wait for whoever takes its name.

    One that leaves neither is forgotten, and its name is free.
    """
    left = sa.select(tasks.c.id).where(tasks.c.claimed_by == actor.id)
    asked = sa.select(questions.c.id).where(questions.c.agent == actor.id)
    if any(at.connection.execute(some.limit(1)).first() for some in (left, asked)):
        gone = sa.update(agents).values(connected=False, process="", last_seen=at.now)
        at.connection.execute(gone.where(agents.c.id == actor.id))
    else:
        at.connection.execute(sa.delete(agents).where(agents.c.id == actor.id))
    at.change("disconnected", "agent", str(actor.id), actor.name)


def end(at: Transaction, process: str) -> None:
    """All agents of a process of ours that has ended are gone."""
    for row in list(at.connection.execute(sa.select(agents).where(agents.c.process == process)).mappings()):
        disconnect(at, Actor(row["name"], row["id"]))


def are_others(at: Transaction, process: str) -> bool:
    """Whether there is anything for `beat` to do."""
    wanted = agents.c.connected | (agents.c.process == process)
    return at.connection.execute(sa.select(agents.c.id).where(wanted).limit(1)).first() is not None


def beat(at: Transaction, process: str) -> None:
    """The agents of `process` are there, whatever others took them for; those of processes that have ended are gone.

    A process on another machine, which cannot be asked, has ended if it says nothing for `SILENT` seconds.
    """
    own = agents.c.process == process
    at.connection.execute(sa.update(agents).where(own).values(connected=True, last_seen=at.now))
    latest = (datetime.fromisoformat(at.now) - timedelta(seconds=SILENT)).isoformat(timespec="microseconds")
    ended: dict[str, bool] = {}
    for row in list(at.connection.execute(sa.select(agents).where(agents.c.connected, ~own)).mappings()):
        if ended.setdefault(row["process"], has_ended(row["process"])):
            disconnect(at, Actor(row["name"], row["id"]))
        elif row["last_seen"] < latest:
            # It may have been asleep, and says so then: its agents are not forgotten.
            at.connection.execute(sa.update(agents).where(agents.c.id == row["id"]).values(connected=False))
            at.change("disconnected", "agent", row["id"], row["name"])


def connected(at: Transaction) -> list[dict[str, Any]]:
    """The agents that are connected, by name."""
    rows = at.connection.execute(sa.select(agents).where(agents.c.connected).order_by(agents.c.name)).mappings()
    return [dict(row) for row in rows]


# --- inside ----------------------------------------------------------------------------------------


def _free_name(at: Transaction, wanted: str, own: str | None) -> str:
    taken = {row.name.lower() for row in at.connection.execute(sa.select(agents.c.name, agents.c.id)) if row.id != own}
    number = 1
    while (found := wanted if number == 1 else f"{wanted}-{number}").lower() in taken:
        number += 1
    return found


def _free_id(at: Transaction) -> str:
    while True:
        id_ = new_id("a")
        if at.connection.execute(sa.select(agents.c.id).where(agents.c.id == id_)).first() is None:
            return id_
