"""The projects of a workspace (Go modules …), for servers that load and answer project by project.

Pure: `ProjectMap` is built from a list of files and their contents, by the rules of an adapter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from lsp_mcp.servers.gopls.rules import Projects

Read = Callable[[Path], str]


class Project(Struct, frozen=True):
    """One project: its folder, its name for others, and the names mentioned in its marker file."""

    folder: Path
    name: str
    words: frozenset[str]


class ProjectMap:
    """All projects below a root, and which of them a file joins."""

    def __init__(
        self,
        projects: Iterable[Project],
        joined: Mapping[Path, frozenset[Path]] | None = None,
        implied: Iterable[str] = (),
        aliases: Iterable[tuple[str, Path]] = (),
    ) -> None:
        self.projects = sorted(projects, key=lambda project: project.folder)
        self._by_folder = {project.folder: project for project in self.projects}
        self._joined = dict(joined or {})  # the folder of each joining file → the folders it names
        self._implied = frozenset(implied)
        self._aliases = tuple(aliases)
        self._of: dict[Path, Project | None] = {}  # by folder, as requested

    @property
    def is_joined(self) -> bool:
        """Whether a file joins projects."""
        return bool(self._joined)

    def joined_by(self, joined: Mapping[Path, frozenset[Path]]) -> ProjectMap:
        """The map of these projects, joined only as `joined` says."""
        return ProjectMap(self.projects, joined, self._implied, self._aliases)

    def nearest(self, path: Path) -> Project | None:
        """The project that `path` belongs to: the nearest project folder above it."""
        folder = path.parent
        if folder not in self._of:
            above = (folder, *folder.parents)
            self._of[folder] = next((self._by_folder[one] for one in above if one in self._by_folder), None)
        return self._of[folder]

    def names(self) -> list[tuple[str, str]]:
        """The prefix of the project's import paths, with its folder; an implied project's is empty."""
        named = [("" if project.name in self._implied else project.name, project.folder) for project in self.projects]
        return [(name, str(folder)) for name, folder in (*named, *self._aliases)]

    def together(self, one: Project, other: Project) -> bool:
        """Whether the server answers for both together."""
        return one == other or any({one.folder, other.folder} <= f for f in self._joined.values())

    def unseen_dependents(self, project: Project) -> list[Project]:
        """The projects that use `project` but that the server does not search when asked about it."""
        return [
            other
            for other in self.projects
            if other.folder != project.folder
            and (project.name in other.words or project.name in self._implied)
            and not self.together(project, other)
        ]

    def unloaded(self, root: Path) -> list[Project]:
        """The projects that the server doesn't load by itself when started in `root`."""
        main = next((project for project in self.projects if project.folder == root), None)
        at_root = [folders for place, folders in self._joined.items() if root.is_relative_to(place)]
        loaded = frozenset().union(*at_root)
        return [project for project in self.projects if project != main and project.folder not in loaded]


def map_projects(files: Iterable[Path], rules: Projects, root: Path, read: Read) -> ProjectMap:
    """The projects among `files`, by `rules`; `read` gives the content of a marker file, empty if unreadable."""
    projects: list[Project] = []
    joined: dict[Path, frozenset[Path]] = {}
    aliases: list[tuple[str, Path]] = []
    for file in files:
        if file.name == rules.marker and not rules.ignores(file, root):
            content = read(file)
            name = re.search(rules.name_pattern, content)
            projects.append(
                Project(
                    file.parent,
                    name[1] if name else file.parent.name,
                    frozenset(re.split(r'[\s"()]+', content)),
                )
            )
        elif rules.joined_by and file.name == rules.joined_by and not rules.ignores(file, root):
            content = read(file)
            joined[file.parent] = folders_named_in(file, content)
        else:
            continue
        named = re.finditer(rules.alias_pattern, content) if rules.alias_pattern else ()
        aliases += [(alias["name"], Path(os.path.normpath(file.parent / alias["folder"]))) for alias in named]
    return ProjectMap(projects, joined, rules.implied, aliases)


def above(root: Path, rules: Projects) -> list[Path]:
    """The marker and joining files in the folders above `root` that count for a server started there."""
    names = (rules.marker, rules.joined_by)
    return [folder / name for folder in root.parents for name in names if name and (folder / name).is_file()]


def folders_named_in(file: Path, content: str) -> frozenset[Path]:
    """Every word of a joining file that may name a folder, relative to the file."""
    folders: set[Path] = set()
    for line in content.split("\n"):
        words = [word.strip('"') for word in re.split(r"[\s()]+", line.split("//")[0]) if word.strip('"')]
        if "=>" in words:
            continue  # a replacement, not a join
        if len(words) > 1 or "(" in line:
            del words[0]  # a keyword: a folder may have the same name
        folders.update(Path(os.path.normpath(file.parent / word)) for word in words)
    return frozenset(folders)
