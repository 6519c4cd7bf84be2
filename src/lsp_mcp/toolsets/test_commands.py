"""The commands that run tests, as an adapter says them: `commands`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from lsp_mcp.adapters import Adapter
from lsp_mcp.features.impact import Reached

_MOST_NAMED = 5  # tests in one command
_MOST_FOLDERS = 6


def commands(tests: Sequence[Reached], about: Sequence[Path], adapter: Adapter, root: Path) -> list[str]:
    """Shell commands, to be given in `root`: the nearest of `tests` (which are ranked), then all in each folder."""
    patterns = adapter.tests
    named = [(test, name) for test in tests if (name := _runner_name(test.symbol.name, patterns.name_pattern))]
    if not patterns.run or not named:
        return []
    first = named[0][0].symbol.place.path
    home = first.parent
    nearest = [name for test, name in named if test.symbol.place.path == first][:_MOST_NAMED]
    names = patterns.names_joined.join(dict.fromkeys(nearest))
    found = [_in_project(patterns.run, home, adapter, root, names)]
    if patterns.run_all:
        folders = dict.fromkeys(test.symbol.place.path.parent for test, _ in named)
        found += [_in_project(patterns.run_all, folder, adapter, root) for folder in list(folders)[:_MOST_FOLDERS]]
    return list(dict.fromkeys(found))


def _runner_name(name: str, pattern: str) -> str:
    found = re.search(pattern, name) if pattern else None
    return ".".join(found.groups()) if found else ""


def _in_project(template: str, folder: Path, adapter: Adapter, root: Path, names: str = "") -> str:
    """`template` for `folder`, given in the folder of its project."""
    marker = adapter.projects.marker if adapter.projects else ""
    above = [one for one in (folder, *folder.parents) if one.is_relative_to(root)]
    project = next((one for one in above if marker and (one / marker).is_file()), root)
    inside = folder.relative_to(project).as_posix()
    command = template.replace("{names}", names)
    command = command.replace("./{folder}", "." if inside == "." else f"./{shlex.quote(inside)}")
    return command if project == root else f"cd {shlex.quote(project.relative_to(root).as_posix())} && {command}"
