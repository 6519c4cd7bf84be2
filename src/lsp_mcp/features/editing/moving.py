"""workspace/willRenameFiles: moving files and folders with the edits that this requires (LSP 3.17)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from lsp_mcp.backend import Backend
from lsp_mcp.disk.files import content_or_nothing
from lsp_mcp.edits.plan import DeleteFile, EditPlan, FileChange, RenameFile, Step
from lsp_mcp.errors import PathError, RefusedError
from lsp_mcp.features.editing.source_files import source_files
from lsp_mcp.protocol.lsp import WorkspaceEdit
from lsp_mcp.requests.edit_plans import merge, plan_of
from lsp_mcp.requests.package_clause import package_clause
from lsp_mcp.requests.places import Place, text_or_none
from lsp_mcp.servers.traits import Packages
from lsp_mcp.text import Point
from lsp_mcp.uris import path_uri, uri_path


class PackageMove(Struct, frozen=True):
    """A package clause, and the new name that makes the package's folder move."""

    path: Path
    point: Point
    new_name: str


async def moved(backend: Backend, old: Path, new: Path) -> EditPlan:
    """The changes for moving the file or folder `old` to `new`, including the move.

    Raises:
        RefusedError: the server does not say what else must change.
        EditError: its edit cannot be carried out safely.
        PathError, UnavailableError: see `Backend.request`.
    """
    kind = "folder" if old.is_dir() else "file"
    if not _answers(backend, kind) and not (
        kind == "file" and old.parent == new.parent and backend.plugin.renaming.names_no_files
    ):
        happens = "gets another name" if old.parent == new.parent else "moves to another folder"
        raise RefusedError(f"{backend.plugin.name} does not tell what must change when a {kind} {happens}")
    edits: list[WorkspaceEdit] = []
    files = [{"oldUri": path_uri(old), "newUri": path_uri(new)}]
    if _answers(backend, kind):
        edits += filter(None, [await backend.request("workspace/willRenameFiles", {"files": files})])
    return await plan_of(
        backend, [*edits, {"documentChanges": [{"kind": "rename", "oldUri": path_uri(old), "newUri": path_uri(new)}]}]
    )


async def with_moves(backend: Backend, edit: WorkspaceEdit) -> WorkspaceEdit:
    """`edit` with the changes that it leaves to workspace/willRenameFiles: rust-analyzer 1.95 renames a module so.

    Raises the errors of `Backend.request`.
    """
    listed = edit.get("documentChanges") or []
    moves = [(str(one["oldUri"]), str(one["newUri"])) for one in listed if "oldUri" in one]
    if not moves or len(moves) < len(listed) or edit.get("changes"):
        return edit
    if not all(_answers(backend, "folder" if uri_path(old).is_dir() else "file") for old, _ in moves):
        return edit
    files = [{"oldUri": old, "newUri": new} for old, new in moves]
    more = await backend.request("workspace/willRenameFiles", {"files": files})
    return merge([more, edit]) if more else edit


async def package_move(backend: Backend, old: Path, new: Path) -> PackageMove | None:
    """The package rename that moves the folder `old` to `new`; None if folders are not packages, or this is not one.

    Raises:
        RefusedError: `new` is not a place for a package of its module, or the folder is the module's own.
        UnavailableError: see `backend.Documents.text`.
    """
    packages = backend.plugin.renaming.packages
    if packages is None:
        return None
    tests = backend.plugin.adapter.tests
    own = [path for path in source_files(old, backend) if path.parent == old]
    for path in sorted(own, key=lambda path: tests.has(path, backend.root)):
        try:
            text = await backend.documents.text(path)
        except PathError:
            continue
        if clause := package_clause(backend.plugin, path, text.content):
            return PackageMove(path, text.offset_point(clause.start("name")), _path_of(packages, old, new))
    return None


