"""Reading and writing in one folder, never through links that lead out of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsp_mcp.board.exchange.data import Problem
from lsp_mcp.errors import CallerError

_MOST = 16 * 1024 * 1024  # bytes of a file; a task's history may be long
_TEMPORARY = ".lsp-mcp-*.tmp"


def files(folder: Path, inner: str, suffix: str, left_out: list[Problem]) -> Iterator[tuple[str, Path]]:
    """The files in the folder `inner` of `folder` with that suffix, by their path in `folder`; none if there is none.

    Links, and everything else that is not a file, are `left_out`.
    """
    place = folder
    for part in inner.split("/"):
        place /= part
        if place.is_symlink():
            left_out.append(Problem(inner, "is a link; links are not followed"))
            return
    if not place.is_dir():
        return
    for path in sorted(place.iterdir()):
        name = f"{inner}/{path.name}"
        if not path.name.lower().endswith(suffix) or path.name.startswith("."):
            continue
        if path.is_symlink():
            left_out.append(Problem(name, "is a link; links are not followed"))
        elif not path.is_file():
            left_out.append(Problem(name, "is not a file"))
        else:
            yield name, path


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        CallerError: it cannot be read, is not text or is too large; the message does not name it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise CallerError("is not a file")
            if status.st_size > _MOST:
                raise CallerError(f"has {status.st_size:,} bytes; at most {_MOST:,} are read")
            return file.read(_MOST + 1).decode("utf-8-sig")
    except OSError as error:
        raise CallerError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CallerError("is not UTF-8 text") from None


def write(folder: Path, name: str, text: str) -> None:
    """Write a text to the file `name` of `folder`, completely or not at all; a link there is replaced, not followed.

    Raises:
        CallerError: it would be outside the folder.
        OSError: the system refused.
    """
    path = inside(folder, name)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(_TEMPORARY.replace("*", secrets.token_hex(8)))
    try:
        with temporary.open("xb") as file:
            file.write(text.encode("utf-8"))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def leftovers(folder: Path, inner: Iterable[str]) -> list[Path]:
    """Temporary files of a `write` that was killed, in the folder and those `inner` folders."""
    return [path for place in (folder, *(folder / name for name in inner)) for path in place.glob(_TEMPORARY)]


def inside(folder: Path, name: str) -> Path:
    """The path of the file `name` in `folder`. Raises CallerError if it, or a link on the way, leads out of it."""
    parts = name.split("/")
    if len(parts) > 2 or any(part in ("", ".", "..") or os.sep in part or "\0" in part for part in parts):
        raise CallerError(f"{name!r} is not in {folder}")
    path = folder.joinpath(*parts)
    if path.parent != folder and path.parent.is_symlink():
        raise CallerError(f"{path.parent} is a link; nothing is written through links")
    return path
