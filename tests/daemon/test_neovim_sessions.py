"""Sessions of one Neovim share a daemon: each chooses its Neovims itself, and the daemon ends with the last of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from asking import skip_without
from lsp_mcp.door.request import daemon_request
from mcp_process import BOUND, Raw
from nvim.lua_tools import PLUGIN
from nvim.neovims import Neovim, neovim, skip_without_nvim
from shared_daemon import SOURCES, Desk, answer, ask

skip_without_nvim()
skip_without("gopls")

PLUGIN_LUA = f"""
vim.opt.runtimepath:append({str(PLUGIN)!r})
require('mcp-tools').register({{
  name = 'count', description = 'It counts.', execute = function() _G.n = (_G.n or 0) + 1; return _G.n end,
}})
"""
MORE_TOOLS = """
require('mcp-tools').register({ name = 'late', description = 'Late.', execute = function() return 'late' end })
"""


class Editors:
    """Neovims for a test that is not a coroutine."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal

    def start(self, root: Path, *files: str, **options: Any) -> AbstractContextManager[Neovim]:
        return self._portal.wrap_async_context_manager(neovim(root, *files, servers=["gopls"], **options))

    def do(self, method: Callable[..., Any], *arguments: Any) -> Any:
        return self._portal.call(method, *arguments)


@pytest.fixture(scope="module")
def editors() -> Iterator[Editors]:
    with start_blocking_portal() as portal:
        yield Editors(portal)


@pytest.fixture
def nv(desk: Desk, editors: Editors) -> Iterator[Neovim]:
    """A person's, in the project."""
    with editors.start(desk.root, "a.go", extra_lua=PLUGIN_LUA) as one:
        editors.do(one.attached, "gopls")
        yield one


def through(nv: Neovim | str) -> tuple[str, ...]:
    return ("--backend", "nvim", "--socket", nv if isinstance(nv, str) else nv.socket, "--toolset", "lua")


def error(result: dict[str, Any]) -> str:
    assert result.get("isError"), result
    return answer(result)


def until_told(client: Raw, method: str) -> None:
    while client.receive().get("method") != method:
        pass


def connections(client: Raw) -> list[str]:
    read = client.request("resources/read", {"uri": "nvim-connections://"})
    return [one["target"] for one in json.loads(read["result"]["contents"][0]["text"])]


def other_project(folder: Path) -> Path:
    root = folder / "other"
    root.mkdir()
    (root / "go.mod").write_text("module example.com/other\n\ngo 1.23\n")
    (root / "b.go").write_text("package other\n\nfunc Other() {}\n")
    return root


def test_two_sessions_of_a_neovim_share_a_daemon_and_each_has_its_own_anchors_and_neovims(
    desk: Desk, nv: Neovim, editors: Editors, tmp_path: Path
) -> None:
    with (
        editors.start(other_project(tmp_path), "b.go") as second,
        desk.client(*through(nv)) as one,
        desk.client(*through(nv), "--position-base", "0") as other,
    ):
        assert "Found 2 references" in ask(one) and "a.go" in answer(other.call("list_buffers"))
        (about,) = desk.status()
        assert {client["pid"] for client in about["clients"]} == {one.process.pid, other.process.pid}
        assert about["neovims"] == [nv.socket]

        # Anchors: what one was given is followed for that one.
        assert "3:6 function| func One" in answer(one.call("list_symbols_in_file", file_path="a.go", format="compact"))
        (desk.root / "a.go").write_text(SOURCES["a.go"].replace("func One", "func Zero() {}\n\nfunc One"))
        at = {"symbol_anchor": "go://a.go#3:6", "format": "compact"}
        assert "5:6" in answer(one.call("find_symbol_references_by_anchor", **at))
        assert "Found 1 ref" in answer(other.call("find_symbol_references_by_anchor", **at))

        # Connections: what one connects to, and disconnects from, is nobody else's.
        connected = json.loads(answer(one.call("connect", target=second.socket)))
        assert connections(one) == [nv.socket, second.socket]
        assert connections(other) == [nv.socket]
        assert "several Neovims are connected" in error(one.call("list_buffers"))
        assert "b.go" in answer(one.call("list_buffers", connection_id=connected["connection_id"]))
        assert "a.go" in answer(other.call("list_buffers"))
        first = json.loads(answer(one.call("connect", target=nv.socket)))["connection_id"]
        answer(one.call("disconnect", connection_id=first))
        assert "was disconnected" in error(one.call("check"))
        assert "Found 2 references" in ask(other)

        # Tools of the user's that are registered later: who has asked for the list hears of it.
        for client in (one, other):
            listed = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
            assert ("nvim_count" in listed) == (client is other)
        editors.do(nv.lua, MORE_TOOLS)
        until_told(other, "notifications/tools/list_changed")
        assert "nvim_late" in [tool["name"] for tool in other.request("tools/list")["result"]["tools"]]
        assert answer(other.call("nvim_late")) == "late"

        # A client that ends leaves the other's work alone; so does a call from the shell.
        one.process.kill()
        one.process.wait()
        called = desk.run("call", *through(nv), "disconnect", f"connection_id={first}")
        assert called.returncode in (0, 1)
        called = desk.run("call", *through(nv), "list_buffers")
        assert called.returncode == 0 and "a.go" in called.stdout, called.stderr
        assert "Found 2 references" in ask(other)
        assert len(desk.status()) == 1


