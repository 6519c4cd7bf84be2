"""The tables. Every key of an index begins with the repository, then the push: one push is a range of each table.

So a push touches nothing of others, and PostgreSQL can spread the tables by repository.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_PUSH = ("repository", "push")


def _of_push() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer, primary_key=True, autoincrement=False) for name in _PUSH]


repositories = sa.Table(
    "index_repositories",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(300), nullable=False, unique=True),
)
pushes = sa.Table(
    "index_pushes",
    metadata,
    *_of_push(),
    sa.Column("commit", sa.String(80), nullable=False),
    sa.Column("name", sa.String(80)),  # a named one is kept by `gc`
    sa.Column("is_newest", sa.Boolean, nullable=False),  # exactly one of a repository is: questions are asked of it
    sa.Column("pushed_at", sa.String(32), nullable=False),
    sa.Column("tool", sa.String(170), nullable=False),
    sa.Column("documents", sa.Integer, nullable=False),
    sa.Column("symbols", sa.Integer, nullable=False),
    sa.Column("occurrences", sa.Integer, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("has_text", sa.Boolean, nullable=False),
    sa.Column("packages", sa.JSON, nullable=False),  # that it defines: `MANAGER NAME`
)
documents = sa.Table(
    "index_documents",
    metadata,
    *_of_push(),
    sa.Column("document", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("is_exact", sa.Boolean, nullable=False),  # whether its columns are known to count characters
    sa.Column("defined", sa.LargeBinary, nullable=False),  # see `packing.pack_defined`
    sa.Column("text", sa.LargeBinary),  # compressed
    sa.Index("ix_index_documents_path", *_PUSH, "path", unique=True),
    sqlite_with_rowid=False,
)
symbols = sa.Table(
    "index_symbols",
    metadata,
    *_of_push(),
    sa.Column("key", sa.BigInteger, primary_key=True, autoincrement=False),  # see `monikers.key`
    sa.Column("symbol", sa.Text, nullable=False),
    sa.Column("name", sa.Text),  # folded, of what is defined there; see `queries.by_name`
    sa.Column("uses", sa.LargeBinary, nullable=False),  # see `packing.pack_uses`
    sa.Column("implemented_by", sa.LargeBinary),  # keys of 8 bytes each
    sa.Index("ix_index_symbols_name", *_PUSH, "name", sqlite_where=sa.text("name IS NOT NULL"),
             postgresql_where=sa.text("name IS NOT NULL")),
    sqlite_with_rowid=False,
)  # fmt: skip
tokens = sa.Table(
    "index_tokens",
    metadata,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),  # see `secret_tokens.token_hash`
    sa.Column("added_at", sa.String(32), nullable=False),
)
