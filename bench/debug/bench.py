"""How well the debug tools do: scenarios with an oracle, bug hunts in calls and bytes, and what a step costs.

    python bench/debug/bench.py [DEBUGGER...] [--scenario NAME] [--hunts] [--steps]

Prints one line for each debugger: how many scenarios held, and which did not; a hunt's calls and the bytes that a model
reads of them; the time of a step through the tools, and of the same requests sent to the adapter alone.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "tests")]

from scenarios import Program, programs, scenarios  # noqa: E402

from debugging.debuggers import PROGRAMS, build_cpp  # noqa: E402
from debugging.desk import Desk, desk  # noqa: E402
from lsp_mcp.dap.looking import look  # noqa: E402

_LONGEST = 100  # seconds for one scenario: a hang
_STEPS = 12


def workspace(folder: Path) -> Path:
    """The programs, the compiled one built."""
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
    build_cpp(folder, folder / "cpp" / "hall.cpp")
    (folder / "test_orders.py").write_text(
        "import sys\nsys.path.insert(0, 'python')\nfrom orders import ORDER, total\n\n"
        "def test_total():\n    assert total(ORDER) == 3159\n"
    )
    return folder


async def held(root: Path, name: str, program: Program, only: str | None) -> tuple[int, list[str]]:
    """How many scenarios there were, and those that failed with why."""
    failed = []
    chosen = {key: run for key, run in scenarios(program).items() if only in (None, key)}
    for key, run in chosen.items():
        try:
            async with asyncio.timeout(_LONGEST), desk(root) as d:
                await run(d)
        except Exception as error:  # noqa: BLE001 (counted, and told)
            failed.append(f"{name} {key}: {type(error).__name__} {str(error)[:300]}")
    return len(chosen), failed


async def hunts(root: Path) -> list[str]:
    """Four hunts for the bugs of the programs, each until its cause is in an answer."""
    lines = []

    async def hunt(title: str, d: Desk, *found: bool) -> None:
        lines.append(f"{title}: {d.calls} calls, {d.said:,} bytes, {'found' if all(found) else 'NOT FOUND'}")

    async with desk(root) as d:
        stop = await d.start(program="python/orders.py", breakpoints=["python/orders.py:return int(amount)"])
        end = await d.stop()
        await hunt(
            "Python, a wrong sum", d, stop["variables"]["amount"] == "434.99999999999994", end["state"] == "ended"
        )
    async with desk(root) as d:
        stop = await d.start(test="test_total", break_on_exceptions="user")
        value = await d.evaluate(expression="total(ORDER)")
        await d.stop()
        await hunt("Python, a failing test", d, "assert 3146 == 3159" in stop["exception"], value["value"] == "3146")
    async with desk(root) as d:
        await d.start(program="go", breakpoints=["go/main.go:19"])
        step = await d.step()
        await d.stop()
        await hunt("Go, a slice that is shared", d, '"sow"] → ' in step["changed"]["morning"])
    async with desk(root) as d:
        stop = await d.start(program="hall", breakpoints=["cpp/hall.cpp:17 if people == 5"])
        await d.stop()
        await hunt("C++, a number below zero", d, stop["variables"]["left"] == "4294967292")
    return lines


async def step_cost(root: Path, program: Program) -> tuple[float, float]:
    """Milliseconds of a step through the tools, and of the same requests sent to the adapter alone (medians)."""
    ours, raw = [], []
    async with desk(root) as d:
        await d.start(**program.start, breakpoints=[f"{program.file}:{program.inner}"])
        session = d.debug.all[0]
        for turn in range(_STEPS):
            if session.stop is None:
                break
            began = time.perf_counter()
            if turn % 2:
                await d.step()
                ours.append(time.perf_counter() - began)
                continue
            after, stop = session.stop_count, session.stop
            await session.resume("next", stop.target, stop.thread)
            await session.outcome(after, 60)
            if session.stop:
                await look(session, session.stop, root=root)
                session.shown = session.stop.number
            raw.append(time.perf_counter() - began)
    return statistics.median(ours) * 1000, statistics.median(raw) * 1000


async def main() -> int:
    """Run what was asked for; the number of scenarios that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("debuggers", nargs="*")
    parser.add_argument("--scenario")
    parser.add_argument("--hunts", action="store_true")
    parser.add_argument("--steps", action="store_true")
    chosen = parser.parse_args()
    everything = not (chosen.hunts or chosen.steps or chosen.scenario)
    with tempfile.TemporaryDirectory(prefix="debug-bench-") as folder:
        root = workspace(Path(folder))
        known = {name: one for name, one in programs(root).items() if not chosen.debuggers or name in chosen.debuggers}
        count = 0
        for name, program in known.items():
            if everything or chosen.scenario:
                total, failed = await held(root, name, program, chosen.scenario)
                count += len(failed)
                print(f"{name}: {total - len(failed)} of {total} scenarios held", *failed, sep="\n  ", flush=True)
            if everything or chosen.steps:
                ours, raw = await step_cost(root, program)
                print(f"{name}: a step takes {ours:.1f} ms, its requests alone {raw:.1f} ms", flush=True)
        if everything or chosen.hunts:
            print(*await hunts(root), sep="\n", flush=True)
        return count


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main())))
