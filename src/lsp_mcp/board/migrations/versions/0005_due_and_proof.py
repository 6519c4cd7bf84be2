"""Due dates, proofs, and saved views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add all three; tasks have no due date and need no proof."""
    op.add_column("tasks", sa.Column("due", sa.String(length=10)))
    for name in ("required_proof", "proof"):
        op.add_column("tasks", sa.Column(name, sa.JSON(), nullable=False, server_default="[]"))
    op.create_index("ix_tasks_stage_priority", "tasks", ["stage", "priority", "position"], unique=False)
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sa.UniqueConstraint("name", name=op.f("uq_saved_views_name")),
    )
