"""Tokens of people, for a team's server.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create their table."""
    op.create_table(
        "index_tokens",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("added_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_index_tokens"),
        sa.UniqueConstraint("hash", name="uq_index_tokens_hash"),
    )
