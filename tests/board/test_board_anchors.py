"""Tasks on symbols: found again after edits, gone, and found by their anchor."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.board.board import Board
from lsp_mcp.board.host import BoardHost
from lsp_mcp.board.store import Store
from lsp_mcp.errors import LspMcpError
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.board.tasks import TaskTools
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.tool import Call, Client, tools_of
from lsp_mcp.workspace import Workspace
from mcp_process import BOUND

SOURCE = "package main\n\nfunc Serve() {}\n\nfunc main() {\n\tServe()\n}\n"


class Tools:
    """The tools of tasks in one process, without a server."""

    def __init__(self, root: Path, board: Board) -> None:
        self.root = root
        host = BoardHost(board, Workspace(root))
        context = ToolContext(Sessions(Workspace(root), [], {}), parts={"board": host})
        self._tools = {one.name: one for one in tools_of(TaskTools(context))}

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        return json.loads(await self._tools[tool].call(Call(client=Client("claude", "key")), arguments))

    async def error(self, tool: str, /, **arguments: Any) -> str:
        with pytest.raises(LspMcpError) as caught:
            await self(tool, **arguments)
        return str(caught.value)

    async def create(self, *anchors: str, title: str = "a task") -> str:
        return str((await self("create_task", title=title, anchors=list(anchors)))["id"])

    async def anchors(self, id_: str) -> Any:
        return (await self("get_task", id=id_)).get("anchors")

    async def found(self, anchor: str) -> list[str]:
        return [one["title"] for one in (await self("find_tasks_by_anchor", anchor=anchor))["tasks"]]

    def write(self, text: str, name: str = "main.go") -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(text.encode())


@asynccontextmanager
async def project(root: Path, url: str) -> AsyncIterator[Tools]:
    board = Board(Store(url))
    tools = Tools(root, board)
    tools.write(SOURCE)
    try:
        yield tools
    finally:
        await board.close()


@pytest.fixture
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the board is for what is the same on every database."""
    return f"sqlite:///{tmp_path_factory.mktemp('board') / 'board.sqlite3'}"


