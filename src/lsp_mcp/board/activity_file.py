"""The file next to SQLite's database through which processes report what agents read, and that something changed."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from lsp_mcp.private_files import open_private

log = logging.getLogger(__name__)

_MOST_ACTIVITY = 64 * 1024  # bytes of the file, which is then emptied


def activity_file(database: Path) -> Path:
    """Next to a file of SQLite's: one line of JSON per report, or an empty one: "look"."""
    return database.with_name(f"{database.name}-activity")


def tell_followers(database: Path, line: bytes) -> None:
    """Append a line for followers of `activity_file`; a failure is harmless."""
    file = activity_file(database)
    try:
        big = file.exists() and file.stat().st_size > _MOST_ACTIVITY
        # One write of a short line at the end is atomic.
        descriptor = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if big else 0))
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        log.debug("others are not told: %s", error)
