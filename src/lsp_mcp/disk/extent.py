"""How far a workspace reaches: `Extent` says which folders are part of it, and ends the walk of one too large."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.disk.mounts import mounts_below

# Roots and file systems that hold no sources, even if they are named.
_NO_FILES = frozenset(
    [
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "hugetlbfs",
        "mqueue",
        "nsfs",
        "proc",
        "pstore",
        "rpc_pipefs",
        "securityfs",
        "selinuxfs",
        "sysfs",
        "tracefs",
    ]
)


class TooLargeError(Exception):
    """There is more below a root than may be read; its text says how much."""


class Extent:
    """Which folders belong to the workspace. One for all methods of a `Watch`; counts what was read.

    A workspace stays on the file system of its root: what is mounted below it is left out.
    """

    def __init__(self, ignored: Collection[str] = (), most_files: int | None = None) -> None:
        """`ignored` are names of folders; more than `most_files` are too many."""
        self._ignored = frozenset(ignored)
        self._most_files = most_files
        self._mounts: dict[str, str] = {}  # paths of folders that are other file systems, and their types
        self._ended = False
        self.files = 0  # that were read until now, folders among them

    def add_root(self, root: str) -> None:
        """A folder that is part of it, whatever its name."""
        self._mounts.update(mounts_below(root))
        self._mounts.pop(root, None)

    def has(self, path: str, name: str) -> bool:
        """Whether the folder `name` at `path`, which is in a folder of it, belongs to it."""
        return name not in self._ignored and path not in self._mounts

    def has_name(self, names: Collection[str]) -> bool:
        """Whether no folder of these `names` is an ignored one."""
        return self._ignored.isdisjoint(names)

    def read(self, count: int) -> None:
        """So many entries of a folder were read.

        Raises:
            TooLargeError: they are too many by now, or nobody wants them any more.
        """
        self.files += count
        if self._ended:
            raise TooLargeError("ended")
        if self._most_files is not None and self.files > self._most_files:
            raise TooLargeError(f"more than {self._most_files:,} files")

    def begin(self) -> None:
        """The roots are about to be read."""
        self.files = 0

    def known(self) -> None:
        """All roots were read: what comes now is not counted."""
        self._most_files = None

    def end(self) -> None:
        """Make a walk in another thread stop."""
        self._ended = True

    def left_out(self) -> list[str]:
        """The folders that are other file systems and may have sources."""
        return sorted(path for path, type_ in self._mounts.items() if type_ not in _NO_FILES and Path(path).is_dir())
