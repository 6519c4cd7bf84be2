"""The board's migrations, in `migrations/versions`."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from lsp_mcp.board import tables
from lsp_mcp.database.migrating import Migrations

MIGRATIONS = Migrations("board", Path(__file__).parent / "migrations", tables.metadata, "board_version", 4_217_001)
SCHEMA = sa.table(MIGRATIONS.version_table, sa.column("version_num", sa.String))
VERSION = SCHEMA.c.version_num
