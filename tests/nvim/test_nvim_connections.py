"""Connections to real Neovims: how they are found, named, ended and made again, and what an MCP client sees of it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp.types
import pytest
from blake3 import blake3
from mcp import Client, StdioServerParameters

from asking import skip_without
from fakes.bounded import bounded
from lsp_mcp.nvim import connections
from mcp_process import GO_ENV, PROGRAM, text
from nvim.neovims import Neovim, NeovimError, neovim, skip_without_nvim
from nvim.nvim_tools import BROKEN, CPP, GO, SOURCES, Tools, person, program, short_folder, stale_socket, write_sources

skip_without_nvim()
skip_without("gopls")
skip_without("clangd")

ALWAYS = ["get_targets", "connect", "connect_tcp", "disconnect"]
# A language server, inside Neovim, that never answers a question.
SILENT = """
vim.lsp.config('silent', {
  cmd = function(dispatchers)
    return {
      request = function(method, params, callback)
        if method == 'initialize' then
          callback(nil, { capabilities = { hoverProvider = true } })
        elseif method == 'shutdown' then
          callback(nil, nil)
        else
          vim.g.waits = true
          vim.api.nvim_exec_autocmds('User', { pattern = 'Waits' })
        end
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() dispatchers.on_exit(0, 15) end,
    }
  end,
  filetypes = { 'text' },
  root_dir = vim.fn.getcwd(),
})
vim.lsp.enable('silent')
"""


def hashed(target: str) -> str:
    return blake3(target.encode()).hexdigest()[:7]


async def tcp_of(nv: Neovim) -> str:
    return await nv.lua("return vim.fn.serverstart('127.0.0.1:0')")


@asynccontextmanager
async def two(folder: Path, *, servers: Sequence[str] = ()) -> AsyncIterator[tuple[Neovim, Neovim, Tools]]:
    """Neovims in `folder`/one and `folder`/two; the program works in the first, with nothing connected."""
    async with AsyncExitStack() as stack:
        started = [
            await stack.enter_async_context(neovim(write_sources(folder / name), servers=servers))
            for name in ("one", "two")
        ]
        neovims = await stack.enter_async_context(program(folder / "one", None))
        yield started[0], started[1], Tools(neovims)


# --- ids -------------------------------------------------------------------------------------------


@bounded
async def test_the_id_of_a_connection_is_the_hash_of_its_target(tmp_path: Path) -> None:
    async with person(tmp_path, servers=()) as (nv, tools):
        connected = await tools("connect", target=nv.socket)
        assert connected == {"connection_id": hashed(nv.socket), "target": nv.socket, "cwd": str(tmp_path)}
        assert await tools("connect", target=f" {nv.socket} ") == connected
        assert len(tools.neovims.connections.connected) == 1
        assert await tools("disconnect", connection_id=hashed(nv.socket))
        assert await tools("connect", target=nv.socket) == connected


@bounded
async def test_a_neovim_is_reached_by_tcp(tmp_path: Path) -> None:
    async with person(tmp_path, GO, servers=()) as (nv, tools):
        target = await tcp_of(nv)
        connected = await tools("connect_tcp", target=target)
        assert connected["connection_id"] == hashed(target)
        read = await tools.text("read", document=tools.file(GO), connection_id=hashed(target))
        assert read == SOURCES[GO].rstrip("\n")
        error = await tools.error("connect_tcp", target=nv.socket)
        assert "HOST:PORT" in error


@bounded
async def test_the_id_may_be_left_out_with_one_connection_and_must_be_given_with_two(tmp_path: Path) -> None:
    async with two(tmp_path) as (one, other, tools):
        (tmp_path / "two" / GO).write_text("package other\n", "utf-8")
        await tools("connect", target=one.socket)
        assert (await tools.text("read", document=tools.file(GO))).startswith("// Package shapes")
        await tools("connect", target=other.socket)
        error = await tools.error("read", document=tools.file(GO))
        for nv in (one, other):
            assert hashed(nv.socket) in error and nv.socket in error
        assert "connection_id" in error
        at_other = await tools.text("read", document=tools.file(GO), connection_id=hashed(other.socket))
        assert at_other == "package other"
        at_one = await tools.text("read", document=tools.file(GO), connection_id=hashed(one.socket))
        assert at_one.startswith("// Package shapes")
        await tools("disconnect", connection_id=hashed(one.socket))
        assert await tools.text("read", document=tools.file(GO)) == "package other"


@bounded
async def test_two_neovims_answer_from_their_own_servers(tmp_path: Path) -> None:
    async with two(tmp_path, servers=("gopls",)) as (one, other, tools):
        text = SOURCES[GO].replace("Twice", "Double")
        (tmp_path / "two" / GO).write_text(text, "utf-8")
        answers = []
        for nv in (one, other):
            await nv.open(GO)
            await tools("connect", target=nv.socket)
        for nv, name in ((one, "Twice"), (other, "Double")):
            id_ = hashed(nv.socket)
            found = await tools("lsp_workspace_symbols", query=name, lsp_client_name="gopls", connection_id=id_)
            answers.append([one["name"] for one in found])
            at = tools.at(GO, "Twice(s")
            hover = await tools("lsp_hover", document=tools.file(GO), **at, connection_id=id_)
            assert f"func {name}(s Shape)" in hover["contents"]["value"]
        assert answers == [["shapes.Twice"], ["shapes.Double"]]


@bounded
async def test_an_edit_is_only_made_below_the_root_of_its_own_neovim(tmp_path: Path) -> None:
    async with two(tmp_path) as (one, other, tools):
        await tools("connect", target=one.socket)
        await tools("connect", target=other.socket)
        await one.open(GO)
        edit = {
            "changes": {
                (tmp_path / "one" / GO).as_uri(): [
                    {
                        "range": {"start": {"line": 1, "character": 1}, "end": {"line": 1, "character": 1}},
                        "newText": "x",
                    }
                ]
            }
        }
        error = await tools.error("lsp_apply_edit", workspace_edit=edit, connection_id=hashed(other.socket))
        assert "outside" in error
        assert (tmp_path / "one" / GO).read_text("utf-8") == SOURCES[GO]


# --- finding ---------------------------------------------------------------------------------------


@bounded
async def test_targets_are_those_that_live_with_their_folder_and_state(tmp_path: Path) -> None:
    async with two(tmp_path) as (one, other, tools):
        await tools("connect", target=one.socket)
        found = await tools("get_targets")  # and whatever else runs on this machine
        assert {one.socket, other.socket} <= set(found)
        said = {remark.partition(": Neovim")[0]: remark for remark in tools.remarks}
        assert f"in {tmp_path / 'one'}, connected as {hashed(one.socket)}" in said[one.socket]
        assert f"in {tmp_path / 'two'}, not connected" in said[other.socket]
        await other.kill()
        assert Path(other.socket).exists()
        found = await tools("get_targets")
        assert one.socket in found and other.socket not in found


def test_stale_sockets_and_those_of_others_are_not_targets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        with short_folder() as folder:
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
            stale = stale_socket(folder / "nvim.99999999.0")

            async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.close()

            server = await asyncio.start_unix_server(hang_up, folder / "nvim.99999998.0")
            async with server, neovim(tmp_path, servers=()) as nv, program(tmp_path, None) as neovims:
                live = str(folder / "nvim.99999997.0")
                await nv.lua("vim.fn.serverstart(...)", live)
                found = await Tools(neovims)("get_targets")
                assert len({live, nv.socket} & set(found)) == 1  # one Neovim, by one of its sockets
                assert str(stale) not in found and str(folder / "nvim.99999998.0") not in found

    run()


def test_where_no_neovim_runs_it_is_said_how_to_start_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        monkeypatch.setattr(connections, "discover", lambda: [])
        async with program(tmp_path, None) as neovims:
            tools = Tools(neovims)
            assert "nvim --listen" in await tools.error("get_targets")
            assert "nvim --listen" in await tools.error("list_buffers")

    run()


@bounded
async def test_the_one_neovim_that_works_in_the_workspace_is_taken_unasked(tmp_path: Path) -> None:
    async with two(tmp_path, servers=("gopls",)) as (one, _, tools):
        await one.open(GO)
        await tools("list_buffers")
        assert [editor.address.text for editor in tools.neovims.connections.connected] == [one.socket]


@bounded
async def test_several_that_work_in_the_workspace_are_refused_with_a_list(tmp_path: Path) -> None:
    async with two(tmp_path) as (one, other, tools), neovim(tmp_path / "one", servers=()) as third:
        error = await tools.error("list_buffers")
        assert one.socket in error and third.socket in error and other.socket not in error
        assert "--socket" in error and "connect" in error
        await tools("connect", target=third.socket)
        await tools("list_buffers")


@bounded
async def test_none_that_works_in_the_workspace_is_refused_with_a_list(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    async with neovim(tmp_path, servers=()) as nv, program(tmp_path / "empty", None) as neovims:
        error = await Tools(neovims).error("list_buffers")
        assert f"no Neovim works in {tmp_path / 'empty'}" in error and nv.socket in error


@bounded
async def test_a_connected_neovim_in_another_folder_is_not_what_code_tools_work_through(tmp_path: Path) -> None:
    async with two(tmp_path, servers=("gopls",)) as (_, other, tools):
        await other.open(GO)
        await tools("connect", target=other.socket)
        assert tools.neovims.code.host and tools.neovims.code.host.connection is None


@bounded
async def test_code_tools_answer_for_a_language_whose_server_started_after_the_connection(tmp_path: Path) -> None:
    async with person(tmp_path, CPP) as (nv, tools):
        await nv.attached("clangd")
        await tools("list_buffers")
        await nv.open(GO)
        await nv.attached("gopls")
        await tools("list_buffers")  # the program has heard of it too: its connection is another than this test's
        arguments = {"symbol_anchor": "go://shapes/shapes.go#16:19", "format": "compact"}
        assert "Found 2 references" in await tools.text("find_symbol_references_by_anchor", **arguments)


# --- ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["quit", "kill"])
@pytest.mark.parametrize("waits_for", ["a language server", "Lua"])
def test_a_neovim_that_ends_while_a_call_waits_fails_it_at_once_by_name(
    waits_for: str, how: str, tmp_path: Path
) -> None:
    @bounded
    async def run() -> None:
        (tmp_path / "a.txt").write_text("é😀 one\n", "utf-8")
        options: dict[str, Any] = {"servers": (), "sources": False, "extra_lua": SILENT}
        async with person(tmp_path, "a.txt", **options, settings={"allow_exec_lua": True}) as (nv, tools):
            if waits_for == "Lua":
                waits = tools(
                    "exec_lua",
                    code="vim.g.waits = true vim.api.nvim_exec_autocmds('User', { pattern = 'Waits' })"
                    " vim.wait(25000, function() return false end)",
                )
            else:
                waits = tools("lsp_hover", document=tools.file("a.txt"), line=1, character=4)
            call = asyncio.ensure_future(waits)
            await nv.until("return vim.g.waits", "User")
            assert not call.done()
            if how == "quit":
                with contextlib.suppress(NeovimError, asyncio.IncompleteReadError, ConnectionError):
                    await nv.rpc("nvim_command", "qall!")
                await nv.kill()
            else:
                await nv.kill()
            began = asyncio.get_running_loop().time()
            with pytest.raises(Exception, match=re.escape(nv.socket)):
                await call
            assert asyncio.get_running_loop().time() - began < 2
            error = await tools.error("list_buffers", connection_id=hashed(nv.socket))
            assert nv.socket in error and "connect" in error

    run()


@pytest.mark.parametrize("named", [True, False], ids=["by --socket", "by discovery"])
def test_after_its_end_a_new_neovim_on_the_same_socket_is_connected_and_code_tools_work(
    named: bool, tmp_path: Path
) -> None:
    @bounded
    async def run() -> None:
        write_sources(tmp_path)
        anchor = "go://shapes/shapes.go#16:19"
        async with (
            neovim(tmp_path, CPP) as first,
            program(tmp_path, first.socket if named else None) as neovims,
        ):
            await first.open(GO)
            await first.attached("gopls")
            tools = Tools(neovims)
            await tools("connect", target=first.socket)
            before = await tools.text("find_symbol_references_by_anchor", symbol_anchor=anchor, format="compact")
            assert "Found 2 references" in before
            await first.kill()
            error = await tools.error("lsp_clients")
            assert first.socket in error
            Path(first.socket).unlink()
            async with neovim(tmp_path, CPP) as second:
                await second.lua("vim.fn.serverstart(...)", first.socket)
                await second.open(GO)
                await second.attached("gopls")
                connected = await tools("connect", target=first.socket)
                assert connected["connection_id"] == hashed(first.socket)
                found = await tools(
                    "lsp_references",
                    document=tools.file(GO),
                    **tools.at(GO, "Twice(s"),
                    connection_id=hashed(first.socket),
                )
                assert tools.cuts(found) == [(GO, 16, "Twice"), (GO, 18, "Twice")]
                after = await tools.text("find_symbol_references_by_anchor", symbol_anchor=anchor, format="compact")
                assert [line for line in after.split("\n") if not line.startswith("status")] == [
                    line for line in before.split("\n") if not line.startswith("status")
                ]
                for name in ("gopls", "clangd"):
                    assert await tools("wait_for_lsp_ready", client_name=name)

    run()


@bounded
async def test_disconnecting_leaves_the_neovim_and_its_servers_as_they_were(tmp_path: Path) -> None:
    async with person(tmp_path, CPP) as (nv, tools):
        await nv.attached("clangd")
        before = await nv.view()
        await tools("lsp_hover", document=tools.file(CPP), **tools.at(CPP, "count(hall)"))
        await tools("lsp_document_symbols", document=tools.file("c/untidy.cpp"))
        (editor,) = tools.neovims.connections.connected
        await tools("disconnect", connection_id=editor.id)
        await editor.ended
        assert await nv.view() == before
        assert await nv.lua("return vim.tbl_count(_G.lsp_mcp or {})") == 0
        assert (await nv.attached("clangd"))["encoding"] == "utf-8"


@bounded
async def test_who_is_disconnected_is_so_at_once_and_stays_so_until_connect(tmp_path: Path) -> None:
    async with person(tmp_path, CPP) as (nv, tools):
        await tools("lsp_hover", document=tools.file(CPP), **tools.at(CPP, "count(hall)"))  # with a session in use
        id_ = hashed(nv.socket)
        await tools("disconnect", connection_id=id_)
        assert tools.neovims.connections.connected == []
        for _ in range(20):  # time for clients that reconnect by themselves
            await nv.view()
        assert tools.neovims.connections.connected == []
        assert nv.socket in await tools.error("list_buffers")
        for call in (
            ("find_symbol_references_by_anchor", {"symbol_anchor": f"cpp://{CPP}#1:1"}),
            ("list_symbols_in_file", {"file_path": CPP}),
        ):
            message = await tools.error(call[0], **call[1])
            assert "was disconnected" in message and f"connect with target {nv.socket}" in message
            assert "ended" not in message
        assert "connect" in await tools.error("disconnect", connection_id=id_)
        await tools("connect", target=nv.socket)
        await tools("list_buffers", connection_id=id_)
        await tools("lsp_hover", document=tools.file(CPP), **tools.at(CPP, "count(hall)"))


@bounded
async def test_a_file_is_refused_with_what_to_do_while_nothing_answers_for_any(tmp_path: Path) -> None:
    async with person(tmp_path, servers=()) as (nv, tools):
        await tools("list_buffers")
        assert "open one of its files there" in await tools.error("check", path=CPP)
        await tools("disconnect", connection_id=hashed(nv.socket))
        for name, value in (("list_symbols_in_file", {"file_path": CPP}), ("check", {"path": CPP})):
            assert "was disconnected" in await tools.error(name, **value)


@bounded
async def test_connect_right_after_disconnect_makes_a_new_connection(tmp_path: Path) -> None:
    async with person(tmp_path, servers=()) as (nv, tools):
        for _ in range(5):
            await tools("connect", target=nv.socket)
            await tools("list_buffers")
            await tools("disconnect", connection_id=hashed(nv.socket))


@bounded
async def test_a_notification_to_all_channels_reaches_each_of_many_and_neovim_survives_it(tmp_path: Path) -> None:
    # Neovim 0.12.4 crashes when it sends one itself while more than four channels are open.
    async with neovim(write_sources(tmp_path), servers=()) as nv, AsyncExitStack() as stack:
        await nv.lua("_G.original = vim.rpcnotify")
        listeners = [await stack.enter_async_context(nv.connected()) for _ in range(5)]
        neovims = [await stack.enter_async_context(program(tmp_path, nv.socket)) for _ in range(2)]
        tools = [Tools(one) for one in neovims]
        for one in tools:
            await one("list_buffers")
        await nv.lua("vim.rpcnotify(0, 'said', 1, { 2 })")
        await nv.lua("vim.uv.new_timer():start(0, 0, function() vim.rpcnotify(0, 'said', 'in a fast event') end)")
        for listener in listeners:
            assert await listener.notification("said") == [1, [2]]
            assert await listener.notification("said") == ["in a fast event"]
        with pytest.raises(NeovimError, match="Invalid channel: 999"):
            await nv.lua("vim.rpcnotify(999, 'said')")
        with pytest.raises(NeovimError, match="Cannot convert"):
            await nv.lua("vim.rpcnotify(0, 'said', print)")
        for one in tools:
            assert not await nv.lua("return vim.rpcnotify == _G.original")
            (editor,) = one.neovims.connections.connected
            await one("disconnect", connection_id=editor.id)
            await editor.ended
        assert await nv.lua("return vim.rpcnotify == _G.original")


@bounded
async def test_a_connection_that_has_ended_leaves_no_channel_open_in_neovim(tmp_path: Path) -> None:
    channels = "return #vim.tbl_filter(function(one) return one.stream == 'socket' end, vim.api.nvim_list_chans())"
    async with person(tmp_path, servers=()) as (nv, tools):
        gc.disable()  # it would end them at some time
        try:
            for _ in range(2):
                await tools("get_targets")
                await tools("connect", target=nv.socket)
                await tools("disconnect", connection_id=hashed(nv.socket))
            while await nv.lua(channels) > 1:  # the one that asks
                pass
        finally:
            gc.enable()


# --- as an MCP client sees it ------------------------------------------------------------------------


class Heard:
    """The kinds of change that a client was told of."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._more = asyncio.Condition()

    async def tell(self, kind: str) -> None:
        async with self._more:
            self._kinds.add(kind)
            self._more.notify_all()

    async def message(self, message: Any) -> None:
        """A handler for every message of a client of the older protocol."""
        if isinstance(message, mcp.types.ToolListChangedNotification):
            await self.tell("tools")
        elif isinstance(message, mcp.types.ResourceListChangedNotification):
            await self.tell("resources")

    async def both(self) -> None:
        """Wait until tools and resources have changed since the last time."""
        async with self._more:
            await self._more.wait_for(lambda: {"tools", "resources"} <= self._kinds)
            self._kinds.clear()