@bounded
async def test_an_anchor_shows_its_symbol_and_line(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        id_ = await tools.create("go://main.go#3:8", "go://main.go#6:2")
        assert await tools.anchors(id_) == [
            {"anchor": "go://main.go#3:6", "symbol": "Serve", "code": "func Serve() {}"},
            {"anchor": "go://main.go#6:2", "symbol": "Serve", "code": "Serve()"},
        ]


@bounded
async def test_an_anchor_is_found_again_after_edits(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        id_ = await tools.create("go://main.go#3:6")
        tools.write(SOURCE.replace("func Serve", "// Serve serves.\n// It is\r\n// called Serve.\nfunc Serve"))
        (anchor,) = await tools.anchors(id_)
        assert anchor == {"anchor": "go://main.go#6:6", "symbol": "Serve", "code": "func Serve() {}"}
        # Its line was edited too: the nearest one of that name.
        tools.write("package main\n\n\nfunc Serve(port int) {}\n\n\n\n\nvar x = Serve\n")
        (anchor,) = await tools.anchors(id_)
        assert anchor == {
            "anchor": "go://main.go#4:6",
            "symbol": "Serve",
            "code": "func Serve(port int) {}",
            "state": "moved: the nearest of 2 places that have Serve",
        }
        # Reading has changed nothing that is stored.
        tools.write(SOURCE)
        assert (await tools.anchors(id_))[0]["anchor"] == "go://main.go#3:6"


@bounded
async def test_an_anchor_whose_symbol_or_file_is_gone_says_so(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        id_ = await tools.create("go://main.go#3:6")
        tools.write(SOURCE.replace("Serve", "Server"))
        (anchor,) = await tools.anchors(id_)
        assert anchor == {
            "anchor": "go://main.go#3:6",
            "symbol": "Serve",
            "code": "func Serve() {}",
            "state": "gone: main.go no longer has Serve",
        }
        (tmp_path / "main.go").unlink()
        assert (await tools.anchors(id_))[0]["state"] == "gone: the file is not there"
        tools.write("\xff")
        (tmp_path / "main.go").write_bytes(b"\xff\xfe\x00")
        assert (await tools.anchors(id_))[0]["state"].startswith("gone: ")


@bounded
async def test_tasks_are_found_by_the_place_that_their_symbol_has_now(tmp_path: Path, store_url: str) -> None:
    async with project(tmp_path, store_url) as tools:
        serve = await tools.create("go://main.go#3:6", title="serve")
        await tools.create("go://main.go#5:6", title="main")
        tools.write(f"// new\n{SOURCE}", "main.go")
        assert await tools.found("go://main.go#4:6") == ["serve"]
        assert await tools.found("go://main.go#6:7") == ["main"]
        assert await tools.found("main.go") == ["serve", "main"]
        tools.write("x", "other.go")
        assert await tools.found("other.go") == []
        await tools("update_task", id=serve, anchors=["go://other.go#1:1"])
        assert await tools.found("main.go") == ["main"]
        assert await tools.found("go://other.go#1:1") == ["serve"]
        assert (await tools("get_task", id=serve))["history"][-1]["fields"] == {
            "anchors": [["go://main.go#3:6"], ["go://other.go#1:1"]]
        }


@bounded
async def test_a_task_whose_symbol_is_gone_is_found_by_its_file(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        await tools.create("go://main.go#3:6", title="serve")
        tools.write("package main\n")
        assert await tools.found("main.go") == ["serve"]
        (tmp_path / "main.go").unlink()
        assert await tools.found("main.go") == ["serve"]


@bounded
async def test_any_language_and_any_name_of_a_file_will_do(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        tools.write("def größe():\n    return '😀', größe\n", "src/ein Käse.py")
        id_ = await tools.create("py://src/ein%20K%C3%A4se.py#2:17")
        (anchor,) = await tools.anchors(id_)
        assert (anchor["symbol"], anchor["code"]) == ("größe", "return '😀', größe")
        assert await tools.found(anchor["anchor"]) == ["a task"]
        assert await tools.found("src/ein Käse.py") == ["a task"]


@bounded
async def test_an_anchor_that_stands_on_nothing_is_refused_and_no_task_is_made(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        for anchor, words in (
            ("go://main.go#6:8", "on that line: Serve at 2"),
            ("go://main.go#2:1", "on that line: none"),
            ("go://main.go#99:1", "Anchors count from 1, in characters"),
            ("go://main.go#0:1", ""),
            ("go://gone.go#1:1", "gone.go"),
            ("go://../outside.go#1:1", ""),
            ("Serve", ""),
            ("", ""),
        ):
            assert words in await tools.error("create_task", title="x", anchors=[anchor])
        assert (await tools("list_tasks"))["total"] == 0
        assert "anchors: list should have at most 50" in await tools.error(
            "create_task", title="x", anchors=["go://main.go#3:6"] * 51
        )


@bounded
async def test_the_same_symbol_twice_is_one_anchor(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        id_ = await tools.create("go://main.go#3:6", "go://main.go#3:7", "go://main.go#3:6")
        assert [one["anchor"] for one in await tools.anchors(id_)] == ["go://main.go#3:6"]
        before = await tools("update_task", id=id_, anchors=["go://main.go#3:6"])
        assert before["revision"] == 1


@bounded
async def test_a_file_and_a_line_or_name_is_an_anchor_without_a_language_server_too(tmp_path: Path, url: str) -> None:
    async with project(tmp_path, url) as tools:
        id_ = await tools.create("main.go:3:Serve", "main.go:6:2", "main.go:main")
        assert [one["anchor"] for one in await tools.anchors(id_)] == [
            "file://main.go#3:6",
            "file://main.go#6:2",
            "file://main.go#5:6",
        ]
        tools.write("to do\nwhat to do\n", "notes.txt")
        refused = await tools.error("create_task", title="x", anchors=["notes.txt:do"])
        assert refused.startswith("notes.txt has 2 places with 'do'\nfile://notes.txt#1:4| to do")


@bounded
async def test_without_a_language_server_a_name_is_an_anchor_if_only_one_place_declares_it(
    tmp_path: Path, url: str
) -> None:
    async with project(tmp_path, url) as tools:
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, timeout=BOUND)
        tools.write("package main\n\nvar legacyArgs = 1\n", "args.go")
        id_ = await tools.create("legacyArgs")
        assert [one["anchor"] for one in await tools.anchors(id_)] == ["file://args.go#3:5"]
        assert await tools.found("legacyArgs") == ["a task"]
        assert await tools.found("args.go") == ["a task"]
        tools.write(
            "package main\n\n// Start calls Run.\ntype A struct{ size int }\nfunc (a *A) Run() { a.Run() }\n"
            "type B struct{}\nfunc (b B) Run(size int) {}\n",
            "types.go",
        )
        id_ = await tools.create("Serve", "A.Run", "types.go:B", "types.go:7", "types.go:4")
        assert [one["anchor"] for one in await tools.anchors(id_)] == [
            "file://main.go#3:6",
            "file://types.go#5:13",
            "file://types.go#6:6",
            "file://types.go#7:12",
            "file://types.go#4:6",
        ]
        refused = await tools.error("create_task", title="x", anchors=["Run"])
        assert "no language server runs that could find 'Run', and 2 declarations have that name" in refused
        assert "\nfile://types.go#5:13| func (a *A) Run() { a.Run() }\nfile://types.go#7:12| func (b B) Run(" in refused
        assert "no text of this checkout has Nowhere" in await tools.error("find_tasks_by_anchor", anchor="Nowhere")


def test_a_task_takes_the_names_that_the_code_tools_take(tmp_path: Path) -> None:
    skip_without("gopls")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text(
        "package main\n\ntype Old struct{}\n\nfunc (Old) Run() {}\n\ntype New struct{}\n\nfunc (New) Run() {}\n\n"
        "func main() { Old{}.Run(); New{}.Run() }\n"
    )
    options = ("--workspace-root", str(tmp_path), "--store", f"sqlite:///{tmp_path / 'b.sqlite3'}")

    def call(*words: str) -> Any:
        command = [
            sys.executable,
            "-m",
            "lsp_mcp",
            "call",
            *words,
            "--toolset",
            "board",
            "--backend",
            "gopls",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * BOUND, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    id_ = call("create_task", "title=a task", 'anchors=["New.Run", "main.go:3"]', "--json")["id"]
    task = call("get_task", f"id={id_}", "--json")
    assert [(one["anchor"], one["symbol"]) for one in task["anchors"]] == [
        ("go://main.go#9:12", "Run"),
        ("go://main.go#3:6", "Old"),
    ]
    assert call("find_tasks_by_anchor", "anchor=New.Run", "--json")["total"] == 1
    assert call("find_tasks_by_anchor", "anchor=Old.Run", "--json")["total"] == 0
