"""Named pipes and devices among files: what a program that reads every source may read for ever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISFIFO

from lsp_mcp.disk.entries import entries, entry_kind

_PAUSE = 0.05  # seconds for a program that was let go on, until it may read the next pipe
_QUIET = 5  # pauses in which no program reads one, after which none will
_MOST = 200  # pauses in all


def is_endless(path: Path) -> bool:
    """Whether `path` is a device, or a link to one, such as /dev/zero: reading it may never end."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return S_ISCHR(mode) or S_ISBLK(mode)


def named_pipes(roots: Iterable[Path], ignored_folders: Collection[str], suffixes: Collection[str]) -> list[Path]:
    """The named pipes below `roots` whose names end like sources. Walks all folders, so call it in a thread."""
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
    """Give every program that waits for one of `pipes` to be written its end instead; whether any did wait.

    It reads an empty file then. Who reads nothing now is not disturbed, and nothing is read or written.
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
        # To open it for writing without waiting succeeds only if somebody has it open, or waits, to read it.
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _is_pipe(path: str) -> bool:
    try:
        return S_ISFIFO(os.stat(path).st_mode)  # noqa: PTH116 (a Path costs more than the system call)
    except OSError:
        return False
