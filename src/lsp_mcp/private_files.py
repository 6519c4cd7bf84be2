"""Files and folders that only their user may read, whatever the umask: 0700 folders, 0600 files.

What exists already and is this user's loses the rights of others. Folders that somebody else named, as of `--store`,
are created so but never changed: they may be shared on purpose, or `/tmp`.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_FOLDER, _FILE = 0o700, 0o600
_OTHERS = 0o077


def private_folder(path: Path) -> Path:
    """`path`, a folder that is ours by its name; it is made, with those above it, or tightened.

    Raises:
        OSError: it cannot be made.
    """
    make_private_folder(path)
    _tighten(path)
    return path


def make_private_folder(path: Path) -> None:
    """Make the folder `path`, and those above it, if there is none; one that exists stays as it is. Raises OSError."""
    try:
        path.mkdir(_FOLDER, exist_ok=True)
    except FileNotFoundError:
        make_private_folder(path.parent)
        path.mkdir(_FOLDER, exist_ok=True)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of the file `path`, which is made if there is none and `flags` have `O_CREAT`, or tightened.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC, _FILE)
    try:
        _tighten(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_private_file(path: Path) -> None:
    """Make sure that `path` is there and is private, without reading or changing it. Raises OSError."""
    if not path.exists():
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    tighten_file(path)


def tighten_file(path: Path) -> None:
    """Take the rights of others away, if `path` is there and is ours."""
    with contextlib.suppress(FileNotFoundError):
        _tighten(path)


def write_private(path: Path, content: bytes) -> None:
    """Replace the file at once: another program may read it at any time. Raises OSError."""
    with replacing_private(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing_private(path: Path) -> Iterator[BinaryIO]:
    """A new file to be written, which takes the place of `path` at once when all is done. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        yield file
    draft.replace(path)


def _tighten(path: Path | int) -> None:
    found = os.stat(path)  # noqa: PTH116 (of a descriptor as well)
    if found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
        os.chmod(path, stat.S_IMODE(found.st_mode) & ~_OTHERS)  # noqa: PTH101
