"""Messages of people and agents, claims, and the history of stages and texts: `talk.json`."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec import Meta, Struct

from lsp_mcp.board import tables
from lsp_mcp.board.store import Transaction
from lsp_mcp.errors import CallerError

Made = TypeVar("Made", bound=Struct)

Id = Annotated[str, Meta(min_length=1, max_length=40)]
Name = Annotated[str, Meta(min_length=1, max_length=80)]
Time = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$")]
NO_SURROGATES = "^[^\0\ud800-\udfff]*$"  # no database takes them
Said = Annotated[str, Meta(max_length=4_000, pattern=NO_SURROGATES)]


class Agent(Struct, forbid_unknown_fields=True):
    """A person or agent who has worked on the board."""

    id: Id
    name: Name
    client: Annotated[str, Meta(max_length=120)]
    first_seen: Time
    last_seen: Time


class Person(Struct, forbid_unknown_fields=True):
    """A person with a name."""

    id: Id
    name: Name
    first_seen: Time


class View(Struct, forbid_unknown_fields=True):
    """A saved view of the page."""

    name: Name
    query: Annotated[str, Meta(max_length=2_000, pattern=NO_SURROGATES)]
    who: Name
    at: Time


class Claim(Struct, forbid_unknown_fields=True):
    """The claim of a task."""

    task: Id
    claimed_by: Id
    claimed_at: Time


class Comment(Struct, forbid_unknown_fields=True):
    """A comment on a task; without an agent it is a person's."""

    task: Id
    at: Time
    who: Name
    text: Said
    agent: Id | None = None


class Option(Struct, forbid_unknown_fields=True):
    """One of the answers to choose from."""

    id: Annotated[str, Meta(max_length=60)]
    label: Annotated[str, Meta(max_length=300)]


class Question(Struct, forbid_unknown_fields=True):
    """An agent's question, and the answer."""

    id: Id
    who: Name
    question: Said
    options: Annotated[list[Option], Meta(max_length=20)]
    allow_freeform: bool
    priority: Annotated[str, Meta(pattern="^(normal|high)$")]
    asked_at: Time
    agent: Id | None = None
    task: Id | None = None
    answered_at: Time | None = None
    answered_by: Name | None = None
    answer_option: Annotated[str, Meta(max_length=80)] | None = None
    answer_text: Said | None = None


class Notification(Struct, forbid_unknown_fields=True):
    """An agent's notification."""

    who: Name
    message: Said
    level: Annotated[str, Meta(pattern="^(info|success|warning)$")]
    at: Time
    agent: Id | None = None
    task: Id | None = None


class Done(Struct, forbid_unknown_fields=True):
    """An entry of the history of a stage, a standard or a snippet."""

    kind: Annotated[str, Meta(pattern="^(stage|standard|snippet)$")]
    ref: Name
    revision: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    at: Time
    who: Name
    message: Said
    fields: dict[str, Any]


class Talk(Struct, forbid_unknown_fields=True):
    """All of these, each in the order of events."""

    agents: list[Agent] = []
    claims: list[Claim] = []
    comments: list[Comment] = []
    questions: list[Question] = []
    notifications: list[Notification] = []
    history: list[Done] = []
    people: list[Person] = []
    views: list[View] = []


def text_of(said: Struct) -> str:
    """The text of `talk.json`, or of another file of that form."""
    return msgspec.json.format(msgspec.json.encode(said), indent=1).decode() + "\n"


def parsed(text: str) -> Talk:
    """The content of a `talk.json`. Raises CallerError with the place of an error."""
    try:
        return msgspec.json.decode(text, type=Talk)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise CallerError(f"it cannot be used: {str(error)[:200]}") from None


