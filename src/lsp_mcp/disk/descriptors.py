"""`Descriptors` are the kernel's numbers for watched folders (inotify(7)), in step with a tree of `Folder`s."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from inotify_simple import Event, INotify, flags

from lsp_mcp.disk.method import EventsLostError

# CLOSE_WRITE because writing through a memory map causes no MODIFY.
_EVENTS = flags.CLOSE_WRITE | flags.MODIFY | flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
# MASK_ADD because a watch is requested again to learn whether it is the same folder. Without it the kernel (seen with
# 6.18) clears the old mask before it sets the new one, and loses the events in between.
_HOW = flags.MASK_ADD | flags.ONLYDIR | flags.EXCL_UNLINK
_ROOT = int(_EVENTS | flags.MOVE_SELF | _HOW)
_FOLDER = int(_EVENTS | flags.DONT_FOLLOW | _HOW)

_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_RAN_OUT = {
    errno.ENOSPC: "fs.inotify.max_user_watches ran out",
    errno.EMFILE: "fs.inotify.max_user_instances ran out",
    errno.ENOMEM: "the kernel has no memory for watches",
}


_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE = 0.5  # of all watches of a user, for all programs: an editor needs some


class Folder:
    """A watched folder: its entries by name, None for a file."""

    __slots__ = ("names", "prefix", "wd")

    def __init__(self, path: str, wd: int) -> None:
        self.prefix = path.rstrip(os.sep) + os.sep
        self.wd = wd  # the kernel's number for the folder itself, even if it is moved
        self.names: dict[str, Folder | None] = {}

    @property
    def path(self) -> str:
        """The path of the folder when it was entered in the tree."""
        return self.prefix.rstrip(os.sep) or os.sep


class Descriptors:
    """The folders by watch descriptor, and the kernel's queue of events about them.

    Raises:
        EventsLostError: there is no inotify available.
    """

    def __init__(self) -> None:
        # Several folders have one wd when a bind mount or a symlinked root shows a folder twice, and briefly when a
        # folder was moved and its old name is not forgotten yet.
        self._folders: dict[int, tuple[Folder, ...]] = {}
        self.unreadable: set[str] = set()
        self._most = _share()
        try:
            self._inotify = INotify(nonblocking=True)
        except OSError as error:
            raise _events_lost(error) from error

    def events(self) -> Iterable[Event]:
        """The content of the queue, which is empty then. Does not wait."""
        return self._inotify.read(timeout=0)  # type: ignore[no-any-return]

    def fileno(self) -> int:
        """The descriptor that is readable when the queue is not empty."""
        return int(self._inotify.fileno())

    def close(self) -> None:
        """Release all kernel resources."""
        self._inotify.close()

    def watch_root(self, path: str) -> int | None:
        """As `watch`, for a folder that may be a symlink to one."""
        return self._watch(path, _ROOT)

    def watch(self, path: str) -> int | None:
        """The wd of the folder at `path`, or None if there is none. The same folder always has the same one.

        A folder that may not be watched counts as missing, and is added to `unreadable`.

        Raises:
            EventsLostError: the kernel refuses more watches.
        """
        return self._watch(path, _FOLDER)

    def folders(self, wd: int) -> tuple[Folder, ...]:
        """The folders of the tree that events for `wd` concern."""
        return self._folders.get(wd, ())

    def enter(self, path: str, wd: int) -> Folder:
        """A new, empty folder for the tree."""
        folder = Folder(path, wd)
        self._folders[wd] = (*self.folders(wd), folder)
        return folder

    def leave(self, folder: Folder) -> None:
        """The folder has left the tree: its events are ignored."""
        others = tuple(other for other in self.folders(folder.wd) if other is not folder)
        if others:
            self._folders[folder.wd] = others
        elif self._folders.pop(folder.wd, None):
            self._unwatch(folder.wd)

    def leave_all(self) -> set[int]:
        """Empty the tree. The watches stay until `unwatch`: these are their wds."""
        wds = set(self._folders)
        self._folders.clear()
        return wds

    def unwatch(self, wds: set[int]) -> None:
        """Release the watches that were not entered again."""
        for wd in wds - self._folders.keys():
            self._unwatch(wd)

    def _watch(self, path: str, mask: int) -> int | None:
        if len(self._folders) >= self._most:
            raise EventsLostError(f"more than {self._most:,} folders, the share of fs.inotify.max_user_watches")
        try:
            return int(self._inotify.add_watch(path, mask))
        except OSError as error:
            if error.errno in _RAN_OUT:
                raise _events_lost(error) from error
            if error.errno not in _NOT_THERE:
                self.unreadable.add(path)
            return None

    def _unwatch(self, wd: int) -> None:
        with suppress(OSError):  # a deleted folder's watch is gone too
            self._inotify.rm_watch(wd)


def _share() -> int:
    """The number of folders that one workspace may watch."""
    try:
        return int(int(_LIMIT.read_text()) * _SHARE)
    except (OSError, ValueError):
        return sys.maxsize


def _events_lost(error: OSError) -> EventsLostError:
    return EventsLostError(_RAN_OUT.get(error.errno or 0, str(error)))
