"""What the tests of the disk package share."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from lsp_mcp.disk import Changes, Watch

Open = Callable[..., Watch]
Told = tuple[set[str], set[str], set[str]]

_lengths = itertools.count(1)


def write(path: Path) -> None:
    """Give `path` a content of a length that no file had: a coarse clock alone would not show it to a scan."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x" * next(_lengths))


def told(changes: Changes, root: Path) -> Told:
    """What was created, changed and deleted, relative to `root`."""
    created, changed, deleted = (
        {path.relative_to(root).as_posix() for path in paths}
        for paths in (changes.created, changes.changed, changes.deleted)
    )
    return created, changed, deleted


def listing(root: Path, ignored: tuple[str, ...] = (".git", "node_modules")) -> set[str]:
    """The files below `root` that a watch should know, relative to it."""
    return {
        (Path(folder) / name).relative_to(root).as_posix()
        for folder, name in _walk(root, ignored)
        if (Path(folder) / name).is_file()
    }


def _walk(root: Path, ignored: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ignored]
        yield from ((folder, name) for name in names)
