"""`InotifyMethod` reads the Linux kernel's queue of events right before the question.

The kernel queues an event inside the writer's system call, so one read has everything that came before it.
An event is only a hint that something happened to a name. What became of it is asked of the disk, so events
may come late, twice, or in the wrong order, and what is known in the end is what is there.

A write through a memory map shows when the file is unmapped or closed, and a write through a hard link
outside the roots does not show: the kernel has no events for those.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from stat import S_ISLNK, S_ISREG

from inotify_simple import INotify, flags

from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.entries import entries, entry_kind, link_target
from lsp_mcp.disk.method import EventsLostError, lasting_note

# CLOSE_WRITE because a file that was written through a memory map has no MODIFY.
_EVENTS = (
    flags.CLOSE_WRITE | flags.MODIFY | flags.CREATE | flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO
) | flags.EXCL_UNLINK
_ROOT = int(_EVENTS | flags.ONLYDIR | flags.MOVE_SELF)
_FOLDER = int(_EVENTS | flags.ONLYDIR | flags.DONT_FOLLOW)
_IS_FOLDER = int(flags.ISDIR)
_MOVED = int(flags.MOVED_FROM | flags.MOVED_TO | flags.MOVE_SELF)
_LOST = int(flags.Q_OVERFLOW | flags.UNMOUNT)

_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_RAN_OUT = {
    errno.ENOSPC: "fs.inotify.max_user_watches ran out",
    errno.EMFILE: "fs.inotify.max_user_instances ran out",
    errno.ENOMEM: "the kernel has no memory for watches",
}


class _Folder:
    """A watched folder: what is in it by name, a file being None."""

    __slots__ = ("names", "prefix", "wd")

    def __init__(self, path: str, wd: int) -> None:
        self.prefix = path.rstrip(os.sep) + os.sep
        self.wd = wd  # the kernel's number for the folder itself, wherever it is moved
        self.names: dict[str, _Folder | None] = {}

    @property
    def path(self) -> str:
        return self.prefix.rstrip(os.sep) or os.sep


class InotifyMethod:
    """Watches by events. See `Method`.

    Raises:
        EventsLostError: there is no inotify to be had.
    """

    def __init__(self, ledger: Ledger, ignored: frozenset[str]) -> None:
        self._ledger = ledger
        self._ignored = ignored
        self._roots: dict[str, _Folder | None] = {}
        # Several folders have one wd when a bind mount or a symlinked root shows a folder twice, and for a
        # moment when a folder was moved and its old name is not forgotten yet.
        self._by_wd: dict[int, tuple[_Folder, ...]] = {}
        self._links: dict[str, tuple[_Folder, str, int | None]] = {}
        self._unreadable: set[str] = set()
        try:
            self._inotify = INotify(nonblocking=True)
        except OSError as error:
            raise _events_lost(error) from error

    # --- Method ------------------------------------------------------------------------------------

    def add_root(self, root: str) -> None:
        """See `Method`."""
        if self._find(root):
            return
        self.collect()  # what happened below a root that the new one will hold must not pass as known
        self._roots[root] = None
        if folder := self._open_root(root):
            deque(self._fill(folder), maxlen=0)

    def collect(self) -> None:
        """See `Method`."""
        self.drain()
        self._look_at_roots()
        if self._unreadable:
            self._look_at_unreadable()
        if self._links:
            self._look_at_links()

    def drain(self) -> None:
        """Report what is in the kernel's queue, and leave it empty. Raises as `collect`."""
        touched: dict[tuple[int, str, int], int] = {}
        for wd, mask, _, name in self._inotify.read(timeout=0):
            if mask & _LOST and self._roots:  # there are none after a release
                self._start_over()
                return
            key = (wd, name, mask & _IS_FOLDER)
            touched[key] = touched.get(key, 0) | mask
        for (wd, name, is_folder), mask in touched.items():
            for folder in self._by_wd.get(wd, ()):
                if mask & _MOVED and is_folder:
                    self._forget_moved(folder, name)
                if name:
                    (self._look_at_folder if is_folder else self._look_at_file)(folder, name)

    def fileno(self) -> int:
        """The descriptor that is readable when the queue is not empty."""
        return int(self._inotify.fileno())

    def files(self) -> Iterator[str]:
        """See `Method`."""
        for root in list(self._roots.values()):
            yield from _files(root)

    def note(self) -> str | None:
        """See `Method`."""
        missing = [root for root, folder in self._roots.items() if folder is None]
        return lasting_note(None, missing, self._unreadable) if missing or self._unreadable else None

    def release(self) -> None:
        """Watch nothing any more. The descriptor stays open, for whoever waits for it."""
        for wd in self._by_wd:
            self._unwatch(wd)
        self._by_wd.clear()
        self._roots.clear()

    def close(self) -> None:
        """See `Method`."""
        self._inotify.close()

    # --- what became of a name ---------------------------------------------------------------------

    def _look_at_file(self, folder: _Folder, name: str) -> None:
        if folder.names.get(name):
            self._look_at_folder(folder, name)  # its own event may come later in the queue
            if folder.names.get(name):
                return
        path = folder.prefix + name
        known = name in folder.names
        if self._is_file(folder, name):
            folder.names[name] = None
            (self._ledger.changed if known else self._ledger.appeared)(path)
        elif known:
            del folder.names[name]
            self._ledger.vanished(path)

    def _look_at_folder(self, parent: _Folder, name: str) -> None:
        if name in self._ignored:
            return
        path = parent.prefix + name
        wd = self._watch(path, _FOLDER)
        if known := parent.names.get(name):
            if known.wd == wd:
                return  # it is where it was, and its own events say the rest
            del parent.names[name]
            self._forget(known)
        if wd is None:
            return
        if folder := self._enter(parent, name, wd):
            self._report(self._fill(folder))

    def _look_at_roots(self) -> None:
        for root in list(self._roots):
            if root in self._roots:  # one root may turn out to be below another
                self._look_at_root(root)

    def _look_at_root(self, root: str) -> None:
        """No event says that a root, or a folder above it, was moved or is back: the kernel is asked."""
        if known := self._roots[root]:
            if known.wd == self._watch(root, _ROOT):
                return
            self._close_root(root, known)
        if folder := self._open_root(root):
            self._report(self._fill(folder))

    def _look_at_unreadable(self) -> None:
        paths, self._unreadable = self._unreadable, set()
        for path in paths - self._roots.keys():
            above, _, name = path.rpartition(os.sep)
            if parent := self._find(above or os.sep):
                self._forget_moved(parent, name)
                self._look_at_folder(parent, name)

    def _look_at_links(self) -> None:
        """No event for the target of a symlink names the link: the target is compared."""
        for path, (folder, name, before) in list(self._links.items()):
            if link_target(path) != before:
                self._look_at_file(folder, name)

    def _is_file(self, folder: _Folder, name: str) -> bool:
        """Whether the name is a file, or a symlink to one."""
        path = folder.prefix + name
        if self._links:
            self._links.pop(path, None)
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return False
        return self._is_link_to_file(folder, name) if S_ISLNK(mode) else S_ISREG(mode)

    def _is_link_to_file(self, folder: _Folder, name: str) -> bool:
        path = folder.prefix + name
        signed = link_target(path)
        self._links[path] = (folder, name, signed)  # in any case: it may lead to a file later
        return signed is not None

    def _report(self, files: Iterable[tuple[_Folder, str]]) -> None:
        for folder, name in files:
            self._ledger.appeared(folder.prefix + name)

    # --- the tree ----------------------------------------------------------------------------------

    def _open_root(self, root: str) -> _Folder | None:
        """The root as a new, unread folder of the tree, or None if it is not there."""
        if (wd := self._watch(root, _ROOT)) is None:
            return None
        folder = self._roots[root] = self._register(root, wd)
        return folder

    def _close_root(self, root: str, folder: _Folder) -> None:
        self._roots[root] = None
        self._forget(folder)
        self._ledger.note(f"{root} was moved or deleted")

    def _forget_moved(self, folder: _Folder, name: str) -> None:
        """Forget what was known of a folder that was moved, `folder` itself if it is a root and has no name.

        Also if it is back by now: while it was away, something in it may have been looked for in vain.
        """
        if name:
            if known := folder.names.get(name):
                del folder.names[name]
                self._forget(known)
            return
        for root, top in self._roots.items():
            if top is folder:
                self._close_root(root, folder)

    def _enter(self, parent: _Folder, name: str, wd: int) -> _Folder | None:
        """The folder as a new, unread one of the tree, or None if it was a root: then it has been read."""
        path = parent.prefix + name
        if inner_root := self._roots.pop(path, None):
            if inner_root.wd == wd:
                parent.names[name] = inner_root
                return None
            self._forget(inner_root)
        folder = parent.names[name] = self._register(path, wd)
        return folder

    def _fill(self, folder: _Folder) -> Iterator[tuple[_Folder, str]]:
        """Read what is below a new folder into the tree; each file, with the folder that has it.

        Each folder is watched before it is read, so that nothing can come in between.
        """
        stack = [folder]
        while stack:
            folder = stack.pop()
            for entry in entries(folder.path, self._unreadable):
                name, kind = entry.name, entry_kind(entry)
                if kind == "folder":
                    if name in self._ignored or (wd := self._watch(entry.path, _FOLDER)) is None:
                        continue
                    if inner := self._enter(folder, name, wd):
                        stack.append(inner)
                elif kind == "file" or (kind == "link" and self._is_link_to_file(folder, name)):
                    folder.names[name] = None
                    yield folder, name

    def _forget(self, folder: _Folder) -> None:
        """Report all files below a folder as gone, and watch it no more."""
        stack = [folder]
        while stack:
            inner = stack.pop()
            for name, child in inner.names.items():
                if child:
                    stack.append(child)
                else:
                    self._ledger.vanished(inner.prefix + name)
            self._unregister(inner)
        for path in [path for path in self._links if path.startswith(folder.prefix)]:
            del self._links[path]

    def _start_over(self) -> None:
        """Read the disk anew after events were lost: each file that was known and is still there changed."""
        before, self._by_wd = self._by_wd, {}
        for root in self._roots:
            for path in _files(self._roots[root]):
                self._ledger.vanished(path)
            self._roots[root] = None
        self._links.clear()
        self._look_at_roots()
        for wd in before.keys() - self._by_wd.keys():
            self._unwatch(wd)
        self._ledger.note("the kernel lost events (too many at once, or an unmount): every file counts as changed")

    def _find(self, path: str) -> _Folder | None:
        """The folder of the tree at `path`."""
        for root, top in self._roots.items():
            if top and path == root:
                return top
            if top and path.startswith(top.prefix):
                folder: _Folder | None = top
                for name in path[len(top.prefix) :].split(os.sep):  # noqa: PTH206 (surrogates and speed)
                    folder = folder.names.get(name) if folder else None
                if folder:
                    return folder
        return None

    # --- watch descriptors -------------------------------------------------------------------------

    def _watch(self, path: str, mask: int) -> int | None:
        """The wd of the folder at `path`, or None if there is none. The same folder always has the same one.

        Raises:
            EventsLostError: the kernel gives no more watches.
        """
        try:
            return int(self._inotify.add_watch(path, mask))
        except OSError as error:
            if error.errno in _RAN_OUT:
                raise _events_lost(error) from error
            if error.errno not in _NOT_THERE:
                self._unreadable.add(path)
            return None

    def _register(self, path: str, wd: int) -> _Folder:
        folder = _Folder(path, wd)
        self._by_wd[wd] = (*self._by_wd.get(wd, ()), folder)
        return folder

    def _unregister(self, folder: _Folder) -> None:
        others = tuple(other for other in self._by_wd.get(folder.wd, ()) if other is not folder)
        if others:
            self._by_wd[folder.wd] = others
        elif self._by_wd.pop(folder.wd, None):
            self._unwatch(folder.wd)

    def _unwatch(self, wd: int) -> None:
        with suppress(OSError):  # a deleted folder took its watch along
            self._inotify.rm_watch(wd)


def _files(folder: _Folder | None) -> Iterator[str]:
    """The files below a folder."""
    stack = [folder] if folder else []
    while stack:
        inner = stack.pop()
        for name, child in list(inner.names.items()):
            if child:
                stack.append(child)
            else:
                yield inner.prefix + name


def _events_lost(error: OSError) -> EventsLostError:
    return EventsLostError(_RAN_OUT.get(error.errno or 0, str(error)))
