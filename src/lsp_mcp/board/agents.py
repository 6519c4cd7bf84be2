"""Agents: their connections and names."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import fields, history
from lsp_mcp.board.ids import new_id, slug_of
from lsp_mcp.board.processes import has_ended
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.tables import agents, people, questions, tasks
from lsp_mcp.errors import CallerError
from lsp_mcp.secret_tokens import token_hash

SILENT = 90.0  # seconds of silence after which a process counts as ended
_MOST_CLIENT = 120


def connect(at: Transaction, client: str, process: str, token: str | None = None) -> Actor:
    """A new agent, connected to `process` (of ours); its name is derived from its `client`'s.

    It can come back with `token`, which only it knows.
    """
    base = slug_of(re.sub(r"[-_ ]?mcp[-_ ]?client$", "", client, flags=re.I))[:40] or "agent"
    actor = Actor(_free_name(at, base, None), _free_id(at))
    at.connection.execute(
        sa.insert(agents).values(
            id=actor.id,
            name=actor.name,
            client=fields.printable(client, _MOST_CLIENT),
            connected=True,
            process=process,
            token=token and token_hash(token),
            first_seen=at.now,
            last_seen=at.now,
        )
    )
    at.change("connected", "agent", str(actor.id), actor.name)
    return actor


def come_back(at: Transaction, token: str, client: str, process: str) -> Actor:
    """The agent that was given `token`, now connected to `process`, with its name, tasks and questions.

    Raises:
        CallerError: there is none.
    """
    row = at.connection.execute(sa.select(agents).where(agents.c.token == token_hash(token))).mappings().first()
    if row is None:
        raise CallerError("no agent of this board has that agentToken; leave it out to register as a new agent.")
    at.connection.execute(
        sa.update(agents)
        .where(agents.c.id == row["id"])
        .values(connected=True, process=process, client=fields.printable(client, _MOST_CLIENT), last_seen=at.now)
    )
    if not row["connected"]:
        at.change("connected", "agent", row["id"], row["name"])
        _tell_of_claims(at, row["id"], "claimed")
    return Actor(row["name"], row["id"])


def succeed(at: Transaction, old: Actor, new: Actor) -> None:
    """Transfer everything of `old` to `new`; `old` is removed."""
    if old.id == new.id:
        return
    at.connection.execute(sa.update(tasks).where(tasks.c.claimed_by == old.id).values(claimed_by=new.id))
    at.connection.execute(sa.update(questions).where(questions.c.agent == old.id).values(agent=new.id))
    at.connection.execute(sa.delete(agents).where(agents.c.id == old.id))
    at.change("disconnected", "agent", str(old.id), old.name)


def register(at: Transaction, actor: Actor, name: str | None) -> Actor:
    """The agent under its preferred name, with a number appended while another agent has that one.

    The name of a disconnected agent stays reserved: a name does not make one agent another.
    """
    if name is None:
        return actor
    wanted = fields.name(name, "name")
    mine = at.connection.execute(sa.select(agents).where(agents.c.id == actor.id)).mappings().one()
    found = _free_name(at, wanted, actor.id)
    if found == mine["name"]:
        return Actor(found, actor.id)
    at.connection.execute(sa.update(agents).where(agents.c.id == actor.id).values(name=found, last_seen=at.now))
    at.change("renamed", "agent", str(actor.id), found)
    return Actor(found, actor.id)


def rename(at: Transaction, agent: str, name: str) -> str:
    """The new name of the agent of that id, which is notified.

    Raises:
        CallerError: there is no such agent, another one has that name, or the name is invalid.
    """
    found, wanted = row(at, agent), fields.name(name, "name")
    if wanted == found["name"]:
        return wanted
    if _free_name(at, wanted, agent) != wanted:
        raise CallerError(f"another agent is called {wanted}.")
    at.connection.execute(sa.update(agents).where(agents.c.id == agent).values(name=wanted))
    at.change("renamed", "agent", agent, wanted)
    at.change(
        "told", "agent", agent, f"{at.actor.name if at.actor.person else 'the user'} renamed you: you are {wanted} now"
    )
    return wanted


def row(at: Transaction, agent: str) -> RowMapping:
    """The row of the agent of that id. Raises CallerError if there is none."""
    found = at.connection.execute(sa.select(agents).where(agents.c.id == agent)).mappings().first()
    if found is None:
        raise CallerError(f"unknown agent {agent[:40]!r}; it may have left the board.")
    return found


def disconnect(at: Transaction, actor: Actor, process: str | None = None) -> None:
    """Disconnect the agent; its claims lapse, and its questions wait for it to come back.

    Does nothing if it is connected to another process than `process` by now. One without claims or questions is
    removed, and its name is free.
    """
    here = sa.select(agents.c.process).where(agents.c.id == actor.id)
    if process is not None and at.connection.execute(here).scalar() != process:
        return
    held = sa.select(tasks.c.id, tasks.c.title, tasks.c.revision).where(tasks.c.claimed_by == actor.id)
    claims = at.connection.execute(held).all()
    query = sa.select(questions.c.id).where(questions.c.agent == actor.id).limit(1)
    if claims or at.connection.execute(query).first():
        gone = sa.update(agents).values(connected=False, process="", last_seen=at.now)
        at.connection.execute(gone.where(agents.c.id == actor.id))
    else:
        at.connection.execute(sa.delete(agents).where(agents.c.id == actor.id))
    at.change("disconnected", "agent", str(actor.id), actor.name)
    for claim in claims:
        history.remember(at, "task", claim.id, claim.revision, f"the claim has lapsed: {actor.name} is gone")
        at.change("lapsed", "task", claim.id, claim.title)


def away(at: Transaction, actor: Actor) -> None:
    """The agent may be gone: its claims lapse until it is back, with its token."""
    gone = sa.update(agents).where(agents.c.id == actor.id).values(connected=False, process="", last_seen=at.now)
    at.connection.execute(gone)
    at.change("disconnected", "agent", str(actor.id), actor.name)
    _tell_of_claims(at, str(actor.id), "lapsed")


def end(at: Transaction, process: str) -> None:
    """Disconnect all agents of a process of ours that has ended."""
    for row in list(at.connection.execute(sa.select(agents).where(agents.c.process == process)).mappings()):
        disconnect(at, Actor(row["name"], row["id"]))


def are_others(at: Transaction, process: str) -> bool:
    """Whether there is anything for `beat` to do."""
    wanted = agents.c.connected | (agents.c.process == process)
    return at.connection.execute(sa.select(agents.c.id).where(wanted).limit(1)).first() is not None


def beat(at: Transaction, process: str, has_gone: Callable[[str, str], bool] = lambda *_: False) -> None:
    """Refresh the heartbeat of `process` and its agents, and disconnect agents of ended processes.

    For a process on another machine, `has_gone` decides by its name and the time of its last heartbeat.
    """
    own = agents.c.process == process
    back = at.connection.execute(sa.select(agents.c.id, agents.c.name).where(own, ~agents.c.connected)).all()
    at.connection.execute(sa.update(agents).where(own).values(connected=True, last_seen=at.now))
    for one in back:  # others took this process for gone: it was suspended
        at.change("connected", "agent", one.id, one.name)
        _tell_of_claims(at, one.id, "claimed")
    ended: dict[str, bool] = {}
    for row in list(at.connection.execute(sa.select(agents).where(agents.c.connected, ~own)).mappings()):
        if ended.setdefault(row["process"], has_ended(row["process"])):
            disconnect(at, Actor(row["name"], row["id"]))
        elif has_gone(row["process"], row["last_seen"]):
            # It may have been suspended; it reports when it resumes, so its agents are not removed.
            at.connection.execute(sa.update(agents).where(agents.c.id == row["id"]).values(connected=False))
            at.change("disconnected", "agent", row["id"], row["name"])
            _tell_of_claims(at, row["id"], "lapsed")


class Sightings:
    """Detects silent processes by this machine's own clock: other clocks may be wrong."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] = {}

    def has_gone(self, process: str, last_seen: str) -> bool:
        """Whether it has sent no heartbeat for `SILENT` seconds."""
        known = self._seen.get(process)
        if known is None or known[0] != last_seen:
            self._seen[process] = known = (last_seen, monotonic())
        return monotonic() - known[1] > SILENT


