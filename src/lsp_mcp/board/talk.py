"""Agents' notifications and questions to a person, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import sqlalchemy as sa

from lsp_mcp.board import fields, views
from lsp_mcp.board.ids import new_id, read_id
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import agents, notifications, questions
from lsp_mcp.errors import CallerError, ConflictError, unknown

Level = Literal["info", "success", "warning"]
Priority = Literal["normal", "high"]
Question = dict[str, Any]

DISMISSED = "dismissed without an answer: decide yourself, or ask differently"
_MOST_OPTIONS = 20
_KEPT = 5_000  # notifications
_A_MINUTE = 60  # notifications of one agent
_MOST_OPEN = 50  # questions of one agent that wait


def notify(at: Transaction, message: str, *, task: str | None = None, level: Level = "info") -> dict[str, Any]:
    """A new entry of the timeline.

    Raises:
        CallerError: there is no such task, the message cannot be used, or the agent sends too many.
    """
    text = fields.message(message)
    lately = (notifications.c.agent == at.actor.id) & notifications.c.at.between(fields.before(at.now, 60), at.now)
    if at.actor.id and _count(at, lately) >= _A_MINUTE:
        raise CallerError(f"{_A_MINUTE} notifications in a minute are too many; wait, then send a summary.")
    task = views.row(at, task)["id"] if task is not None else None
    values = {"agent": at.actor.id, "who": at.actor.name, "message": text, "level": level, "task": task, "at": at.now}
    key = at.connection.execute(sa.insert(notifications).values(**values)).inserted_primary_key
    assert key
    at.connection.execute(sa.delete(notifications).where(notifications.c.id <= key[0] - _KEPT))
    at.change("created", "notification", str(key[0]), text)
    return {"id": key[0], **values}


def timeline(at: Transaction, limit: int = 100) -> list[dict[str, Any]]:
    """The newest notifications, the newest first."""
    rows = at.connection.execute(sa.select(notifications).order_by(notifications.c.id.desc()).limit(limit)).mappings()
    return [dict(row) for row in rows]


def ask(
    at: Transaction,
    question: str,
    *,
    options: Sequence[dict[str, str]] = (),
    allow_freeform: bool = True,
    task: str | None = None,
    priority: Priority = "normal",
) -> Question:
    """A new question, which waits for an answer.

    Raises:
        CallerError: nobody could answer it, there is no such task, a text cannot be used, or too many wait.
    """
    shown = [
        {"id": fields.name(str(one["id"]), "option's id"), "label": fields.title(str(one["label"]), "option's label")}
        for one in options
    ]
    if len(shown) > _MOST_OPTIONS or len({one["id"] for one in shown}) < len(shown):
        raise CallerError(
            f"there are {len(shown)} options; at most {_MOST_OPTIONS} are allowed, each with a different id."
        )
    if not shown and not allow_freeform:
        raise CallerError("nobody could answer this: pass options, or leave allowFreeform true.")
    text = fields.message(question, "question")
    open_ = (questions.c.agent == at.actor.id) & questions.c.answered_at.is_(None)
    if at.actor.id and _count(at, open_) >= _MOST_OPEN:
        raise CallerError(
            f"{_MOST_OPEN} questions of yours wait for an answer; wait for some answers before you ask more."
        )
    id_ = _free_id(at)
    at.connection.execute(
        sa.insert(questions).values(
            id=id_,
            agent=at.actor.id,
            who=at.actor.name,
            question=text,
            options=shown,
            allow_freeform=allow_freeform,
            priority=priority,
            task=views.row(at, task)["id"] if task is not None else None,
            asked_at=at.now,
            number=_next(questions.c.number),
        )
    )
    at.change("created", "question", id_, text)
    return get(at, id_)


def get(at: Transaction, typed: str) -> Question:
    """A question, with its answer if it has one. Raises CallerError if there is none."""
    id_ = read_id("q", fields.sought(typed, "id of the question"))
    row = at.connection.execute(sa.select(questions).where(questions.c.id == id_)).mappings().first()
    if row is None:
        raise CallerError(f"unknown question {typed[:40]!r}; ask_user returns the id.")
    return dict(row)


def answer(at: Transaction, typed: str, *, option: str | None = None, text: str | None = None) -> Question:
    """The question, answered with one of its options, a text, or both.

    Raises:
        ConflictError: it is answered already.
        CallerError: the answer does not fit.
    """
    found = get(at, typed)
    if found["answered_at"]:
        raise ConflictError(
            f"{found['id']} was answered by {found['answered_by']} at {found['answered_at'][:16]}Z: {shown(found)}."
        )
    said = fields.message(text, "answer") if text is not None and text.strip() else None
    if option is None and said is None:
        raise CallerError("the answer is empty: choose an option or write a text.")
    if said and not found["allow_freeform"]:
        raise CallerError("this question accepts only one of its options.")
    if option is not None and option not in {one["id"] for one in found["options"]}:
        raise CallerError(unknown("option", option, [one["id"] for one in found["options"]]))
    at.connection.execute(
        sa.update(questions)
        .where(questions.c.id == found["id"])
        .values(answered_at=at.now, answered_by=at.actor.name, answer_option=option, answer_text=said)
        .values(answer_number=_next(questions.c.answer_number))
    )
    at.change("answered", "question", found["id"], found["question"])
    return get(at, found["id"])


def dismiss(at: Transaction, typed: str) -> Question:
    """The question, which gets no answer: it is answered with nothing. Raises as `answer`."""
    found = get(at, typed)
    if found["answered_at"]:
        raise ConflictError(f"{found['id']} was answered by {found['answered_by']} at {found['answered_at'][:16]}Z.")
    at.connection.execute(
        sa.update(questions)
        .where(questions.c.id == found["id"])
        .values(answered_at=at.now, answered_by=at.actor.name, answer_option=None, answer_text=None)
    )
    at.change("dismissed", "question", found["id"], found["question"])
    return get(at, found["id"])


def answered(at: Transaction, agent: str | None) -> list[Question]:
    """The answered questions of an agent, in the order of the answers."""
    rows = at.connection.execute(
        sa.select(questions)
        .where(questions.c.agent == agent, questions.c.answered_at.is_not(None))
        .order_by(questions.c.answer_number, questions.c.id)
    ).mappings()
    return [dict(row) for row in rows]


def waiting(at: Transaction) -> list[Question]:
    """The questions without an answer: those of high priority first, then the oldest.

    `asker_gone`: whether the asker is gone, so that nobody would read an answer now.
    """
    is_there = sa.select(agents.c.id).where(agents.c.id == questions.c.agent, agents.c.connected).exists()
    rows = at.connection.execute(
        sa.select(questions, sa.and_(questions.c.agent.is_not(None), ~is_there).label("asker_gone"))
        .where(questions.c.answered_at.is_(None))
        .order_by(sa.case((questions.c.priority == "high", 0), else_=1), questions.c.number, questions.c.id)
    ).mappings()
    return [dict(row) for row in rows]


def recently_answered(at: Transaction, limit: int) -> list[Question]:
    """The questions that were answered last, the newest answer first."""
    rows = at.connection.execute(
        sa.select(questions)
        .where(questions.c.answered_at.is_not(None))
        .order_by(questions.c.answer_number.desc(), questions.c.id)
        .limit(limit)
    ).mappings()
    return [dict(row) for row in rows]


def shown(question: Question) -> str:
    """The answer in words: the option's label, the text, or both; or that it was dismissed."""
    labels = {one["id"]: one["label"] for one in question["options"]}
    option = labels.get(question["answer_option"])
    return ": ".join(part for part in (option, question["answer_text"]) if part) or DISMISSED


# --- inside ----------------------------------------------------------------------------------------


def _free_id(at: Transaction) -> str:
    while True:
        id_ = new_id("q")
        if at.connection.execute(sa.select(questions.c.id).where(questions.c.id == id_)).first() is None:
            return id_


def _next(number: sa.Column[int]) -> sa.ScalarSelect[int]:
    """One more than the highest that there is."""
    return sa.select(sa.func.coalesce(sa.func.max(number), 0) + 1).scalar_subquery()


def _count(at: Transaction, wanted: sa.ColumnElement[bool]) -> int:
    return at.connection.execute(sa.select(sa.func.count()).where(wanted)).scalar() or 0
