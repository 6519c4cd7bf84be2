"""The code tools and the board: tasks are mentioned where their code is asked about, and follow renames."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.adapters import load_adapter
from lsp_mcp.board.board import Board
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import Store
from lsp_mcp.edits.plan import Step
from lsp_mcp.sessions.running import Running
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.text import Point
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools, tool_context
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace

SOURCE = 'package shelf\n\nfunc Find(id string) string { return id }\n\nfunc Use() { Find(Find("a")) }\n'


class Both:
    """The tools of gopls and of the board."""

    def __init__(self, tools: dict[str, Any]) -> None:
        self._tools = tools

    async def ask(self, tool: str, **arguments: Any) -> tuple[Any, list[str]]:
        """The answer, and the remarks on it."""
        call = Call()
        return json.loads(await self._tools[tool].call(call, arguments)), call.remarks


@asynccontextmanager
async def both(root: Path, database: Path) -> AsyncIterator[Both]:
    skip_without("gopls")
    (root / "go.mod").write_text("module ex.com/shelf\n\ngo 1.22\n")
    (root / "shelf.go").write_text(SOURCE)
    board = Board(Store(f"sqlite:///{database}"))
    host = BoardHost(board, Workspace(root))
    sessions = Sessions(Workspace(root), [load_adapter("gopls")], {})
    sessions.begin()
    running = Running(sessions, parts={"board": host})
    try:
        tools = offered_tools(tool_context(running, ToolSettings(toolsets=("board",))))
        yield Both({tool.name: tool for tool in tools})
    finally:
        await running.close()
        await board.close()


@bounded
async def test_who_asks_about_a_symbol_hears_of_its_open_tasks(tmp_path: Path) -> None:
    (root := tmp_path / "project").mkdir()
    async with both(root, tmp_path / "board.sqlite3") as at:
        task, _ = await at.ask("create_task", title="Find must fail for unknown ids", anchors=["go://shelf.go#3:6"])
        line = f"open tasks on Find: {task['id']} (Find must fail for unknown ids)"
        for tool in ("find_symbol_references_by_anchor", "find_callers_by_anchor"):
            _, remarks = await at.ask(tool, symbol_anchor="go://shelf.go#3:6")
            assert remarks == [line]
        _, remarks = await at.ask("find_symbol_definitions_by_name", symbol_name="Find")
        assert remarks == [line]
        _, remarks = await at.ask("find_symbol_references_by_anchor", symbol_anchor="Use")
        assert remarks == []
        await at.ask("complete_task", id=task["id"])
        _, remarks = await at.ask("find_symbol_references_by_anchor", symbol_anchor="Find")
        assert remarks == []


@bounded
async def test_an_anchor_of_a_task_follows_a_rename(tmp_path: Path) -> None:
    (root := tmp_path / "project").mkdir()
    async with both(root, tmp_path / "board.sqlite3") as at:
        task, _ = await at.ask("create_task", title="About Find", anchors=["go://shelf.go#3:6", "go://shelf.go#5:19"])
        await at.ask("rename_symbol_by_anchor", symbol_anchor="Find", new_name="Lookup")
        anchors = (await at.ask("get_task", id=task["id"]))[0]["anchors"]
        assert [(one["anchor"], one["symbol"]) for one in anchors] == [
            ("go://shelf.go#3:6", "Lookup"),
            ("go://shelf.go#5:21", "Lookup"),
        ]
        assert all("state" not in one for one in anchors)
        _, remarks = await at.ask("find_symbol_references_by_anchor", symbol_anchor="Lookup")
        assert remarks == [f"open tasks on Lookup: {task['id']} (About Find)"]


class Recorded:
    """Stands in for the board: how often it was told of edits."""

    def __init__(self) -> None:
        self.edits = 0

    async def tasks_on(self, path: Path, point: Point, name: str) -> str | None:
        return None

    async def edited(self, steps: Sequence[Step]) -> None:
        self.edits += 1


@bounded
async def test_asking_for_the_list_of_tools_changes_nothing(tmp_path: Path) -> None:
    skip_without("gopls")
    (tmp_path / "go.mod").write_text("module ex.com/shelf\n\ngo 1.22\n")
    (tmp_path / "shelf.go").write_text(SOURCE)
    sessions = Sessions(Workspace(tmp_path), [load_adapter("gopls")], {})
    recorded = Recorded()
    context = ToolContext(sessions, ToolSettings(toolsets=("board",)), links=[recorded])
    before = {name: repr(value) for name, value in vars(sessions).items()}
    lists = [{tool.name: tool for tool in offered_tools(context)} for _ in range(3)]
    assert {name: repr(value) for name, value in vars(sessions).items()} == before
    assert [[*one] for one in lists] == [[*lists[0]]] * 3
    sessions.begin()
    try:
        for count, new_name in enumerate(("Get", "Take"), start=1):
            await lists[count]["rename_symbol_by_anchor"].call(
                Call(), {"symbol_anchor": "go://shelf.go#3:6", "new_name": new_name}
            )
            assert recorded.edits == count
    finally:
        await sessions.close()
