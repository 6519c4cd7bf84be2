"""Undo unfinished edits, even after this process was killed: `Journal`, `take_back_unfinished`.

Each step is recorded before it is done. The journal is a file in our cache, locked by its process: one without a lock
belongs to a process that was killed, and the next process on this machine that edits or serves that root, one that
contains it or one below it undoes its steps. What cannot be undone is kept until a caller is told (`take_news`).
Another container that shares the cache may have another checkout at the same path: it has its own journals.
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
from lsp_mcp.door.place import keep_newest
from lsp_mcp.private_files import open_private, private_folder, write_private

log = logging.getLogger(__name__)

Kind = Literal["root", "draft", "rewrite", "create", "folder", "move", "kept", "done"]
_MOST_OLD_TEXTS = 200  # of files that were changed before their edit could be undone
_CHANGED = "it was changed since"
_JOURNAL, _NEWS = "edit", "news"  # kinds of files


@dataclass(frozen=True)
class Step:
    """One step: `path` is a draft, gets a new text (the old one is at `other`), is created, or is renamed from `other`.

    The first names the `root` of the edit. `digest` is that of the new text: a file that another program has changed
    since is not reverted. `done` ends an edit; the files that it `kept` are removed then.
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
                if path.exists():
                    _require(_digest(path) == self.digest, _CHANGED)
                    path.unlink()
            case "folder":
                with contextlib.suppress(FileNotFoundError):
                    path.rmdir()
            case "move":
                if os.path.lexists(path):
                    _require(not os.path.lexists(other), f"another {other.name} is there")
                    path.rename(other)


def _put_back(path: Path, backup: Path, digest: str) -> None:
    if not backup.exists():
        return
    is_ours = not os.path.lexists(path) or path.samefile(backup) or _digest(path) == digest
    _require(is_ours, _CHANGED)
    if not (path.exists() and path.samefile(backup)):
        backup.replace(path)
    backup.unlink(missing_ok=True)


def _require(can_be_undone: bool, otherwise: str) -> None:
    if not can_be_undone:
        raise OSError(None, otherwise)


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
            self._path = private_folder(_folder()) / _new_name(_JOURNAL)
            self._descriptor = _locked(self._path)
            self._write(Step("root", str(root)))

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
        return [f"{step.state} ({why})" for step, why in _undone(self._steps)]

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
    """Undo the edits in `root`, in what contains it and below it whose process was killed; `take_news` has the rest.

    The leftovers of complete edits are removed.
    """
    for path in _files(_JOURNAL):
        with contextlib.suppress(OSError), _orphan(path, root) as steps:
            if told := _finish(steps):
                text = "\n".join([steps[0].path, *told])
                write_private(_folder() / _new_name(_NEWS), text.encode(errors="surrogateescape"))


def take_news(root: Path) -> list[str]:
    """What could not be undone of the edits of a killed process that concern `root`; each is returned once."""
    found: list[str] = []
    for path in _files(_NEWS):
        with contextlib.suppress(OSError):
            of, *lines = path.read_bytes().decode(errors="surrogateescape").split("\n")
            if _concerns(Path(of), root):
                path.unlink()  # raises if another process has just returned it
                found += lines
    return found


def _concerns(edited: Path, root: Path) -> bool:
    return edited.is_relative_to(root) or root.is_relative_to(edited)


def _files(kind: str) -> list[Path]:
    """The files of this machine, journals or news."""
    try:
        return sorted(path for path in _folder().iterdir() if path.name.startswith(_prefix(kind)))
    except OSError:
        return []


def _steps(lines: list[str]) -> list[Step]:
    """The completely recorded steps; none if another version of this program wrote them in another format."""
    try:
        return [Step(**json.loads(line)) for line in lines if line.endswith("\n")]
    except (ValueError, TypeError) as error:
        log.warning("the journal of an interrupted edit cannot be read: %s", error)
        return []


def _finish(steps: list[Step]) -> list[str]:
    """Undo `steps`, or remove what they kept if they were all done. Returns what could not be undone, for a caller."""
    if steps and steps[-1].kind == "done":
        for step in steps:
            if step.kind == "kept":
                _remove(Path(step.path))
        return []
    stuck = _undone(steps)
    for step, why in stuck:
        log.warning("an interrupted edit could not be undone: %s (%s)", step.state, why)
    if done := [step.path for step in steps if step.kind not in ("root", "draft")]:
        log.warning("an interrupted edit was undone: %s", ", ".join(done))
    return [_news(step, why) for step, why in stuck]


def _news(step: Step, why: str) -> str:
    """Where the text before the edit is: in the cache, so that nothing of ours stays in the workspace."""
    begin = "an earlier edit was interrupted, and undone but for this:"
    if step.kind != "rewrite":
        return f"{begin} {step.state} ({why})"
    old = Path(step.other)
    with contextlib.suppress(OSError):
        folder = private_folder(cache_folder() / "old-texts")
        kept = folder / f"{secrets.token_hex(4)}-{Path(step.path).name}"
        shutil.move(old, kept)
        kept.touch()
        keep_newest([str(one) for one in folder.iterdir()], _MOST_OLD_TEXTS)
        old = kept
    return f"{begin} {step.path} ({why}); its text before that edit is in {old}"


def _undone(steps: list[Step]) -> list[tuple[Step, str]]:
    """Undo `steps`, the last first. Returns those where that failed, and why."""
    stuck = []
    for step in reversed(steps):
        try:
            step.take_back()
        except OSError as error:
            stuck.append((step, reason(error)))
    return stuck


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _orphan(path: Path, root: Path) -> Iterator[list[Step]]:
    """The steps of a journal whose process is gone and that concerns `root`, locked; else none. Then it is removed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # its process is alive
            yield []
            return
        with open(descriptor, encoding="utf-8", errors="surrogateescape", closefd=False) as file:
            steps = _steps(list(file))
        if steps and not _concerns(Path(steps[0].path), root):
            yield []
            return
        yield steps
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


def _prefix(kind: str) -> str:
    """How the names of this machine's files begin."""
    return f"{kind}-{hashlib.blake2b(machine(), digest_size=8).hexdigest()}-"


def _new_name(kind: str) -> str:
    return f"{_prefix(kind)}{secrets.token_hex(8)}"
