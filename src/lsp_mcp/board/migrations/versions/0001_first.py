"""The first version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "agents",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("client", sa.String(length=120), nullable=False),
        sa.Column("connected", sa.Boolean(), nullable=False),
        sa.Column("process", sa.String(length=120), nullable=False),
        sa.Column("first_seen", sa.String(length=32), nullable=False),
        sa.Column("last_seen", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("name", name=op.f("uq_agents_name")),
    )
    op.create_table(
        "changes",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("agent", sa.String(length=40), nullable=True),
        sa.Column("action", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("ref", sa.String(length=80), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_changes")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "notifications",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("agent", sa.String(length=40), nullable=True),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("task", sa.String(length=40), nullable=True),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notifications")),
    )
    op.create_table(
        "questions",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("agent", sa.String(length=40), nullable=True),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("allow_freeform", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.String(length=10), nullable=False),
        sa.Column("task", sa.String(length=40), nullable=True),
        sa.Column("asked_at", sa.String(length=32), nullable=False),
        sa.Column("answered_at", sa.String(length=32), nullable=True),
        sa.Column("answered_by", sa.String(length=80), nullable=True),
        sa.Column("answer_option", sa.String(length=80), nullable=True),
        sa.Column("answer_text", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
    )
    op.create_index(op.f("ix_questions_agent"), "questions", ["agent"], unique=False)
    op.create_index(op.f("ix_questions_answered_at"), "questions", ["answered_at"], unique=False)
    op.create_index(op.f("ix_questions_task"), "questions", ["task"], unique=False)
    op.create_table(
        "snippets",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("updated_by", sa.String(length=80), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snippets")),
    )
    op.create_table(
        "stages",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("color", sa.String(length=20), nullable=False),
        sa.Column("position", sa.Float(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("activities", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stages")),
        sa.UniqueConstraint("name", name=op.f("uq_stages_name")),
    )
    op.create_table(
        "standards",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("updated_by", sa.String(length=80), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_standards")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Float(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.Column("claimed_by", sa.String(length=40), nullable=True),
        sa.Column("claimed_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["stage"], ["stages.id"], name=op.f("fk_tasks_stage")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index("ix_tasks_stage_position", "tasks", ["stage", "position"], unique=False)
    op.create_index("ix_tasks_status", "tasks", ["status"], unique=False)
    op.create_table(
        "anchors",
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("anchor", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("symbol", sa.Text(), nullable=True),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_anchors_task"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task", "position", name=op.f("pk_anchors")),
    )
    op.create_index(op.f("ix_anchors_file"), "anchors", ["file"], unique=False)
    op.create_table(
        "dependencies",
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("depends_on", sa.String(length=40), nullable=False),
        sa.ForeignKeyConstraint(
            ["depends_on"], ["tasks.id"], name=op.f("fk_dependencies_depends_on"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_dependencies_task"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task", "depends_on", name=op.f("pk_dependencies")),
    )
    op.create_index(op.f("ix_dependencies_depends_on"), "dependencies", ["depends_on"], unique=False)
    op.create_table(
        "history",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_history_task"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_history")),
    )
    op.create_index(op.f("ix_history_task"), "history", ["task"], unique=False)
    op.create_table(
        "task_tags",
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("tag", sa.String(length=60), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_task_tags_task"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task", "tag", name=op.f("pk_task_tags")),
    )
    op.create_index(op.f("ix_task_tags_tag"), "task_tags", ["tag"], unique=False)
