"""Reading folders and files that may appear or disappear at any time, without raising errors for that."""

from __future__ import annotations

import os
from stat import S_ISREG
from typing import Literal


def entries(folder: str, unreadable: set[str]) -> list[os.DirEntry[str]]:
    """The entries of `folder`; nothing if it is gone. An unreadable one is added to `unreadable`."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        unreadable.add(folder)
        return []


def entry_kind(entry: os.DirEntry[str]) -> Literal["folder", "file", "link", "other"]:
    """The type of an entry itself, symlinks not followed, without a system call on most file systems."""
    try:
        if entry.is_file(follow_symlinks=False):
            return "file"
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        return "link" if entry.is_symlink() else "other"
    except OSError:
        return "other"


def signature(status: os.stat_result) -> int:
    """A number that changes when the file is written or replaced.

    As precise as the file system's clock: Linux before 6.13 doesn't distinguish two writes of the same length within
    one tick (4 ms). A hash because it takes a fifth of the memory of the four numbers.
    """
    return hash((status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns))


def link_target(link: str) -> int | None:
    """The signature of the target of `link`, or None if there is none."""
    try:
        status = os.stat(link)  # noqa: PTH116 (a Path costs more than the system call)
    except OSError:
        return None
    return signature(status) if S_ISREG(status.st_mode) else None