def load(at: Transaction) -> Talk:
    """Everything on the board."""
    task, said = tables.tasks, tables.history
    claimed = sa.select(task.c.id, task.c.claimed_by, task.c.claimed_at).where(task.c.claimed_by.is_not(None))
    return Talk(
        agents=all_of(at, tables.agents, Agent, tables.agents.c.id),
        claims=[Claim(*row) for row in at.connection.execute(claimed.order_by(task.c.id))],
        comments=all_of(at, tables.comments, Comment, tables.comments.c.id),
        questions=all_of(at, tables.questions, Question, tables.questions.c.number),
        notifications=all_of(at, tables.notifications, Notification, tables.notifications.c.id),
        history=all_of(at, said, Done, said.c.id, said.c.kind != "task"),
        people=all_of(at, tables.people, Person, tables.people.c.id),
        views=all_of(at, tables.saved_views, View, tables.saved_views.c.id),
    )


def store(at: Transaction, talk: Talk) -> int:
    """Add new items to the board, for tasks that exist; returns their number."""
    tasks = set(at.connection.execute(sa.select(tables.tasks.c.id)).scalars())
    named = (sa.select(table.c.id, table.c.name) for table in (tables.agents, tables.people))
    taken = at.connection.execute(sa.union_all(*named)).all()
    known = {one for row in taken for one in (row.id, row.name.casefold())}
    agents = [one for one in talk.agents if not {one.id, one.name.casefold()} & known]
    nobody = {"connected": False, "process": ""}
    count = _insert(at, tables.agents, [{**msgspec.to_builtins(one), **nobody} for one in agents])
    people = [one for one in talk.people if not {one.id, one.name.casefold()} & known]
    count += _insert(at, tables.people, [msgspec.to_builtins(one) for one in people])
    count += insert_new(at, tables.saved_views, talk.views, "name")
    comments = [one for one in talk.comments if one.task in tasks]
    count += insert_new(at, tables.comments, comments, "task", "at", "who", "text")
    count += insert_new(at, tables.notifications, talk.notifications, "at", "who", "message")
    count += insert_new(at, tables.history, talk.history, "kind", "ref", "revision", "at")
    count += insert_new(at, tables.questions, talk.questions, "id")
    there = {row.id for row in taken} | {one.id for one in agents} | {one.id for one in people}
    for claim in talk.claims:
        if claim.claimed_by in there:
            free = (tables.tasks.c.id == claim.task) & (tables.tasks.c.status == "pending")
            values = {"claimed_by": claim.claimed_by, "claimed_at": claim.claimed_at}
            unclaimed = sa.update(tables.tasks).where(free, tables.tasks.c.claimed_by.is_(None)).values(**values)
            count += at.connection.execute(unclaimed).rowcount
    return count


def all_of(at: Transaction, table: sa.Table, kind: type[Made], order: Any, where: Any = None) -> list[Made]:
    """The rows of a table, each as a `kind`."""
    found = sa.select(*(table.c[name] for name in kind.__struct_fields__)).order_by(order)
    return [kind(*row) for row in at.connection.execute(found if where is None else found.where(where))]


def insert_new(at: Transaction, table: sa.Table, some: Any, *key: str) -> int:
    """Insert rows with new keys."""
    there = {tuple(row) for row in at.connection.execute(sa.select(*(table.c[name] for name in key)))}
    rows = [msgspec.to_builtins(one) for one in some if tuple(getattr(one, name) for name in key) not in there]
    if table is tables.questions:
        rows = _numbered(at, rows)
    return _insert(at, table, rows)


# --- inside ----------------------------------------------------------------------------------------


def _numbered(at: Transaction, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions, numbered after the existing ones: in the order of the file, answers by their times."""
    columns = tables.questions.c
    last = at.connection.execute(sa.select(sa.func.max(columns.number), sa.func.max(columns.answer_number))).one()
    answered = sorted((row["answered_at"], row["id"]) for row in rows if row["answered_at"])
    order = {id_: number for number, (_, id_) in enumerate(answered, (last[1] or 0) + 1)}
    return [
        {**row, "number": number, "answer_number": order.get(row["id"])}
        for number, row in enumerate(rows, (last[0] or 0) + 1)
    ]


def _insert(at: Transaction, table: sa.Table, rows: list[dict[str, Any]]) -> int:
    if rows:
        at.connection.execute(sa.insert(table), rows)
    return len(rows)
