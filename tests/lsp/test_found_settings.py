"""Settings that say which projects there are (`lsp.found_settings`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_mcp.lsp.found_settings import FoundSettings

PROJECT = Path("/a/project.toml")


class Projects(FoundSettings):
    """A server that is told of `present` projects, with a program for each that was found."""

    marked_by = frozenset({PROJECT.name})

    def __init__(self) -> None:
        super().__init__()
        self.present: list[str] = []
        self.comes_next: list[str] = []  # while it looks
        self.reloaded = 0
        self._programs: list[Path] = []

    def found(self) -> Mapping[str, Any]:
        settings = {"projects": list(self.present)}
        self._programs = [Path(one) / "program" for one in self.present]
        if self.comes_next:
            self.present.append(self.comes_next.pop())
            self.changed([PROJECT])
        return settings

    def programs(self) -> Sequence[Path]:
        return self._programs

    async def reload_all(self, *, settings: bool) -> None:
        self.reloaded += settings

    def settled(self) -> bool:
        return asyncio.run(self.settle(self.reload_all))


class BareProjects(Projects):
    """As `Projects`, without programs."""

    def programs(self) -> Sequence[Path]:
        return ()


def started(projects: Projects) -> Projects:
    projects.settings()
    return projects


def test_a_server_is_replaced_once_for_a_project_that_brings_a_program() -> None:
    projects = started(Projects())
    projects.present = ["a"]
    assert not projects.settled()  # nobody said so
    projects.changed([PROJECT])
    assert projects.settled()
    assert not projects.settled()
    assert projects.reloaded == 1


def test_a_project_that_comes_while_another_is_looked_for_is_not_forgotten() -> None:
    projects = started(BareProjects())
    projects.present, projects.comes_next = ["a"], ["b"]
    projects.changed([PROJECT])
    assert projects.settled()
    assert projects.settled()
    assert projects.reloaded == 2


def test_a_change_of_which_the_projects_are_the_same_replaces_no_server() -> None:
    projects = started(Projects())
    projects.changed([PROJECT, Path("/a/b.py")])
    assert not projects.settled()
