"""Short ways to a board's functions, for tests: `World`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_mcp.board import agents, stages, tasks, views
from lsp_mcp.board.processes import new_name
from lsp_mcp.board.store import PERSON, Actor, Store, Transaction
from lsp_mcp.errors import CallerError
from mcp_process import BOUND

Work = Callable[[Transaction], Any]


class World:
    """A store with the usual stages, and functions of the board each in a transaction of its own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.process = new_name()
        store.write(stages.fill)

    def agent(self, name: str = "claude", process: str | None = None) -> Actor:
        """A new agent that is connected."""
        return self.write(agents.connect, name, process or self.process)

    def write(self, function: Callable[..., Any], *arguments: Any, by: Actor = PERSON, **named: Any) -> Any:
        return self.store.write(lambda at: function(at, *arguments, **named), by)

    def read(self, function: Callable[..., Any], *arguments: Any, by: Actor = PERSON, **named: Any) -> Any:
        return self.store.read(lambda at: function(at, *arguments, **named), by)

    def refused(self, function: Callable[..., Any], *arguments: Any, by: Actor = PERSON, **named: Any) -> str:
        """The message of a `CallerError`; nothing has changed."""
        before = self.everything()
        with pytest.raises(CallerError) as caught:
            self.write(function, *arguments, by=by, **named)
        assert self.everything() == before
        return str(caught.value)

    def everything(self) -> Any:
        """All rows of all tables."""
        from lsp_mcp.board import tables

        def work(at: Transaction) -> Any:
            return {
                name: sorted(map(repr, at.connection.execute(table.select())))
                for name, table in tables.metadata.tables.items()
            }

        return self.store.read(work)

    def task(self, title: str = "a task", **named: Any) -> str:
        """The id of a new task."""
        return str(self.write(tasks.create, title, **named)["id"])

    def get(self, id_: str) -> dict[str, Any]:
        return self.read(views.get, id_)

    def order(self, stage: str = "Backlog") -> list[str]:
        """The ids of a stage's tasks."""
        return [one["id"] for one in self.read(views.listed, stage=stage, limit=1_000)[0]]

    def titles(self, **wanted: Any) -> list[str]:
        """The titles that a list has."""
        return [one["title"] for one in self.read(views.listed, **wanted)[0]]

    def said(self, id_: str) -> list[tuple[str, str]]:
        """The history of a task: who, what."""
        return [(one["who"], one["message"]) for one in self.get(id_)["history"]]


def worktrees(folder: Path) -> tuple[Path, Path]:
    """A checkout in `folder`, and another worktree of it."""
    main, other = folder / "main", folder / "other"
    for command in (
        ["init", "-q", str(main)],
        ["-C", str(main), "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x"],
        ["-C", str(main), "worktree", "add", "-q", str(other)],
    ):
        subprocess.run(["git", *command], check=True, timeout=BOUND)
    return main, other
