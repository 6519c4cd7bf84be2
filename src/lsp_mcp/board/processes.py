"""Processes of ours that share a board: their names, and whether one of them has ended."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path


def new_name() -> str:
    """A name for this process that no other has, ever."""
    return f"{_place()} {os.getpid()} {uuid.uuid4().hex[:8]}"


def has_ended(name: str) -> bool:
    """Whether the process of that name has certainly ended; False as well if it is on another machine."""
    place, _, rest = name.rpartition(" ")[0].rpartition(" ")
    if place != _place() or not rest.isdigit():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # another user's
    return False


def _place() -> str:
    """Where the numbers of processes mean the same."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return f"{socket.gethostname()[:60].replace(' ', '-')}{numbers}"
