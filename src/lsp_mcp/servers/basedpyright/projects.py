"""The Python projects inside a workspace, from which imports begin too: `PythonProjects`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.adapters import Adapter
from lsp_mcp.lsp.coverage import Start
from lsp_mcp.lsp.found_settings import FoundSettings

_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_SOURCES = "src"
_PACKAGES = (".venv/lib/python3*/site-packages", "venv/lib/python3*/site-packages")
_ENVIRONMENTS = (".venv/pyvenv.cfg", "venv/pyvenv.cfg")
_SCRIPTS = frozenset({"setup", "conftest", "noxfile"})  # modules that nobody imports
_MOST_PROJECTS = 50


class PythonProjects(FoundSettings):
    """It knows the root of the workspace alone, where a project in a folder finds neither its packages nor its own."""

    marked_by = frozenset(_PROJECTS)

    def __init__(self, adapter: Adapter, start: Start) -> None:
        super().__init__()
        self._adapter = adapter
        self._start = start
        self._projects: Sequence[Path] = ()  # below the root

    def programs(self) -> Sequence[Path]:
        """See `FoundSettings.programs`: virtual environments, which are not watched."""
        folders = (self._start.workspace.root, *self._projects)
        return [path for one in folders for name in _ENVIRONMENTS if (path := one / name).is_file()]

    def found(self) -> Mapping[str, Any]:
        """See `FoundSettings.found`."""
        root = self._start.workspace.root
        ignored = {*self._adapter.workspace.dependency_folder_names, "node_modules"}
        found = {path.parent for path in self._start.feed.files_named(_PROJECTS)}
        projects = sorted(one for one in found if one != root and ignored.isdisjoint(one.relative_to(root).parts))
        self._projects = projects
        roots = [one / _SOURCES if (one / _SOURCES).is_dir() else one for one in projects[:_MOST_PROJECTS]]
        modules = {one: _modules(one) for one in roots}
        times = Counter(name for names in modules.values() for name in names)
        # What two projects have would be looked up in the first of them.
        own = [one for one in roots if all(times[name] == 1 for name in modules[one])]
        packages = [path for one in projects for pattern in _PACKAGES for path in sorted(one.glob(pattern))]
        paths = [str(path) for path in (*own, *packages)]
        return {"basedpyright.analysis.extraPaths": paths} if paths else {}


def _modules(folder: Path) -> frozenset[str]:
    """The names that an import from `folder` may begin with."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return frozenset()
    files = {one.stem for one in entries if one.suffix == ".py"}
    folders = {one.name for one in entries if one.name.isidentifier() and any(one.glob("*.py"))}
    return frozenset((files | folders) - _SCRIPTS)
