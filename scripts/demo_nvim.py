"""`make demo BACKEND=nvim`: tools that Lua registers in a Neovim, and two bugs that are found with its debugger."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

from demo_screen import Asker, Screen
from mcp import Client, StdioServerParameters

from lsp_mcp.data import plugin_folder
from lsp_mcp.errors import UnavailableError

_TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_TOP / "tests"))  # the tests' Neovim, debuggers and programs

from debugging.debuggers import NVIM_DAP_REASON, PROGRAMS, environment, init_lua  # noqa: E402
from nvim.neovims import Neovim, NeovimError, neovim  # noqa: E402

_PROGRAM = Path(sys.executable).with_name("lsp-mcp")
_TOOLS = "vim.opt.runtimepath:prepend({plugin})\n"
_SETUP = "require('mcp-tools').setup({ tools = { dap = true, lsp = true, undo = true, diagnostics = true } })"
_NEW_TOOL = """\
require('mcp-tools').register({
  name = 'longest_line',
  description = 'The longest line of the buffer that the user is looking at.',
  args = {},
  execute = function()
    local longest = { line = 0, text = '' }
    for line, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
      longest = #text > #longest.text and { line = line, text = text } or longest
    end
    return longest
  end,
})"""
_AROUND = 1  # source lines that are printed before and after the one of a stop


async def demo(screen: Screen) -> None:
    """Show it all."""
    with tempfile.TemporaryDirectory(prefix="lsp-mcp-demo-") as name:
        root = Path(name).resolve()
        for language in ("python", "go"):
            copytree(PROGRAMS / language, root / language, ignore=ignore_patterns("__pycache__"))
        found = environment()
        lua = _TOOLS.format(plugin=_lua(str(plugin_folder()))) + init_lua(_SETUP)
        try:
            async with (
                neovim(root, "python/orders.py", servers=(), env=found, extra_lua=lua) as nv,
                _connected(screen, nv, root) as asker,
            ):
                await _registered_live(screen, nv, asker)
                await _debugged(screen, asker, found)
        except NeovimError as error:
            raise UnavailableError(str(error)) from None
    screen.sum_up()


async def _registered_live(screen: Screen, nv: Neovim, asker: Asker) -> None:
    """The tools of a Neovim, and one more."""
    before = await _names(asker)
    screen.title(f"A Neovim: {len(before)} tools")
    screen.wrapped("It runs without a screen, and shows python/orders.py. Any MCP client sees what its user sees.", "")
    screen.say("")
    await asker.ask("list_buffers")
    screen.title("A tool in Lua, registered while the client is connected")
    screen.lines(_NEW_TOOL.split("\n"), 20, lambda _: "green")
    await nv.lua(_NEW_TOOL)
    after = await _names(asker)
    screen.say(f"\n  One tool more, at once: {', '.join(sorted(after - before))}\n")
    await asker.ask("nvim_longest_line")


async def _debugged(screen: Screen, asker: Asker, found: dict[str, str]) -> None:
    """The bugs, as far as there are debuggers."""
    if "NVIM_DAP_PATH" not in found:
        screen.title("Debugging: not here")
        screen.wrapped(f"There is no {NVIM_DAP_REASON}:", "yellow")
        screen.say("    git clone https://codeberg.org/mfussenegger/nvim-dap", "bold")
        screen.say('    make demo BACKEND=nvim NVIM_DAP_PATH="$PWD/nvim-dap"', "bold")
        return
    debugger = Debugger(screen, asker.client)
    for variable, program, show in (("DEBUGPY_PYTHON", "debugpy", _python), ("DLV", "dlv", _go)):
        if variable in found:
            await show(screen, debugger)
        else:
            screen.wrapped(f"There is no {program} here; run: scripts/tools.sh {program}", "yellow")


async def _python(screen: Screen, at: Debugger) -> None:
    file = "python/orders.py"
    screen.title("A bug in Python, found with nvim-dap and debugpy")
    screen.wrapped("2 × 4.35 + 10 × 0.29 + 1 × 19.99 is 31.59. The program says 3146 cents. What happens to 0.29?", "")
    screen.say("")
    await at.ask("nvim_dap_set_breakpoint", filename=file, statement="each = cents(price)", condition='price == "0.29"')
    await at.ask("nvim_dap_run", type="python", request="launch", name="orders", program=file, wait_until_paused=True)
    await at.ask("nvim_dap_step_into")
    await at.ask("nvim_dap_step_over")
    await at.ask("nvim_dap_evaluate", expression="int(amount), round(amount)")
    await at.ask("nvim_dap_step_out")
    await at.ask("nvim_dap_evaluate", expression="sum(round(float(p) * 100) * n for _, p, n in order)")
    at.named("python/orders.py:11: 0.29 × 100 is 28.999999999999996, and `int` cuts it off; rounded it is 3159.")
    await at.ask("nvim_dap_continue", wait_until_paused=True)
    await at.ask("nvim_dap_clear_breakpoints")


async def _go(screen: Screen, at: Debugger) -> None:
    file = "go/main.go"
    screen.title("A bug in Go, found with nvim-dap and Delve")
    screen.wrapped("One is to sow in the morning and to water in the evening. The program says water, twice.", "")
    screen.say("")
    await at.ask("nvim_dap_set_breakpoint", filename=file, statement='evening = with(both, "water")')
    await at.ask("nvim_dap_run", type="go", request="launch", name="garden", program="go", wait_until_paused=True)
    await at.ask("nvim_dap_evaluate", expression="cap(both) - len(both)")
    await at.ask("nvim_dap_step_over")
    await at.ask("nvim_dap_evaluate", expression="&morning[0] == &evening[0]")
    at.named("go/main.go:11: `append` finds room behind `both`, and writes `water` where `morning` has `sow`.")
    await at.ask("nvim_dap_continue", wait_until_paused=True)
    await at.ask("nvim_dap_clear_breakpoints")


class Debugger(Asker):
    """Shows the JSON of the debug tools as a person reads it."""

    def show(self, text: str) -> None:
        """Print an answer: what the model gets, in other signs."""
        for line, style in _summary(json.loads(text)):
            self.screen.say(f"    {line}", style)
        self.screen.say(f"    {len(text.encode()):,} bytes of JSON", "dim")

    def named(self, bug: str) -> None:
        """Print what the bug is."""
        self.screen.wrapped(f"The bug: {bug}", "bold green")
        self.screen.say("")


def _summary(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of an answer, each with its style."""
    if answer.get("state") == "stopped":
        source = answer.get("source") or []
        here = next((number for number, line in enumerate(source) if line.startswith("→")), 0)
        return [
            (f"stopped at {answer['at']} in {answer['function']} ({answer['reason']})", ""),
            *((line, "") for line in source[max(0, here - _AROUND) : here + _AROUND + 1]),
            *((f"{name} = {value}", "cyan") for name, value in sorted(answer.get("variables", {}).items())),
        ]
    if answer.get("state") == "terminated":
        how = f"ended with exit code {answer['exit_code']}" if "exit_code" in answer else "ended"
        return [(how, ""), *((f"| {line}", "dim") for line in answer["output"])]
    if "result" in answer:
        return [(f"{answer['result']}  ({answer['type']})", "cyan")]
    if "status" in answer:
        return [(f"{answer['at']}  {answer['text']}  ({answer['status']})", "")]
    return [(json.dumps(answer, ensure_ascii=False), "")]


@asynccontextmanager
async def _connected(screen: Screen, nv: Neovim, root: Path) -> AsyncIterator[Asker]:
    """lsp-mcp on the Neovim, as an agent would start it, from its start to its end."""
    options = ["--backend", "nvim", "--socket", nv.socket, "--workspace-root", str(root), "--log-level", "error"]
    toolsets = ["--toolset", "nvim", "--toolset", "lua"]
    server = StdioServerParameters(command=str(_PROGRAM), args=[*options, *toolsets], env=dict(os.environ))
    failure: Exception | None = None
    async with Client(server) as client:
        try:
            yield Asker(screen, client)
        except Exception as error:  # noqa: BLE001 (raised below: in here the SDK would wrap it into groups)
            failure = error
    if failure:
        raise failure


async def _names(asker: Asker) -> set[str]:
    return {tool.name for tool in (await asker.client.list_tools()).tools}


def _lua(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
