"""A person's Neovim with real gopls and clangd in one workspace, and the tools of the program on it.

    async with person(tmp_path, "shapes/shapes.go") as (nv, tools):
        found = await tools("lsp_references", document=tools.file("shapes/shapes.go"), **tools.at(GO, "Twice("))
        assert [tools.cut(one) for one in found] == [(GO, 16, "Twice"), …]

In the sources identifiers stand behind `é😀`, so that characters, UTF-8 and UTF-16 units have different numbers. The
numbers of places are counted here, in the characters of a text: nothing of the program's does it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import msgpack

from fakes.callers import somebody
from fakes.patience import TO_THE_END
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace
from nvim.neovims import SERVERS, Neovim, neovim

Base = Literal[0, 1]
Json = dict[str, Any]

GO, MORE, BROKEN = "shapes/shapes.go", "shapes/more.go", "broken/broken.go"
IMPORTS, SPACES = "untidy/imports.go", "untidy/spaces.go"
HPP, CPP, UNTIDY = "c/rooms.hpp", "c/rooms.cpp", "c/untidy.cpp"
WRONG, FIXABLE = "c/wrong.cpp", "c/fixable.cpp"

SOURCES = {
    "go.mod": "module example.com/both\n\ngo 1.23\n",
    GO: """\
// Package shapes has forms: é😀.
package shapes

import "fmt"

// Shape is something with an area.
type Shape interface {
	Area() int
}

// Square is a Shape.
type Square struct{ Side, Top int }

/* é😀 */ func (s Square) Area() int { return s.Side * s.Side }

/* é😀 */ func Twice(s Shape) int { return 2 * s.Area() }

func show() string { /* é😀 */ return fmt.Sprint(Twice(Square{})) }
""",
    MORE: "package shapes\n",
    BROKEN: "package broken\n\n/* é😀 */ func Broken() int { return missing }\n",
    IMPORTS: """\
package untidy

import (
	"strings"
	"os"
	"fmt"
)

func say() string { /* é😀 */ return fmt.Sprint(strings.ToUpper("é😀")) }
""",
    SPACES: "package untidy\n\nfunc spaced() int { /* é😀 */ return   max( 1,2)  }\n\nfunc  other( ) int { return 2}\n",
    HPP: """\
#pragma once
struct Room { virtual ~Room() = default; virtual int size() const; };
struct Hall : Room { int size() const override; };
/* é😀 */ int count(const Room& room);
""",
    CPP: """\
