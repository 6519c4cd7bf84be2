"""The migrations of the index store, in `migrations/versions`."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.database.migrating import Migrations
from lsp_mcp.index.tables import metadata

MIGRATIONS = Migrations("index", Path(__file__).parent / "migrations", metadata, "index_version", 4_217_003)
