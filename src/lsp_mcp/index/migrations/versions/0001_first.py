"""The first tables.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_IS_NAMED = sa.text("name IS NOT NULL")


def upgrade() -> None:
    """Create them."""
    op.create_table(
        "index_repositories",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_index_repositories"),
        sa.UniqueConstraint("name", name="uq_index_repositories_name"),
    )
    op.create_table(
        "index_pushes",
        sa.Column("repository", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("push", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("commit", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=True),
        sa.Column("is_newest", sa.Boolean(), nullable=False),
        sa.Column("pushed_at", sa.String(length=32), nullable=False),
        sa.Column("tool", sa.String(length=170), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("symbols", sa.Integer(), nullable=False),
        sa.Column("occurrences", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("has_text", sa.Boolean(), nullable=False),
        sa.Column("packages", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("repository", "push", name="pk_index_pushes"),
    )
    op.create_table(
        "index_documents",
        sa.Column("repository", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("push", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("document", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("is_exact", sa.Boolean(), nullable=False),
        sa.Column("defined", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("repository", "push", "document", name="pk_index_documents"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_index_documents_path", "index_documents", ["repository", "push", "path"], unique=True)
    op.create_table(
        "index_symbols",
        sa.Column("repository", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("push", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("symbol", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("uses", sa.LargeBinary(), nullable=False),
        sa.Column("implemented_by", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("repository", "push", "key", name="pk_index_symbols"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_index_symbols_name",
        "index_symbols",
        ["repository", "push", "name"],
        sqlite_where=_IS_NAMED,
        postgresql_where=_IS_NAMED,
    )
