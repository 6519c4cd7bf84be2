"""The extent of a workspace: `Extent` says which folders belong to it, and stops the walk of one too large."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lsp_mcp.disk.mounts import mounts_below

# Roots and file systems without sources, even if they are named.
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
    """There is more below a root than may be read; the message says how much."""


class Extent:
    """Which folders belong to the workspace. Shared by all methods of a `Watch`; counts entries.

    A workspace stays on the file system of its root: mounts below it are left out.
    """

    def __init__(self, ignored: Collection[str] = (), most_files: int | None = None) -> None:
        """`ignored` are names of folders, NAME/FILE if with that file only; more than `most_files` are too many."""
        self._ignored = frozenset(name for name in ignored if "/" not in name)
        self._with_file = dict(name.split("/", 1) for name in ignored if "/" in name)
        self._most_files = most_files
        self._mounts: dict[str, str] = {}  # paths of folders that are other file systems, and their types
        self._ended = False
        self.files = 0  # entries read so far, including folders

    def add_root(self, root: str) -> None:
        """A folder that belongs to it, whatever its name."""
        self._mounts.update(mounts_below(root))
        self._mounts.pop(root, None)

    def has(self, path: str, name: str) -> bool:
        """Whether the folder `name` at `path`, inside a folder of the workspace, belongs to it."""
        if name in self._ignored or path in self._mounts:
            return False
        mark = self._with_file.get(name)
        return mark is None or not Path(path, mark).exists()

    def has_name(self, names: Collection[str]) -> bool:
        """Whether none of these `names` is an ignored folder."""
        return self._ignored.isdisjoint(names)

    def read(self, count: int) -> None:
        """Count the entries of a folder.

        Raises:
            TooLargeError: there are too many, or the walk was cancelled.
        """
        self.files += count
        if self._ended:
            raise TooLargeError("ended")
        if self._most_files is not None and self.files > self._most_files:
            raise TooLargeError(f"more than {self._most_files:,} files")

    def begin(self) -> None:
        """Start counting: the roots are about to be read."""
        self.files = 0

    def known(self) -> None:
        """Stop counting: all roots were read."""
        self._most_files = None

    def end(self) -> None:
        """Stop a walk in another thread."""
        self._ended = True

    def left_out(self) -> list[str]:
        """The folders on other file systems that may contain sources."""
        return sorted(path for path, type_ in self._mounts.items() if type_ not in _NO_FILES and Path(path).is_dir())
