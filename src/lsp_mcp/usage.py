"""What tools were asked on this machine, how fast and how completely they answered: `Usage`, for `lsp-mcp stats`.

Sums for each day and tool, in a file of the user's cache folder: no code, no names, no paths. Nothing is sent anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from lsp_mcp.cache_folders import cache_folder
from lsp_mcp.private_files import make_private_file, private_folder, write_private

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger(__name__)

DAYS = 90
"""Sums of older days are removed."""
_SOON = 5.0  # seconds after an answer in which its sums are written
_BUSY = 1.0  # seconds to wait for another process that writes
_MOST_FILES = 100_000  # remembered as shown before
_SCHEMA = """
create table if not exists calls (
    day text, tool text, outcome text, speed integer, number integer,
    answer_bytes integer, code_bytes integer, file_bytes integer,
    primary key (day, tool, outcome, speed)
) without rowid
"""
_ADD = """
insert into calls (day, tool, outcome, speed, number, answer_bytes, code_bytes, file_bytes)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do update set number = number + excluded.number, answer_bytes = answer_bytes + excluded.answer_bytes,
        code_bytes = code_bytes + excluded.code_bytes, file_bytes = file_bytes + excluded.file_bytes
"""
_ALL = "select day, tool, outcome, speed, number, answer_bytes, code_bytes, file_bytes from calls"

Outcome = Literal["complete", "incomplete", "answered", "failed"]
"""Of a call: `answered` if its answer has no status. Also an error that says what to do is `failed`."""


class Answered(Struct, frozen=True):
    """One call of a tool. `files` are those whose code the answer shows to the `reader`."""

    tool: str
    outcome: Outcome
    seconds: float
    answer_bytes: int = 0
    files: Collection[Path] = ()
    reader: str = ""


class Sum(Struct, frozen=True):
    """Calls of one day that took about `seconds` at most."""

    day: str
    tool: str
    outcome: Outcome
    seconds: float
    number: int
    answer_bytes: int
    code_bytes: int
    """Of that, the size of answers that show code."""
    file_bytes: int
    """The size of the files with that code, each once for each session."""


class Usage:
    """Counts the calls of this process. Writing takes place in a thread, some seconds after a call, and at the end."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, Answered]] = []  # with the day, not written yet
        self._shown: set[tuple[str, Path]] = set()  # counted before
        self._writing: asyncio.Task[None] | None = None

    def add(self, answered: Answered) -> None:
        """Count one call. Needs a running loop."""
        self._calls.append((time.strftime("%Y-%m-%d"), answered))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    async def close(self) -> None:
        """Write what is left; idempotent."""
        if self._writing:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        await self._write()

    async def _write_soon(self) -> None:
        while self._calls:
            await asyncio.sleep(_SOON)
            await self._write()

    async def _write(self) -> None:
        calls, self._calls = self._calls, []
        if calls:
            await asyncio.to_thread(self._written, calls)

    def _written(self, calls: list[tuple[str, Answered]]) -> None:
        try:
            if is_on():
                _store(self._sums(calls))
        except OSError as error:
            log.debug("%d calls are not counted: %s", len(calls), error)

    def _sums(self, calls: list[tuple[str, Answered]]) -> dict[tuple[str, str, str, int], list[int]]:
        sums: dict[tuple[str, str, str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for day, one in calls:
            total = sums[day, one.tool, one.outcome, _speed(one.seconds)]
            total[0] += 1
            total[1] += one.answer_bytes
            total[2] += one.answer_bytes if one.files else 0
            total[3] += sum(map(_size, self._new(one)))
        return sums

    def _new(self, answered: Answered) -> Iterator[Path]:
        """The files that its reader was not shown code of before: who has read a file whole need not read it again."""
        for path in answered.files:
            if (shown := (answered.reader, path)) not in self._shown:
                if len(self._shown) >= _MOST_FILES:
                    self._shown.clear()
                self._shown.add(shown)
                yield path


def usage_file() -> Path:
    """The file with the sums; it need not exist."""
    return cache_folder() / "usage.sqlite3"


def is_on() -> bool:
    """Whether calls are counted."""
    return not _off().exists()


def switch(*, on: bool) -> None:
    """Count calls from now on, or no more. Raises OSError."""
    if on:
        _off().unlink(missing_ok=True)
    else:
        private_folder(cache_folder())
        write_private(_off(), b"lsp-mcp stats --on removes this file\n")


def reset() -> None:
    """Forget all calls. Raises OSError."""
    if usage_file().exists():
        with _opened() as connection:
            connection.execute("delete from calls")


def sums() -> list[Sum]:
    """The sums of all days that are kept.

    Raises:
        OSError: they cannot be read.
    """
    if not usage_file().exists():
        return []
    with _opened() as connection:
        return [
            Sum(day, tool, outcome, 2 ** (speed / 2) / 1000, *numbers)
            for day, tool, outcome, speed, *numbers in connection.execute(_ALL)
        ]


def _off() -> Path:
    return usage_file().with_suffix(".off")


def _speed(seconds: float) -> int:
    """Half the logarithm: steps of 41 %, from a millisecond on."""
    return max(0, math.ceil(2 * math.log2(max(seconds, 0.001) * 1000)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _store(added: dict[tuple[str, str, str, int], list[int]]) -> None:
    private_folder(cache_folder())
    make_private_file(usage_file())
    with _opened() as connection:
        connection.executemany(_ADD, [(*key, *values) for key, values in added.items()])
        connection.execute("delete from calls where day < date('now', ?)", (f"-{DAYS} days",))


@contextlib.contextmanager
def _opened() -> Iterator[sqlite3.Connection]:
    """One transaction; a file that is none of ours, or broken, is replaced by the next one.

    Raises:
        OSError: the file cannot be used.
    """
    import sqlite3

    try:
        with contextlib.closing(sqlite3.connect(usage_file(), timeout=_BUSY)) as connection, connection:
            connection.execute("pragma synchronous = off")  # a power cut may cost the sums, never an answer's time
            connection.execute(_SCHEMA)
            yield connection
    except sqlite3.OperationalError as error:  # locked, full, read-only
        raise OSError(str(error)) from error
    except sqlite3.DatabaseError as error:
        for left in (usage_file(), usage_file().with_name(f"{usage_file().name}-journal")):
            left.unlink(missing_ok=True)
        raise OSError(f"{error}; the file was removed") from error
