"""`InotifyMethod` reads the Linux kernel's event queue directly before the question.

The kernel queues an event inside the writer's system call, so one read returns everything that came before it. An event
is only a hint that something happened to a name; its present state is read from the disk. So events may come late,
twice, or in the wrong order without harm.

A write through a memory map shows when the file is unmapped or closed, and for a file with several hard links only
under the name used for writing: the kernel has no other events.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from stat import S_ISLNK, S_ISREG

from inotify_simple import flags

from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.descriptors import Descriptors, Folder
from lsp_mcp.disk.entries import entries, entry_kind, link_target
from lsp_mcp.disk.extent import Extent
from lsp_mcp.disk.method import lasting_note

_IS_FOLDER = int(flags.ISDIR)
_MOVED = int(flags.MOVED_FROM | flags.MOVED_TO | flags.MOVE_SELF)
_LOST = int(flags.Q_OVERFLOW | flags.UNMOUNT)


class InotifyMethod:
    """Watches by events. See `Method`.

    Raises:
        EventsLostError: there is no inotify available.
    """

    def __init__(self, ledger: Ledger, extent: Extent) -> None:
        self._ledger = ledger
        self._extent = extent
        self._descriptors = Descriptors()
        self._roots: dict[str, Folder | None] = {}  # None if it is missing
        self._links: dict[str, tuple[Folder, str, int | None]] = {}  # with the signatures of their targets

    # --- Method ------------------------------------------------------------------------------------

    def add_root(self, root: str) -> None:
        """See `Method`."""
        if self._find(root):
            return
        self.collect()  # events below a root that the new one will contain must not be lost
        self._roots[root] = None
        if folder := self._open_root(root):
            deque(self._fill(folder), maxlen=0)

    def collect(self) -> None:
        """See `Method`."""
        self.drain()
        self._look_at_roots()
        if self._descriptors.unreadable:
            self._look_at_unreadable()
        if self._links:
            self._look_at_links()

    def drain(self) -> None:
        """Report the events in the kernel's queue, and empty it. Raises the errors of `collect`."""
        touched: dict[tuple[int, str, int], int] = {}
        for wd, mask, _, name in self._descriptors.events():
            if mask & _LOST and self._roots:  # there are none after a release
                self._start_over()
                return
            key = (wd, name, mask & _IS_FOLDER)
            touched[key] = touched.get(key, 0) | mask
        for (wd, name, is_folder), mask in touched.items():
            for folder in self._descriptors.folders(wd):
                if mask & _MOVED and is_folder:
                    self._forget_moved(folder, name)
                if name:
                    (self._look_at_folder if is_folder else self._look_at_file)(folder, name)

    def fileno(self) -> int:
        """The descriptor that is readable when the queue is not empty."""
        return self._descriptors.fileno()

    def files(self) -> Iterator[str]:
        """See `Method`."""
        for root in list(self._roots.values()):
            yield from _files(root)

    def links(self) -> Iterable[str]:
        """See `Method`."""
        return list(self._links)

    def note(self) -> str | None:
        """See `Method`."""
        missing = [root for root, folder in self._roots.items() if not folder]
        left_out = self._extent.left_out()
        if not missing and not left_out and not self._descriptors.unreadable:
            return None
        return lasting_note(None, missing, self._descriptors.unreadable, left_out)

    def release(self) -> None:
        """Stop watching. The descriptor stays open, for tasks that still wait for it."""
        self._descriptors.unwatch(self._descriptors.leave_all())
        self._roots.clear()

    def close(self) -> None:
        """See `Method`."""
        self._descriptors.close()

    # --- what became of a name ---------------------------------------------------------------------

    def _look_at_file(self, folder: Folder, name: str) -> None:
        if folder.names.get(name):
            self._look_at_folder(folder, name)  # its own event may follow later in the queue
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

    def _look_at_folder(self, parent: Folder, name: str) -> None:
        path = parent.prefix + name
        if not self._extent.has(path, name):
            return
        wd = self._descriptors.watch(path)
        if known := parent.names.get(name):
            if known.wd == wd:
                return  # it is at its place, and its own events report the rest
            del parent.names[name]
            self._forget(known)
        if wd is None:
            return
        if name in parent.names:  # as a file, whose own event may follow later in the queue
            self._links.pop(path, None)
            self._ledger.vanished(path)
        if folder := self._enter(parent, name, wd):
            self._report(self._fill(folder))

    def _look_at_roots(self) -> None:
        for root in list(self._roots):
            if root in self._roots:  # one root may turn out to be below another
                self._look_at_root(root)

    def _look_at_root(self, root: str) -> None:
        """No event reports that a root, or a folder above it, was moved or is back: the kernel is asked."""
        if known := self._roots[root]:
            if known.wd == self._descriptors.watch_root(root):
                return
            self._close_root(root, known)
        if folder := self._open_root(root):
            self._report(self._fill(folder))

    def _look_at_unreadable(self) -> None:
        paths, self._descriptors.unreadable = self._descriptors.unreadable, set()
        for path in paths - self._roots.keys():
            above, _, name = path.rpartition(os.sep)
            if parent := self._find(above or os.sep):
                self._forget_moved(parent, name)
                self._look_at_folder(parent, name)

    def _look_at_links(self) -> None:
        """Events for the target of a symlink don't name the link: the target is compared."""
        for path, (folder, name, before) in list(self._links.items()):
            if link_target(path) != before:
                self._look_at_file(folder, name)

    def _is_file(self, folder: Folder, name: str) -> bool:
        """Whether the name is a file, or a symlink to one."""
        path = folder.prefix + name
        if self._links:
            self._links.pop(path, None)
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return False
        return self._is_link_to_file(folder, name) if S_ISLNK(mode) else S_ISREG(mode)

    def _is_link_to_file(self, folder: Folder, name: str) -> bool:
        path = folder.prefix + name
        signed = link_target(path)
        self._links[path] = (folder, name, signed)  # in any case: its target may be a file later
        return signed is not None

    def _report(self, files: Iterable[tuple[Folder, str]]) -> None:
        for folder, name in files:
            self._ledger.appeared(folder.prefix + name)

    # --- the tree ----------------------------------------------------------------------------------

    def _open_root(self, root: str) -> Folder | None:
        """The root as a new, unread folder of the tree, or None if it is missing."""
        if (wd := self._descriptors.watch_root(root)) is None:
            return None
        folder = self._roots[root] = self._descriptors.enter(root, wd)
        return folder

    def _close_root(self, root: str, folder: Folder) -> None:
        self._roots[root] = None
        self._forget(folder)
        self._ledger.note(f"{root} was moved or deleted")

    def _forget_moved(self, folder: Folder, name: str) -> None:
        """Forget the contents of a moved folder, `folder` itself if it is a root and has no name.

        Even if it is back by now: while it was away, lookups in it may have failed.
        """
        if name:
            if known := folder.names.get(name):
                del folder.names[name]
                self._forget(known)
            return
        for root, top in self._roots.items():
            if top is folder:
                self._close_root(root, folder)

    def _enter(self, parent: Folder, name: str, wd: int) -> Folder | None:
        """Add a folder, for the caller to read; None if it was a root of its own, read before."""
        path = parent.prefix + name
        if inner_root := self._roots.pop(path, None):
            if inner_root.wd == wd:
                parent.names[name] = inner_root
                return None
            self._forget(inner_root)
        folder = parent.names[name] = self._descriptors.enter(path, wd)
        return folder

    def _fill(self, folder: Folder) -> Iterator[tuple[Folder, str]]:
        """Read the contents of a new folder into the tree; returns each file with its folder.

        Each folder is watched before it is read, so that no change in between is lost.
        """
        stack = [folder]
        while stack:
            folder = stack.pop()
            found = entries(folder.path, self._descriptors.unreadable)
            self._extent.read(len(found))
            for entry in found:
                name, kind = entry.name, entry_kind(entry)
                if kind == "folder":
                    if not self._extent.has(entry.path, name) or (wd := self._descriptors.watch(entry.path)) is None:
                        continue
                    if inner := self._enter(folder, name, wd):
                        stack.append(inner)
                elif kind == "file" or (kind == "link" and self._is_link_to_file(folder, name)):
                    folder.names[name] = None
                    yield folder, name

    def _forget(self, folder: Folder) -> None:
        """Report all files below a folder as deleted, and stop watching it."""
        stack = [folder]
        while stack:
            inner = stack.pop()
            for name, child in inner.names.items():
                if child:
                    stack.append(child)
                else:
                    self._ledger.vanished(inner.prefix + name)
            self._descriptors.leave(inner)
        for path in [path for path in self._links if path.startswith(folder.prefix)]:
            del self._links[path]

    def _start_over(self) -> None:
        """Read the disk again after events were lost: each known file that still exists counts as changed."""
        for root in self._roots:
            for path in _files(self._roots[root]):
                self._ledger.vanished(path)
            self._roots[root] = None
        self._links.clear()
        # The kernel sends an event for each released watch: releasing all could overflow its queue again.
        watched = self._descriptors.leave_all()
        self._look_at_roots()
        self._descriptors.unwatch(watched)
        self._ledger.note("the kernel lost events (too many at once, or an unmount): every file counts as changed")

    def _find(self, path: str) -> Folder | None:
        """The folder of the tree at `path`."""
        for root, top in self._roots.items():
            if top and path == root:
                return top
            if top and path.startswith(top.prefix):
                folder: Folder | None = top
                for name in path[len(top.prefix) :].split(os.sep):  # noqa: PTH206 (surrogates and speed)
                    folder = folder.names.get(name) if folder else None
                if folder:
                    return folder
        return None


def _files(folder: Folder | None) -> Iterator[str]:
    """The files below a folder."""
    stack = [folder] if folder else []
    while stack:
        inner = stack.pop()
        for name, child in list(inner.names.items()):
            if child:
                stack.append(child)
            else:
                yield inner.prefix + name
