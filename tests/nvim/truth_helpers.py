"""A person's Neovim and the program beside it: `desk(root)` gives both, with a small project in Go or in C.

async with desk(root, "lib.go") as at:
    answer = await at.call("read", document={"project_relative_path": "lib.go"})
    message = await at.refused("lsp_hover", ...)
    await at.nv.lua("vim.cmd.write()")  # what the person does
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fakes.bounded import stop
from fakes.callers import somebody
from fakes.patience import TO_THE_END
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.toolsets.context import ToolContext
from lsp_mcp.toolsets.offered import offered_tools
from lsp_mcp.toolsets.settings import ToolSettings
from lsp_mcp.toolsets.tool import Call, Client
from lsp_mcp.uris import uri_path
from lsp_mcp.workspace import Workspace
from nvim.neovims import Neovim, neovim

# What every language client sends: method and state of each request, and an event for those that wait for one.
WATCH_REQUESTS = """
_G.requests = {}
vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
  local request = event.data.request
  table.insert(_G.requests, { method = request.method, type = request.type })
end })
"""
REQUESTED = """
local method, type = ...
for _, request in ipairs(_G.requests) do
  if request.method == method and request.type == type then return true end
end
"""


@dataclass(frozen=True)
class Kind:
    """A small project of one language: `definition` is that of the function which its files call."""

    server: str
    fixed: Mapping[str, str]
    definition: tuple[str, int, int]  # file, line, character
    anchor: str
    also: Sequence[tuple[str, int]]  # what else is a reference to it, whatever the users are
    broken: str  # a whole file with an error
    whole: str  # the same file without it
    suffix: str
    library: tuple[str, str]  # the file that defines it, and its first line

    def using(self, name: str, count: int, above: int = 0) -> str:
        """A file that calls it `count` times in a function `name`, below `above` more lines."""
        more = "// more\n" * above
        if self.server == "gopls":
            return f"package a\n{more}\nfunc {name}() {{\n" + "\tTarget()\n" * count + "}\n"
        return f'#include "lib.h"\n{more}\nvoid {name}(void) {{\n' + "  target();\n" * count + "}\n"

    def uses(self, path: str, count: int, above: int = 0) -> list[tuple[str, int]]:
        """File and line of each of those calls."""
        return [(path, 4 + above + number) for number in range(count)]

    def write(self, root: Path, **users: int) -> None:
        """The project, with users: name of the function, number of calls."""
        for name, text in self.fixed.items():
            write(root / name, text)
        for name, count in users.items():
            write(root / f"{name}{self.suffix}", self.using(name, count))
        if self.server == "clangd":
            self.write_commands(root, *users)

    def write_commands(self, root: Path, *names: str) -> None:
        files = ["lib.c", *(f"{name}.c" for name in names)]
        commands = [
            {"directory": str(root), "file": file, "arguments": ["cc", "-Iinclude", "-c", file]} for file in files
        ]
        write(root / "compile_commands.json", json.dumps(commands))


GO = Kind(
    server="gopls",
    fixed={
        "go.mod": "module ex.com/a\n\ngo 1.22\n",
        "lib.go": "package a\n\n// Target is called.\nfunc Target() int { return 1 }\n",
    },
    definition=("lib.go", 4, 6),
    anchor="go://lib.go#4:6",
    also=[("lib.go", 4)],
    broken="package a\n\nvar x int = missing\n",
    whole="package a\n\nvar x int = 1\n",
    suffix=".go",
    library=("lib.go", "package a"),
)
C = Kind(
    server="clangd",
    fixed={
        "include/lib.h": "#pragma once\n// It is called.\nint target(void);\n",
        "lib.c": '#include "lib.h"\nint target(void) { return 1; }\n',
    },
    definition=("lib.c", 2, 5),
    anchor="c://lib.c#2:5",
    also=[("include/lib.h", 3), ("lib.c", 2)],
    broken="int x = missing;\n",
    whole="int x = 1;\n",
    suffix=".c",
    library=("lib.c", '#include "lib.h"'),
)
kinds = pytest.mark.parametrize("kind", [GO, C], ids=lambda kind: kind.server)


@dataclass(frozen=True)
class Answer:
    text: str
    remarks: list[str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def said(self) -> str:
        """All remarks."""
        return "\n".join(self.remarks)


@dataclass
class Desk:
    """A Neovim, and the program's tools."""

    root: Path
    nv: Neovim
    neovims: Neovims
    settings: ToolSettings = field(default_factory=lambda: ToolSettings(allow_exec_lua=True, answer_within=TO_THE_END))
    client: Client | None = None  # who calls; None: another one each time

    def __post_init__(self) -> None:
        self._tools = {
            tool.name: tool for tool in offered_tools(ToolContext(self.neovims.code, self.settings, self.neovims))
        }

    async def call(self, tool: str, /, **arguments: Any) -> Answer:
        call = Call(client=self.client or somebody())
        text = await self._tools[tool].call(call, arguments)
        return Answer(text, call.remarks)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The message of a call that fails."""
        with pytest.raises(LspMcpError) as caught:
            await self.call(tool, **arguments)
        return str(caught.value)

    async def references(self, kind: Kind, line: int | None = None) -> tuple[list[tuple[str, int]], str]:
        """File and line of each reference, by `lsp_references`; and the status."""
        path, at, character = kind.definition
        answer = await self.call("lsp_references", document=document(path), line=line or at, character=character)
        return places(self.root, answer.json), answer.said

    async def by_anchor(self, kind: Kind, anchor: str | None = None) -> tuple[list[tuple[str, int]], str]:
        """The same by `find_symbol_references_by_anchor`."""
        answer = (await self.call("find_symbol_references_by_anchor", symbol_anchor=anchor or kind.anchor)).json
        found = [(one["location"]["file"], one["location"]["line"]) for one in answer["references"]]
        return sorted(found), answer["status"]

    async def type_text(self, path: str, text: str) -> None:
        """Make `text` the text of the loaded buffer of `path`, as by typing: unsaved."""
        await self.nv.lua(
            "local name, text = ... "
            "local lines = vim.split((text:gsub('\\n$', '')), '\\n') "
            "vim.api.nvim_buf_set_lines(vim.fn.bufnr('^' .. name .. '$'), 0, -1, true, lines)",
            str(self.root / path),
            text,
        )

    async def buffer_text(self, path: str) -> str | None:
        """The text of the loaded buffer of `path`; None if there is none."""
        found = await self.nv.lua(
            "local b = vim.fn.bufnr('^' .. ... .. '$') "
            "if b < 0 or not vim.api.nvim_buf_is_loaded(b) then return vim.NIL end "
            "return table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, true), '\\n') .. '\\n'",
            str(self.root / path),
        )
        return None if found is None else str(found)

    async def modified(self, path: str) -> bool:
        return bool(await self.nv.lua("return vim.bo[vim.fn.bufnr('^' .. ... .. '$')].modified", str(self.root / path)))

    async def load_hidden(self, path: str, *, listed: bool = False) -> int:
        """Load it into a buffer that no window shows; its number."""
        return int(
            await self.nv.lua(
                "local name, listed = ... "
                "local b = vim.fn.bufadd(name); vim.fn.bufload(b); vim.bo[b].buflisted = listed; return b",
                str(self.root / path),
                listed,
            )
        )

    async def requested(self, method: str, state: str = "pending") -> None:
        """Wait until a language client has a request of `method` in that state; it needs `WATCH_REQUESTS`."""
        await self.nv.until(REQUESTED, "LspRequest", arguments=[method, state])

    def servers(self, name: str) -> list[int]:
        """The processes of the language server `name` in Neovim."""
        return [pid for pid in self.nv.processes() if program(pid) == name]

    @contextlib.contextmanager
    def stopped(self, name: str) -> Any:
        """The server is stopped inside: it takes messages, and answers none."""
        pids = self.servers(name)
        assert pids
        for pid in pids:
            stop(pid)
        try:
            yield pids
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


@contextlib.asynccontextmanager
async def desk(
    root: Path,
    *files: str,
    servers: Sequence[str] = ("gopls",),
    options: SessionOptions | None = None,
    ui: bool = False,
    extra_lua: str = "",
    state: Path | None = None,
) -> AsyncIterator[Desk]:
    """A Neovim in `root` that shows `files`, and the program connected to it."""
    async with neovim(root, *files, servers=servers, ui=ui, extra_lua=extra_lua, state=state) as nv:
        for server in servers if files else ():
            await nv.attached(server)
        async with beside(root, nv, servers, options) as at:
            yield at


@contextlib.asynccontextmanager
async def beside(
    root: Path, nv: Neovim, servers: Sequence[str] = (), options: SessionOptions | None = None
) -> AsyncIterator[Desk]:
    """The program, connected to `nv`."""
    adapters = [load_adapter(name) for name in servers]
    neovims = Neovims(Workspace(root), adapters, options or SessionOptions(), nv.socket)
    neovims.begin()
    try:
        await neovims.begun()
        yield Desk(root, nv, neovims)
    finally:
        await neovims.close()


def document(path: str) -> dict[str, str]:
    """The document `path`."""
    return {"project_relative_path": path}


def places(root: Path, locations: Any) -> list[tuple[str, int]]:
    """File and line of each location."""
    return sorted(
        (str(uri_path(one["uri"]).relative_to(root)), one["range"]["start"]["line"]) for one in locations or []
    )


def write(path: Path, text: str | bytes) -> None:
    """As another program does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def program(pid: int) -> str:
    """The name of a process's program."""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:
        return ""


async def soon(awaitable: Any, seconds: float) -> Any:
    """What it gives, which must not take longer."""
    async with asyncio.timeout(seconds):
        return await awaitable