@asynccontextmanager
async def listening(mode: str, *arguments: str) -> AsyncIterator[tuple[Client, Heard]]:
    """The program as a process, and a client that hears of changes as clients of that protocol do."""
    parameters = StdioServerParameters(
        command=PROGRAM,
        args=["--backend", "nvim", *arguments, "--log-level", "error"],
        env={**os.environ, **GO_ENV},
    )
    heard = Heard()
    if mode == "legacy":
        async with Client(parameters, mode="legacy", message_handler=heard.message) as client:
            yield client, heard
        return
    async with (
        Client(parameters) as client,
        client.listen(tools_list_changed=True, resources_list_changed=True) as events,
    ):

        async def hear() -> None:
            async for event in events:
                await heard.tell("tools" if "Tool" in type(event).__name__ else "resources")

        hearing = asyncio.ensure_future(hear())
        try:
            yield client, heard
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


async def listed(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_tools_and_resources_come_and_go_with_connections_and_clients_are_told(mode: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        (tmp_path / "work").mkdir()
        async with (
            neovim(write_sources(tmp_path), servers=()) as nv,
            listening(mode, "--workspace-root", str(tmp_path / "work")) as (client, heard),
        ):
            id_ = hashed(nv.socket)
            names = await listed(client)
            assert [name for name in names if name in ALWAYS] == ALWAYS
            assert not {"read", "lsp_hover", "navigate", "exec_lua"} & set(names)
            assert [str(one.uri) for one in (await client.list_resources()).resources] == [
                "nvim-connections://",
                "nvim-diagnostics://",
                "nvim-tools://",
            ]

            await client.call_tool("connect", {"target": nv.socket})
            await heard.both()
            names = await listed(client)
            assert {*ALWAYS, "read", "lsp_hover", "navigate"} <= set(names) and "exec_lua" not in names
            uris = [str(one.uri) for one in (await client.list_resources()).resources]
            assert uris[3:] == [
                f"nvim-connections://{id_}",
                f"nvim-diagnostics://{id_}/workspace",
                f"nvim-tools://{id_}",
            ]
            (content,) = (await client.read_resource(f"nvim-connections://{id_}")).contents
            about = json.loads(content.text)  # type: ignore[union-attr]
            assert (about["connection_id"], about["target"], about["pid"]) == (id_, nv.socket, nv.pid)
            (content,) = (await client.read_resource("nvim-connections://")).contents
            assert json.loads(content.text) == [about]  # type: ignore[union-attr]

            await client.call_tool("disconnect", {"connection_id": id_})
            await heard.both()
            assert "read" not in await listed(client)
            assert len((await client.list_resources()).resources) == 3
            with pytest.raises(Exception, match=id_):
                await client.read_resource(f"nvim-connections://{id_}")

            await client.call_tool("connect", {"target": nv.socket})
            await heard.both()
            await nv.kill()
            await heard.both()
            assert "read" not in await listed(client)
            result = await client.call_tool("read", {"document": {"buffer_id": 0}})
            assert result.is_error and nv.socket in text(result)

    run()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_with_a_socket_the_first_list_of_tools_has_them_all(mode: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with (
            neovim(write_sources(tmp_path), servers=()) as nv,
            listening(mode, "--workspace-root", str(tmp_path), "--socket", nv.socket, "--allow-exec-lua") as (
                client,
                _,
            ),
        ):
            names = await listed(client)
            assert {*ALWAYS, "read", "lsp_hover", "navigate", "exec_lua"} <= set(names)
            result = await client.call_tool("exec_lua", {"code": "return vim.fn.getcwd()"})
            assert json.loads(text(result)) == str(tmp_path)

    run()


@bounded
async def test_a_socket_that_is_not_there_leaves_the_tools_to_connect(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.sock")
    async with listening("legacy", "--workspace-root", str(tmp_path), "--socket", missing) as (client, _):
        names = await listed(client)
        assert [name for name in names if name in ALWAYS] == ALWAYS and "read" not in names
        result = await client.call_tool("list_buffers", {})
        assert result.is_error and missing in text(result)


def test_diagnostics_and_tools_can_be_read_as_resources(tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        (tmp_path / "work").mkdir()
        root = write_sources(tmp_path / "work")
        async with (
            neovim(root, BROKEN, servers=("gopls",)) as nv,
            listening("legacy", "--workspace-root", str(root), "--socket", nv.socket) as (client, _),
        ):
            id_ = hashed(nv.socket)

            async def read(uri: str) -> Any:
                content, *remarks = (await client.read_resource(uri)).contents
                assert not remarks
                return json.loads(content.text)  # type: ignore[union-attr]

            in_workspace = await read(f"nvim-diagnostics://{id_}/workspace")
            of_broken = [one for one in in_workspace if one["file"] == BROKEN]
            assert any("undefined: missing" in one["message"] for one in of_broken)
            (buffer,) = {one["bufnr"] for one in of_broken}
            in_buffer = await read(f"nvim-diagnostics://{id_}/buffer/{buffer}")
            assert [{"file": BROKEN, **one} for one in in_buffer] == of_broken
            assert await read("nvim-diagnostics://") == {id_: in_workspace}

            offered = await read(f"nvim-tools://{id_}")
            assert [tool["name"] for tool in offered["tools"]] == await listed(client)
            assert (await read("nvim-tools://"))["connections"] == [id_]
            templates = (await client.list_resource_templates()).resource_templates
            assert "nvim-diagnostics://{connection_id}/buffer/{buffer_id}" in [one.uri_template for one in templates]

            unknown = (
                f"nvim-diagnostics://{id_}/buffer/x",
                f"nvim-diagnostics://{id_}/buffer/999",
                "nvim-diagnostics://nobody/workspace",
                f"nvim-tools://{id_}/more",
                "nvim-other://",
            )
            for uri in unknown:
                with pytest.raises(Exception, match="unknown"):
                    await client.read_resource(uri)

    run()