def test_the_daemon_ends_with_its_neovim_and_its_sessions_find_the_next_one_at_that_place(
    desk: Desk, nv: Neovim, editors: Editors
) -> None:
    place = desk.runtime / "nvim.sock"
    place.symlink_to(nv.socket)
    with desk.client(*through(str(place))) as one, desk.client(*through(str(place))) as other:
        assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
        for client in (one, other):
            assert "list_buffers" in [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        (was,) = json.loads(
            one.request("resources/read", {"uri": "nvim-connections://"})["result"]["contents"][0]["text"]
        )
        daemon = desk.daemon()
        editors.do(nv.kill)
        _, alive = psutil.wait_procs([daemon], BOUND)
        assert not alive, "the daemon outlives its Neovim"
        assert desk.status() == []
        for client in (one, other):
            until_told(client, "notifications/tools/list_changed")
            message = error(client.call("find_symbol_references_by_anchor", symbol_anchor="One"))
            assert str(place) in message, message
            message = error(client.call("list_buffers", connection_id=was["connection_id"]))
            assert f"Neovim at {place} is gone; call connect again once it runs" in message

        with editors.start(desk.root, "a.go") as new:
            editors.do(new.attached, "gopls")
            place.unlink()
            place.symlink_to(new.socket)
            assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
            (about,) = desk.status()
            assert {client["pid"] for client in about["clients"]} == {one.process.pid, other.process.pid}
            assert about["pid"] != daemon.pid


def test_a_session_goes_on_with_the_neovims_of_its_choice_after_its_daemon_was_killed(
    desk: Desk, nv: Neovim, editors: Editors, tmp_path: Path
) -> None:
    with editors.start(other_project(tmp_path), "b.go") as second, desk.client(*through(nv)) as one:
        assert "Found 2 references" in ask(one)
        chosen = json.loads(answer(one.call("connect", target=second.socket)))["connection_id"]
        assert answer(one.call("nvim_count")) == "1"
        one.request("tools/list")
        daemon = desk.daemon()
        daemon.kill()
        daemon.wait(BOUND)
        until_told(one, "notifications/tools/list_changed")  # the next one may offer others
        assert "b.go" in answer(one.call("list_buffers", connection_id=chosen))
        assert connections(one) == [nv.socket, second.socket]
        assert "Found 2 references" in ask(one)


def test_sockets_are_named_as_the_program_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_MCP_SHARED", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nvim.sock").touch()

    def daemon(*flags: str) -> tuple[str, ...]:
        asked = daemon_request(["--backend", "nvim", *flags])
        assert asked and asked.is_of_neovim
        return asked.shape[2:]

    for spelled in ("nvim.sock", "./nvim.sock", "~/nvim.sock", str(tmp_path / "x" / ".." / "nvim.sock")):
        assert daemon("--socket", spelled) == ("--socket", os.path.realpath(tmp_path / "nvim.sock"))
    assert daemon("--socket", "localhost:6666") == ("--socket", "localhost:6666")
    assert daemon() == ()


def test_a_session_in_a_terminal_of_a_neovim_shares_with_one_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_MCP_SHARED", "1")
    words = ["--backend", "nvim"]
    outside = daemon_request(words)
    for name in ("NVIM", "NVIM_LISTEN_ADDRESS", "VIMRUNTIME", "MYVIMRC"):
        monkeypatch.setenv(name, "/x")
    inside = daemon_request(words)
    assert outside and inside and outside.served == inside.served
    assert daemon_request([*words, "--transport", "http"], listening=True) is None
