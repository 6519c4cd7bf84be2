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
    number = number_here(name)
    if number is None:
        return False
    try:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE  # its parent has not noticed yet
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


def number_here(name: str) -> int | None:
    """The PID of the process of that name; None if it is on another machine."""
    place, _, number = name.rpartition(" ")[0].rpartition(" ")
    return int(number) if place == _place() and number.isdigit() else None


def _place() -> str:
    """The PID namespace of this process."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return f"{socket.gethostname()[:60].replace(' ', '-')}{numbers}"
