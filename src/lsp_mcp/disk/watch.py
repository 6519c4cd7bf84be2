"""`Watch` reports the changes on disk since the last question, for one workspace."""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from lsp_mcp.disk.changes import Changes, Ledger
from lsp_mcp.disk.extent import Extent, TooLargeError
from lsp_mcp.disk.method import EventsLostError, Method
from lsp_mcp.disk.mounts import network_file_system
from lsp_mcp.disk.scan import ScanMethod

if TYPE_CHECKING:
    from lsp_mcp.disk.inotify import InotifyMethod

MethodName = Literal["auto", "inotify", "watchfiles", "scan"]


class Watch:
    """Tracks the files below some roots, and their changes. Not thread-safe.

    Files are regular files and symlinks to regular files. Folders with an ignored name do not count, unless one is
    given as a root. Symlinked folders are not followed, but a root may be one.
    """

    def __init__(
        self,
        roots: Iterable[Path],
        ignored_folders: Collection[str] = (),
        *,
        method: MethodName = "auto",
        most_files: int | None = None,
    ) -> None:
        """`ignored_folders` are names, such as `.git`; a `method` other than auto is tried first.

        With more than `most_files` below the roots it does not start.
        """
        self._to_start_with = list(roots)
        self._roots: list[str] = []
        self._extent = Extent(ignored_folders, most_files)
        self._name = method
        self._ledger = Ledger()
        self._method: Method | None = None
        self._queue: InotifyMethod | None = None

    def start(self) -> None:
        """Record all files. Blocks for the walk: about 2 s for a million files; may run in a thread.

        Raises:
            TooLargeError: there is too much, or `stop` was called; nothing is watched then.
        """
        self._roots.clear()
        self._extent.begin()
        self._method = self._choose()
        try:
            for root in self._to_start_with:
                self.add_root(root)
        except TooLargeError:
            self.close()
            raise
        self._extent.known()
        self._ledger.clear()

    def add_root(self, root: Path) -> None:
        """Also watch another folder from now on; does nothing for one inside a watched root.

        Its present contents are known, not created. It need not exist yet.
        """
        path = str(Path(root).absolute())
        if path in self._roots:
            return
        method = self._started()
        if self._name == "auto" and method is self._queue and (type_ := network_file_system(path)):
            method = self._fall_back(f"{path} is on a network file system ({type_})")
        self._roots.append(path)
        self._extent.add_root(path)
        try:
            method.add_root(path)
        except EventsLostError as lost:
            self._fall_back(str(lost))

    def changes(self) -> Changes:
        """The net effect of all changes since the last call whose system calls returned before this one.

        Takes microseconds with inotify. With `watchfiles` it waits for events, at most 1 s; a scan walks the roots.
        """
        method = self._started()
        try:
            method.collect()
        except EventsLostError as lost:
            method = self._fall_back(str(lost))
        return self._ledger.take(method.note())

    def files(self, name: str = "*") -> Iterator[Path]:
        """The existing files, as of the last `changes`, whose name matches the glob `name`."""
        matches = re.compile(fnmatch.translate(name)).match
        for path in self.paths():
            if name == "*" or matches(path.rpartition(os.sep)[2]):
                yield Path(path)

    def paths(self) -> Iterable[str]:
        """The existing files, as of the last `changes`, as strings: they cost a tenth of a `Path`."""
        return self._started().files()

    def links(self) -> Iterable[str]:
        """The symlinks below the roots, whatever they lead to."""
        return self._started().links()

    def fileno(self) -> int | None:
        """The descriptor that is readable when `drain` should be called, until `close`; None if there is none.

        Without that everything works the same, but 16,384 events between two questions overflow the kernel's queue.
        """
        return self._queue.fileno() if self._queue else None

    def drain(self) -> None:
        """Read the kernel's queue into memory for the next `changes`."""
        if self._queue:
            try:
                self._queue.drain()
            except EventsLostError as lost:
                self._fall_back(str(lost))

    @property
    def files_read(self) -> int:
        """The number of files and folders that `start` has read so far, for another thread."""
        return self._extent.files

    def stop(self) -> None:
        """Stop a `start` in progress in another thread."""
        self._extent.end()

    def close(self) -> None:
        """Stop watching. May be called twice, and without `start`."""
        if self._method:
            self._method.close()
        if self._queue:
            self._queue.close()
        self._method = self._queue = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --- methods -----------------------------------------------------------------------------------

    def _choose(self) -> Method:
        if self._name == "scan":
            return ScanMethod(self._ledger, self._extent)
        if self._name == "watchfiles" or (self._name == "auto" and sys.platform != "linux"):
            from lsp_mcp.disk.sentinel import SentinelMethod

            return SentinelMethod(self._ledger, self._extent)
        try:
            from lsp_mcp.disk.inotify import InotifyMethod

            self._queue = InotifyMethod(self._ledger, self._extent)
        except EventsLostError as lost:
            return ScanMethod(self._ledger, self._extent, str(lost))
        return self._queue

    def _fall_back(self, reason: str) -> Method:
        """Scan from now on. Changes in the meantime are unknown, so each known file counts as changed."""
        failed, scan = self._started(), ScanMethod(self._ledger, self._extent, reason)
        self._method = scan
        for root in self._roots:
            scan.add_root(root)
        self._ledger.replaced(failed.files(), scan.files())
        if self._queue:
            self._queue.release()
        return scan

    def _started(self) -> Method:
        assert self._method, "start() comes first"
        return self._method
