"""Exporting a board to a folder of Markdown: one file per task, standard and snippet, and `stages.json`.

Files of an earlier export are replaced, or removed if their item is gone. Other files are left alone, and files that
were edited and not yet imported are not overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_mcp.board.exchange import backlog, deleted, folders, github, markdown_files, talk
from lsp_mcp.board.exchange.data import Contents, Problem, Snippet, Standard, Task, differences, same_text, stage_id
from lsp_mcp.board.exchange.markdown_files import FOLDERS, STAGES, TALK, TRASH
from lsp_mcp.board.exchange.reading import is_former_export
from lsp_mcp.errors import CallerError, UnavailableError
from lsp_mcp.prose import first_few

_OWN = (".git", ".gitignore", ".gitattributes")  # may be in a folder that is exported to


@dataclass
class Exported:
    """The result of an export: paths in the folder."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # files of others


def export_to(folder: Path, contents: Contents, *, force: bool = False) -> Exported:
    """Write a board to a folder, which is created if only its last part is missing; with `force` over edited files.

    Raises:
        CallerError: the folder contains other things, or files that were edited since the export; nothing was changed.
        UnavailableError: the system refused half way; another export repairs that.
    """
    wanted = _files(contents)
    _check(folder)
    done, stale = _compared(folder, wanted, contents, force=force)
    try:
        folder.mkdir(exist_ok=True)
        for path in folders.leftovers(folder, FOLDERS):
            path.unlink(missing_ok=True)
        for name, text in wanted.items():  # stages.json first: it marks the folder as ours
            if name not in done.unchanged:
                folders.write(folder, name, text)
                done.written.append(name)
        for name in stale:
            folders.inside(folder, name).unlink()
            done.deleted.append(name)
    except OSError as error:
        raise UnavailableError(
            f"the export stopped at {error.filename or folder}: {error.strerror}. "
            f"{len(done.written)} of {len(wanted)} files were written; fix that and export again."
        ) from None
    return done


