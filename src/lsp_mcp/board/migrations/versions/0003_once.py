"""Calls that are stored once, agents that come back by a token, and questions in an order that no clock changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add what is missing; questions get their numbers by the times that they have."""
    op.create_table(
        "calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("asked", sa.String(length=64), nullable=False),
        sa.Column("answered", sa.JSON(), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_calls")),
        sa.UniqueConstraint("key", name=op.f("uq_calls_key")),
    )
    op.add_column("agents", sa.Column("token", sa.String(length=64)))
    op.add_column("questions", sa.Column("number", sa.Integer()))
    op.add_column("questions", sa.Column("answer_number", sa.Integer()))
    for number, time in (("number", "asked_at"), ("answer_number", "answered_at")):
        op.execute(
            f"UPDATE questions SET {number} = (SELECT count(*) FROM questions AS earlier WHERE earlier.{time} < "  # noqa: S608
            f"questions.{time} OR (earlier.{time} = questions.{time} AND earlier.id <= questions.id)) "
            f"WHERE {time} IS NOT NULL"
        )
