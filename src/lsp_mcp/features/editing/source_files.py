"""The source files below a folder: `source_files`."""

from __future__ import annotations

import os
from pathlib import Path

from lsp_mcp.backend import Backend

_OF_BUILDS = frozenset({"CMakeFiles"})  # of CMake in each of its build folders: no code of the project


def source_files(below: Path, backend: Backend) -> list[Path]:
    """The source files of `backend` at or below `below`, in order, without dependencies and build output.

    Blocks while it walks the folders.
    """
    workspace = backend.plugin.adapter.workspace
    skipped = {*workspace.ignored_folders, *workspace.dependency_folder_names, *_OF_BUILDS}
    if below.is_file():
        return [below] if backend.plugin.language_of(below) else []
    found: list[Path] = []
    for folder, folders, files in os.walk(below):
        folders[:] = sorted(name for name in folders if name not in skipped)
        paths = (Path(folder, name) for name in sorted(files))
        found += [path for path in paths if backend.plugin.language_of(path) and path.is_file()]
    return found
