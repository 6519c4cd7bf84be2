"""Reading a folder, Neova's, Backlog.md's or an export of ours, or a file with issues; recognised by its contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lsp_mcp.board.exchange import backlog, deleted, folders, github, markdown_files, talk
from lsp_mcp.board.exchange.data import Contents, Kind, Problem, Snippet, Standard, Task
from lsp_mcp.board.exchange.front_matter import decoded
from lsp_mcp.board.exchange.neova import looks_like_neova, read_neova
from lsp_mcp.errors import CallerError

Made = TypeVar("Made", Task, Standard, Snippet)
Parsed = TypeVar("Parsed")


def read_folder(folder: Path) -> Contents:
    """Everything readable in a folder, in its `.neova` or `backlog`, or in a file with GitHub's issues.

    Raises:
        CallerError: it is not a folder with a board in it, or its stages cannot be used; or not a file with issues.
    """
    if folder.is_file():
        try:
            return github.contents_of(folders.text_of(folder), folder.name)
        except CallerError as error:
            raise CallerError(f"{folder}: {error}. Nothing was changed.") from None
    if not folder.is_dir():
        raise CallerError(f"the folder {folder} does not exist")
    if is_former_export(folder):
        return read_export(folder)
    for place in (folder, folder / ".neova"):
        if not (place != folder and place.is_symlink()) and looks_like_neova(place):
            return read_neova(place)
    for place in (folder, *(folder / name for name in backlog.NAMES)):
        if not (place != folder and place.is_symlink()) and backlog.looks_like_backlog(place):
            return backlog.read_backlog(place)
    raise CallerError(
        f"{folder} has no board: a .neova folder has tasks/*.json and stages.json, one of Backlog.md has tasks/*.md "
        "and config.yml, and one that was exported with `lsp-mcp board export` has tasks/*.md and stages.json."
    )


def is_former_export(folder: Path) -> bool:
    """Whether an export was written to the folder."""
    path = folder / markdown_files.STAGES
    try:
        return markdown_files.is_exported_stages(decoded(folders.text_of(path), "it"))
    except CallerError:
        pass
    # Its stages are gone or broken, but not the rest.
    return any(
        _is_ours(path)
        for inner in markdown_files.FOLDERS
        for _, path in folders.files(folder, inner, ".md", [])
    )  # fmt: skip


def read_export(folder: Path) -> Contents:
    """Everything readable in an export. Raises CallerError if its stages cannot be used."""
    contents = Contents("export")
    path = folder / markdown_files.STAGES
    if path.exists():
        try:
            contents.stages, edited = markdown_files.stages_of(folders.text_of(path))
        except CallerError as error:
            raise CallerError(f"{path}: {error}. Nothing was changed.") from None
        if edited:
            contents.edited |= {("stage", stage.id) for stage in contents.stages}
    if said := _json(folder, contents, markdown_files.TALK, talk.parsed):
        contents.talk = said
    if gone := _json(folder, contents, markdown_files.TRASH, deleted.parsed):
        contents.trash = gone
    contents.tasks = _all(folder, contents, "task", "tasks", markdown_files.task_of)
    contents.standards = _all(folder, contents, "standard", "standards", markdown_files.standard_of)
    contents.snippets = _all(folder, contents, "snippet", "snippets", markdown_files.snippet_of)
    return contents


def _json(folder: Path, contents: Contents, name: str, parse: Callable[[str], Parsed]) -> Parsed | None:
    """The text of an optional file; None if it does not exist or cannot be used."""
    if not (folder / name).exists():
        return None
    try:
        return parse(folders.text_of(folder / name))
    except CallerError as error:
        contents.broken.append(Problem(name, str(error)))
        return None


def _all(
    folder: Path, contents: Contents, kind: Kind, inner: str, parse: Callable[[str], tuple[Made, bool]]
) -> list[Made]:
    by_id: dict[str, list[tuple[str, Made, bool]]] = defaultdict(list)
    for name, path in folders.files(folder, inner, ".md", contents.broken):
        try:
            made, edited = parse(folders.text_of(path))
        except CallerError as error:
            contents.broken.append(Problem(name, str(error)))
        else:
            by_id[made.id].append((name, made, edited))
    found = []
    for id_, several in by_id.items():
        if len(several) > 1:
            names = " and ".join(name for name, _, _ in several)
            contents.broken.append(Problem(several[0][0], f"{names} are all of {kind} {id_}; keep one of them"))
            continue
        name, made, edited = several[0]
        contents.files[kind, id_] = name
        if edited:
            contents.edited.add((kind, id_))
        found.append(made)
    return found


def _is_ours(path: Path) -> bool:
    try:
        return markdown_files.is_export(folders.text_of(path))
    except CallerError:
        return False
