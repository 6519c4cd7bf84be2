"""Writes an `EditPlan` to disk, all of it or nothing.

First everything is checked and nothing is written (`survey`). Then each new text goes to a temporary file next to
its target, everything is checked again, and only renames remain (`_commit`): other programs see a file's old content
or its new one, never a part. The old content is kept under a temporary name until the end, so that undoing needs only
renames too. Each step is recorded in the `Journal` before it is done, so that an edit whose process was killed is
undone as well.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from errno import EEXIST, ENOTEMPTY
from pathlib import Path

from msgspec import Struct

from lsp_mcp.edits.journal import Journal, reason, take_back_unfinished
from lsp_mcp.edits.policy import CheckedPlan
from lsp_mcp.edits.survey import Create, Rewrite, Work, is_folder, survey
from lsp_mcp.errors import EditError


class AppliedEdit(Struct, frozen=True):
    """The result of an applied edit.

    `renamed` has old and new paths as the plan names them, in its order, without steps that their options skipped.
    `leftovers` are deleted files and old texts that could not be removed: they are under temporary names and
    nothing needs them.
    """

    renamed: tuple[tuple[Path, Path], ...] = ()
    leftovers: tuple[Path, ...] = ()


def apply_plan(checked: CheckedPlan) -> AppliedEdit:
    """Apply a whole plan to the files under its policy's root. Nothing else writes a plan to the disk.

    A file keeps its mode, and its owner where this user may change owners. A symlink stays, and its target is changed;
    renaming or deleting a symlink affects the link itself. If a file has several hard links, only the name in the plan
    gets the new text: the others keep the old one.

    Raises:
        EditError: nothing changed, because a path leads to where the policy lets nothing happen; a file no
            longer holds the plan's `before`, is not UTF-8, is not a regular file or is read-only (no write bit for
            its owner, even if this user is root); a step's options forbid it; or the system refused. If undoing
            failed as well, the message names each file that differs, and where its old content is.
            It also names temporary files that could not be removed.
    """
    take_back_unfinished(checked.policy.root)
    journal = Journal(checked.policy.root)
    try:
        return _apply(checked, journal)
    finally:
        journal.close()


def _apply(checked: CheckedPlan, journal: Journal) -> AppliedEdit:
    staged: list[tuple[Rewrite, Path]] = []
    try:
        work = survey(checked)
        for rewrite in work.rewrites.values():
            staged.append((rewrite, _temporary(rewrite.target)))
            journal.begin("draft", staged[-1][1])
            _write(staged[-1][1], rewrite.content, like=rewrite)
        if survey(checked) != work:
            raise EditError("Another program changed these files just now. Try again.")
        kept = _commit(work, staged, journal)
    except BaseException as error:
        stuck = journal.take_back()
        left = [str(temporary) for _, temporary in staged if not _removed(temporary)]
        also = f" These temporary files could not be removed: {', '.join(left)}." if left else ""
        if stuck:
            raise EditError(
                f"The edit failed half way ({reason(error)}) and could not all be undone: "
                f"{'; '.join(stuck)}. Everything else is as it was before.{also}"
            ) from error
        if isinstance(error, EditError):
            raise EditError(f"{error} Nothing was changed.{also}") from error.__cause__
        if isinstance(error, OSError | UnicodeError):
            raise EditError(f"The edit could not be written: {reason(error)}. Nothing was changed.{also}") from error
        raise
    journal.done(kept)
    return AppliedEdit(tuple(work.renamed), tuple(path for path in kept if not _removed(path)))


def _commit(work: Work, staged: list[tuple[Rewrite, Path]], journal: Journal) -> list[Path]:
    """Do the renames. Returns the files kept for undoing, by their names after the renames."""
    kept: list[Path] = []
    for rewrite, temporary in staged:
        backup = _temporary(rewrite.target)
        journal.begin("rewrite", rewrite.target, backup, rewrite.content)
        _keep(rewrite.target, backup)
        kept.append(backup)
        temporary.replace(rewrite.target)
    for move in work.moves:
        if isinstance(move, Create):
            _create(move, journal)
            continue
        old, new = move.old, move.new or _temporary(move.old)
        if move.only_if_empty and is_folder(old) and not set(old.iterdir()) <= set(kept):
            raise OSError(ENOTEMPTY, os.strerror(ENOTEMPTY), str(old))
        _make_way(new, journal)
        journal.begin("move", new, old)
        old.rename(new)
        kept = [new / path.relative_to(old) if path.is_relative_to(old) else path for path in kept]
        if move.new is None:
            kept.append(new)
    return kept


def _create(create: Create, journal: Journal) -> None:
    _make_way(create.path, journal)
    temporary = _temporary(create.path)
    journal.begin("draft", temporary)
    try:
        _write(temporary, create.content)
        journal.begin("create", create.path, content=create.content)
        temporary.replace(create.path)
    finally:
        temporary.unlink(missing_ok=True)


def _make_way(path: Path, journal: Journal) -> None:
    """Create the missing folders of `path`; refuses if something has appeared there since the check."""
    if os.path.lexists(path):
        raise FileExistsError(EEXIST, os.strerror(EEXIST), str(path))
    for folder in [folder for folder in path.parents if not folder.exists()][::-1]:
        journal.begin("folder", folder)
        try:
            folder.mkdir()
        except FileExistsError:
            journal.forget()  # another program's
            raise


def _temporary(path: Path) -> Path:
    """A new name next to `path`, without an extension that a tool would take for source."""
    return path.with_name(f".lsp-mcp-{secrets.token_hex(8)}.tmp")


def _write(path: Path, content: bytes, like: Rewrite | None = None) -> None:
    """A new file at `path`, flushed to the disk, with the mode and if possible the owner of `like`."""
    mode = 0o600 if like else 0o666
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)
        file.flush()
        if like and hasattr(os, "chown"):
            user, group = like.owner
            for owner in ((-1, group), (user, -1)):
                with suppress(OSError):
                    os.chown(path, *owner)
        if like:
            path.chmod(like.mode)
        os.fsync(file.fileno())


def _keep(path: Path, backup: Path) -> None:
    """Keep the file at `path` at `backup` too: by a link, or by a copy where the disk has no links."""
    try:
        os.link(path, backup)
    except OSError:
        try:
            shutil.copy2(path, backup)
        except BaseException:
            backup.unlink(missing_ok=True)
            raise


def _removed(path: Path) -> bool:
    try:
        if is_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return not os.path.lexists(path)
    return True
