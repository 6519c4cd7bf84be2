"""`SentinelMethod` watches through `watchfiles`, the portable way.

Its events come late, so before each question a file, the sentinel, is created in a private folder that the same watcher
watches. Events keep their order: when the sentinel's own event arrives, all earlier ones have. Events only say where to
look. A named file is compared with a `Snapshot`; a folder, or more than a few names, cause a scan.

The order is certain: all folders share one queue (Linux) or stream (macOS). On Linux, where inotify is preferred,
watchfiles also follows symlinks, and confuses their target folders with the links.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISDIR
from tempfile import TemporaryDirectory

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from lsp_mcp.disk.changes import Ledger
from lsp_mcp.disk.extent import Extent
from lsp_mcp.disk.method import lasting_note
from lsp_mcp.disk.snapshot import Snapshot

_BOUND = 1.0  # seconds to wait for the sentinel's event
_STEP_MS = 1  # how often watchfiles checks for events in the meantime
# watchfiles 1.3 does not report when the operating system lost events. That takes a burst, so a burst is answered by a
# scan.
_BURST = 64
_ADDED, _MODIFIED, _DELETED = 1, 2, 3  # watchfiles.Change

_Event = tuple[int, str]


class SentinelMethod:
    """Watches by events that come late: `collect` waits for them, at most 1 s, else scans from then on."""

    def __init__(self, ledger: Ledger, extent: Extent) -> None:
        self._ledger = ledger
        self._extent = extent
        self._snapshot = Snapshot(ledger, extent)
        self._roots: dict[str, tuple[int, int] | None] = {}  # device and inode; None if it is missing
        self._real: dict[str, str] = {}  # the existing roots, with their resolved paths, which events use
        self._sentinels = TemporaryDirectory(prefix="lsp-mcp-")
        self._private = Path(self._sentinels.name).resolve()
        self._questions = 0
        self._watcher: RustNotify | None = None
        self._reason: str | None = None
        self._doubt = False  # whether events may have been lost since the last question

    def add_root(self, root: str) -> None:
        """See `Method`."""
        if root not in self._snapshot.folders:
            self._roots[root] = None
            self._arm()
            self._snapshot.learn(root)

    def collect(self) -> None:
        """See `Method`."""
        events = self._events()
        folders = any(self._is_folder(kind, path) for kind, path in events)
        if self._doubt or folders or len(events) > _BURST:
            # On Linux a new folder is watched only after its event: the next scan finds earlier changes in it.
            self._doubt = folders or self._watcher is None
            self._snapshot.scan(self._roots, {path for _, path in events})
            return
        for _, path in events:
            self._snapshot.look(path)
        self._snapshot.look_at_links()

    def files(self) -> Iterable[str]:
        """See `Method`."""
        return list(self._snapshot.files)

    def links(self) -> Iterable[str]:
        """See `Method`."""
        return self._snapshot.links()

    def note(self) -> str | None:
        """See `Method`."""
        missing = [root for root, identity in self._roots.items() if identity is None]
        return lasting_note(self._reason, missing, self._snapshot.unreadable, self._extent.left_out())

    def close(self) -> None:
        """See `Method`."""
        if self._watcher:
            self._watcher.close()
        self._watcher = None
        self._sentinels.cleanup()

    # --- events ------------------------------------------------------------------------------------

    def _events(self) -> set[_Event]:
        """The events below the roots, with paths as the roots were given; empty if anything may be missing."""
        if any(_identity(root) != known for root, known in self._roots.items()):
            self._arm()
        if not self._watcher:
            return set()
        try:
            events = self._sync(self._watcher)
        except (OSError, WatchfilesRustInternalError) as error:
            self._give_up(str(error))
            return set()
        if any(kind == _DELETED and path in self._roots for kind, path in events):
            self._arm()  # another folder is now at the root's path
        return events

    def _arm(self) -> None:
        """Watch the existing roots. Pending events of an earlier watcher are left to a scan."""
        for root, known in self._roots.items():
            self._roots[root] = _identity(root)
            if known and known != self._roots[root]:
                self._ledger.note(f"{root} was moved or deleted")
        self._real = {root: str(Path(root).resolve()) for root, identity in self._roots.items() if identity is not None}
        if self._reason:
            return
        if self._watcher:
            self._watcher.close()
            self._doubt = True
        try:
            self._watcher = RustNotify([*set(self._real.values()), str(self._private)], False, False, 0, True, False)
        except (OSError, WatchfilesRustInternalError) as error:
            self._give_up(str(error))

    def _sync(self, watcher: RustNotify) -> set[_Event]:
        """All events before this call.

        Raises:
            TimeoutError: the sentinel's event did not come in time.
            WatchfilesRustInternalError: the watcher failed, as it does at names that are not UTF-8.
        """
        self._questions += 1
        sentinel = self._private / str(self._questions)
        sentinel.touch()
        deadline = time.monotonic() + _BOUND
        events: set[_Event] = set()
        while (_ADDED, str(sentinel)) not in events:
            left_ms = int((deadline - time.monotonic()) * 1000)
            found = watcher.watch(0, _STEP_MS, left_ms, None) if left_ms > 0 else "timeout"
            if found == "signal":
                self._doubt = True
                raise KeyboardInterrupt
            if isinstance(found, str):
                raise TimeoutError("no events arrived")
            events |= found
        sentinel.unlink()
        return {(kind, path) for kind, real in events for path in self._as_given(real)}

    def _give_up(self, reason: str) -> None:
        """Scan from now on; the snapshot contains everything that a scan needs to be exact."""
        self._watcher = None
        self._doubt = True
        self._reason = f"watching by scan: {reason}"

    def _as_given(self, real: str) -> list[str]:
        """The path below each root that contains it, as that was given, except in ignored folders."""
        path = Path(real)
        if path.is_relative_to(self._private):
            return []
        roots = [root for root, real_root in self._real.items() if path.is_relative_to(real_root)]
        if not roots:
            self._doubt = True  # a root has another path for the system, such as in other letter case
        below = {root: path.relative_to(self._real[root]) for root in roots}
        return [str(Path(root) / rest) for root, rest in below.items() if self._extent.has_name(rest.parts[:-1])]

    def _is_folder(self, kind: int, path: str) -> bool:
        """Whether an event reports that a folder appeared or disappeared."""
        folders = self._snapshot.folders
        if path in folders:
            return kind != _MODIFIED
        above, _, name = path.rpartition(os.sep)
        if (above or os.sep) not in folders:
            return True
        return self._extent.has(path, name) and _is_real_folder(path)


def _identity(root: str) -> tuple[int, int] | None:
    """The device and inode of the folder `root`, or None if there is none."""
    try:
        status = Path(root).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if S_ISDIR(status.st_mode) else None


def _is_real_folder(path: str) -> bool:
    try:
        return S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
