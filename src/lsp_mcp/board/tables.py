"""The board's tables, the same on SQLite and PostgreSQL. What changes here needs a migration (`migrations/versions`).

Times are UTC, as text in ISO 8601 with microseconds: they sort as text, and no database turns them into another zone.
"""

from __future__ import annotations

from sqlalchemy import JSON, Boolean, Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text, false

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

stages = Table(
    "stages",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("color", String(20), nullable=False),
    Column("position", Float, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("completes", Boolean, nullable=False, server_default=false()),  # the tasks in it; see `workflow`
    Column("revision", Integer, nullable=False, server_default="1"),
    Column("activities", JSON, nullable=False),  # [{"name", "prompt"}]
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("status", String(10), nullable=False),  # pending, completed: what its stage says; see `workflow`
    Column("stage", ForeignKey("stages.id"), nullable=False),
    Column("position", Float, nullable=False),  # in its stage
    Column("tags", JSON, nullable=False),
    Column("priority", Integer, nullable=False, server_default="2"),  # 0, the most urgent, to 4
    Column("boxes", Integer, nullable=False, server_default="0"),  # checkboxes of its description
    Column("ticked", Integer, nullable=False, server_default="0"),  # those of them that are ticked
    Column("branch", String(255)),  # of git, that somebody works on
    Column("due", String(10)),  # a day: 2026-12-31
    Column("required_proof", JSON, nullable=False, server_default="[]"),  # see `proofs`
    Column("proof", JSON, nullable=False, server_default="[]"),
    Column("revision", Integer, nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Column("completed_at", String(32)),
    Column("archived_at", String(32)),
    Column("claimed_by", String(40)),  # the id of an agent or a person
    Column("claimed_at", String(32)),
    Index("ix_tasks_stage_position", "stage", "position"),
    Index("ix_tasks_stage_priority", "stage", "priority", "position"),
    Index("ix_tasks_status", "status"),
)

# Beside the list in `tasks`, which keeps their order: to find tasks by tag.
task_tags = Table(
    "task_tags",
    metadata,
    Column("task", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", String(60), primary_key=True, index=True),
)

dependencies = Table(
    "dependencies",
    metadata,
    Column("task", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("depends_on", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True, index=True),
)

anchors = Table(
    "anchors",
    metadata,
    Column("task", ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("anchor", Text, nullable=False),  # SCHEME://FILE#LINE:CHAR
    Column("file", Text, nullable=False, index=True),
    Column("symbol", Text),  # the identifier there, if it is known
    Column("code", Text),  # the line there when it was last seen
    Column("state", String(10), nullable=False),  # known, unknown (nobody looked), gone
)

comments = Table(
    "comments",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("task", ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", String(32), nullable=False),
    Column("who", String(80), nullable=False),
    Column("agent", String(40)),  # None: a person
    Column("text", Text, nullable=False),
)

# Of tasks, stages, standards and snippets, those that are in the trash too.
history = Table(
    "history",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(20), nullable=False, server_default="task"),
    Column("ref", String(80), nullable=False),
    Column("revision", Integer, nullable=False),  # the one that this made
    Column("at", String(32), nullable=False),
    Column("who", String(80), nullable=False),
    Column("message", Text, nullable=False),
    Column("fields", JSON, nullable=False),  # by name: see `text_changes.change`
    Index("ix_history_kind_ref", "kind", "ref"),
)

trash = Table(
    "trash",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(20), nullable=False),
    Column("ref", String(80), nullable=False),
    Column("title", Text, nullable=False),
    Column("at", String(32), nullable=False),
    Column("who", String(80), nullable=False),
    Column("content", JSON, nullable=False),  # its rows, by table
    Index("ix_trash_kind_ref", "kind", "ref"),
)

snippets = Table(
    "snippets",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("tags", JSON, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("updated_at", String(32), nullable=False),
    Column("updated_by", String(80), nullable=False),
)

standards = Table(
    "standards",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("description", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("updated_at", String(32), nullable=False),
    Column("updated_by", String(80), nullable=False),
)

agents = Table(
    "agents",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("client", String(120), nullable=False),  # what its program calls itself
    Column("connected", Boolean, nullable=False),
    Column("process", String(120), nullable=False),  # which process of ours it is connected to
    Column("token", String(64)),  # the hash of the agentToken by which it returns
    Column("first_seen", String(32), nullable=False),
    Column("last_seen", String(32), nullable=False),
)

people = Table(
    "people",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("links", Integer, nullable=False, server_default="1"),  # the number of the links that are valid
    Column("first_seen", String(32), nullable=False),
)

# What was said to a person: @name in a comment, a task given to them.
mentions = Table(
    "mentions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("person", String(40), nullable=False, index=True),
    Column("who", String(80), nullable=False),
    Column("text", Text, nullable=False),
    Column("task", String(40)),
    Column("at", String(32), nullable=False),
)

notifications = Table(
    "notifications",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("agent", String(40)),
    Column("who", String(80), nullable=False),
    Column("message", Text, nullable=False),
    Column("level", String(10), nullable=False),  # info, success, warning
    Column("task", String(40)),
    Column("at", String(32), nullable=False),
)

questions = Table(
    "questions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("agent", String(40), index=True),
    Column("who", String(80), nullable=False),
    Column("question", Text, nullable=False),
    Column("options", JSON, nullable=False),  # [{"id", "label"}]
    Column("allow_freeform", Boolean, nullable=False),
    Column("priority", String(10), nullable=False),  # normal, high
    Column("task", String(40), index=True),
    Column("asked_at", String(32), nullable=False),
    Column("answered_at", String(32), index=True),
    Column("answered_by", String(80)),
    Column("answer_option", String(80)),
    Column("answer_text", Text),
    # Their order, whatever the clock says.
    Column("number", Integer),
    Column("answer_number", Integer),
)

# What a page shows, under a name that everybody sees.
saved_views = Table(
    "saved_views",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("query", Text, nullable=False),  # what follows the # in the page's address
    Column("who", String(80), nullable=False),
    Column("at", String(32), nullable=False),
)

# What calls with an idempotency key have answered. The oldest are forgotten.
calls = Table(
    "calls",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(200), nullable=False, unique=True),
    Column("asked", String(64), nullable=False),  # a hash of the tool and its arguments
    Column("answered", JSON, nullable=False),
    Column("at", String(32), nullable=False),
)

# What happened, in order: pages and other processes follow it. The oldest are forgotten.
changes = Table(
    "changes",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("at", String(32), nullable=False),
    Column("who", String(80), nullable=False),
    Column("agent", String(40)),
    Column("action", String(20), nullable=False),  # created, updated, moved, deleted, …
    Column("kind", String(20), nullable=False),  # task, stage, snippet, standard, agent, notification, question
    Column("ref", String(80), nullable=False),
    Column("text", Text, nullable=False),
    sqlite_autoincrement=True,
)
