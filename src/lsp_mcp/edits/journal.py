"""Undo unfinished edits, even after this process was killed: `Journal`, `take_back_unfinished`.

Each step is recorded before it is done. The journal is a file in our cache, locked by its process: one without a lock
belongs to a process that was killed, and the next process on this machine that edits or serves that root undoes its
steps. Another container that shares the cache may have another checkout at the same path: it has its own journals.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from lsp_mcp.cache_folders import cache_folder, machine
from lsp_mcp.private_files import open_private, private_folder

log = logging.getLogger(__name__)

Kind = Literal["draft", "rewrite", "create", "folder", "move", "kept", "done"]


@dataclass(frozen=True)
class Step:
    """One step: `path` is a draft, gets a new text (the old one is at `other`), is created, or is renamed from `other`.

    `digest` is that of the new text: a file that another program has changed since is not reverted. `done` ends an
    edit; the files that it `kept` are removed then.
    """

    kind: Kind
    path: str = ""
    other: str = ""
    digest: str = ""

    @property
    def state(self) -> str:
        """The state of the files as long as the step is not undone."""
        match self.kind:
            case "rewrite":
                return f"{self.path} has its new text, and its old text is in {self.other}"
            case "create":
                return f"{self.path} was created and is still there"
            case "folder":
                return f"the new folder {self.path} is still there"
            case "move":
                return f"{self.other} is now {self.path}"
            case _:
                return f"the temporary file {self.path} is still there"

    def take_back(self) -> None:
        """Undo the step, whether or not it was done. Raises OSError."""
        path, other = Path(self.path), Path(self.other)
        match self.kind:
            case "draft":
                path.unlink(missing_ok=True)
            case "rewrite":
                _put_back(path, other, self.digest)
            case "create":
                if path.exists() and _digest(path) == self.digest:
                    path.unlink()
            case "folder":
                with contextlib.suppress(FileNotFoundError):
                    path.rmdir()
            case "move":
                if os.path.lexists(path) and not os.path.lexists(other):
                    path.rename(other)


def _put_back(path: Path, backup: Path, digest: str) -> None:
    if not backup.exists():
        return
    is_ours = not os.path.lexists(path) or path.samefile(backup) or _digest(path) == digest
    if not is_ours:
        raise OSError(None, "it was changed since")
    if not (path.exists() and path.samefile(backup)):
        backup.replace(path)
    backup.unlink(missing_ok=True)


def digest(content: bytes) -> str:
    """The digest of a text, for `Step`."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _digest(path: Path) -> str:
    return digest(path.read_bytes())


class Journal:
    """The steps of one edit below `root`. If the cache cannot be written, only this process knows them."""

    def __init__(self, root: Path) -> None:
        self._steps: list[Step] = []
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self._path = private_folder(_folder()) / f"{_prefix(root)}{secrets.token_hex(8)}"
            self._descriptor = _locked(self._path)

    def begin(self, kind: Kind, path: Path, other: Path | None = None, content: bytes = b"") -> None:
        """Record a step, which is done next."""
        step = Step(kind, str(path), str(other or ""), digest(content) if kind in ("rewrite", "create") else "")
        self._steps.append(step)
        self._write(step)

    def forget(self) -> None:
        """Forget the last step: it was not done, and what is there now belongs to another program."""
        self._steps.pop()

    def done(self, kept: Sequence[Path]) -> None:
        """The edit is complete and will not be undone; the files that it `kept` are removed next."""
        for path in kept:
            self._write(Step("kept", str(path)))
        self._write(Step("done"))

    def take_back(self) -> list[str]:
        """Undo all steps, the last first. Returns the state and the reason where that failed."""
        return _take_back(self._steps)

    def close(self) -> None:
        """Remove the journal; idempotent."""
        if self._descriptor is not None:
            for remove in (partial(os.ftruncate, self._descriptor, 0), partial(self._path.unlink, missing_ok=True)):
                with contextlib.suppress(OSError):  # either will do
                    remove()
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, step: Step) -> None:
        if self._descriptor is None:
            return
        line = json.dumps(asdict(step)).encode() + b"\n"
        try:
            if os.write(self._descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # half a step would make all of them unreadable
        except OSError as error:
            log.warning("an edit is made without a journal: %s", reason(error))
            self.close()


def take_back_unfinished(root: Path) -> None:
    """Undo the edits below `root` whose process was killed; remove the leftovers of complete ones."""
    with contextlib.suppress(OSError):
        for path in _folder().glob(f"{_prefix(root)}*"):
            with _orphan(path) as lines:
                if lines is not None:
                    _finish(_steps(lines))


def _steps(lines: list[str]) -> list[Step]:
    """The completely recorded steps; none if another version of this program wrote them in another format."""
    try:
        return [Step(**json.loads(line)) for line in lines if line.endswith("\n")]
    except (ValueError, TypeError) as error:
        log.warning("the journal of an interrupted edit cannot be read: %s", error)
        return []


def _finish(steps: list[Step]) -> None:
    if steps and steps[-1].kind == "done":
        for step in steps:
            if step.kind == "kept":
                _remove(Path(step.path))
        return
    for stuck in _take_back(steps):
        log.warning("an interrupted edit could not be undone: %s", stuck)
    if done := [step.path for step in steps if step.kind != "draft"]:
        log.warning("an interrupted edit was undone: %s", ", ".join(done))


def _take_back(steps: list[Step]) -> list[str]:
    stuck = []
    for step in reversed(steps):
        try:
            step.take_back()
        except OSError as error:
            stuck.append(f"{step.state} ({reason(error)})")
    return stuck


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _orphan(path: Path) -> Iterator[list[str] | None]:
    """The lines of a journal whose process is gone, locked; None if its process is alive. The journal is removed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        with open(descriptor, encoding="utf-8", errors="surrogateescape", closefd=False) as file:
            yield list(file)
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int:
    """A descriptor of the new file `path`, locked so that no other process takes it for an abandoned one."""
    while True:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def reason(error: BaseException) -> str:
    """In words, with the file that it is about."""
    if isinstance(error, OSError) and error.strerror:
        name = error.filename2 or error.filename
        return f"{error.strerror}: {name}" if name else error.strerror
    return str(error) or type(error).__name__


def _folder() -> Path:
    return cache_folder() / "edits"


def _prefix(root: Path) -> str:
    checkout = machine() + b"\0" + os.fsencode(root)
    return f"{hashlib.blake2b(checkout, digest_size=8).hexdigest()}-"