def processes(at: Transaction, own: str) -> list[str]:
    """The processes other than `own` that have connected agents."""
    found = sa.select(agents.c.process).where(agents.c.connected, agents.c.process != own).distinct()
    return list(at.connection.execute(found).scalars())


def connected(at: Transaction) -> list[dict[str, Any]]:
    """The agents that are connected, by name."""
    rows = at.connection.execute(sa.select(agents).where(agents.c.connected).order_by(agents.c.name)).mappings()
    return [dict(row) for row in rows]


# --- inside ----------------------------------------------------------------------------------------


def _free_name(at: Transaction, wanted: str, own: str | None) -> str:
    taken = {row.name.lower() for row in at.connection.execute(sa.select(agents.c.name, agents.c.id)) if row.id != own}
    taken |= {name.lower() for name in at.connection.execute(sa.select(people.c.name)).scalars()}
    number = 1
    while (found := wanted if number == 1 else f"{wanted}-{number}").lower() in taken:
        number += 1
    return found


def _tell_of_claims(at: Transaction, agent: str, action: str) -> None:
    """Report that the claims of an agent are held again (`claimed`), or not any more (`lapsed`)."""
    for claim in at.connection.execute(sa.select(tasks.c.id, tasks.c.title).where(tasks.c.claimed_by == agent)).all():
        at.change(action, "task", claim.id, claim.title)


def _free_id(at: Transaction) -> str:
    while True:
        id_ = new_id("a")
        if at.connection.execute(sa.select(agents.c.id).where(agents.c.id == id_)).first() is None:
            return id_
