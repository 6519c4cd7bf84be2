"""Tools in Lua for tests: a Neovim with the plugin, and what offers its tools to clients, on every transport.

    async with with_tools(root, "tool('echo', function(args) return args end)") as nv:
        async with on_stdio(nv, root, "auto") as face:
            result = await face.client.call_tool("nvim_echo", {"n": 1})

`LUA` is what every such Neovim can do: `tool(name, execute, more)` registers, and the tool `open` is open until a
test ends its call.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp.types
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, Tool

from fakes.bounded import gone
from lsp_mcp.errors import LspMcpError
from lsp_mcp.lsp.session import SessionOptions
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.toolsets.lua import LuaTool, LuaTools
from lsp_mcp.toolsets.tool import Call
from lsp_mcp.workspace import Workspace
from mcp_process import GO_ENV, PROGRAM
from nvim.neovims import NOT_INHERITED, Neovim, neovim

PLUGIN = Path(__file__).parents[2]  # its `lua/` is this repository's
BOUND = 100  # seconds for whatever is waited for: a hang, not a measurement
TOKEN = "a-token-of-tests"
SENT = {"Authorization": f"Bearer {TOKEN}"}

LUA = """
function _G.tool(name, execute, more)
  require('mcp-tools').register(vim.tbl_extend('force', {
    name = name, description = 'It does ' .. name .. '.', execute = execute, extra = true,
  }, more or {}))
end
function _G.happened()
  vim.api.nvim_exec_autocmds('User', { pattern = 'Happened' })
end
_G.open = {} -- by key: the calls of the tool `open`
tool('open', function(args, done, call)
  local state = { done = done, call = call }
  call.on_cancel(function()
    state.cancelled = true
    happened()
  end)
  _G.open[args.key] = state
  happened()
end)
tool('echo', function(args)
  return args
end)
"""
BEGUN = "return _G.open[...] ~= nil"
CANCELLED = "return _G.open[...] and _G.open[...].cancelled"


def lua_text(value: str | Path) -> str:
    """A literal in Lua."""
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


@asynccontextmanager
async def with_tools(root: Path, lua: str = "", **options: Any) -> AsyncIterator[Neovim]:
    """A Neovim that has the plugin, `LUA` and `lua`."""
    extra = f"vim.opt.runtimepath:prepend({lua_text(PLUGIN)})\n{LUA}\n{lua}"
    async with neovim(root, servers=options.pop("servers", ()), extra_lua=extra, **options) as nv:
        yield nv


async def begun(nv: Neovim, key: str) -> None:
    """Wait until the tool `open` was called with that key."""
    await nv.until(BEGUN, "User", arguments=[key])


async def cancelled(nv: Neovim, key: str) -> None:
    """Wait until that call of `open` was cancelled."""
    await nv.until(CANCELLED, "User", arguments=[key])


# --- without any transport -------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    text: str
    remarks: list[str]
    progress: list[str]

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Direct:
    """The toolset itself, in this process."""

    nv: Neovim
    neovims: Neovims
    lua: LuaTools

    async def call(self, name: str, /, **arguments: Any) -> Answer:
        progress: list[str] = []

        async def report(_: float, __: float | None, message: str) -> None:
            progress.append(message)

        call = Call(report=report)
        text = await self.lua.call(call, f"nvim_{name}", arguments)
        return Answer(text, call.remarks, progress)

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """The message of a call that fails."""
        with pytest.raises(LspMcpError) as caught:
            await self.call(name, **arguments)
        return str(caught.value)

    async def tools(self) -> dict[str, LuaTool]:
        return {tool.name: tool for tool in await self.lua.tools()}


@asynccontextmanager
async def direct(root: Path, nv: Neovim) -> AsyncIterator[Direct]:
    """The toolset over `nv`."""
    neovims = Neovims(Workspace(root), [], SessionOptions(), nv.socket)
    neovims.begin()
    try:
        await neovims.begun()
        yield Direct(nv, neovims, LuaTools(neovims))
    finally:
        await neovims.close()


# --- clients ---------------------------------------------------------------------------------------


@dataclass
class Face:
    """An MCP client and its notifications: `changes` has an entry for each change of the list of tools."""

    nv: Neovim
    client: Client
    changes: asyncio.Queue[None] = field(default_factory=asyncio.Queue)
    transport: str = ""

    async def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}

    async def listed(self, fits: Callable[[dict[str, Tool]], Any]) -> dict[str, Tool]:
        """The first list after a notification of a change that fits."""
        async with asyncio.timeout(BOUND):
            while True:
                await self.changes.get()
                if fits(found := await self.tools()):
                    return found

    async def call(self, name: str, /, **arguments: Any) -> list[str]:
        """The texts of a call that succeeds."""
        result = await self.client.call_tool(f"nvim_{name}", arguments)
        assert not result.is_error, texts(result)
        return texts(result)

    async def error(self, name: str, /, **arguments: Any) -> str:
        """The text of a call that fails."""
        result = await self.client.call_tool(f"nvim_{name}", arguments)
        assert result.is_error, texts(result)
        (text,) = texts(result)
        return text


def texts(result: CallToolResult) -> list[str]:
    assert all(isinstance(block, TextContent) for block in result.content)
    return [block.text for block in result.content if isinstance(block, TextContent)]


@asynccontextmanager
async def on_stdio(
    nv: Neovim, root: Path, mode: str, *arguments: str, runtime: Path | None = None
) -> AsyncIterator[Face]:
    """`lsp-mcp --toolset lua` as a process, and its client.

    With a `runtime` folder it is the door of a daemon there, which ends with its Neovim.
    """
    shared = {"LSP_MCP_SHARED": "1", "XDG_RUNTIME_DIR": str(runtime)} if runtime else {}
    parameters = StdioServerParameters(
        command=PROGRAM,
        args=[
            *("--backend", "nvim", "--socket", nv.socket, "--workspace-root", str(root), "--log-level", "error"),
            *(arguments or ("--toolset", "lua")),
        ],
        env={**os.environ, **GO_ENV, **shared},
    )
    async with _hearing(nv, parameters, mode) as face:
        yield face


@asynccontextmanager
async def on_http(nv: Neovim, port: int, mode: str, token: str = TOKEN) -> AsyncIterator[Face]:
    """A client of the bridge at `port`."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=BOUND) as http:
        # Its own bound of 1 MiB for one event would be what is tested.
        server = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http, max_sse_event_size=None)
        async with _hearing(nv, server, mode) as face:
            yield face


