"""One watch for several users: each `Feed` returns everything that changed since its own last question."""

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
_LEAST_WAIT = 5.0  # seconds: until all files are known no question can be answered

Report = Callable[[float, float | None, str], Awaitable[None]]
"""Called with the amount done, the total, and a message; as `backend.Report`."""


def too_large(root: Path, error: TooLargeError) -> ConfigError:
    """The error message for a `root` that is not watched because of `error`."""
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
        """A new feed, for changes since the start of the watch."""
        feed = Feed(self)
        self._feeds.append(feed)
        return feed

    async def start(self) -> None:
        """Begin to watch; idempotent. Changes after this returns are seen by every feed.

        Raises:
            ConfigError: there is too much to watch.
        """
        await asyncio.shield(self._starting())

    async def wait(self, timeout: float, report: Report) -> None:
        """As `start`, for at most `timeout` seconds, and at least 5; `report` gets progress each second.

        Raises:
            UnavailableError: the folder is still being read; that continues for the next question.
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
        # Walking a large tree takes a while.
        try:
            await asyncio.to_thread(self._watch.start)
        except TooLargeError as error:
            raise too_large(self._folders[0], error) from None
        self._loop = asyncio.get_running_loop()
        if (descriptor := self._watch.fileno()) is not None:
            # Emptied as it fills; otherwise the kernel's queue could overflow between two questions.
            self._loop.add_reader(descriptor, self._watch.drain)

    def close(self) -> None:
        """Stop watching."""
        self._watch.stop()
        if self._started and not self._started.done():
            self._started.cancel()
            return  # the reading thread releases its resources
        if self._loop and (descriptor := self._watch.fileno()) is not None:
            self._loop.remove_reader(descriptor)
        self._watch.close()

    def folders(self) -> list[Path]:
        """The watched folders, which include everything below them."""
        return self._folders

    def watch_also(self, folders: Iterable[Path]) -> None:
        """Also watch these, as far as they exist."""
        for folder in folders:
            if any(folder.is_relative_to(known) for known in self._folders):
                continue
            if folder.is_dir():
                self._watch.add_root(folder)
                self._folders.append(folder)

    def files(self) -> Iterable[Path]:
        """All existing files."""
        return self._watch.files()

    def paths(self) -> Iterable[str]:
        """See `Watch.paths`."""
        return self._watch.paths()

    def links(self) -> Iterable[str]:
        """See `Watch.links`."""
        return self._watch.links()

    def known(self) -> Iterable[str]:
        """As `paths`; nothing before the watch has begun."""
        return self.paths() if self._loop else ()

    async def free_readers(self, suffixes: Collection[str]) -> bool:
        """See `hang_up`; for named pipes with the name of a source file."""
        return await hang_up(await asyncio.to_thread(named_pipes, list(self._folders), self._ignored, suffixes))

    def pull(self) -> None:
        """Pass all changes until now to every feed."""
        changes = self._watch.changes()
        if changes or changes.note:
            for feed in self._feeds:
                feed.take_in(changes)


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


class Feed:
    """What changed on disk, for one owner.

    It has the files of the workspace root, and of the further folders that this owner watches: the libraries of one
    language, for example, are nothing to the server of another one.
    """

    def __init__(self, hub: FeedHub) -> None:
        self._hub = hub
        self._also: list[Path] = []  # the further folders of this owner
        self._pending = Changes()
        self._notes: list[str] = []

    async def start(self) -> None:
        """See `FeedHub.start`."""
        await self._hub.start()

    async def wait(self, timeout: float, report: Report) -> None:
        """See `FeedHub.wait`."""
        await self._hub.wait(timeout, report)

    def changes(self) -> Changes:
        """All changes since the last call whose system calls returned before this one."""
        self._hub.pull()
        pending, self._pending = self._pending, Changes()
        return pending

    def take_notes(self) -> list[str]:
        """How changes are detected, if not exactly by the kernel's events; each note once."""
        notes, self._notes = self._notes, []
        return notes

    def folders(self) -> list[Path]:
        """The watched folders."""
        return self._hub.folders()

    def watch_also(self, folders: Iterable[Path]) -> None:
        """See `FeedHub.watch_also`."""
        wanted = list(folders)
        self._also += (folder for folder in wanted if folder not in self._also)
        self._hub.watch_also(wanted)

    def files_named(self, names: Collection[str]) -> list[Path]:
        """All files of the workspace with one of these names, sorted; not those of libraries that are watched."""
        below = os.path.join(self._hub.folders()[0], "")  # noqa: PTH118
        return sorted(
            Path(path) for path in self.paths() if path.rpartition(os.sep)[2] in names and path.startswith(below)
        )

    def files(self) -> Iterable[Path]:
        """All files."""
        return self._hub.files() if self._has_all() else map(Path, self.paths())

    def paths(self) -> Iterable[str]:
        """See `Watch.paths`."""
        return self.own(self._hub.paths())

    def links(self) -> Iterable[str]:
        """See `Watch.links`."""
        return self.own(self._hub.links())

    def _has_all(self) -> bool:
        return len(self._hub.folders()) == 1

    def own(self, paths: Iterable[str]) -> Iterable[str]:
        """Those of `paths` that are this owner's."""
        if self._has_all():
            return paths
        below = tuple(os.path.join(folder, "") for folder in (self._hub.folders()[0], *self._also))  # noqa: PTH118
        return (path for path in paths if path.startswith(below))

    async def free_readers(self, suffixes: Collection[str]) -> bool:
        """See `FeedHub.free_readers`."""
        return await self._hub.free_readers(suffixes)

    def take_in(self, changes: Changes) -> None:
        """Changes from the watch."""
        self._pending = self._pending.then(changes)
        if changes.note and changes.note not in self._notes:
            self._notes.append(changes.note)