def with_data(backend: Backend, plan: EditPlan) -> EditPlan:
    """`plan` with the folders of data that belong to the packages that it moves."""
    packages = backend.plugin.renaming.packages
    moves = [step for step in plan.steps if isinstance(step, RenameFile)]
    folders = {step.old.parent: step.new.parent for step in moves if step.old.parent != step.new.parent}
    data = [
        RenameFile(old / packages.data_folder, new / packages.data_folder)
        for old, new in folders.items()
        if packages and (old / packages.data_folder).is_dir()
    ]
    if not data:
        return plan
    last = plan.steps.index(moves[-1]) + 1
    return replace(plan, steps=(*plan.steps[:last], *data, *plan.steps[last:]))


async def named_by_path(backend: Backend, plan: EditPlan) -> list[tuple[Place, str]]:
    """Where packages that `plan` moves are named by their paths outside of code and imports, each with the new path.

    Raises:
        UnavailableError: see `Backend.request`.
    """
    packages = backend.plugin.renaming.packages
    if packages is None or not packages.path_pattern:
        return []
    found: list[tuple[Place, str]] = []
    moves = [step for step in plan.steps if isinstance(step, RenameFile)]
    for old, new in {step.old.parent: step.new.parent for step in moves if step.old.parent != step.new.parent}.items():
        try:
            before, after = _path_of(packages, old, old), _path_of(packages, old, new)
        except RefusedError:
            continue  # the module's own folder
        pattern = re.compile(packages.path_pattern.replace("{path}", re.escape(before)))
        for path in (await backend.words.files_with(packages.path_word)).files:
            if text := await text_or_none(backend, path):
                spans = [text.offsets_span(*match.span("path")) for match in pattern.finditer(text.content)]
                found += [(Place(path, span, text), after) for span in spans]
    return found


def in_its_folder(backend: Backend, plan: EditPlan, path: Path, package: str) -> EditPlan:
    """`plan`, which renames the package of `path`, without a move if the folder is not called as the `package` is.

    The last word of its path is then another one (`go-yaml`, `v2`), for which gopls 0.24 makes up a new one in imports.
    """
    own = [step for step in plan.steps if isinstance(step, RenameFile) and step.old.parent == path.parent]
    if backend.plugin.renaming.packages is None or not own or path.parent.name == package:
        return plan
    steps: list[Step | None] = []
    for step in plan.steps:
        if isinstance(step, FileChange):
            steps.append(step.without([one for one in step.changes if not one.old_text.isidentifier()]))
        elif not isinstance(step, RenameFile | DeleteFile):
            steps.append(step)
    return replace(plan, steps=tuple(filter(None, steps)))


async def build_changes(backend: Backend, plan: EditPlan) -> list[str]:
    """What is built differently because of the files that `plan` moves; empty if nothing is."""
    moves: dict[Path, Path] = {}
    for step in plan.steps:
        if isinstance(step, RenameFile):
            inside = source_files(step.old, backend) if step.old.is_dir() else []
            moves |= {path: step.new / path.relative_to(step.old) for path in (step.old, *inside)}
    return [*await asyncio.to_thread(backend.plugin.build_changes, moves, backend.root)] if moves else []


def _answers(backend: Backend, kind: str) -> bool:
    """Whether the server returns edits for a file or folder before it moves."""
    operations = (backend.capabilities.get("workspace") or {}).get("fileOperations") or {}
    filters = (operations.get("willRename") or {}).get("filters") or []
    return any(
        one.get("scheme", "file") == "file" and (one.get("pattern") or {}).get("matches", kind) == kind
        for one in filters
    )


def _path_of(packages: Packages, old: Path, new: Path) -> str:
    """The import path of a package that moves from the folder `old` to `new`."""
    for folder in (old, *old.parents):
        content = content_or_nothing(folder / packages.module_file).decode("utf-8", "replace")
        if found := re.search(packages.module_pattern, content, re.M):
            if folder == old:
                raise RefusedError(f"{old.name} is the folder of its module: it contains {packages.module_file}")
            if not new.is_relative_to(folder) or new == folder:
                raise RefusedError(f"{new} is not in the module {found['path']}, whose folder is {folder}")
            return f"{found['path']}/{new.relative_to(folder).as_posix()}"
    raise RefusedError(f"{old} is in no module: there is no {packages.module_file} above it")
