"""The folders for data that can be rebuilt: `cache_folder`, and `checkout_folder` for one workspace."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from lsp_mcp.door import place
from lsp_mcp.private_files import private_folder, write_private

_ROOT = "root.txt"


def cache_folder() -> Path:
    """See `door.place.cache_folder`."""
    return Path(place.cache_folder())


def checkout_folder(root: Path) -> Path:
    """The private cache folder of the checkout `root`. Creating one removes those of deleted checkouts.

    Raises:
        OSError: it cannot be created.
    """
    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    indexes = cache_folder() / "indexes"
    kept = indexes / f"{root.name}-{digest}"
    for ours in (indexes, kept):
        private_folder(ours)
    _claim(kept, root)
    return kept


def checkouts_gone() -> list[Path]:
    """Checkouts with cached data that no longer exist, so that nothing can use it."""
    owners = (cache_folder() / "indexes").glob(f"*/{_ROOT}")
    roots = [Path(os.fsdecode(owner.read_bytes())) for owner in owners]
    return sorted(root for root in roots if not root.exists())


def _claim(place: Path, root: Path) -> None:
    """Record which checkout the folder `place` belongs to; the first time, remove those of deleted checkouts."""
    owner = place / _ROOT
    if owner.exists():
        return
    write_private(owner, os.fsencode(root))
    for other in place.parent.glob(f"*/{_ROOT}"):
        with contextlib.suppress(OSError):  # another process is creating or removing it
            if not os.path.exists(other.read_bytes()):  # noqa: PTH110 (never raises)
                shutil.rmtree(other.parent, ignore_errors=True)
