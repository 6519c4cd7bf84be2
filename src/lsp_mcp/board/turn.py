"""Whose turn it is to write to a file of SQLite's: `turn`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from lsp_mcp.door.lock import locked

log = logging.getLogger(__name__)


@contextlib.contextmanager
def turn(database: Path, timeout: float) -> Iterator[None]:
    """Wait, at most `timeout` seconds, until no other process writes to `database`.

    SQLite's own lock lets waiting processes look again every 0.1 s, so they hardly ever get it while others write
    without a pause; the kernel wakes those that wait for this one. SQLite's remains the one that keeps the data safe.
    """
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked(f"{database}-turn", timeout))
        except OSError as error:
            log.debug("writing without a turn: %s", error)
        yield
