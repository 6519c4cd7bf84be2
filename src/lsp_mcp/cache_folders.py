"""The folders for data that can be rebuilt: `cache_folder`, and `checkout_folder` for one workspace.

Nothing requires them: without a place to keep it, the data is rebuilt in each session.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lsp_mcp.door import place
from lsp_mcp.private_files import private_folder, write_private

log = logging.getLogger(__name__)

_ROOT = "root.txt"
_MACHINE = "machine.txt"  # the name of the machine or container where the checkout is
_REPLACED = "replaced.txt"  # the deleted checkouts whose caches were removed for this one
_LEAST = 16 * 1024 * 1024  # bytes of room for an index; clangd 22 aborts on a full disk
_BLOCK = 4096  # bytes: less may be stored without room on the disk


def cache_folder() -> Path:
    """See `door.place.cache_folder`."""
    return Path(place.cache_folder())


def machine() -> bytes:
    """The name of this machine or container: others may share the cache and have other checkouts at the same paths."""
    return os.fsencode(os.uname().nodename)


def checkout_folder(root: Path) -> Path:
    """The private cache folder of the checkout `root`. Creating one removes those of checkouts deleted on this machine.

    Raises:
        OSError: it cannot be created.
    """
    kept = _folder_of(root)
    for ours in (kept.parent, kept):
        private_folder(ours)
    _claim(kept, root)
    return kept


def require_room(folder: Path) -> None:
    """Raises OSError: there is too little room on the disk of `folder` for an index."""
    if shutil.disk_usage(folder).free < _LEAST:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def why_not_kept(root: Path) -> str:
    """Why nothing can be kept for the checkout `root`; empty if it can. Creates nothing that stays."""
    place = _folder_of(root)
    while not os.path.lexists(place):
        place = place.parent
    try:
        require_room(place)
        with tempfile.TemporaryFile(dir=place, buffering=0) as file:
            file.write(bytes(_BLOCK))
    except OSError as error:
        return f"{place} cannot be written: {error.strerror}"
    return ""


def checkouts_gone(root: Path) -> list[Path]:
    """Checkouts that no longer exist, so that nothing can use what is cached for them, or was until `root` came."""
    gone = [other for other, _ in _of_deleted(cache_folder() / "indexes")]
    with contextlib.suppress(OSError):
        gone += [Path(os.fsdecode(path)) for path in (_folder_of(root) / _REPLACED).read_bytes().split(b"\0") if path]
    return sorted(set(gone))


def _folder_of(root: Path) -> Path:
    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    return cache_folder() / "indexes" / f"{root.name}-{digest}"


def _claim(place: Path, root: Path) -> None:
    """Record which checkout the folder `place` belongs to; the first time, remove those of deleted checkouts.

    Another container that shares the cache has its own checkouts.
    """
    owner = place / _ROOT
    if owner.exists():
        return
    here = machine()
    write_private(place / _MACHINE, here)
    write_private(owner, os.fsencode(root))
    gone = [one for one in _of_deleted(place.parent) if _content(one[1] / _MACHINE) == here]
    if gone:
        write_private(place / _REPLACED, b"\0".join(os.fsencode(other) for other, _ in gone))
    for other, folder in gone:
        log.info("removing what was kept for %s, which is not there any more", other)
        shutil.rmtree(folder, ignore_errors=True)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _of_deleted(indexes: Path) -> Iterable[tuple[Path, Path]]:
    """The deleted checkouts in the folder `indexes`, with their folders."""
    for owner in indexes.glob(f"*/{_ROOT}"):
        with contextlib.suppress(OSError):  # another process is creating or removing it
            root = owner.read_bytes()
            if not os.path.exists(root):  # noqa: PTH110 (never raises)
                yield Path(os.fsdecode(root)), owner.parent
