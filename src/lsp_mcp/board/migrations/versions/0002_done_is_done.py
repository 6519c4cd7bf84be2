"""Stages that complete tasks; priorities, comments, archive; histories of everything, and a trash."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.engine import Connection

from lsp_mcp.board.markdown import checkboxes
from lsp_mcp.board.settling import settle

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what is new, and make old boards fit."""
    op.add_column("stages", sa.Column("completes", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("stages", sa.Column("revision", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("tasks", sa.Column("priority", sa.Integer(), nullable=False, server_default="2"))
    op.add_column("tasks", sa.Column("boxes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("ticked", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("branch", sa.String(length=255), nullable=True))
    op.add_column("tasks", sa.Column("completed_at", sa.String(length=32), nullable=True))
    op.add_column("tasks", sa.Column("archived_at", sa.String(length=32), nullable=True))
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("task", sa.String(length=40), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("agent", sa.String(length=40), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["task"], ["tasks.id"], name=op.f("fk_comments_task"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comments")),
    )
    op.create_index(op.f("ix_comments_task"), "comments", ["task"], unique=False)
    op.create_table(
        "trash",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("ref", sa.String(length=80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trash")),
    )
    op.create_index("ix_trash_kind_ref", "trash", ["kind", "ref"], unique=False)
    with op.batch_alter_table("history") as batch:
        batch.drop_index("ix_history_task")
        batch.drop_constraint("fk_history_task", type_="foreignkey")
        batch.alter_column("task", new_column_name="ref", existing_type=sa.String(40), type_=sa.String(80))
        batch.add_column(sa.Column("kind", sa.String(length=20), nullable=False, server_default="task"))
    op.create_index("ix_history_kind_ref", "history", ["kind", "ref"], unique=False)
    connection = op.get_bind()
    _count_boxes(connection)
    connection.execute(sa.text("UPDATE tasks SET completed_at = updated_at WHERE status = 'completed'"))
    settle(connection)


def _count_boxes(connection: Connection) -> None:
    found = connection.execute(sa.text("SELECT id, description FROM tasks WHERE description LIKE '%[%'"))
    for id_, description in found.all():
        boxes = checkboxes(description)
        if boxes:
            connection.execute(
                sa.text("UPDATE tasks SET boxes = :boxes, ticked = :ticked WHERE id = :id"),
                {"boxes": len(boxes), "ticked": sum(box.ticked for box in boxes), "id": id_},
            )
