"""The file beside SQLite's database in which processes tell each other what agents read, and that something changed."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from lsp_mcp.private_files import open_private

log = logging.getLogger(__name__)

_MOST_ACTIVITY = 64 * 1024  # bytes of the file, which is then emptied


def activity_file(database: Path) -> Path:
    """Beside a file of SQLite's: what processes tell each other, a line of JSON each, or an empty one: "look"."""
    return database.with_name(f"{database.name}-activity")


def tell_followers(database: Path, line: bytes) -> None:
    """Append a line for those who follow `activity_file`; harmless if that cannot be done."""
    file = activity_file(database)
    try:
        big = file.exists() and file.stat().st_size > _MOST_ACTIVITY
        # One write of a short line at the end is not torn apart by another's.
        descriptor = open_private(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if big else 0))
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        log.debug("others are not told: %s", error)
