"""Debugging Python without an editor, with the real debugpy: what a model reads at each step."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from debugging.debuggers import PROGRAMS, skip_without
from debugging.desk import LONG, Desk, desk, unhurried
from fakes.bounded import gone
from lsp_mcp.errors import CallerError, LspMcpError, RefusedError

skip_without("debugpy")

ORDERS = "python/orders.py"
RAISES = f"{ORDERS}:return stock[name]"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(PROGRAMS / "python", tmp_path / "python")
    return tmp_path


def write(root: Path, name: str, code: str) -> str:
    (root / name).write_text(textwrap.dedent(code).lstrip())
    return name


def processes_with(text: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            if text in line and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


@unhurried
async def test_a_stop_tells_place_source_variables_and_callers_and_a_step_what_changed(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program=ORDERS, breakpoints=[f"{ORDERS}:return int(amount)"])
        assert (stop["state"], stop["at"], stop["reason"]) == ("stopped", f"{ORDERS}:11", "breakpoint 1")
        assert stop["variables"] == {"amount": "434.99999999999994", "price": "'4.35'"}
        assert "→11     return int(amount)" in stop["source"]
        assert stop["called_by"][0] == f"total {ORDERS}:17"
        step = await d.step(how="over")
        assert (step["at"], step["variables"]["each"]) == (f"{ORDERS}:18", "434")
        step = await d.step()
        assert step["changed"]["owed"] == "0 → 868"
        assert "order" not in step["changed"]
        again = await d.continue_(to=f"{ORDERS}:19")
        assert (again["reason"], again["notes"]) == (
            "breakpoint 1",
            [f"{ORDERS}:19 was not reached: it stopped here first"],
        )
        await d.breakpoints(clear="all")
        reached = await d.continue_(to=f"{ORDERS}:return owed")
        assert (reached["reason"], reached["at"]) == ("reached", f"{ORDERS}:19")
        assert (await d.set_variable(name="owed", value="3159"))["value"] == "3159"
        with pytest.raises(RefusedError, match="nonesuch"):
            await d.set_variable(name="nonesuch", value="1")
        end = await d.continue_()
        assert (end["state"], end["exit_code"], end["output"]) == ("ended", 0, ["total: 3159"])
        assert (await d.breakpoints())["breakpoints"] == []
        with pytest.raises(CallerError, match="has ended"):
            await d.step()


@unhurried
async def test_an_uncaught_exception_stops_where_it_is_raised_and_sys_exit_is_not_a_crash(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program=ORDERS, args=["crash"])
        assert (stop["reason"], stop["exception"], stop["at"]) == ("exception", "KeyError: 'pen'", f"{ORDERS}:23")
        assert stop["variables"] == {"name": "'pen'", "stock": "{'paper': 5}"}
        end = await d.continue_()
        assert end["exit_code"] == 1
        assert "KeyError: 'pen'" in end["output"]
        end = await d.start(program=ORDERS, args=["exit"])
        assert (end["state"], end["exit_code"], end["output"]) == ("ended", 3, ["too many: pen"])
        end = await d.start(program=ORDERS, args=["crash"], break_on_exceptions="none")
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        listed = (await d.sessions())["sessions"]
        assert [one["exit_code"] for one in listed] == [1, 3, 1]


@unhurried
async def test_a_loop_is_running_at_the_bound_is_paused_anywhere_and_ends_with_all_its_processes(root: Path) -> None:
    name = write(
        root,
        "parent.py",
        f"""
        import subprocess, sys, time
        child = subprocess.Popen(["sleep", "1000.{os.getpid()}"], start_new_session=True)
        print("waiting", flush=True)
        turns = 0
        while True:
            turns += 1
            time.sleep(0.01)
        """,
    )
    async with desk(root) as d:
        running = await d.start(program=name, wait=0)
        assert running["state"] == "starting"
        session = d.debug.all[0]
        assert await session.wait_for(lambda: "waiting" in session.output.of_program(), 90)
        running = await d.continue_(wait=0)
        assert running["state"] == "running"
        assert "debug_pause" in running["next"]
        with pytest.raises(CallerError, match="debug_pause stops it"):
            await d.step()
        paused = await d.pause()
        assert paused["reason"] == "pause"
        assert int((await d.evaluate(expression="turns"))["value"]) > 0
        [pid] = processes_with(f"1000.{os.getpid()}")
        assert (await d.stop())["state"] == "ended"
        await gone(pid)
        assert processes_with(str(root / name)) == []


@unhurried
async def test_a_condition_that_raises_and_a_breakpoint_that_is_never_reached_are_told(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program=ORDERS, breakpoints=[f"{ORDERS}:11 if nosuchvar == 80", f"{ORDERS}:30"])
        assert stop["state"] == "stopped"
        assert "its condition 'nosuchvar == 80' cannot be evaluated: NameError" in stop["notes"][0]
        await d.breakpoints(at=f"{ORDERS}:11", condition="amount > 5000")
        end = await d.continue_()
        assert end["never_hit"] == [f"2 {ORDERS}:30: sys.exit(3): its line was never reached"]
        end = await d.stop(restart=True)
        assert [line.rpartition(": ")[2] for line in end["never_hit"]] == [
            "its condition was never true",
            "its line was never reached",
        ]


@unhurried
async def test_breakpoints_follow_their_lines_through_edits_between_runs(root: Path) -> None:
    async with desk(root) as d:
        await d.breakpoints(at=f"{ORDERS}:return int(amount)", hit=2)
        await d.breakpoints(at=f"{ORDERS}:30", expect="sys.exit")
        with pytest.raises(CallerError, match="without 'nothing'"):
            await d.breakpoints(at=f"{ORDERS}:30", expect="nothing")
        path = root / ORDERS
        path.write_text("# one line more\n" + path.read_text().replace("            sys.exit(3)\n", ""))
        stop = await d.start(program=ORDERS)
        assert stop["at"] == f"{ORDERS}:12"
        assert stop["variables"]["price"] == "'0.29'"
        assert stop["notes"] == [
            f"breakpoint 1 moved with its line: {ORDERS}:11 → 12",
            f"breakpoint 2 at {ORDERS}:30 was removed: its line 'sys.exit(3)' is gone",
        ]


@unhurried
async def test_input_is_given_whole_or_while_it_runs(root: Path) -> None:
    name = write(root, "greet.py", "print('hello', repr(input()))\nprint('then', repr(input()))\n")
    async with desk(root) as d:
        end = await d.start(program=name, stdin="Ada\nGrace\n")
        assert (end["output"], end["exit_code"]) == (["hello 'Ada'", "then 'Grace'"], 0)
        await d.start(program=name, stdin="open", wait=0)
        session = d.debug.all[-1]
        await session.wait_for(lambda: session.state == "running", 90)
        await d.output(send_input="Ada\n")
        assert await session.wait_for(lambda: "hello 'Ada'" in session.output.of_program(), 90)
        await d.output(send_input="Grace\n")
        end = await d.continue_()
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        end = await d.start(program=name, break_on_exceptions="none")
        assert "EOFError: EOF when reading a line" in end["output"]
        with pytest.raises(CallerError, match="stdin='open'"):
            await d.output(send_input="too late\n")


@unhurried
async def test_a_breakpoint_in_a_python_child_stops_there_and_nothing_hangs(root: Path) -> None:
    name = write(
        root,
        "family.py",
        """
        import subprocess, sys
        def work(n):
            return n * 2
        if len(sys.argv) > 1:
            print("child", work(21))
            sys.exit(7)
        done = subprocess.run([sys.executable, __file__, "child"])
        print("child ended with", done.returncode)
        """,
    )
    async with desk(root) as d:
        stop = await d.start(program=name, breakpoints=[f"{name}:return n * 2"])
        assert (stop["at"], stop["variables"]) == (f"{name}:3", {"n": "21"})
        assert re.search(r"\[\d+\]", stop["process"])
        assert len((await d.sessions())["sessions"][0]["children"]) == 1
        end = await d.continue_()
        assert (end["state"], end["exit_code"]) == ("ended", 0)
        assert set(end["output"]) == {"child 42", "child ended with 7"}


@unhurried
async def test_elements_are_paged_here_and_objects_are_opened_one_level_deep(root: Path) -> None:
    name = write(
        root,
        "values.py",
        """
        class Item:
            def __init__(self, name, price):
                self.name, self.price = name, price
        item = Item("pen", 29)
        big = list(range(200))
        text = "x" * 100_000
        table = {f"key{n}": "v" * 200 for n in range(500)}
        print(item)
        """,
    )
    async with desk(root) as d:
        stop = await d.start(program=name, breakpoints=[f"{name}:print(item)"])
        assert stop["variables"]["item"] == "Item(name='pen', price=29)"
        assert sum(map(len, stop["variables"].values())) < 2_000
        page = await d.evaluate(expression="big", start=190, count=4)
        assert page["elements"] == {"190": "190", "191": "191", "192": "192", "193": "193"}
        assert page["more"] == "pass start=194"
        # debugpy adds the length, and lists no more than 100 elements of a list, 500 of a dictionary.
        end = await d.evaluate(expression="big", start=198, count=9)
        assert (end["elements"], "more" in end) == ({"198": "198", "199": "199"}, False)
        assert (await d.evaluate(expression="big", start=10, count=150))["more"] == "pass start=109"
        assert (await d.evaluate(expression="set(big)", start=198, count=9))["elements"] == end["elements"]
        named = await d.evaluate(expression="dict.fromkeys(range(5, 905))", start=899, count=9)
        assert named["elements"] == {"904": "None"}
        assert len(str(await d.evaluate(expression="table"))) < 6_000
        with pytest.raises(RefusedError, match=r"^NameError: name 'nosuch' is not defined$"):
            await d.evaluate(expression="nosuch")
        whole = await d.context(names=["big", "item"], budget=300)
        assert set(whole["variables"]) == {"big", "item"}


@unhurried
async def test_what_a_program_prints_is_kept_in_bounds_and_read_from_a_cursor(root: Path) -> None:
    name = write(
        root,
        "flood.py",
        """
        import sys
        for n in range(20_000):
            print("line", n)
        print("bad", file=sys.stderr)
        """,
    )
    async with desk(root) as d:
        end = await d.start(program=name)
        assert len(end["output"]) <= 15
        assert len(str(end)) < 1_000
        read = await d.output(limit=3, stream="stdout")
        assert read["output"] == ["line 19997", "line 19998", "line 19999"]
        assert read["forgotten"] == 18_001
        assert (await d.output(stream="stderr"))["output"] == ["bad"]
        assert (await d.output(since=read["next"]))["output"] == []


@unhurried
async def test_a_secret_of_the_environment_is_in_no_answer(root: Path) -> None:
    name = write(root, "env.py", "import os\ntoken = os.environ['API_TOKEN']\nprint(token)\nprint(1)\n")
    async with desk(root) as d:
        stop = await d.start(program=name, env={"API_TOKEN": "s3cr3t-s3cr3t"}, breakpoints=[f"{name}:4"])
        assert stop["variables"]["token"] == "'[API_TOKEN]'"
        assert (await d.evaluate(expression="token"))["value"] == "'[API_TOKEN]'"
        assert (await d.continue_())["output"] == ["1"]
        assert (await d.output())["output"] == ["[API_TOKEN]", "1"]


@unhurried
async def test_a_test_is_debugged_by_name_by_its_id_and_by_a_command(root: Path) -> None:
    write(
        root,
        "test_cart.py",
        """
        def total(prices):
            return sum(prices[1:])

        def test_total():
            assert total([1, 2]) == 3
        """,
    )
    async with desk(root) as d:
        for test in ("test_total", "test_cart.py::test_total", "pytest test_cart.py -k test_total"):
            stop = await d.start(test=test, break_on_exceptions="user")
            assert (stop["state"], stop["at"], stop["function"]) == ("stopped", "test_cart.py:5", "test_total"), stop
            assert "assert 2 == 3" in stop["exception"]
            await d.stop()
        with pytest.raises(CallerError, match="no test is called 'test_nothing'"):
            await d.start(test="test_nothing")


@unhurried
async def test_attaching_by_pid_and_port_proves_a_connection_and_leaves_the_program(root: Path) -> None:
    async with desk(root) as d:
        with pytest.raises(LspMcpError, match="no process has the id"):
            await d.attach(pid=2**22 - 5, debugger="debugpy")
        with pytest.raises(LspMcpError, match=r"nothing listens at 127\.0\.0\.1:1"):
            await d.attach(port=1, debugger="debugpy")
        command = [sys.executable, "-m", "debugpy", "--listen", "127.0.0.1:0", ORDERS, "loop"]
        env = {**os.environ, "DEBUGPY_ADAPTER_ENDPOINTS": str(root / "endpoints")}
        program = subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE)
        try:
            assert program.stdout and program.stdout.readline()
            port = json.loads((root / "endpoints").read_text())["client"]["port"]
            attached = await d.attach(port=port, debugger="debugpy")
            assert attached["state"] == "running"
            paused = await d.pause()
            assert paused["function"] == "wait"
            assert (await d.stop())["state"] == "detached"
            assert program.poll() is None
        finally:
            program.send_signal(signal.SIGKILL)
            program.wait()


LOOP = """
    print("waiting", flush=True)
    while True:
        time.sleep(0.05)
