"""Files and folders that only their user may read, whatever the umask: 0700 folders, 0600 files.

Existing ones of this user are made private. Folders that the user named, as with `--store`, are created private but
never changed: they may be shared on purpose, or be `/tmp`.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

_FOLDER, _FILE = 0o700, 0o600
_OTHERS = 0o077


def private_folder(path: Path) -> Path:
    """Create `path`, a folder of this program, and its parents; an existing one is made private.

    Raises:
        OSError: it cannot be created.
    """
    make_private_folder(path)
    _tighten(path)
    return path


def make_private_folder(path: Path) -> None:
    """Create the folder `path` and its parents if it does not exist; an existing one stays as it is. Raises OSError."""
    try:
        path.mkdir(_FOLDER, exist_ok=True)
    except FileNotFoundError:
        make_private_folder(path.parent)
        path.mkdir(_FOLDER, exist_ok=True)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of the file `path`: created if it is missing and `flags` have `O_CREAT`, else made private.

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
    """Make sure that `path` exists and is private, without reading or changing its content. Raises OSError."""
    if not path.exists():
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    tighten_file(path)


def tighten_file(path: Path) -> None:
    """Remove other users' permissions, if `path` exists and belongs to this user."""
    with contextlib.suppress(FileNotFoundError):
        _tighten(path)


def write_private(path: Path, content: bytes) -> None:
    """Replace the file atomically: another program may read it at any time. Raises OSError."""
    with replacing_private(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing_private(path: Path) -> Iterator[BinaryIO]:
    """A new file to write to, which atomically replaces `path` at the end; an error removes it. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")  # containers that share it have equal process ids
    try:
        with os.fdopen(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _tighten(path: Path | int) -> None:
    found = os.stat(path)  # noqa: PTH116 (of a descriptor as well)
    if found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
        os.chmod(path, stat.S_IMODE(found.st_mode) & ~_OTHERS)  # noqa: PTH101


def keep_newest(files: Iterable[Path], most: int) -> None:
    """Remove all of `files` but the `most` that were changed last, as far as possible. Raises OSError."""
    for old in sorted(files, key=lambda one: one.stat().st_mtime, reverse=True)[most:]:
        with contextlib.suppress(OSError):
            old.unlink()
