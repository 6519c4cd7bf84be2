"""A Neovim with nvim-dap and the programs to debug, and clients of MCP that debug them: `debugging(root)`.

async with debugging(root) as nv, on_stdio(nv, root, "auto") as face:
    at = Debugger(nv, face, root)
    await at.call("set_breakpoint", filename=PYTHON.source, line=11)
    stop = await at.run(PYTHON)
    assert stop["at"] == "python/orders.py:11"
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from debugging.debuggers import PROGRAMS, build_cpp, environment, init_lua
from fakes.bounded import gone
from nvim.lua_tools import BOUND, PLUGIN, Face, lua_text
from nvim.neovims import Neovim, neovim

MARK = "LSP_MCP_TEST_DEBUGGING"  # in the environment of all that a Neovim starts, however far it goes from it
SETUP = "require('mcp-tools').setup({ tools = { dap = true } })"
# As users have them: each adapter leads a process group.
DETACHED = """
for _, adapter in pairs(require('dap').adapters) do
  (adapter.executable or adapter.options).detached = nil
end
"""


@dataclass(frozen=True)
class Language:
    """A program, and what is true of it: lines by their number, values as the debugger shows them."""

    type: str  # the adapter
    source: str
    program: str
    call: int  # a line that calls `callee`
    callee: str
    caller: str
    entry: int  # where the callee is entered
    after: int  # the line after the call
    structure: str  # a variable at the line after the call
    parts: Mapping[str, str]  # of the structure
    inner: int  # the line that the conditions are for
    condition: str
    third: Mapping[str, str]  # variables at the stop of the condition
    hits: str
    log: str
    logged: str
    wrong: str  # an expression with a syntax error
    complaint: str
    good: tuple[str, str]  # an expression at the line after the call, and its value
    endless: str
    output: str
    last: str  # the statement that is run to
    crash: str  # the argument that makes it crash
    exception: str
    raised: tuple[str, int, Mapping[str, str]]  # function, line, variables
    crashed: int  # the exit code
    loop: int
    missing: str  # a program that is not there, in the adapter's words

    def __str__(self) -> str:
        return self.type

    def at(self, line: int) -> str:
        return f"{self.source}:{line}"


PYTHON = Language(
    type="python",
    source="python/orders.py",
    program="python/orders.py",
    call=17,
    callee="cents",
    caller="total",
    entry=10,
    after=18,
    structure="order",
    parts={"0": "('paper', '4.35', 2)", "1": "('pen', '0.29', 10)", "2": "('ink', '19.99', 1)"},
    inner=11,
    condition='price == "0.29"',
    third={"price": "'0.29'", "amount": "28.999999999999996"},
    hits="2",
    log="it is {price}",
    logged="it is 0.29",
    wrong="len(",
    complaint="SyntaxError: '(' was never closed",
    good=("each * count", "868"),
    endless="[0 for _ in iter(int, 1)]",
    output="total: 3146",
    last="return owed",
    crash="crash",
    exception="KeyError: 'pen'",
    raised=("count_of", 23, {"stock": "{'paper': 5}", "name": "'pen'"}),
    crashed=1,
    loop=38,
    missing="program not found: {root}/nowhere; paths are absolute, or relative to {root}",
)
GO = Language(
    type="go",
    source="go/main.go",
    program="go",
    call=19,
    callee="main.with",
    caller="main.plans",
    entry=10,
    after=20,
    structure="morning",
    parts={"[0]": '"look"', "[1]": '"water"'},
    inner=12,
    condition='task == "water"',
    third={"task": '"water"', "longer": '[]string len: 2, cap: 4, ["look","water"]'},
    hits="2",
    log="it is {task}",
    logged='it is "water"',
    wrong="len(morning",
    complaint="missing ',' before newline in argument list",
    good=("len(evening)", "2"),
    endless="call wait()",
    output="morning: [look water] evening: [look water]",
    last="return morning, evening",
    crash="panic",
    exception="index out of range [3] with length 3",
    raised=("main.last", 24, {"beds": "[]int len: 3, cap: 3, [4,12,9]", "count": "3"}),
    crashed=2,
    loop=39,
    missing="package nowhere is not in std",
)
CPP = Language(
    type="lldb",
    source="cpp/hall.cpp",
    program="cpp/hall",
    call=53,
    callee="seat(Hall&, unsigned int)",
    caller="main",
    entry=16,
    after=53,
    structure="hall",
    parts={"seats": "10", "taken": "6", "kept": "1"},
    inner=17,
    condition="people == 5",
    third={"people": "5", "left": "4294967292"},
    hits="3",
    log="it is {left}",
    logged="it is 4294967292",
    wrong="people *",
    complaint="expected expression",
    good=("people * 2", "12"),
    endless="wait()",
    output="taken: 14 of 10",
    last='std::cout << "taken: " << hall.taken << " of " << hall.seats << std::endl;',
    crash="throw",
    exception="signal SIGABRT",
    raised=("row(std::vector<unsigned int, std::allocator<unsigned int>> const&, unsigned int)", 25, {"number": "2"}),
    crashed=6,
    loop=39,
    missing="program not found: {root}/nowhere; paths are absolute, or relative to {root}",
)
LANGUAGES = (PYTHON, GO, CPP)
languages = pytest.mark.parametrize("language", LANGUAGES, ids=str)


@dataclass
class Debugger:
    """Who debugs: a client, by the names of the tools without `nvim_dap_`."""

    nv: Neovim
    face: Face
    root: Path

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """The answer of a call that succeeds."""
        return json.loads((await self.face.call(f"dap_{tool}", **arguments))[0])

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """The message of a call that fails."""
        return await self.face.error(f"dap_{tool}", **arguments)

    async def run(self, language: Language, *words: str, **more: Any) -> Any:
        """Start the program; the answer is its first stop, or its end."""
        return await self.call("run", **self.how(language, *words, **more))

    def how(self, language: Language, *words: str, **more: Any) -> dict[str, Any]:
        """The arguments for a start."""
        return {
            **{"type": language.type, "request": "launch", "name": "it", "program": language.program},
            # A compiler may have to run first, on a busy machine.
            **{"args": list(words), "wait_until_paused": True, "wait_timeout_ms": BOUND * 1000},
            **more,
        }

    async def go_on(self) -> Any:
        return await self.call("continue", wait_until_paused=True)

    async def reset(self) -> None:
        """As if nothing had been debugged yet."""
        if (await self.call("status"))["active"]:
            await self.call("terminate")
        await self.call("clear_breakpoints")

    async def variables(self, reference: int, **more: Any) -> dict[str, Any]:
        """The variables behind a reference by name."""
        answer = await self.call("variables", variables_reference=reference, **more)
        return {one["name"]: one for one in answer["variables"]}

    async def printed(self) -> str:
        return "\n".join((await self.call("program_output"))["lines"])


def programs(root: Path, *wanted: Language) -> None:
    """The programs of these languages, of all if none is named; that of C++ compiled."""
    for language in wanted or LANGUAGES:
        name = language.source.partition("/")[0]
        shutil.copytree(PROGRAMS / name, root / name)
        if language is CPP:
            build_cpp(root / name, root / language.source)


@asynccontextmanager
async def debugging(root: Path, *files: str, lua: str = "", **options: Any) -> AsyncIterator[Neovim]:
    """A Neovim in `root` with nvim-dap, its adapters and the tools; `lua` runs before the tools are turned on."""
    extra = f"vim.opt.runtimepath:prepend({lua_text(PLUGIN)})\n{init_lua(lua, SETUP)}"
    env = {**environment(), **options.pop("env", {}), MARK: str(root)}
    try:
        async with neovim(root, *files, servers=options.pop("servers", ()), extra_lua=extra, env=env, **options) as nv:
            yield nv
    finally:
        for pid in started_by(root):  # debugpy and what it debugs leave Neovim's group
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def started_by(root: Path) -> dict[int, str]:
    """What runs that a Neovim of `root` started, or that in turn: process, program. Not Neovim itself."""
    found = {}
    wanted = f"{MARK}={root}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "exe").readlink().name
        except OSError:  # it has ended, or is not ours
            continue
    return {pid: name for pid, name in found.items() if name != "nvim"}


async def all_end(pids: Mapping[int, str]) -> None:
    """Wait until these processes have ended by themselves."""
    for pid, name in pids.items():
        try:
            async with asyncio.timeout(BOUND):
                await gone(pid)
        except TimeoutError:
            raise AssertionError(f"{name} ({pid}) still runs") from None