"""
LONELY = f"import time\n{textwrap.dedent(LOOP)}"
WITH_A_CHILD = f"""
import multiprocessing, subprocess, time

def wait():
    time.sleep(3600)

if __name__ == "__main__":
    subprocess.Popen(["sleep", "3600"])
    {{child}}
{textwrap.indent(textwrap.dedent(LOOP), "    ")}
"""


@pytest.mark.parametrize("child", ["", "pass", "multiprocessing.Process(target=wait).start()"])
@unhurried
async def test_a_program_that_is_killed_from_outside_has_ended_though_others_hold_its_output(
    child: str, root: Path
) -> None:
    program = write(root, "loop.py", WITH_A_CHILD.replace("{child}", child) if child else LONELY)
    async with desk(root) as d:
        await d.start(program=program, wait=0)
        session = d.debug.all[-1]
        number = 2 if "wait" in child else 1
        assert await session.wait_for(
            lambda: "waiting" in session.output.of_program() and len(session.live) == number, LONG
        )
        first = session.targets[0]
        os.kill(first.pid or 0, signal.SIGKILL)
        assert await session.wait_for(lambda: first.state == "ended", LONG)
        if number == 2:
            still = await d.continue_(wait=0)
            assert still["state"] == "running"
            assert f"[{first.pid}] has ended; debugpy does not tell how. Still running: " in still["notes"][0]
            assert f"[{session.targets[1].pid}]" in still["notes"][0]
            os.kill(session.targets[1].pid or 0, signal.SIGKILL)
        end = await d.continue_()
        assert end["state"] == "ended", end
        assert end.get("signal", "SIGKILL") == "SIGKILL"


@unhurried
async def test_bad_requests_name_the_cure_and_start_nothing(root: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "one of program, module, test, config"),
        ({"program": "nosuch.py"}, "nosuch.py does not exist"),
        (
            {"test": "nosuch test"},
            r"or a command such as `pytest tests/test_cart.py -k total`, .*`--gtest_filter=Cart.Total`\.$",
        ),
        ({"program": ORDERS, "module": "x"}, "one of program"),
        ({"config": "My conf"}, "no .vscode/launch.json in the workspace root"),
        ({"program": ORDERS, "cwd": "nowhere"}, "cwd nowhere is not a folder"),
        ({"program": ORDERS, "breakpoints": [f"{ORDERS}:9999"]}, "there is no line 9,999"),
        ({"program": ORDERS, "breakpoints": [f"{ORDERS}:in order:"]}, "2 lines of python/orders.py have the text"),
        ({"program": ORDERS, "debugger": "nosuch"}, "unknown debugger 'nosuch'; available: .*debugpy"),
    ]
    async with desk(root) as d:
        for arguments, message in wrong:
            with pytest.raises(LspMcpError, match=message):
                await d.start(**arguments)
        with pytest.raises(CallerError, match="start one with debug_start"):
            await d.continue_()
        assert d.debug.all == []


@unhurried
async def test_a_configuration_of_an_editor_is_run_with_its_variables_filled_in(root: Path) -> None:
    (root / ".vscode").mkdir()
    (root / ".vscode" / "launch.json").write_text(
        """{ // comments, and commas at ends
          "configurations": [
            { "name": "crash", "type": "debugpy", "request": "launch", "program": "${workspaceFolder}/python/orders.py",
              "args": ["crash"], "preLaunchTask": "build", },
            { "name": "asks", "type": "debugpy", "request": "launch", "program": "${input:which}" },
          ],
        }"""
    )
    async with desk(root) as d:
        stop = await d.start(config="crash")
        assert stop["at"] == f"{ORDERS}:23"
        assert stop["notes"] == ["preLaunchTask 'build' was not run: run it first if it is needed"]
        with pytest.raises(CallerError, match="input:which"):
            await d.start(config="asks")
        with pytest.raises(CallerError, match="unknown configuration 'nosuch'; available: crash, asks"):
            await d.start(config="nosuch")


def test_the_desk_calls_what_clients_call(root: Path) -> None:
    assert len(Desk(root)._tools) == 12
