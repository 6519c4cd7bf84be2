"""Named pipes and devices among files, which a program that reads every source may read for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISFIFO

from lsp_mcp.disk.entries import entries, entry_kind

_PAUSE = 0.05  # seconds for an unblocked program to reach the next pipe
_QUIET = 5  # pauses without a reader after which none is expected
_MOST = 200  # pauses in total


def is_endless(path: Path) -> bool:
    """Whether `path` is a device, or a link to one, such as /dev/zero: reading it may never end."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return S_ISCHR(mode) or S_ISBLK(mode)


def named_pipes(roots: Iterable[Path], ignored_folders: Collection[str], suffixes: Collection[str]) -> list[Path]:
    """The named pipes below `roots` with names of source files. Walks all folders, so call it in a thread."""
    found: list[Path] = []
    stack = [str(root) for root in roots]
    while stack:
        for entry in entries(stack.pop(), set()):
            kind = entry_kind(entry)
            if kind == "folder" and entry.name not in ignored_folders:
                stack.append(entry.path)
            elif kind in ("other", "link") and entry.name.endswith(tuple(suffixes)) and _is_pipe(entry.path):
                found.append(Path(entry.path))
    return found


async def hang_up(pipes: Sequence[Path]) -> bool:
    """Unblock every program that waits for a writer of one of `pipes`; returns whether any did wait.

    Such a program reads an empty file. Other programs are not disturbed, and nothing is read or written.
    """
    waited, quiet = False, 0
    for _ in range(_MOST):
        if not pipes or quiet == _QUIET:
            break
        read = [pipe for pipe in pipes if _hang_up(pipe)]
        waited |= bool(read)
        quiet = 0 if read else quiet + 1
        await asyncio.sleep(_PAUSE if waited else 0)
    return waited


def _hang_up(pipe: Path) -> bool:
    try:
        # Opening it for writing without waiting succeeds only if a program has it open for reading, or waits to.
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _is_pipe(path: str) -> bool:
    try:
        return S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 (a Path costs more than the system call)
    except OSError:
        return False
