"""The texts of files: `Files` reads, checks and caches them."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lsp_mcp.errors import PathError
from lsp_mcp.remembered import Remembered
from lsp_mcp.text import Text

MAX_SIZE = 64 * 1024 * 1024  # bytes
MAX_LINE = 1_000_000  # characters; a longer line is data, not source, and too long for any answer
_REMEMBERED = 64 * 1024 * 1024  # bytes of cached text
_BACKDATED = 1.0  # seconds between mtime and ctime; a rename after writing takes less
_RACY = 0.05  # seconds: a file written this shortly before it was read may change unnoticed (coarse mtime)


class Signature(NamedTuple):
    """The state of a file's content by `stat`: equal signatures mean equal content, except for racy writes."""

    size: int  # bytes
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def read(cls, path: Path | str) -> Signature | None:
        """The signature of `path`, links followed; None if there is no such regular file."""
        try:
            status = os.stat(path)  # noqa: PTH116 (half the time of the other way, for each file of an answer)
        except (OSError, ValueError):  # an impossible file name
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Files:
    """Reads source files, and caches texts until their file changes (64 MiB, least recently used)."""

    def __init__(self) -> None:
        self._texts: Remembered[Path, Signature, Text] = Remembered(_REMEMBERED)

    def text(self, path: Path) -> Text:
        """The present content of `path` on disk.

        Raises:
            PathError: it is missing, not a regular file, over 64 MiB, binary, not UTF-8, or one of its lines has over
                1,000,000 characters.
        """
        signature = Signature.read(path)
        if signature is None:
            raise PathError(f"{path} is gone, or is not a regular file")
        if (known := self._texts.get(path, signature)) is not None:
            return known
        text = read_text(path, signature.size)
        self._texts.forget(path)
        if time.time_ns() - signature.mtime_ns > _RACY * 1e9:
            self._texts.put(path, signature, text, signature.size)
        return text

    def forget(self, paths: Iterable[Path]) -> None:
        """Read `paths` again next time: there were events about them."""
        for path in paths:
            self._texts.forget(path)


def is_backdated(path: Path) -> bool:
    """Whether the modification time of `path` was set explicitly, so that it says nothing about when it was written."""
    signature = Signature.read(path)
    return signature is not None and abs(signature.ctime_ns - signature.mtime_ns) > _BACKDATED * 1e9


def content(path: str | Path) -> bytes:
    """The bytes of the regular file `path`; nothing else is opened, since reading might never end.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    # Not a Path: for thousands of files that would cost as much as reading them.
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
        raise OSError(errno.EINVAL, "not a regular file")
    # Non-blocking: a former file may be a pipe now.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def content_or_nothing(path: str | Path) -> bytes:
    """As `content`; empty if it was deleted since it was listed, or cannot be read."""
    try:
        return content(path)
    except OSError:
        return b""


def read_text(path: Path, size: int) -> Text:
    """The checked content of a regular file of `size` bytes; raises the errors of `Files.text`."""
    if size > MAX_SIZE:
        raise PathError(f"{path} has {size:,} bytes; files over {MAX_SIZE:,} bytes are not read")
    try:
        raw = content(path)
    except OSError as error:
        raise PathError(f"{path} cannot be read: {error.strerror}") from None
    if b"\0" in raw:
        raise PathError(f"{path} is a binary file (NUL at byte {raw.index(0):,}); pass a source file")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PathError(
            f"{path} is not UTF-8 (byte {error.start:,}); convert it, for example with iconv -t utf-8"
        ) from None
    if len(text) > MAX_LINE and (longest := max(map(len, text.split("\n")))) > MAX_LINE:
        raise PathError(f"{path} has a line of {longest:,} characters; files with lines over {MAX_LINE:,} are not read")
    return Text(text)
