"""A disk without room, as one process sees it: `full_disk`."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk(pid: int = 0, *, room: int = 0) -> Iterator[None]:
    """The process `pid`, or this one, can write `room` bytes of each file and no more; the rest is an OSError."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
