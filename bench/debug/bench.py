"""Benchmark of the debug tools: 40 scenarios with an oracle, bug hunts in calls and bytes, and the time of a step.

    python bench/debug/bench.py [DEBUGGER...] [--way direct] [--scenario NAME] [--part scenarios] [--markdown]

`ways/*.toml` says how each way is driven, and what must be installed for it; a way that is not installed is listed and
skipped. nvim-dap needs NVIM_DAP_PATH. Exits with 1 if a scenario failed for which its way offers tools.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]

from debug.bare import begin  # noqa: E402
from debug.programs import PROGRAMS, Program, workspace  # noqa: E402
from debug.scenarios import SCENARIOS, Try  # noqa: E402
from debug.way import WAYS, Hand, NotOfferedError, Way, connected, load  # noqa: E402
from mcp import Client  # noqa: E402
from report import Table, show  # noqa: E402

from debugging.desk import desk  # noqa: E402
from lsp_mcp.dap.adapter import load_debugger  # noqa: E402
from lsp_mcp.dap.finding import find_debugger  # noqa: E402
from lsp_mcp.dap.planning import Wish, plan_start  # noqa: E402

_LONGEST = 90  # seconds for one scenario: a hang
_MOST_LEFT = 3  # sessions of a scenario that nobody has named
_STEPS = 40
_LOOPS = {"debugpy": 37, "dlv": 39, "lldb-dap": 39, "js-debug": 39}  # a line of the endless loop


class Server:
    """The server of a way, restarted after a failed scenario."""

    def __init__(self, way: Way, root: Path, socket: str = "") -> None:
        self._way, self._root, self._socket = way, root, socket
        self._stack = AsyncExitStack()
        self._client: Client | None = None

    async def hand(self, debugger: str) -> Hand:
        """A hand as if nothing had been debugged yet."""
        if self._client is None:
            self._client = await self._stack.enter_async_context(connected(self._way, self._root, socket=self._socket))
        return Hand(self._way, self._client, self._root, debugger)

    async def close(self) -> None:
        """End it."""
        self._client = None
        await self._stack.aclose()


async def forget(hand: Hand) -> None:
    """End what is left of a scenario."""
    if "forget" in hand.way.operations:
        await hand.do("forget")
    for session in sorted(hand.sessions):
        await hand.do("end", session=session)
    for _ in range(_MOST_LEFT):
        if (await hand.do("end")).refused:
            break


async def tried(server: Server, way: Way, debugger: str, name: str) -> str:
    """Empty if the scenario passed, `not offered`, or the failure."""
    hand = None
    try:
        async with asyncio.timeout(_LONGEST):
            hand = await server.hand(debugger)
            if "open" in way.operations:
                await hand.do("open")
            await SCENARIOS[name](Try(hand, PROGRAMS[debugger]))
        failed = ""
    except NotOfferedError as error:
        failed = f"not offered: {error}"
    except Exception as error:  # noqa: BLE001 (counted, and told)
        failed = f"{type(error).__name__} {str(error)[:400]}"
    try:
        async with asyncio.timeout(_LONGEST):
            assert hand
            await forget(hand)
    except Exception:  # noqa: BLE001 (a new server forgets all)
        await server.close()
    return failed


async def hunted(server: Server, way: Way, hunt: Any) -> str:
    """Calls and bytes until the bug's cause was in an answer."""
    try:
        hand = await server.hand(hunt["debugger"])
        seen = await hand.run(hunt["calls"], {})
    except Exception as error:  # noqa: BLE001 (told)
        await server.close()
        return f"failed: {type(error).__name__}"
    finally:
        if hand and "forget" in way.operations:
            calls, said = hand.calls, hand.said
            await forget(hand)
            hand.calls, hand.said = calls, said
    found = re.search(hunt["found"], seen.text)
    return f"{hand.calls} calls, {hand.said:,} B" if found else f"not found in {hand.calls} calls, {hand.said:,} B"


