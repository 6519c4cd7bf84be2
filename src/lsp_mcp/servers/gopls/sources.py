"""The source files of a workspace by project: `Sources`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from lsp_mcp.servers.gopls.projects import Project

Paths = Callable[[], Iterable[str]]
ProjectOf = Callable[[Path], Project | None]


class Sources:
    """Lists the workspace once, at the first question; then only changes are processed.

    Paths are strings here: there are thousands, and creating a `Path` takes ten times as long.
    """

    def __init__(self, extensions: Collection[str], paths: Paths, project_of: ProjectOf) -> None:
        self._extensions = frozenset(extensions)
        self._paths = paths  # every file of the workspace
        self._project_of = project_of
        self._by_project: dict[Path, dict[str, None]] | None = None  # by the project's folder
        self._lists: dict[Path, tuple[str, ...]] = {}
        self._plain: dict[Path, str | None] = {}

    def changed(self, paths: Iterable[Path]) -> None:
        """Note that these files were created, changed or deleted."""
        if self._by_project is None:
            return
        for path in paths:
            if path.suffix not in self._extensions or (project := self._project_of(path)) is None:
                continue
            files, name = self._by_project.setdefault(project.folder, {}), str(path)
            there = os.path.isfile(name)  # noqa: PTH113 (as the watch: links to files count)
            if there == (name in files):
                continue
            if there:
                files[name] = None
            else:
                del files[name]
            self._lists.pop(project.folder, None)
            if self._plain.get(project.folder) in (None, name):
                self._plain.pop(project.folder, None)

    def forget(self) -> None:
        """Note that the projects have changed."""
        self._by_project = None
        self._lists.clear()
        self._plain.clear()

    def files(self, project: Project) -> tuple[str, ...]:
        """The files of `project`, without those of projects below it; the identical object until they change."""
        if self._by_project is None:
            self._by_project = self._listed()
        if project.folder not in self._lists:
            self._lists[project.folder] = tuple(self._by_project.get(project.folder, ()))
        return self._lists[project.folder]

    def plain(self, project: Project) -> Path | None:
        """A file that every build of `project` should contain: not a test, no build condition in its name.

        The same one as long as it exists.
        """
        if project.folder not in self._plain:
            self._plain[project.folder] = min(self.files(project), key=_plainness, default=None)
        found = self._plain[project.folder]
        return Path(found) if found else None

    async def folders(self, project_of: ProjectOf, keep: Callable[[Path], bool]) -> dict[Path, list[Path]]:
        """The folders with sources selected by `keep`, by the folder of their project; sorted.

        Computed in a thread: 50,000 files take half a second.
        """
        return await asyncio.to_thread(self._folders, list(self._paths()), project_of, keep)

    def _folders(
        self, paths: Iterable[str], project_of: ProjectOf, keep: Callable[[Path], bool]
    ) -> dict[Path, list[Path]]:
        by_project: dict[Path, list[Path]] = {}
        folders = {_folder(path) for path in paths if self._is_source(path)}
        for folder in sorted(folders, key=_parts):
            path = Path(folder)
            # As for a question about a file in it.
            if (project := project_of(path / "file")) and keep(path):
                by_project.setdefault(project.folder, []).append(path)
        return by_project

    def _listed(self) -> dict[Path, dict[str, None]]:
        by_project: dict[Path, dict[str, None]] = {}
        by_folder: dict[str, dict[str, None] | None] = {}
        for path in self._paths():
            if not self._is_source(path):
                continue
            folder = _folder(path)
            if folder not in by_folder:
                project = self._project_of(Path(path))
                by_folder[folder] = by_project.setdefault(project.folder, {}) if project else None
            if (files := by_folder[folder]) is not None:
                files[path] = None
        return by_project

    def _is_source(self, path: str) -> bool:
        return os.path.splitext(path)[1] in self._extensions  # noqa: PTH122 (strings: see the class)


def _folder(path: str) -> str:
    return path.rpartition(os.sep)[0]


def _parts(path: str) -> list[str]:
    return path.split(os.sep)  # noqa: PTH206 (strings: see the class)


def _plainness(path: str) -> tuple[int, bool, list[str]]:
    """Sorts files higher in the tree first."""
    parts = _parts(path)
    return len(parts), "_" in parts[-1].rpartition(".")[0], parts