def export_backlog(folder: Path, contents: Contents) -> Exported:
    """Write the tasks of a board to a new or empty folder, as Backlog.md has them.

    Raises:
        CallerError: the folder contains something; nothing was changed.
        UnavailableError: the system refused half way.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise CallerError(f"{folder} is not a new or empty folder. Nothing was changed.")
    if not folder.parent.is_dir():
        raise CallerError(f"the folder {folder.parent} does not exist; create it first.")
    done = Exported()
    try:
        folder.mkdir(exist_ok=True)
        for name, text in backlog.files_of(contents).items():
            folders.write(folder, name, text)
            done.written.append(name)
    except OSError as error:
        raise UnavailableError(f"the export stopped at {error.filename or folder}: {error.strerror}.") from None
    return done


def export_github(file: Path, contents: Contents, *, force: bool = False) -> Exported:
    """Write the tasks of a board to a file, in the form of `gh issue list --json`; over another file with `force`.

    Raises:
        CallerError: there is such a file, or no such folder.
        UnavailableError: the system refused.
    """
    if not file.parent.is_dir():
        raise CallerError(f"the folder {file.parent} does not exist; create it first.")
    if file.is_dir() or file.is_symlink() or (file.exists() and not force):
        raise CallerError(f"{file} exists already; name another file, or overwrite a file with --force.")
    try:
        folders.write(file.parent, file.name, github.text_of(contents))
    except OSError as error:
        raise UnavailableError(f"{file} cannot be written: {error.strerror}.") from None
    return Exported(written=[file.name])


# --- inside ----------------------------------------------------------------------------------------


def _files(contents: Contents) -> dict[str, str]:
    made = {STAGES: markdown_files.stages_text(contents.stages)}
    made |= {markdown_files.task_name(task): markdown_files.task_text(task) for task in contents.tasks}
    made |= {markdown_files.standard_name(one): markdown_files.standard_text(one) for one in contents.standards}
    made |= {markdown_files.snippet_name(one): markdown_files.snippet_text(one) for one in contents.snippets}
    if contents.talk != talk.Talk():
        made[TALK] = talk.text_of(contents.talk)
    if contents.trash != deleted.Trash():
        made[TRASH] = talk.text_of(contents.trash)
    return made


def _check(folder: Path) -> None:
    """Raises CallerError unless the folder is new, empty or a former export."""
    if not folder.exists():
        if folder.is_symlink() or not folder.parent.is_dir():
            raise CallerError(f"the folder {folder.parent} does not exist; create it first.")
        return
    if not folder.is_dir():
        raise CallerError(f"{folder} is not a folder.")
    for inner in (*FOLDERS, STAGES, TALK, TRASH):
        if (folder / inner).is_symlink():
            raise CallerError(f"{folder / inner} is a link; nothing is written through links.")
    for inner in FOLDERS:
        if (folder / inner).exists() and not (folder / inner).is_dir():
            raise CallerError(f"{folder / inner} is not a folder; move it away.")
    ours = {path.name for path in folders.leftovers(folder, ())}.union(_OWN)
    others = sorted({path.name for path in folder.iterdir()} - ours)
    if others and not is_former_export(folder):
        raise CallerError(
            f"{folder} has other things in it ({first_few(others)}). Export to a new folder, an "
            "empty one, or one that has an earlier export."
        )


def _compared(folder: Path, wanted: dict[str, str], contents: Contents, *, force: bool) -> tuple[Exported, list[str]]:
    """The files to keep, and those to remove. Raises CallerError if edits would be lost."""
    done, stale, lost = Exported(), [], []
    for name, path in [one for inner in FOLDERS for one in _existing(folder, inner)]:
        text = _text(path)
        if name in wanted and text == wanted[name]:
            done.unchanged.append(name)
        elif text is None or not markdown_files.is_export(text):
            if name in wanted:
                raise CallerError(f"{path} exists and is not from an export. Move it away; nothing was changed.")
            done.left.append(name)
        elif not force and _is_edited(name, text, contents):
            lost.append(name)
        elif name not in wanted:
            stale.append(name)
    for name, parse in ((TALK, talk.parsed), (TRASH, deleted.parsed)):
        text = _text(folder / name)
        if name in wanted and text == wanted[name]:
            done.unchanged.append(name)
        elif name not in wanted and text is not None:
            (stale if _can_be_read(text, parse) else done.left).append(name)
    if _text(folder / STAGES) == wanted[STAGES]:
        done.unchanged.append(STAGES)
    elif not force and _stages_edited(folder / STAGES, contents):
        lost.append(STAGES)
    if lost:
        raise CallerError(
            f"edited since the last export to {folder}: {first_few(lost)}. Import that first, or "
            "overwrite it with --force. Nothing was changed."
        )
    return done, stale


def _existing(folder: Path, inner: str) -> list[tuple[str, Path]]:
    links: list[Problem] = []
    found = list(folders.files(folder, inner, ".md", links))
    return found + [(one.file, folder / one.file) for one in links]


def _text(path: Path) -> str | None:
    try:
        return folders.text_of(path)
    except CallerError:
        return None


def _can_be_read(text: str, parse: Callable[[str], object]) -> bool:
    try:
        parse(text)
    except CallerError:
        return False
    return True


def _is_edited(name: str, text: str, contents: Contents) -> bool:
    """Whether a file has content that neither the export nor the board has."""
    try:
        match name.partition("/")[0]:
            case "tasks":
                task, edited = markdown_files.task_of(text)
                return edited and not _same_task(task, contents)
            case "standards":
                standard, edited = markdown_files.standard_of(text)
                return edited and not _same(standard, contents.standards)
        snippet, edited = markdown_files.snippet_of(text)
        return edited and not _same(snippet, contents.snippets)
    except CallerError:
        return True


def _same_task(task: Task, contents: Contents) -> bool:
    there = next((one for one in contents.tasks if one.id == task.id), None)
    if there is None:
        return False
    return not differences(there, replace(task, stage=stage_id(contents.stages, task.stage) or ""))


def _same(one: Standard | Snippet, there: list[Standard] | list[Snippet]) -> bool:
    return any(other.id == one.id and same_text(other, one) for other in there)


def _stages_edited(path: Path, contents: Contents) -> bool:
    text = _text(path)
    if text is None:
        return path.exists()
    try:
        stages, edited = markdown_files.stages_of(text)
    except CallerError:
        return True
    there = {one.id: one for one in contents.stages}
    return edited and any(
        (known := there.get(one.id)) is None
        or known
        != replace(one, position=known.position if one.position is None else one.position, revision=known.revision)
        for one in stages
    )
