"""Short ways into a board and out of it: `Place`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_mcp.board import stages, views
from lsp_mcp.board.exchange import rows
from lsp_mcp.board.exchange.data import Contents, Task
from lsp_mcp.board.exchange.exporting import Exported, export_to
from lsp_mcp.board.exchange.importing import Imported, import_contents
from lsp_mcp.board.exchange.reading import read_folder
from lsp_mcp.board.store import PERSON, Actor, Store

NEOVA = Path(__file__).parent.parent / "fixtures" / "neova"


class Place:
    """A board in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.store = Store(f"sqlite:///{folder / 'board.sqlite3'}")
        self.store.write(stages.fill)

    def do(self, function: Callable[..., Any], *arguments: Any, by: Actor = PERSON, **named: Any) -> Any:
        return self.store.write(lambda at: function(at, *arguments, **named), by)

    def get(self, id_: str) -> Any:
        return self.store.read(lambda at: views.get(at, id_))

    @property
    def contents(self) -> Contents:
        return self.store.read(rows.load)

    @property
    def tasks(self) -> dict[str, Task]:
        return {task.id: task for task in self.contents.tasks}

    def take(self, folder: Path | Contents, *, force: bool = False) -> Imported:
        found = folder if isinstance(folder, Contents) else read_folder(folder)
        return self.store.write(lambda at: import_contents(at, found, force=force))

    def give(self, folder: Path, *, force: bool = False) -> Exported:
        return export_to(folder, self.contents, force=force)


def texts(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def counts(done: Imported, kind: str = "tasks") -> tuple[int, int, int, int]:
    """How many were created, updated, unchanged and skipped."""
    found = done.counts[kind]
    return found["created"], found["updated"], found["unchanged"], found["skipped"]


def task_file(folder: Path, id_: str) -> Path:
    """The file of a task in an export."""
    (found,) = (folder / "tasks").glob(f"{id_}*.md")
    return found


def edit(path: Path, old: str, new: str) -> None:
    """Change a file as a person would."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
