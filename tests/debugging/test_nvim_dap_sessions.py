"""Debugging through MCP beyond one program: several clients, places by symbol, the end of Neovim, and what is left."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without as skip_without_server
from debugging.debuggers import skip_without
from debugging.nvim_dap_desk import (
    CPP,
    DETACHED,
    GO,
    LANGUAGES,
    Debugger,
    all_end,
    debugging,
    programs,
    started_by,
)
from fakes.bounded import bounded
from nvim.lua_tools import bridge, on_http, on_sse, on_stdio, texts
from nvim.neovims import skip_without_nvim
from nvim.truth_helpers import soon

skip_without_nvim()
skip_without("nvim_dap", "debugpy", "dlv", "lldb_dap", "cxx")

TILL = """package main

import "fmt"

type Till struct{ coins []int }

func (t *Till) Add(coin int) {
	t.coins = append(t.coins, coin)
}

func main() {
	till := &Till{}
	till.Add(5)
	fmt.Println(till.coins)
}
"""


# --- clients ---------------------------------------------------------------------------------------


@bounded
async def test_two_clients_debug_one_program_at_once(tmp_path: Path) -> None:
    programs(tmp_path, GO)
    async with (
        debugging(tmp_path) as nv,
        bridge(nv, tmp_path) as one,
        on_http(nv, one.port, "auto") as http,
        on_stdio(nv, tmp_path, "legacy") as stdio,
    ):
        here, there = Debugger(nv, http, tmp_path), Debugger(nv, stdio, tmp_path)
        await here.run(GO, "loop", wait_until_paused=False)
        waiting = [asyncio.create_task(at.call("wait_until_paused")) for at in (here, there)]
        assert {(await at.call("status"))["state"] for at in (here, there)} == {"running"}
        await there.call("set_breakpoint", filename=GO.source, line=GO.loop)
        first, second = await asyncio.gather(*waiting)
        assert first == second
        assert first["at"] == GO.at(GO.loop)
        # Of two steps at once the second one finds the program running, or steps after the first.
        await asyncio.gather(*(at.face.client.call_tool("nvim_dap_step_over", {}) for at in (here, there)))
        assert await here.call("wait_until_paused") == await there.call("wait_until_paused")
        started = [at.face.client.call_tool("nvim_dap_run", at.how(GO, "loop")) for at in (here, there)]
        for result in await asyncio.gather(*started):
            assert result.is_error
            assert "dap_run is in progress" in texts(result)[0] or "already running" in texts(result)[0]
        assert (await there.call("terminate"))["state"] == "terminated"
        assert (await here.call("status"))["active"] is False


@pytest.mark.parametrize("how", ["stdio", "sse"])
def test_a_client_that_goes_while_it_waits_leaves_the_program_to_the_others(how: str, tmp_path: Path) -> None:
    programs(tmp_path, GO)

    @bounded
    async def run() -> None:
        async with debugging(tmp_path) as nv, bridge(nv, tmp_path) as one, on_http(nv, one.port, "auto") as other:
            at = Debugger(nv, other, tmp_path)
            await at.run(GO, "loop", wait_until_paused=False)
            going = {
                "stdio": lambda: on_stdio(nv, tmp_path, "auto"),
                "sse": lambda: on_sse(nv, one.port),
            }[how]
            async with going() as face:
                call = asyncio.create_task(face.client.call_tool("nvim_dap_wait_until_paused", {}))
                await Debugger(nv, face, tmp_path).call("status")  # by now the call before it is under way
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert (await at.call("status"))["state"] == "running"
            await at.call("set_breakpoint", filename=GO.source, line=GO.loop)
            assert (await at.call("wait_until_paused"))["at"] == GO.at(GO.loop)

    run()


@bounded
async def test_with_a_user_at_a_terminal_nothing_asks_for_a_key_and_nothing_moves(tmp_path: Path) -> None:
    programs(tmp_path, GO, CPP)
    (tmp_path / "open.txt").write_text("what the user is at\n" * 40)
    async with debugging(tmp_path, "open.txt", ui=True) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        before = await nv.view()
        for language in (GO, CPP):
            await at.call("set_breakpoint", filename=language.source, line=language.raised[1])
            await at.run(language, language.crash)
            assert (await at.go_on())["reason"] == "exception"
            await (at.go_on() if language is GO else at.call("terminate"))
            await at.refused("run", **at.how(language, program="nowhere"))
        assert (await nv.mode())["blocking"] is False
        assert await nv.view() == before


# --- places by symbol ------------------------------------------------------------------------------


@bounded
async def test_a_breakpoint_is_set_at_a_symbol_and_follows_it_through_edits(tmp_path: Path) -> None:
    skip_without_server("gopls")
    (tmp_path / "go.mod").write_text("module ex.com/till\n\ngo 1.22\n")
    source = tmp_path / "till.go"
    source.write_text(TILL)
    async with debugging(tmp_path, "till.go", servers=["gopls"]) as nv:
        await nv.attached("gopls")
        async with on_stdio(nv, tmp_path, "auto", "--toolset", "code", "--toolset", "lua") as face:
            at = Debugger(nv, face, tmp_path)
            assert (await at.call("set_breakpoint", anchor="Till.Add"))["at"] == "till.go:7"
            stop = await at.call("run", type="go", request="launch", name="till", program=".", wait_until_paused=True)
            assert (stop["function"], stop["variables"]["coin"]) == ("main.(*Till).Add", "5")
            assert (await at.call("run_to", anchor="go://till.go#8:4"))["at"] == "till.go:8"
            await at.call("terminate")
            await at.call("clear_breakpoints")
            found = await face.client.call_tool("find_symbol_definitions_by_name", {"symbol_name": "Till.Add"})
            anchor = re.findall(r"go://till\.go#\d+:\d+", texts(found)[0])[0]
            assert anchor == "go://till.go#7:16"
            source.write_text(TILL.replace("import", "// One.\n// Two.\n\nimport"))
            result = await face.client.call_tool("nvim_dap_set_breakpoint", {"anchor": anchor})
            answer, *remarks = texts(result)
            assert json.loads(answer)["at"] == "till.go:10"
            assert json.loads(answer)["text"] == "func (t *Till) Add(coin int) {"
            assert any("anchor moved" in remark for remark in remarks)
            assert (await at.call("remove_breakpoint", anchor="Till.Add"))["removed"] == "till.go:10"
            assert "Till.Take" in await at.refused("set_breakpoint", anchor="Till.Take")


@bounded
async def test_a_breakpoint_is_set_at_a_symbol_of_cpp(tmp_path: Path) -> None:
    skip_without_server("clangd")
    programs(tmp_path, CPP)
    command = {"directory": str(tmp_path), "file": "cpp/hall.cpp", "arguments": ["c++", "-c", "cpp/hall.cpp"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([command]))
    async with debugging(tmp_path, "cpp/hall.cpp", servers=["clangd"]) as nv:
        await nv.attached("clangd")
        async with on_stdio(nv, tmp_path, "auto") as face:
            at = Debugger(nv, face, tmp_path)
            assert (await at.call("set_breakpoint", anchor="seat"))["at"] == "cpp/hall.cpp:15"
            stop = await at.run(CPP)
            assert (stop["at"], stop["function"]) == ("cpp/hall.cpp:16", CPP.callee)
            (bound,) = (await at.call("breakpoints"))["breakpoints"]
            assert (bound["status"], bound["bound_line"]) == ("the adapter moved it to line 16", 16)
            assert (await at.call("remove_breakpoint", filename=CPP.source, line=16))["left_in_file"] == 0
            assert (await at.call("run_to", anchor="cpp://cpp/hall.cpp#54:20"))["reached"] is True


# --- the end ---------------------------------------------------------------------------------------


@bounded
async def test_a_wait_fails_at_once_when_neovim_quits_and_names_it(tmp_path: Path) -> None:
    programs(tmp_path, GO)
    async with debugging(tmp_path) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        await at.run(GO, "loop", wait_until_paused=False)
        call = asyncio.create_task(face.client.call_tool("nvim_dap_wait_until_paused", {"timeout_ms": 600000}))
        await at.call("status")
        await nv.quit()
        result = await soon(call, 10)
        assert result.is_error
        assert f"Neovim at {nv.socket} is gone" in texts(result)[0]


async def _three_loops(nv: Any, face: Any, root: Path) -> Debugger:
    """A program of each language that runs for ever."""
    at = Debugger(nv, face, root)
    for language in LANGUAGES:
        answer = await at.run(language, "loop", name=language.type, alongside=True, wait_until_paused=False)
        assert answer["state"] == "running"
    names = set(started_by(root).values())
    assert {"dlv", "lldb-dap", "hall"} <= names
    assert any(name.startswith("python") for name in names)
    return at


@bounded
async def test_after_terminate_no_debugger_and_no_program_is_left(tmp_path: Path) -> None:
    programs(tmp_path)
    async with debugging(tmp_path, lua=DETACHED) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = await _three_loops(nv, face, tmp_path)
        before = started_by(tmp_path)
        assert [(await at.call("terminate"))["state"] for _ in LANGUAGES] == ["terminated"] * 3
        assert (await at.call("status"))["active"] is False
        await all_end(before)


@bounded
async def test_after_neovim_quits_no_debugger_and_no_program_is_left(tmp_path: Path) -> None:
    programs(tmp_path)
    async with debugging(tmp_path, lua=DETACHED) as nv, on_stdio(nv, tmp_path, "auto") as face:
        await _three_loops(nv, face, tmp_path)
        before = started_by(tmp_path)
        await nv.quit()
        await all_end(before)


@bounded
async def test_after_a_disconnect_that_leaves_it_alone_the_program_runs_on(tmp_path: Path) -> None:
    programs(tmp_path, CPP)  # debugpy and Delve end what they started when they end
    async with debugging(tmp_path) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        await at.run(CPP, "loop", wait_until_paused=False)
        (pid,) = [pid for pid, name in started_by(tmp_path).items() if name == "hall"]
        answer = await at.call("disconnect", terminate_debuggee=False)
        assert "may run on" in answer["message"]
        await nv.quit()
        os.kill(pid, signal.SIGKILL)  # an error if it had ended
