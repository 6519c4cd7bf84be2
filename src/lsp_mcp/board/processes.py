"""Processes of ours that share a board: their names, and whether one of them has ended."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path

import psutil


def new_name() -> str:
    """A globally unique name for this process."""
    return f"{_place()} {os.getpid()} {uuid.uuid4().hex[:8]}"


def has_ended(name: str) -> bool:
    """Whether the process of that name has certainly ended; also False if it is on another machine."""
    place, _, number = name.rpartition(" ")[0].rpartition(" ")
    return place == _place() and number.isdigit() and not psutil.pid_exists(int(number))


def _place() -> str:
    """The PID namespace of this process."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return f"{socket.gethostname()[:60].replace(' ', '-')}{numbers}"
