"""The commands that run tests, from an adapter: `commands`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.features.impact.impact import Reached
from lsp_mcp.servers.plugin import Plugin

_MOST_NAMED = 5  # tests in one command
_MOST_FOLDERS = 20  # in all commands


def commands(tests: Sequence[Reached], about: Sequence[Path], plugin: Plugin, root: Path) -> list[str]:
    """Shell commands to run in `root`: one for the nearest of `tests` (which are ranked), then one for all.

    The second is there if there are more tests, once for each project.
    """
    patterns = plugin.adapter.tests
    named = [(test, name) for test in tests if (name := _runner_name(test.symbol.name, patterns.name_pattern))]
    if not patterns.run or not named:
        return []
    first = named[0][0].symbol.place.path
    home = first.parent
    nearest = [name for test, name in named if test.symbol.place.path == first][:_MOST_NAMED]
    names = patterns.names_joined.join(dict.fromkeys(nearest))
    project = _project(home, plugin, root)
    nearby = patterns.run.replace("{folder}", _inside(project, home)).replace("{names}", names)
    found = [_from_root(nearby, project, root)]
    if patterns.run_all and any(test.symbol.place.path.parent != home or name not in nearest for test, name in named):
        folders: dict[Path, list[str]] = {}
        for folder in list(dict.fromkeys(test.symbol.place.path.parent for test, _ in named))[:_MOST_FOLDERS]:
            project = _project(folder, plugin, root)
            folders.setdefault(project, []).append(_inside(project, folder))
        for project, inside in folders.items():
            found.append(_from_root(patterns.run_all.replace("{folders}", " ".join(inside)), project, root))
    return found


def _runner_name(name: str, pattern: str) -> str:
    found = re.search(pattern, name) if pattern else None
    return ".".join(found.groups()) if found else ""


def _project(folder: Path, plugin: Plugin, root: Path) -> Path:
    """The folder of the project that `folder` belongs to."""
    marker = plugin.project_marker
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(root)]
    return next((one for one in above if marker and (one / marker).is_file()), root)


def _inside(project: Path, folder: Path) -> str:
    inside = folder.relative_to(project).as_posix()
    return "." if inside == "." else f"./{shlex.quote(inside)}"


def _from_root(command: str, project: Path, root: Path) -> str:
    return command if project == root else f"cd {shlex.quote(project.relative_to(root).as_posix())} && {command}"
