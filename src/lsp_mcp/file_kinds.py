"""What tells a file's language: its extension, its name, or the `#!` line of a script: `kind_of`.

A kind is written `.py`, `Makefile`, `Dockerfile.*` (any extension) or `#!bash`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container
from functools import lru_cache
from stat import S_ISREG

SCRIPT = "#!"  # begins the kind of a script
_FIRST_LINE = re.compile(rb"#!\s*\S*?([\w.+-]+)(?:[ \t]+(.*))?(?:\r?\n|\Z)")
_AFTER_ENV = re.compile(rb"(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?([\w.+-]+)")  # env -S NAME=value python3
_VERSION = re.compile(r"(?<=[^\d.])[\d.]+$")
_READ = 200  # bytes of a first line


def kind_of(path: str | os.PathLike[str], known: Container[str], *, reads: bool = True) -> str | None:
    """The kind of `path` among those `known`; None if it has none of them.

    With `reads`, the first line of a file without an extension is read if it has no other kind.
    """
    name = os.path.basename(path)  # noqa: PTH119 (a Path for each of 50,000 files takes a second)
    stem, extension = os.path.splitext(name)  # noqa: PTH122
    for kind in (extension, name, extension.lower()):
        if kind and kind in known:
            return kind
    if extension:
        kind = f"{stem.partition('.')[0]}.*"
        return kind if kind in known else None
    script = reads and not name.startswith(".") and interpreter(os.fspath(path))
    return kind if script and (kind := f"{SCRIPT}{script}") in known else None


def interpreter(path: str) -> str:
    """The program that the first line of the script `path` names, without its version; empty if it has no such line."""
    try:
        state = os.stat(path)  # noqa: PTH116 (a Path costs more than the system call)
    except (OSError, ValueError):
        return ""
    if not S_ISREG(state.st_mode) or not state.st_size:
        return ""  # reading a pipe may never end
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(16_384)
def _read(path: str, mtime: int, size: int) -> str:
    # It is remembered for the file's state.
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        line = os.read(file, _READ)
    except OSError:
        return ""
    finally:
        os.close(file)
    found = _FIRST_LINE.match(line)
    if found and found[1] == b"env" and found[2]:
        found = _AFTER_ENV.match(found[2])
    return _VERSION.sub("", found[1].decode("ascii")) if found else ""
