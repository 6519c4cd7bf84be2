"""One watch for many askers: each `Feed` gives its owner everything that changed since its own last question."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection, Iterable
from pathlib import Path

from lsp_mcp.disk.changes import Changes
from lsp_mcp.disk.extent import TooLargeError
from lsp_mcp.disk.pipes import hang_up, named_pipes
from lsp_mcp.disk.watch import Watch
from lsp_mcp.errors import ConfigError, UnavailableError

_REPORT_EACH = 1.0  # seconds
_LEAST_WAIT = 5.0  # seconds: until the files are known nothing can be answered

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Told how much is done, of how much, and what; as `backend.Report`."""


def too_large(root: Path, error: TooLargeError) -> ConfigError:
    """What to tell of a `root` that is not watched because of `error`."""
    return ConfigError(
        f"{root} is too large for a workspace: {error}. Start lsp-mcp in one project, or pass "
        f"--workspace-root {root} if you mean all of it."
    )


class FeedHub:
    """The watch of one workspace, and the feeds that share it."""

    def __init__(self, root: Path, ignored_folders: Collection[str], most_files: int | None = None) -> None:
        """More than `most_files` below `root` are refused."""
        self._watch = Watch([root], ignored_folders, most_files=most_files)
        self._ignored = frozenset(ignored_folders)
        self._folders = [root]
        self._feeds: list[Feed] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started: asyncio.Task[None] | None = None

    def feed(self) -> Feed:
        """A new feed, for changes from the start of the watch on."""
        feed = Feed(self)
        self._feeds.append(feed)
        return feed

    async def start(self) -> None:
        """Begin to watch; idempotent. What changes after this returns is seen by every feed.

        Raises:
            ConfigError: there is too much to watch.
        """
        await asyncio.shield(self._starting())

    async def wait(self, timeout: float, report: Report) -> None:
        """As `start`, for at most `timeout` seconds, and 5 at least; `report` is told each second how far it is.

        Raises:
            UnavailableError: the folder is still being read; that goes on for the next question.
        """
        starting, end = self._starting(), time.monotonic() + max(timeout, _LEAST_WAIT)
        while not starting.done():
            left = end - time.monotonic()
            if left <= 0:
                raise UnavailableError(
                    f"{self._folders[0]} is still being read, {self._watch.files_read:,} files so far. Ask again later "
                    "or start lsp-mcp with the --workspace-root of a smaller folder."
                )
            await asyncio.wait([starting], timeout=min(left, _REPORT_EACH))
            if not starting.done():
                await report(self._watch.files_read, None, f"reading the workspace: {self._watch.files_read:,} files")
        await starting

    def _starting(self) -> asyncio.Task[None]:
        if self._started is None or _failed(self._started):
            self._started = asyncio.create_task(self._start())
        return self._started

    async def _start(self) -> None:
        # A large tree takes a while to walk.
        try:
            await asyncio.to_thread(self._watch.start)
        except TooLargeError as error:
            raise too_large(self._folders[0], error) from None
        self._loop = asyncio.get_running_loop()
        if (descriptor := self._watch.fileno()) is not None:
            # Emptied as it fills, or the kernel's queue could run over between two questions.
            self._loop.add_reader(descriptor, self._watch.drain)

    def close(self) -> None:
        """Stop watching."""
        self._watch.stop()
        if self._started and not self._started.done():
            self._started.cancel()
            return  # the thread that reads gives back what it has
        if self._loop and (descriptor := self._watch.fileno()) is not None:
            self._loop.remove_reader(descriptor)
        self._watch.close()

    def folders(self) -> list[Path]:
        """The folders that are watched, with everything below them."""
        return self._folders

    def watch_also(self, folders: Iterable[Path]) -> None:
        """Watch these as well, as far as they exist."""
        for folder in folders:
            if any(folder.is_relative_to(known) for known in self._folders):
                continue
            if folder.is_dir():
                self._watch.add_root(folder)
                self._folders.append(folder)

    def files(self) -> Iterable[Path]:
        """Every file that is there now."""
        return self._watch.files()

    def paths(self) -> Iterable[str]:
        """See `Watch.paths`."""
        return self._watch.paths()

    async def free_readers(self, suffixes: Collection[str]) -> bool:
        """See `hang_up`; for the named pipes that are called like sources."""
        return await hang_up(await asyncio.to_thread(named_pipes, list(self._folders), self._ignored, suffixes))

    def pull(self) -> None:
        """Give every feed what has changed until now."""
        changes = self._watch.changes()
        if changes or changes.note:
            for feed in self._feeds:
                feed.take_in(changes)


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


class Feed:
    """What changed on disk, for one owner."""

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._pending = Changes()
        self._notes: list[str] = []

    async def start(self) -> None:
        """See `FeedHub.start`."""
        await self._hub.start()

    async def wait(self, timeout: float, report: Report) -> None:
        """See `FeedHub.wait`."""
        await self._hub.wait(timeout, report)

    def changes(self) -> Changes:
        """Every change whose system call returned before this call, since the last call."""
        self._hub.pull()
        pending, self._pending = self._pending, Changes()
        return pending

    def take_notes(self) -> list[str]:
        """How the changes are known, if not exactly by the kernel's events; each note once."""
        notes, self._notes = self._notes, []
        return notes

    def folders(self) -> list[Path]:
        """The watched folders."""
        return self._hub.folders()

    def watch_also(self, folders: Iterable[Path]) -> None:
        """See `FeedHub.watch_also`."""
        self._hub.watch_also(folders)

    def files_named(self, names: Collection[str]) -> list[Path]:
        """All files with one of these names, sorted."""
        return sorted(Path(path) for path in self._hub.paths() if path.rpartition(os.sep)[2] in names)

    def files(self) -> Iterable[Path]:
        """All files."""
        return self._hub.files()

    def paths(self) -> Iterable[str]:
        """See `Watch.paths`."""
        return self._hub.paths()

    async def free_readers(self, suffixes: Collection[str]) -> bool:
        """See `FeedHub.free_readers`."""
        return await self._hub.free_readers(suffixes)

    def take_in(self, changes: Changes) -> None:
        """Changes from the watch."""
        self._pending = self._pending.then(changes)
        if changes.note and changes.note not in self._notes:
            self._notes.append(changes.note)
