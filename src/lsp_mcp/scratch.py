"""Folders for the temporary files of language servers, which are gone when those are: `scratch_folder`.

A server that is killed leaves its temporary files: clangd its precompiled headers, megabytes for each open document.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lsp_mcp.door.lock import lock_file
from lsp_mcp.door.place import own_folder

_LOCK = ".lock"
_TRIES = 3  # another process may remove a lock between its making and its taking


@dataclass(frozen=True)
class Scratch:
    """A private `folder`, empty at first; nobody else removes it while `held` locks `lock`."""

    folder: Path
    lock: Path
    held: int

    def remove(self) -> None:
        """Remove it with all that is in it, or leave that to `remove_left`; safe in any thread, once."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if not self.folder.exists():
            self.lock.unlink(missing_ok=True)
        os.close(self.held)


def scratch_folder() -> Scratch | None:
    """A new folder below this user's temporary folder; None if there can be none.

    What a killed process has left is removed in the background when the next one makes its first folder.
    """
    try:
        home = own_folder(str(Path(tempfile.gettempdir()) / f"lsp-mcp-servers-{os.geteuid()}"))
        return _made(Path(home)) if home else None
    except OSError:
        return None


def remove_left(home: Path) -> None:
    """Remove the folders in `home` whose processes are gone: nobody holds their locks."""
    for lock in list(home.glob(f"*{_LOCK}")):
        with contextlib.suppress(OSError):  # it is held, or another process removes it
            if held := lock_file(str(lock), fcntl.LOCK_EX | fcntl.LOCK_NB):
                Scratch(lock.with_suffix(""), lock, held).remove()


def _made(home: Path) -> Scratch | None:
    _begin_removing(home)
    for _ in range(_TRIES):
        folder = home / secrets.token_hex(4)
        lock = folder.with_suffix(_LOCK)
        with contextlib.suppress(BlockingIOError):  # another process is about to remove the lock
            if held := lock_file(str(lock), fcntl.LOCK_EX | fcntl.LOCK_NB):
                folder.mkdir(0o700)
                return Scratch(folder, lock, held)
    return None


@cache
def _begin_removing(home: Path) -> None:
    threading.Thread(target=remove_left, args=(home,), name="remove temporary files", daemon=True).start()
