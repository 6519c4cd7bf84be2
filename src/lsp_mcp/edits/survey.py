"""`Work`: the checked file operations of an `EditPlan` on this disk; nothing is written, and nothing blocks.

New texts go to where the files are before the plan; the plan's own renames, deletes and creates follow. The result is
the same as in the plan's order, and each file is written once.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from lsp_mcp.edits.plan import CreateFile, DeleteFile, FileChange, RenameFile
from lsp_mcp.edits.policy import CheckedPlan, Places
from lsp_mcp.errors import EditError


@dataclass
class Rewrite:
    """A file that exists before the plan and gets new content. `target` is fully resolved."""

    target: Path
    before: bytes
    content: bytes
    mode: int
    owner: tuple[int, int]


@dataclass
class Create:
    """A file that the plan creates, in the folder that is at `path.parent` by then."""

    path: Path
    content: bytes = b""


@dataclass(frozen=True)
class Move:
    """Move `old` to `new`; with None, to a temporary name, and delete it at the end."""

    old: Path
    new: Path | None
    only_if_empty: bool = False


@dataclass
class Work:
    """The plan in terms of this disk. Two of them are equal if nothing relevant changed in between."""

    places: Places = field(compare=False)
    rewrites: dict[Path, Rewrite] = field(default_factory=dict)
    moves: list[Create | Move] = field(default_factory=list)
    renamed: list[tuple[Path, Path]] = field(default_factory=list)


def survey(checked: CheckedPlan) -> Work:
    """The changes to the files below the root of the plan's policy.

    Raises:
        EditError: the plan is not possible on this disk, or forbidden by the policy.
        OSError: the system refused to report a file's state.
        UnicodeEncodeError: a new text contains half a surrogate pair.
    """
    work = Work(Places(checked.policy))
    for step in checked.plan.steps:
        match step:
            case FileChange():
                _survey_change(step, work)
            case CreateFile():
                _survey_create(step, work)
            case RenameFile():
                _survey_rename(step, work)
            case DeleteFile():
                _survey_delete(step, work)
    return work


def _survey_change(step: FileChange, work: Work) -> None:
    file = _file(step.path, work)
    try:
        content = file.content.decode("utf-8")
    except UnicodeDecodeError:
        raise EditError(f"{step.path} is not UTF-8 text.") from None
    if content != step.before.content:
        if isinstance(file, Create) or file.content != file.before:
            raise EditError(f"The edit changes {step.path} under two names.")
        raise EditError(f"{step.path} was changed by another program since this edit was made. Ask again.")
    file.content = step.after.encode("utf-8")


def _survey_create(step: CreateFile, work: Work) -> None:
    entry = _entry(step.path, work, is_file=True)
    if not _is_there(_origin(entry, work)):
        work.moves.append(Create(entry))
    elif step.overwrite:
        _file(step.path, work).content = b""
    elif not step.ignore_if_exists:
        raise EditError(f"{step.path} cannot be created: it is there already.")


def _survey_rename(step: RenameFile, work: Work) -> None:
    old = _entry(step.old, work)
    origin = _origin(old, work)
    new = _entry(step.new, work, is_file=not isinstance(origin, Path) or not is_folder(origin))
    occupant = _origin(new, work)
    if not _is_there(origin):
        raise EditError(f"{step.old} cannot be renamed: it is not there.")
    _check_content(origin, work)
    if new.is_relative_to(old):
        raise EditError(f"{step.old} cannot be renamed to {step.new}, which is in it.")
    if _is_there(occupant):
        if step.ignore_if_exists and not step.overwrite:
            return
        if not step.overwrite or (isinstance(occupant, Path) and is_folder(occupant)):
            raise EditError(f"{step.old} cannot be renamed to {step.new}, which is there.")
        if isinstance(occupant, Path):
            _check_may_go(occupant)
        work.moves.append(Move(new, None))
    work.moves.append(Move(old, new))
    work.renamed.append((step.old, step.new))


def _survey_delete(step: DeleteFile, work: Work) -> None:
    entry = _entry(step.path, work)
    origin = _origin(entry, work)
    if not _is_there(origin):
        if step.ignore_if_not_exists:
            return
        raise EditError(f"{step.path} cannot be deleted: it is not there.")
    _check_content(origin, work)
    if isinstance(origin, Path):
        _check_may_go(origin)
    work.moves.append(Move(entry, None, only_if_empty=not step.recursive))


def _entry(path: Path, work: Work, *, is_file: bool | None = None) -> Path:
    """The place that `path` names, with symlinks resolved in its folders, but not in the last name.

    `is_file`: whether it will be a file; None: whether it is one now.
    """
    entry = Path(os.path.realpath(path.parent), path.name)
    if why := work.places.refusal(entry, path, is_file=entry.is_file() if is_file is None else is_file):
        raise EditError(why)
    return entry


def _origin(entry: Path, work: Work) -> Path | Create | None:
    """The state of `entry` after the moves so far: its present place, a file to create, or nothing."""
    for move in reversed(work.moves):
        if isinstance(move, Create):
            if entry == move.path:
                return move
        elif move.new and entry.is_relative_to(move.new):
            entry = move.old / entry.relative_to(move.new)
        elif entry.is_relative_to(move.old):
            return None
    return _entry(entry, work)


def _file(path: Path, work: Work) -> Rewrite | Create:
    """The file at `path` after the steps so far."""
    origin = _origin(_entry(path, work), work)
    if isinstance(origin, Create):
        return origin
    if origin is None:
        raise EditError(f"{path} is not there when the edit comes to change it.")
    target = Path(os.path.realpath(origin))
    if why := work.places.refusal(target, path):
        raise EditError(why)
    if target not in work.rewrites:
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):  # checked before it is opened: opening a FIFO waits
            raise EditError(f"{path} is not a regular file.")
        _check_writable(target)
        content = target.read_bytes()
        mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
        work.rewrites[target] = Rewrite(target, content, content, mode, owner)
    return work.rewrites[target]


def _is_there(origin: Path | Create | None) -> bool:
    return isinstance(origin, Create) or (origin is not None and os.path.lexists(origin))


def is_folder(path: Path) -> bool:
    """Whether `path` itself is a folder; a symlink to one is not."""
    return path.is_dir() and not path.is_symlink()


def _check_content(origin: Path | Create | None, work: Work) -> None:
    if isinstance(origin, Path) and (why := work.places.refusal_of_content(origin)):
        raise EditError(why)


def _check_may_go(path: Path) -> None:
    """Raises `EditError` if something in `path` is read-only, so that deleting cannot stop half way."""
    _check_writable(path)
    if is_folder(path):
        for inner in path.iterdir():
            _check_may_go(inner)


def _check_writable(path: Path) -> None:
    if not path.is_symlink() and not (path.stat().st_mode & stat.S_IWUSR and os.access(path, os.W_OK)):
        raise EditError(f"{path} is read-only. Make it writable first if it should change.")
