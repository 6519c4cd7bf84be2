"""JavaScript debugged through Neovim and nvim-dap, with the real js-debug."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from debugging.debuggers import PROGRAMS, skip_without
from debugging.nvim_dap_desk import Debugger, all_end, debugging, started_by
from fakes.bounded import bounded
from lsp_mcp.dap.adapter import load_debugger
from lsp_mcp.dap.finding import find_debugger
from lsp_mcp.errors import MissingProgramError
from nvim.lua_tools import lua_text, on_stdio
from nvim.neovims import skip_without_nvim

skip_without_nvim()
skip_without("nvim_dap")
try:
    NODE, SCRIPT, *_ = find_debugger(load_debugger("js-debug"), Path.cwd())
except MissingProgramError as error:
    pytest.skip(f"js-debug: {error}", allow_module_level=True)

TICKETS = "js/tickets.js"
ADAPTER = f"""
require('dap').adapters['pwa-node'] = {{ type = 'server', host = '127.0.0.1', port = '${{port}}',
  executable = {{ command = {lua_text(NODE)}, args = {{ {lua_text(SCRIPT)}, '${{port}}', '127.0.0.1' }} }} }}
"""


@bounded
async def test_exit_code_stderr_and_breakpoints_that_were_never_hit_are_told(tmp_path: Path) -> None:
    shutil.copytree(PROGRAMS / "js", tmp_path / "js")
    async with debugging(tmp_path, lua=ADAPTER) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        launch: dict[str, Any] = {"type": "pwa-node", "request": "launch", "name": "it", "program": TICKETS}
        end = await at.call("run", **launch, args=["exit"], wait_until_paused=True)
        assert (end["state"], end["exit_code"], end["output"]) == ("terminated", 3, ["too many: child"])
        await at.call("set_breakpoint", filename=TICKETS, line=30)
        end = await at.call("run", **launch, wait_until_paused=True)
        assert (end["exit_code"], end["output"], end["never_hit"]) == (0, ["total: 763"], [f"{TICKETS}:30"])
        assert "not_bound" not in end


@bounded
async def test_a_program_is_ended_with_its_session(
    tmp_path: Path,
) -> None:
    shutil.copytree(PROGRAMS / "js", tmp_path / "js")
    async with debugging(tmp_path, lua=ADAPTER) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        launch: dict[str, Any] = {"type": "pwa-node", "request": "launch", "name": "it", "program": TICKETS}
        await at.call("set_breakpoint", filename=TICKETS, line=39)
        stop = await at.call("run", **launch, args=["loop"], wait_until_paused=True)
        assert stop["at"] == f"{TICKETS}:39"
        await at.call("clear_breakpoints")
        await at.call("continue", wait_until_paused=False)
        before = started_by(tmp_path)
        assert len([name for name in before.values() if name == "node"]) >= 2
        assert (await at.call("terminate"))["state"] == "terminated"
        await all_end(before)


@bounded
async def test_a_program_ends_with_a_neovim_that_is_killed(tmp_path: Path) -> None:
    if not shutil.which("setpriv"):
        pytest.skip("setpriv: it is part of util-linux")
    shutil.copytree(PROGRAMS / "js", tmp_path / "js")
    async with debugging(tmp_path, lua=ADAPTER) as nv, on_stdio(nv, tmp_path, "auto") as face:
        at = Debugger(nv, face, tmp_path)
        await at.call("set_breakpoint", filename=TICKETS, line=39)
        launch: dict[str, Any] = {"type": "pwa-node", "request": "launch", "name": "it", "program": TICKETS}
        await at.call("run", **launch, args=["loop"], wait_until_paused=True)
        ours = [pid for pid in started_by(tmp_path) if "tickets.js" in (Path(f"/proc/{pid}/cmdline").read_text())]
        assert ours
        os.kill(nv.pid, signal.SIGKILL)
        await all_end(dict.fromkeys(ours, "node"))