async def step_cost(root: Path, debugger: str, program: Program) -> tuple[float, float, float]:
    """Milliseconds of a step by the bare client and through the tools, and the median of what the tools take longer.

    Two runs of the same loop step in turns: other load on the machine hits both.
    """
    folder = program.file if debugger in ("debugpy", "js-debug") else load("direct").debuggers[debugger]["program"]
    plan = plan_start(Wish(program=folder, args=["loop"]), root)
    line = _LOOPS[debugger]
    bare_times, our_times = [], []
    async with desk(root) as d, begin(plan, root / program.file, line) as (bare, first):
        thread = first
        await d.start(program=folder, args=["loop"], breakpoints=[f"{program.file}:{line}"])
        await d.breakpoints(clear="all")
        for turn in range(_STEPS):
            for who in ("bare", "ours") if turn % 2 else ("ours", "bare"):
                began = time.perf_counter()
                if who == "bare":
                    thread, _ = await bare.step(thread, plan.adapter.variables.scopes)
                    bare_times.append(time.perf_counter() - began)
                else:
                    await d.step()
                    our_times.append(time.perf_counter() - began)
    more = statistics.median(ours - raw for ours, raw in zip(our_times, bare_times, strict=True))
    return statistics.median(bare_times) * 1000, statistics.median(our_times) * 1000, more * 1000


@asynccontextmanager
async def editor(root: Path, way: Way) -> AsyncIterator[str]:
    """The socket of a Neovim with nvim-dap and its adapters, where the way needs one."""
    if "{socket}" not in way.command:
        yield ""
        return
    from debugging.nvim_dap_desk import debugging

    command = find_debugger(load_debugger("js-debug"), root)
    lua = f"""require('dap').adapters['pwa-node'] = {{ type = 'server', host = '127.0.0.1', port = '${{port}}',
      executable = {{ command = 'node', args = {{ '{command[1]}', '${{port}}', '127.0.0.1' }} }} }}"""
    (root / "open.txt").write_text("what the user is at\n")
    async with debugging(root, "open.txt", lua=lua) as nv:
        yield nv.socket


async def main() -> int:
    """Run the chosen parts; returns the number of failed scenarios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debuggers", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--way", action="append", choices=sorted(one.stem for one in WAYS.glob("*.toml")))
    parser.add_argument("--scenario", choices=SCENARIOS)
    parser.add_argument("--part", action="append", choices=("scenarios", "hunts", "steps"))
    parser.add_argument("--markdown", action="store_true")
    chosen = parser.parse_args()
    parts = chosen.part or ["scenarios", "hunts", "steps"]
    count = 0
    held: dict[str, list[str]] = {name: [] for name in chosen.debuggers}
    hunts: dict[str, list[str]] = {}
    titles = []
    for name in chosen.way or ["direct", "nvim-dap", "mcp-debugger"]:
        way = load(name)
        missing = way.missing or (
            "NVIM_DAP_PATH is not set" if name == "nvim-dap" and not os.environ.get("NVIM_DAP_PATH") else ""
        )
        if missing:
            print(f"{way.title}: left out: {missing}", flush=True)
            continue
        titles.append(way.title)
        with tempfile.TemporaryDirectory(prefix="debug-bench-") as folder:
            root = workspace(Path(folder))
            async with editor(root, way) as socket:
                server = Server(way, root, socket)
                for debugger in chosen.debuggers if "scenarios" in parts else ():
                    good = 0
                    for scenario in [chosen.scenario] if chosen.scenario else SCENARIOS:
                        failed = await tried(server, way, debugger, scenario)
                        good += not failed
                        count += bool(failed) and not failed.startswith("not offered")
                        if failed:
                            print(f"{way.title}, {debugger}, {scenario}: {failed}", flush=True)
                    held[debugger].append(str(good))
                    print(f"{way.title}, {debugger}: {good} held", flush=True)
                for hunt in way.hunts if "hunts" in parts else ():
                    if hunt["debugger"] in chosen.debuggers:
                        hunts.setdefault(hunt["name"], []).append(await hunted(server, way, hunt))
                await server.close()
    tables = []
    if "scenarios" in parts:
        tables.append(Table("Scenarios that held, of 40", ["debugger", *titles], [[k, *v] for k, v in held.items()]))
    if "hunts" in parts:
        tables.append(Table("Bug hunts", ["bug", *titles], [[k, *v] for k, v in hunts.items()]))
    if "steps" in parts:
        rows = []
        with tempfile.TemporaryDirectory(prefix="debug-bench-") as folder:
            root = workspace(Path(folder))
            for debugger in chosen.debuggers:
                cost = await step_cost(root, debugger, PROGRAMS[debugger])
                rows.append([debugger, *(f"{one:.1f}" for one in cost)])
        tables.append(Table("A step, in ms", ["debugger", "bare client", "lsp-mcp", "more"], rows))
    show(tables, markdown=chosen.markdown)
    return count


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main())))