#include "rooms.hpp"
/* é😀 */ int Room::size() const { return 1; }
/* é😀 */ int Hall::size() const { return 2; }
/* é😀 */ int count(const Room& room) { return room.size(); }
int twice() { Hall hall; /* é😀 */ return count(hall) + count(hall); }
""",
    WRONG: '#include "rooms.hpp"\n/* é😀 */ int use(const Room& room) { return conut(room); }\n',
    FIXABLE: "int fixed(int width) { /* é😀 */ return width }\n",
    UNTIDY: "/* é😀 */ int   spaced( int x ){return x;}\nint  other( int y ){return y;}\n",
}
# In a buffer only, in the shared Neovim.
UNSAVED = "package shapes\n\n/* é😀 */ func More() int { return Twice(Square{Side: 2}) }\n"


def write_sources(root: Path) -> Path:
    """All of them, below `root`."""
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    commands = [
        {"directory": str(root), "file": name, "command": f"c++ -std=c++17 -c {name}"}
        for name in SOURCES
        if name.endswith(".cpp")
    ]
    (root / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    return root


class Tools:
    """The tools of `neovims` as a client calls them, with lines and characters from `base`."""

    def __init__(self, neovims: Neovims, base: Base = 1, **settings: Any) -> None:
        self.neovims = neovims
        self.root = neovims.code.workspace.root
        self.base = base
        self.by_name = {
            tool.name: tool
            for tool in offered_tools(
                ToolContext(neovims.code, ToolSettings(base=base, answer_within=TO_THE_END, **settings), neovims)
            )
        }
        self.remarks: list[str] = []  # of the last call
        self.unsaved: dict[str, str] = {}  # the texts of buffers that are not those of their files

    async def text(self, tool: str, /, **arguments: Any) -> str:
        """The answer as it is."""
        call = Call(client=somebody())
        # As it comes over the wire.
        answer = await self.by_name[tool].call(call, json.loads(json.dumps(arguments)))
        self.remarks = call.remarks
        return answer

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        """The answer, which is JSON."""
        return json.loads(await self.text(tool, **arguments))

    async def error(self, tool: str, /, **arguments: Any) -> str:
        """The message of a call that fails; anything but an `LspMcpError` is a defect."""
        try:
            answer = await self.text(tool, **arguments)
        except LspMcpError as error:
            return str(error)
        # No `pytest.raises`: what that raises would end the loop of the shared Neovim.
        raise AssertionError(f"{tool} did not fail, but answered {answer[:500]}")

    def listed(self) -> list[str]:
        """The tools that a client sees."""
        return [tool.name for tool in self.by_name.values() if tool.listed()]

    # --- places ------------------------------------------------------------------------------------

    def file(self, name: str) -> Json:
        """A document by its path from the folder of Neovim."""
        return {"project_relative_path": name}

    def content(self, name: str) -> str:
        """The text of a file, or of its unsaved buffer."""
        return self.unsaved.get(name) or (self.root / name).read_text("utf-8")

    def at(self, name: str, needle: str, inside: str = "") -> Json:
        """`line` and `character` of `inside` in the first `needle` of a file."""
        content = self.content(name)
        offset = content.index(needle) + needle.index(inside)
        line_start = content.rfind("\n", 0, offset) + 1
        return {"line": content.count("\n", 0, offset) + self.base, "character": offset - line_start + self.base}

    def range(self, name: str, needle: str) -> Json:
        """The arguments `start_line` … of a `needle` on one line."""
        at = self.at(name, needle)
        return {
            "start_line": at["line"],
            "start_character": at["character"],
            "end_line": at["line"],
            "end_character": at["character"] + len(needle),
        }

    def cut(self, location: Json) -> tuple[str, int, str]:
        """File, line (from 1) and text of what a Location, a LocationLink or an item of a hierarchy names."""
        uri = location.get("uri") or location["targetUri"]
        range_ = location.get("selectionRange") or location.get("targetSelectionRange") or location["range"]
        name = self.name(uri)
        return (name, range_["start"]["line"] + 1 - self.base, self.slice(self.content(name), range_))

    def cuts(self, locations: Sequence[Json]) -> list[tuple[str, int, str]]:
        """Of each, sorted."""
        return sorted(map(self.cut, locations))

    def slice(self, content: str, range_: Json) -> str:
        """The text of a range."""
        start, end = (self.offset(content, range_[edge]) for edge in ("start", "end"))
        return content[start:end]

    def offset(self, content: str, position: Json) -> int:
        """Where a position is in `content`; it must be in there."""
        lines = content.split("\n")
        line, character = position["line"] - self.base, position["character"] - self.base
        assert 0 <= line < len(lines) and 0 <= character <= len(lines[line]), position
        return sum(len(text) + 1 for text in lines[:line]) + character

    def name(self, uri: str) -> str:
        """The path in the workspace of a URI."""
        return Path(unquote(urlsplit(uri).path)).relative_to(self.root).as_posix()

    def edited(self, content: str, edits: Sequence[Json]) -> str:
        """`content` with TextEdits carried out."""

        def stretch(edit: Json) -> tuple[int, int]:
            at = edit["range"]
            return self.offset(content, at["start"]), self.offset(content, at["end"])

        for (start, end), edit in sorted(((stretch(edit), edit) for edit in edits), key=itemgetter(0), reverse=True):
            content = content[:start] + edit["newText"] + content[end:]
        return content

    def changed(self, edit: Json) -> dict[str, str]:
        """By file: what a workspace edit makes of it."""
        by_uri = dict(edit.get("changes") or {})
        for change in edit.get("documentChanges") or []:
            by_uri.setdefault(change["textDocument"]["uri"], []).extend(change["edits"])
        return {self.name(uri): self.edited(self.content(self.name(uri)), edits) for uri, edits in by_uri.items()}


@contextlib.asynccontextmanager
async def program(
    root: Path, socket: str | None, adapters: Sequence[str] = (), **options: Any
) -> AsyncIterator[Neovims]:
    """The program with `--backend nvim`, in this process, without anything connected."""
    loaded = [load_adapter(name) for name in adapters]
    neovims = Neovims(Workspace(root), loaded, SessionOptions(**options), socket)
    try:
        yield neovims
    finally:
        await neovims.close()
        await asyncio.gather(*(editor.ended for editor in neovims.connections.connected))


@contextlib.asynccontextmanager
async def person(
    root: Path,
    *files: str,
    base: Base = 1,
    servers: Sequence[str] = SERVERS,
    sources: bool = True,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[tuple[Neovim, Tools]]:
    """A Neovim in `root` that shows `files`, and the tools on it."""
    if sources:
        write_sources(root)
    async with neovim(root, *files, servers=servers, **options) as nv, program(root, nv.socket) as neovims:
        yield nv, Tools(neovims, base, **(settings or {}))


async def set_up(nv: Neovim) -> None:
    """Two windows, a cursor in the middle, an unsaved buffer that is not shown, and two with errors."""
    for name, server in ((BROKEN, "gopls"), (WRONG, "clangd"), (MORE, "gopls"), (CPP, "clangd")):
        await nv.open(name)
        await nv.attached(server)
        if name == MORE:
            await nv.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", UNSAVED.splitlines())
    await nv.lua("vim.api.nvim_win_set_cursor(0, { 3, 14 }) vim.cmd.split()")
    await nv.open(GO)
    await nv.attached("gopls")
    await nv.lua("vim.api.nvim_win_set_cursor(0, { 16, 20 })")  # on `Twice`


async def buffer_number(nv: Neovim, name: str) -> int:
    """The buffer of a file."""
    return await nv.lua("return vim.fn.bufnr('^' .. vim.fn.fnamemodify(..., ':p') .. '$')", name)


async def buffer_text(nv: Neovim, number: int) -> str:
    """What a buffer holds."""
    return "\n".join(await nv.lua("return vim.api.nvim_buf_get_lines(..., 0, -1, true)", number)) + "\n"


# --- other programs, and unusual Neovims -----------------------------------------------------------


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A new folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-test-", dir="/tmp") as name:
        yield Path(name).resolve()


Answers = Callable[[str, list[Any]], Any]
"""Called with a method and its arguments: the result. A `LookupError` is answered as an error."""


@contextlib.asynccontextmanager
async def listener(
    path: Path, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
) -> AsyncIterator[None]:
    """Somebody who listens on a socket, and whose connections are over at the end."""
    connections: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())  # type: ignore[arg-type]
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_unix_server(one, path)
    try:
        yield
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


@contextlib.asynccontextmanager
async def fake_neovim(path: Path, answers: Answers) -> AsyncIterator[None]:
    """Something that speaks msgpack-RPC on a socket."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        unpacker = msgpack.Unpacker(strict_map_key=False)
        while data := await reader.read(65536):
            unpacker.feed(data)
            for message in unpacker:
                if message[0] == 0:
                    try:
                        answer = [1, message[1], None, answers(message[2], message[3])]
                    except LookupError as error:
                        answer = [1, message[1], [0, str(error)], None]
                    writer.write(msgpack.packb(answer))
            await writer.drain()

    async with listener(path, serve):
        yield


def stale_socket(path: Path) -> Path:
    """What a process that was killed leaves behind."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))
        server.listen()
    return path
