"""Immediate notice of changes by other processes on the same board: `Follower`, one for each kind of database.

Changes are read from the table of changes; a follower only triggers that. Mere reads (activity) are not worth a write
to the database: they go through a small file beside it, or PostgreSQL's NOTIFY.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from lsp_mcp.board.activity_file import activity_file, tell_followers
from lsp_mcp.board.store import CHANNEL, CONNECT, Store

log = logging.getLogger(__name__)

_DEBOUNCE, _STEP = 40, 10  # milliseconds in which wake-ups become one
_AT_LEAST = 5_000  # milliseconds after which files are read anyway: their writer may have been killed
_PAUSE = 1.0  # seconds before the connection to PostgreSQL is tried again
_ACTIVITY = f"{CHANNEL}_activity"

Looked = Callable[[], None]
Activity = dict[str, Any]


class Follower(Protocol):
    """Calls `look` when something may have been written, and `seen` with the activity of others."""

    async def run(self, look: Looked, seen: Callable[[Activity], None]) -> None:
        """Until cancelled."""

    def tell(self, activity: Activity) -> None:
        """Notify other processes; blocking, but briefly. Any thread may call it."""

    def close(self) -> None:
        """Stop notifying."""


def follower(store: Store) -> Follower:
    """The follower for the kind of database."""
    return FileFollower(store.file) if store.file else PostgresFollower(store.url)


class FileFollower:
    """Notified by the kernel of writes to SQLite's files."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._activity = activity_file(database)
        self._names = {database.name, f"{database.name}-wal", self._activity.name}
        self._read_to = 0

    async def run(self, look: Looked, seen: Callable[[Activity], None]) -> None:
        """See `Follower.run`."""
        from watchfiles import awatch

        with contextlib.suppress(OSError):
            self._read_to = self._activity.stat().st_size
        watching = awatch(
            self._database.parent,
            watch_filter=lambda _, path: Path(path).name in self._names,
            debounce=_DEBOUNCE,
            step=_STEP,
            recursive=False,
            rust_timeout=_AT_LEAST,
            yield_on_timeout=True,
        )
        # Changes before the watch starts: it has started when the first step of the loop below is over.
        asyncio.get_running_loop().call_soon(look)
        async for found in watching:
            names = {Path(path).name for _, path in found}
            if self._activity.name in names:
                for activity in self._news():
                    seen(activity)
            look()

    def tell(self, activity: Activity) -> None:
        """See `Follower.tell`."""
        tell_followers(self._database, (json.dumps(activity, ensure_ascii=False) + "\n").encode())

    def close(self) -> None:
        """See `Follower.close`."""

    def _news(self) -> list[Activity]:
        try:
            with self._activity.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read_to:
                    self._read_to = 0
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        found = []
        for line in filter(None, whole.splitlines()):
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found


class PostgresFollower:
    """Listens to PostgreSQL's NOTIFY."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._telling: Any = None  # a connection of its own
        self._lock = threading.Lock()

    async def run(self, look: Looked, seen: Callable[[Activity], None]) -> None:
        """See `Follower.run`; a lost connection is replaced."""
        import psycopg

        while True:
            try:
                connecting = psycopg.AsyncConnection.connect(self._url, autocommit=True, connect_timeout=CONNECT)
                async with await connecting as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    await connection.execute(f"LISTEN {_ACTIVITY}")
                    look()  # events while nobody listened
                    async for notice in connection.notifies():
                        if notice.channel == _ACTIVITY:
                            with contextlib.suppress(ValueError):
                                seen(json.loads(notice.payload))
                        else:
                            look()
            except psycopg.Error as error:
                log.warning("changes by other processes are not received: %s", error)
                await asyncio.sleep(_PAUSE)

    def tell(self, activity: Activity) -> None:
        """See `Follower.tell`."""
        import psycopg

        with self._lock:
            try:
                if self._telling is None or self._telling.closed:
                    self._telling = psycopg.connect(self._url, autocommit=True, connect_timeout=3)
                self._telling.execute("SELECT pg_notify(%s, %s)", (_ACTIVITY, json.dumps(activity)))
            except psycopg.Error as error:
                log.debug("activity is not told to others: %s", error)
                self._telling = None

    def close(self) -> None:
        """See `Follower.close`."""
        with self._lock:
            if self._telling is not None:
                self._telling.close()
                self._telling = None
