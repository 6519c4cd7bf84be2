"""Reading tasks: lists, ready tasks, and one with everything."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from lsp_mcp.board import dependencies, fields, history, stages
from lsp_mcp.board.ids import read_id
from lsp_mcp.board.store import Transaction
from lsp_mcp.board.tables import agents, anchors, comments, people, questions, task_tags, tasks
from lsp_mcp.board.tables import stages as stage_table
from lsp_mcp.board.workflow import Status
from lsp_mcp.errors import CallerError

Task = dict[str, Any]

MOST_LISTED = 1_000
_NEAREST = 3
_MOST_SKIPPED = 32  # ready tasks among which one is chosen, where many agents claim at once
_PLAIN = ("id", "title", "status", "tags", "priority", "due", "boxes", "ticked", "required_proof", "proof", "branch",
          "position", "revision", "updated_at", "completed_at", "archived_at")  # fmt: skip
_HOLDER = sa.func.coalesce(people.c.name, agents.c.name)
_IS_HELD = sa.or_(people.c.id.is_not(None), agents.c.connected)  # NULL: nobody has claimed it
_LISTED = (
    *(tasks.c[name] for name in _PLAIN),
    stage_table.c.name.label("stage"),
    sa.case((_IS_HELD, _HOLDER)).label("claimed_by"),
    sa.case((~_IS_HELD, _HOLDER)).label("claim_lapsed"),
    sa.select(sa.func.count())
    .where(questions.c.task == tasks.c.id, questions.c.answered_at.is_(None))
    .scalar_subquery()
    .label("questions_waiting"),
    sa.select(sa.func.count()).where(comments.c.task == tasks.c.id).scalar_subquery().label("comment_count"),
)
_ROW: tuple[Any, ...] = (
    tasks,
    stage_table.c.name.label("stage_name"),
    _HOLDER.label("holder_name"),
    _IS_HELD.label("holder_connected"),
    people.c.id.is_not(None).label("holder_is_person"),
    dependencies.is_waiting().label("is_waiting"),
    *_LISTED[-2:],
)
_FROM = (
    tasks.join(stage_table, stage_table.c.id == tasks.c.stage)
    .outerjoin(agents, agents.c.id == tasks.c.claimed_by)
    .outerjoin(people, people.c.id == tasks.c.claimed_by)
)
# Of a stage the most urgent first, then as somebody arranged them; of completed tasks the last one first.
_IN_STAGE: tuple[Any, ...] = (
    sa.case((tasks.c.completed_at.is_(None), tasks.c.priority), else_=0),
    tasks.c.completed_at.desc(),
    tasks.c.position,
    tasks.c.id,
)
_ORDER = (stage_table.c.position, *_IN_STAGE)
_READY = (tasks.c.priority, sa.func.coalesce(tasks.c.due, "9999"), stage_table.c.position, tasks.c.position, tasks.c.id)


def listed(
    at: Transaction,
    *,
    stage: str | None = None,
    status: Status | None = None,
    tags: Sequence[str] = (),
    text: str | None = None,
    agent: str | None = None,
    archived: bool = False,
    ids: Sequence[str] | None = None,
    everywhere: bool = False,
    ready: bool = False,
    limit: int = 100,
) -> tuple[list[Task], int]:
    """The tasks without their bodies, in the order of the board, at most `limit`; and how many there are in all.

    Those in the archive are left out; `archived`: only those. The text is looked for in title and description;
    `everywhere`: also in comments, the branch, and the files and symbols that a task is about. `ready`: only those that
    can be begun, the most urgent first.

    Raises:
        CallerError: there is no such stage.
    """
    wanted: list[sa.ColumnElement[bool]] = [
        tasks.c.archived_at.is_not(None) if archived else tasks.c.archived_at.is_(None)
    ]
    if stage is not None:
        wanted.append(tasks.c.stage == stages.find(at, stage)["id"])
    if status is not None:
        wanted.append(tasks.c.status == status)
    if tags:
        folded = [fields.tag_key(fields.sought(tag, "tag")) for tag in tags]
        wanted.append(tasks.c.id.in_(sa.select(task_tags.c.task).where(task_tags.c.tag.in_(folded))))
    if text and (sought := fields.sought(text)):
        like = f"%{_escaped(sought)}%"
        wanted.append(sa.or_(*(column.ilike(like, escape="\\") for column in (tasks.c.title, tasks.c.description))))
        if everywhere:
            wanted[-1] |= tasks.c.branch.ilike(like, escape="\\")
            for table, names in ((comments, ("text",)), (anchors, ("file", "symbol"))):
                has_it = sa.or_(*(table.c[name].ilike(like, escape="\\") for name in names))
                wanted[-1] |= tasks.c.id.in_(sa.select(table.c.task).where(has_it))
    if agent is not None:
        wanted.append(tasks.c.claimed_by == agent)
    if ids is not None:
        wanted.append(tasks.c.id.in_(ids))
    if ready:
        wanted.append(dependencies.is_ready())
        return _rows(at, sa.and_(*wanted), limit, *_READY)
    return _rows(at, sa.and_(*wanted), limit, *_ORDER)


def first_of_each(at: Transaction, places: Sequence[stages.Stage], limit: int) -> list[Task]:
    """The first tasks of each of these stages, in the form of `listed`: a screenful."""
    found: list[Task] = []
    for place in places:
        wanted = sa.and_(tasks.c.archived_at.is_(None), tasks.c.stage == place["id"])
        # The order of `_IN_STAGE`; where tasks are pending, an index has it.
        order = _IN_STAGE if place["completes"] else (tasks.c.priority, tasks.c.position, tasks.c.id)
        found += _select(at, wanted, limit, *order)
    return _with_waiting(at, found)


def count_archived(at: Transaction) -> int:
    """The number of tasks in the archive."""
    return _count(at, tasks.c.archived_at.is_not(None))


def ready(at: Transaction, limit: int = 100) -> tuple[list[Task], int]:
    """The pending tasks that are unclaimed and not blocked, the most urgent first; and their number.

    Those of one priority: by the day they are due, then in the order of the board.
    """
    return _rows(at, dependencies.is_ready(), limit, *_READY)


def next_ready(at: Transaction) -> str | None:
    """The id of the first of those, or of one of the next ones after a conflict: so that agents don't
    all try the same.
    """
    skipped = secrets.randbelow(min(2**at.attempt, _MOST_SKIPPED))
    found = sa.select(tasks.c.id).select_from(_FROM).where(dependencies.is_ready())
    found = found.order_by(*_READY).limit(1)
    id_: str | None = at.connection.execute(found.offset(skipped)).scalar()
    return id_ if id_ is not None or not skipped else at.connection.execute(found).scalar()


def get(at: Transaction, typed: str) -> Task:
    """A task with everything: `description`, `history`, `depends_on`, `needed_by`, `anchors`, `questions`, `comments`.

    Raises:
        CallerError: there is none; the message names some that are like it.
    """
    row_ = row(at, typed)
    id_ = row_["id"]
    needs, needed = dependencies.both_ways(at, id_)
    query = sa.select(questions).where(questions.c.task == id_).order_by(questions.c.asked_at)
    (shown,) = _with_waiting(at, [one(at, id_)])
    return {
        **shown,
        "description": row_["description"],
        "created_at": row_["created_at"],
        "depends_on": needs,
        "needed_by": needed,
        "anchors": anchors_of(at, id_),
        "questions": [dict(one) for one in at.connection.execute(query).mappings()],
        "comments": comments_of(at, id_),
        "history": history.entries(at, "task", id_),
    }


def one(at: Transaction, id_: str) -> Task:
    """A list entry for the task of that id, without its dependencies."""
    found = sa.select(*_LISTED).select_from(_FROM).where(tasks.c.id == id_)
    return dict(at.connection.execute(found).mappings().one())


def after(
    before: Mapping[Any, Any], changed: Mapping[str, Any], stage: str | None = None, holder: str | None = None
) -> Task:
    """As `one`, of the row that a task had and what was `changed` since: nothing has to be asked.

    `stage` and `holder` are the names of the stage and the agent that are among that.
    """
    now = {**before, **changed}
    if "claimed_by" not in changed:
        lapsed = None if before["holder_connected"] else before["holder_name"]
        holder = None if lapsed else before["holder_name"]
    else:
        lapsed = None
    return {
        **{name: now[name] for name in (*_PLAIN, "questions_waiting", "comment_count")},
        "stage": stage or before["stage_name"],
        "claimed_by": holder,
        "claim_lapsed": lapsed,
    }


def row(at: Transaction, typed: str) -> RowMapping:
    """The row of a task, with `is_waiting`, `stage_name`, and `holder_name`, `_connected`, `_is_person`.

    Raises as `get`.
    """
    sought = fields.sought(typed, "id of the task")
    if not sought:
        raise CallerError("the task ID is empty. See list_tasks.")
    id_ = read_id("t", sought)
    found = at.connection.execute(sa.select(*_ROW).select_from(_FROM).where(tasks.c.id == id_)).mappings().first()
    if found is None:
        like = at.connection.execute(
            sa.select(tasks.c.id, tasks.c.title)
            .where(
                tasks.c.id.like(f"%{_escaped(id_[-3:])}", escape="\\")
                | tasks.c.title.ilike(f"%{_escaped(sought)}%", escape="\\")
            )
            .limit(_NEAREST)
        ).all()
        near = "; like it: " + ", ".join(f"{one.id} ({one.title[:40]})" for one in like) if like else ""
        raise CallerError(f"unknown task {sought[:40]!r}{near}. See list_tasks.")
    return found


def anchors_of(at: Transaction, id_: str) -> list[dict[str, Any]]:
    """The anchors of a task, in their order."""
    rows = at.connection.execute(
        sa.select(anchors).where(anchors.c.task == id_).order_by(anchors.c.position)
    ).mappings()
    return [{key: row[key] for key in ("anchor", "symbol", "code", "state")} for row in rows]


def comments_of(at: Transaction, id_: str) -> list[dict[str, Any]]:
    """The comments on a task, the oldest first."""
    rows = at.connection.execute(sa.select(comments).where(comments.c.task == id_).order_by(comments.c.id)).mappings()
    return [{key: row[key] for key in ("id", "at", "who", "agent", "text")} for row in rows]


# --- inside ----------------------------------------------------------------------------------------


def _rows(at: Transaction, wanted: Any, limit: int, *order: Any) -> tuple[list[Task], int]:
    return _with_waiting(at, _select(at, wanted, limit, *order)), _count(at, wanted)


def _select(at: Transaction, wanted: Any, limit: int, *order: Any) -> list[Task]:
    found = at.connection.execute(sa.select(*_LISTED).select_from(_FROM).where(wanted).order_by(*order).limit(limit))
    names = list(found.keys())  # a mapping for each row would take longer than the query
    return [dict(zip(names, row, strict=True)) for row in found.all()]


def _count(at: Transaction, wanted: Any) -> int:
    return at.connection.execute(sa.select(sa.func.count()).select_from(tasks).where(wanted)).scalar() or 0


def _with_waiting(at: Transaction, found: list[Task]) -> list[Task]:
    """The tasks with `blocked_by`, the pending tasks that each depends on directly; `waits`, how many it depends on
    directly or indirectly; and `blocks`, how many depend on it in either way."""
    waiting = dependencies.waiting(at) if any(task["status"] == "pending" for task in found) else {}
    for task in found:
        known = waiting.get(task["id"], dependencies.NOTHING)
        task |= {"blocked_by": list(known.blocked_by), "waits": known.waits, "blocks": known.blocks}
    return found


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
