"""Where the index store is; imports nothing of the database."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from lsp_mcp.errors import ConfigError

_FILE = "index.sqlite3"
_SCHEMES = ("postgresql://", "postgres://", "sqlite:///")


def store_url(given: str | None) -> str:
    """The URL of the store: `given`, else of a file in the user's data folder.

    Raises:
        ConfigError: `given` is not the URL of a supported database.
    """
    if given is None:
        return f"sqlite:///{default_file()}"
    if not given.startswith(_SCHEMES):
        shown = given.split("@")[-1]
        raise ConfigError(f"--index-store {shown!r}: pass postgresql://USER@HOST/DATABASE or sqlite:///FILE")
    return given.replace("postgres://", "postgresql://", 1)


def default_file() -> Path:
    """The file that is used if no store is named, in `LSP_MCP_INDEX` or the user's data folder; it need not exist."""
    return Path(os.environ.get("LSP_MCP_INDEX") or platformdirs.user_data_path("lsp-mcp")) / _FILE


def known_store(given: str | None) -> str | None:
    """The URL of the store that questions are asked of; None if none was named and nothing was ever pushed."""
    return store_url(given) if given is not None or default_file().is_file() else None
