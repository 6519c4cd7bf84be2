"""Which TypeScript projects are loaded: `Projects`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.coverage import Coverage, Start

_CONFIGURATIONS = frozenset({"tsconfig.json", "jsconfig.json"})
_MOST_PROJECTS = 24  # loaded at once; those of other files are loaded with them
_MOST_FOLDERS = 100  # of a project that are searched for a source


class Projects(Coverage):
    """It loads the project of each document that is opened, and searches only those for a name."""

    def __init__(self, adapter: Adapter, start: Start) -> None:
        self._adapter = adapter
        self._start = start
        self._files: list[Path] | None = None  # those to open, as long as nothing comes or goes

    def changed(self, paths: Sequence[Path]) -> None:
        """See `Coverage.changed`."""
        known = frozenset(self._files or ())
        if any(path.name in _CONFIGURATIONS or (path in known and not path.is_file()) for path in paths):
            self._files = None

    def files_to_open(self) -> list[Path]:
        """See `Coverage.files_to_open`: a source of each project."""
        if self._files is None:
            configurations = self._start.feed.files_named(_CONFIGURATIONS)
            folders = sorted({path.parent for path in configurations}, key=lambda path: (len(path.parts), path))
            self._files = [path for folder in folders[:_MOST_PROJECTS] if (path := self._source(folder, set(folders)))]
        return self._files

    def _source(self, project: Path, projects: Collection[Path]) -> Path | None:
        """A source of `project`; one next to its file often configures a tool, and is not part of it."""
        next_to_it: Path | None = None
        ignored = {*self._adapter.workspace.ignored_folders, *self._adapter.workspace.dependency_folder_names}
        for number, (folder, names, files) in enumerate(os.walk(project)):
            here = Path(folder)
            names[:] = sorted(name for name in names if name not in ignored and here / name not in projects)
            sources = (here / name for name in sorted(files))
            found = next((path for path in sources if self._adapter.owns(path, self._start.workspace.root)), None)
            if (found and here != project) or number == _MOST_FOLDERS:
                return found or next_to_it
            next_to_it = next_to_it or found
        return next_to_it
