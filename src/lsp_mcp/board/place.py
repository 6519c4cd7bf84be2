"""Where a project's board is stored: one for all worktrees of a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lsp_mcp.board.store import OUR_FOLDERS
from lsp_mcp.errors import ConfigError
from lsp_mcp.wire.process import child_environment

_FILE = "board.sqlite3"
_GIT_TIMEOUT = 10.0  # seconds
SCHEMES = ("postgresql://", "postgres://", "sqlite:///")


def store_url(root: Path, store: str | None) -> str:
    """The database's URL: `store` if one is named, else a file in git's common folder, else in the root's `.lsp-mcp`.

    git does not look at its own folder, so nothing of it comes into a commit; each worktree leads there.

    Raises:
        ConfigError: `store` is not the URL of a supported database.
    """
    if store is None:
        return f"sqlite:///{_folder(root) / _FILE}"
    if not store.startswith(SCHEMES):
        raise ConfigError(f"--store {store.split('@')[-1]!r}: pass postgresql://USER@HOST/DATABASE or sqlite:///FILE")
    return store.replace("postgres://", "postgresql://", 1)


def _folder(root: Path) -> Path:
    try:
        found = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--path-format=absolute", "--git-common-dir"],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT,
            env=child_environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        found = None
    common = found.stdout.strip() if found and found.returncode == 0 else ""
    in_git, in_root = OUR_FOLDERS
    return Path(common) / in_git if common else root / in_root
