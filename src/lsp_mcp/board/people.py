"""People: their names, their links to the page, and what is said to them."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import fields
from lsp_mcp.board.ids import new_id
from lsp_mcp.board.store import Actor, Transaction
from lsp_mcp.board.tables import agents, mentions, people
from lsp_mcp.errors import CallerError

_KEPT = 5_000  # mentions


def come(at: Transaction, name: str) -> dict[str, Any]:
    """The person of that name, who is new if there is none: `id`, `name`, `links`.

    Raises:
        CallerError: an agent has that name, or it cannot be used.
    """
    wanted = fields.name(name)
    for row in listed(at):
        if row["name"].casefold() == wanted.casefold():
            return row
    _refuse_agents_name(at, wanted)
    id_ = _free_id(at)
    at.put(sa.insert(people).values(id=id_, name=wanted, links=1, first_seen=at.now))
    at.change("joined", "person", id_, wanted)
    return {"id": id_, "name": wanted, "links": 1}


def rename(at: Transaction, id_: str, name: str) -> str:
    """The new name of the person of that id; what they did before keeps the old one.

    Raises:
        CallerError: somebody else has that name, or it cannot be used.
    """
    wanted = fields.name(name)
    if any(row["name"].casefold() == wanted.casefold() and row["id"] != id_ for row in listed(at)):
        raise CallerError(f"another person is called {wanted}.")
    _refuse_agents_name(at, wanted)
    at.put(sa.update(people).where(people.c.id == id_).values(name=wanted))
    at.change("renamed", "person", id_, wanted)
    return wanted


def revoke(at: Transaction, name: str) -> str:
    """End all links and open pages of a person, on every board of this database; returns the name.

    Raises:
        CallerError: there is no such person.
    """
    found = {row["name"].casefold(): row for row in listed(at)}
    row = found.get(name.strip().casefold())
    if row is None:
        raise CallerError(f"no person is called {name[:60]!r}; known: {', '.join(one['name'] for one in listed(at))}.")
    at.put(sa.update(people).where(people.c.id == row["id"]).values(links=people.c.links + 1))
    at.change("revoked", "person", row["id"], row["name"])
    return str(row["name"])


def listed(at: Transaction) -> list[dict[str, Any]]:
    """All people, by name: `id`, `name`, `links` (the number of the links that are valid)."""
    rows = at.connection.execute(sa.select(people.c.id, people.c.name, people.c.links).order_by(people.c.name))
    return [dict(row) for row in rows.mappings()]


def find(at: Transaction, id_: str) -> RowMapping | None:
    """The person of that id."""
    return at.connection.execute(sa.select(people).where(people.c.id == id_)).mappings().first()


def tell(at: Transaction, person: str, text: str, task: str | None = None) -> None:
    """Leave a person a message, which their pages show; not if they are the actor."""
    if person == at.actor.person:
        return
    at.put(sa.insert(mentions).values(person=person, who=at.actor.name, text=text, task=task, at=at.now))
    newest = sa.select(sa.func.max(mentions.c.id)).scalar_subquery()
    at.put(sa.delete(mentions).where(mentions.c.id <= newest - _KEPT))
    at.change("mentioned", "person", person, text)


def mention(at: Transaction, text: str, task: str, what: str) -> None:
    """Tell everybody who is named with an @ in `text`, people and agents, except the actor."""
    if "@" not in text:
        return
    there: list[tuple[str, str, bool]] = [(one["name"], one["id"], True) for one in listed(at)]
    found = at.connection.execute(sa.select(agents.c.name, agents.c.id))
    there += [(row.name, row.id, False) for row in found]
    for name, id_, is_person in sorted(there, key=lambda one: -len(one[0])):
        spelled = re.compile(rf"(?<![\w@])@{re.escape(name)}(?![\w-])", re.I)
        if not spelled.search(text):
            continue
        text = spelled.sub("", text)  # `@Ada-2` is not Ada
        if is_person:
            tell(at, id_, what, task)
        elif id_ != at.actor.id:
            at.change("told", "agent", id_, what)


def said_to(at: Transaction, person: str, limit: int) -> list[dict[str, Any]]:
    """The newest messages to a person, the newest first."""
    wanted = sa.select(mentions).where(mentions.c.person == person).order_by(mentions.c.id.desc()).limit(limit)
    return [dict(row) for row in at.connection.execute(wanted).mappings()]


def as_actor(person: dict[str, Any]) -> Actor:
    """The author of what that person does."""
    return Actor(person["name"], person=person["id"])


def _refuse_agents_name(at: Transaction, name: str) -> None:
    taken = sa.select(agents.c.id).where(sa.func.lower(agents.c.name) == name.lower())
    if at.connection.execute(taken).first():
        raise CallerError(f"an agent is called {name}; choose another name.")


def _free_id(at: Transaction) -> str:
    while True:
        id_ = new_id("p")
        if find(at, id_) is None:
            return id_