@asynccontextmanager
async def on_sse(nv: Neovim, port: int) -> AsyncIterator[Face]:
    """A client that knows only the oldest transport."""
    async with _hearing(nv, sse_client(f"http://127.0.0.1:{port}/sse", headers=SENT), "legacy") as face:
        yield face


@asynccontextmanager
async def _hearing(nv: Neovim, server: Any, mode: Any) -> AsyncIterator[Face]:
    changes: asyncio.Queue[None] = asyncio.Queue()

    async def message(message: Any) -> None:
        if isinstance(message, mcp.types.ToolListChangedNotification):
            changes.put_nowait(None)

    if mode == "legacy":
        async with Client(server, mode="legacy", message_handler=message) as client:
            yield Face(nv, client, changes)
        return
    async with Client(server, mode=mode) as client, client.listen(tools_list_changed=True) as events:

        async def hear() -> None:
            async for _ in events:
                changes.put_nowait(None)

        hearing = asyncio.ensure_future(hear())
        try:
            yield Face(nv, client, changes)
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


# --- the bridge ------------------------------------------------------------------------------------


class Bridge:
    """`lsp-mcp` that serves HTTP, as a process."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: Path) -> None:
        self.process = process
        self._stderr = stderr
        self.http = httpx2.Client(timeout=BOUND, headers={"Connection": "close"})
        self.line = ""  # the first one of its stdout
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def started(self) -> None:
        assert self.process.stdout
        async with asyncio.timeout(BOUND):
            self.line = (await self.process.stdout.readline()).decode()
        assert self.line, f"it ended: {self.stderr}"
        self.port = int(self.line.split()[-1])

    @property
    def stderr(self) -> str:
        """What it has said until now."""
        return self._stderr.read_text("utf-8", "replace")

    async def ended(self) -> tuple[int, str]:
        """Its exit status, when it has ended by itself, and all of stdout after the first line."""
        assert self.process.stdout
        async with asyncio.timeout(BOUND):
            rest = await self.process.stdout.read()
            return await self.process.wait(), rest.decode()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.http.get(self.url + path, headers=headers)

    def post(self, path: str, content: str | bytes = "{}", **headers: str) -> httpx2.Response:
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        return self.http.post(self.url + path, content=content, headers=sent)


@asynccontextmanager
async def spawned(
    folder: Path, *words: str, env: Mapping[str, str | None] | None = None, cwd: Path | None = None
) -> AsyncIterator[Bridge]:
    """`lsp-mcp WORDS`, which may fail to start; killed at the end if it runs. With `TOKEN`, unless `env` says else."""
    inherited = {name: value for name, value in os.environ.items() if name not in (*NOT_INHERITED, "MCP_PORT")}
    values: dict[str, str | None] = {**inherited, **GO_ENV, "LSP_MCP_TOKEN": TOKEN, **(env or {})}
    stderr = folder / f"stderr-{len(list(folder.glob('stderr-*')))}"
    with stderr.open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=said,
            env={name: value for name, value in values.items() if value is not None},
            cwd=cwd or folder,
        )
    one = Bridge(process, stderr)
    try:
        yield one
    finally:
        one.http.close()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]


@asynccontextmanager
async def bridge(
    nv: Neovim, folder: Path, *words: str, env: Mapping[str, str | None] | None = None
) -> AsyncIterator[Bridge]:
    """The bridge of `nv`, which serves."""
    async with spawned(folder, "bridge", "--socket", nv.socket, "--log-level", "error", *words, env=env) as process:
        await process.started()
        yield process


# --- one for many tests ----------------------------------------------------------------------------


class Shared:
    """The value of an asynchronous context manager, for tests that are not coroutines."""

    def __init__(self, portal: BlockingPortal, value: Any) -> None:
        self._portal = portal
        self.value = value

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """What a coroutine returns, in the loop in which the value was made."""

        async def in_time() -> tuple[Any, BaseException | None]:
            try:
                async with asyncio.timeout(BOUND):
                    return await coroutine, None
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (pytest's own would end the portal)
                return None, error

        value, error = self._portal.call(in_time)
        if error:
            raise error
        return value


@contextmanager
def shared(made: contextlib.AbstractAsyncContextManager[Any]) -> Iterator[Shared]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(made) as value:
        yield Shared(portal, value)


async def all_gone(pids: list[int]) -> None:
    """Wait until these processes have ended."""
    async with asyncio.timeout(BOUND):
        for pid in pids:
            await gone(pid)


async def soon(awaitable: Awaitable[Any]) -> Any:
    """What it gives, within the bound."""
    async with asyncio.timeout(BOUND):
        return await awaitable
