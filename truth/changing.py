"""Changes of files in any language; each can be made to several copies of a tree."""

from __future__ import annotations

import os
import random
from pathlib import Path

from language import Edit
from sources import commit, git


def written(file: str, text: str) -> Edit:
    """A new file."""

    def make(root: Path) -> None:
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(text, "utf-8")

    return Edit(f"write {file}: {text!r}", make, added=(file,))


def appended(file: str, text: str) -> Edit:
    """Append to a file."""

    def make(root: Path) -> None:
        with (root / file).open("a", encoding="utf-8", newline="") as opened:
            opened.write(text)

    return Edit(f"append to {file}: {text!r}", make, touched=(file,))


def replaced_atomically(file: str, text: str) -> Edit:
    """Append to a file by writing a copy and moving it over the original."""

    def make(root: Path) -> None:
        beside = root / f"{file}.tmp"
        beside.write_bytes((root / file).read_bytes() + text.encode())
        beside.rename(root / file)

    return Edit(f"append to {file}, by a new file that is moved over it: {text!r}", make, touched=(file,))


def same_time(file: str, old: str, new: str) -> Edit:
    """Replace a text by another of the same length, keeping the file's modification time."""
    assert len(old) == len(new)

    def make(root: Path) -> None:
        before = (root / file).stat()
        (root / file).write_bytes((root / file).read_bytes().replace(old.encode(), new.encode()))
        os.utime(root / file, ns=(before.st_atime_ns, before.st_mtime_ns))

    return Edit(f"replace {old!r} by {new!r} in {file}, with the same mtime", make, touched=(file,))


def deleted(file: str) -> Edit:
    """Delete a file."""
    return Edit(f"delete {file}", lambda root: (root / file).unlink(), removed=(file,))


def renamed(file: str, to: str) -> Edit:
    """Rename a file."""
    return Edit(f"mv {file} {to}", lambda root: (root / file).rename(root / to) and None, added=(to,), removed=(file,))


class GitEdits:
    """Commits, checkouts and stashes: deleted content returns one edit later.

    `history` makes the commits that checkouts return to.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._back: Edit | None = None

    @property
    def pending(self) -> bool:
        """Whether the next edit must be one of these."""
        return self._back is not None

    def next(self) -> Edit:
        """A checkout or a stash, or the return from the one before."""
        if self._back:
            edit, self._back = self._back, None
            return edit
        if self._rng.random() < 0.5:
            self._back = Edit("git stash pop", lambda root: git(root, "stash", "pop", "-q") and None)
            return Edit("git stash -u", _stash)
        self._back = Edit("git checkout work", lambda root: git(root, "checkout", "-q", "work") and None)
        steps = self._rng.randint(1, 4)
        return Edit(f"git add -A; git commit -m x; git checkout HEAD~{steps}", lambda root: _checkout(root, steps))


def _stash(root: Path) -> None:
    with (root / "zz_stashed").open("a") as opened:
        opened.write("so that there is something to stash\n")
    git(root, "stash", "-u", "-q")


def _checkout(root: Path, steps: int) -> None:
    commit(root, "x")
    git(root, "checkout", "-q", f"HEAD~{steps}")
