"""`Snapshot` stores the signatures of files, and reports differences from the disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from stat import S_ISDIR, S_ISLNK, S_ISREG

from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.entries import entries, link_target, signature
from lsp_mcp.disk.extent import Extent


class Snapshot:
    """The files below some folders, each with its signature. Symlinked folders are not followed."""

    def __init__(self, ledger: Ledger, extent: Extent) -> None:
        self._ledger = ledger
        self._extent = extent
        self.files: dict[str, int] = {}
        self.folders: set[str] = set()
        self.unreadable: set[str] = set()
        self._links: set[str] = set()

    def learn(self, root: str) -> None:
        """Record the files below `root`, without a report. Files already known stay as recorded."""
        self.files = {**dict(self._walk(root)), **self.files}

    def scan(self, roots: Iterable[str], touched: Collection[str] = ()) -> None:
        """Walk `roots`, which are all there are, and report every difference.

        A file in `touched` that still exists counts as changed whatever its signature.
        """
        self.folders.clear()
        self.unreadable.clear()
        self._links.clear()
        before, now = self.files, dict(found for root in roots for found in self._walk(root))
        self.files = now
        for path in before.keys() - now.keys():
            self._ledger.vanished(path)
        for path, signed in now.items():
            if path not in before:
                self._ledger.appeared(path)
            elif before[path] != signed or path in touched:
                self._ledger.changed(path)

    def look(self, path: str) -> None:
        """Report the present state of the file at `path`, for which there was an event."""
        if (signed := self._sign(path)) is None:
            if self.files.pop(path, None) is not None:
                self._ledger.vanished(path)
            return
        (self._ledger.changed if path in self.files else self._ledger.appeared)(path)
        self.files[path] = signed

    def links(self) -> list[str]:
        """The symlinks, whatever they lead to."""
        return list(self._links)

    def look_at_links(self) -> None:
        """Report symlinks to files whose target changed; events for a target don't name its links."""
        for path in list(self._links):
            if self._sign(path) != self.files.get(path):
                self.look(path)

    def _sign(self, path: str) -> int | None:
        """The signature of the file at `path`, or None."""
        try:
            status = os.lstat(path)
        except OSError:
            self._links.discard(path)
            return None
        if S_ISLNK(status.st_mode):
            self._links.add(path)
            return link_target(path)
        self._links.discard(path)
        return signature(status) if S_ISREG(status.st_mode) else None

    def _walk(self, root: str) -> Iterator[tuple[str, int]]:
        """The files below `root` with their signatures, except in folders that were walked already."""
        stack = [root]
        while stack:
            folder = stack.pop()
            if folder in self.folders:
                continue
            self.folders.add(folder)
            found = entries(folder, self.unreadable)
            self._extent.read(len(found))
            for entry in found:
                if (signed := self._visit(entry, stack)) is not None:
                    yield entry.path, signed

    def _visit(self, entry: os.DirEntry[str], stack: list[str]) -> int | None:
        """The signature of a file; a folder goes on the stack."""
        try:
            if entry.is_symlink():
                self._links.add(entry.path)
                return link_target(entry.path)
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return None
        if S_ISREG(status.st_mode):
            return signature(status)
        if S_ISDIR(status.st_mode) and self._extent.has(entry.path, entry.name):
            stack.append(entry.path)
        return None
