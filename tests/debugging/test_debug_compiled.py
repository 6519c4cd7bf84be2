"""Debugging Go and C++ without an editor, with the real dlv and lldb-dap."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debugging.debuggers import BUILD_BOUND, PROGRAMS, build_cpp, skip_without
from debugging.desk import desk, unhurried
from fakes.bounded import wait_gone
from lsp_mcp.dap.target import Target
from lsp_mcp.errors import CallerError, RefusedError

skip_without("dlv", "lldb_dap", "cxx")

MAIN = "go/main.go"
HALL = "cpp/hall.cpp"
TEST = """package main

import "testing"

func TestPlans(t *testing.T) {
	morning, evening := plans()
	if morning[1] != "sow" {
		t.Errorf("got %v %v", morning, evening)
	}
}
"""
READS = """
#include <iostream>
#include <string>
int main() {
  std::string name;
  std::getline(std::cin, name);
  std::cout << "hello " << name << std::endl;
}
"""

GOROUTINES = """package main

import "fmt"

func main() {
	start, reached := make(chan bool), make(chan bool)
	go func() {
		<-start
		reached <- true
	}()
	start <- true; <-reached
	fmt.Println("joined")
}
"""
THREADS = """#include <atomic>
#include <thread>
std::atomic<bool> go{false}, reached{false};
void other() {
  while (!go) {}
  reached = true;
}
int main() {
  std::thread worker(other);
  go = true; while (!reached) {}
  worker.join();
}
"""
DEAD = """#include <cstdlib>
struct Early { Early() { std::_Exit(5); } };
Early early;
int main() {}
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("compiled")
    shutil.copytree(PROGRAMS, root, dirs_exist_ok=True)
    (root / "go" / "main_test.go").write_text(TEST)
    build_cpp(root, root / HALL)
    (root / "reads.cpp").write_text(READS)
    build_cpp(root, root / "reads.cpp")
    for name, code in (("threads.cpp", THREADS), ("dead.cpp", DEAD)):
        (root / name).write_text(code)
        build_cpp(root, root / name)
    (root / "goroutines").mkdir()
    (root / "goroutines" / "go.mod").write_text("module goroutines\n\ngo 1.21\n")
    (root / "goroutines" / "main.go").write_text(GOROUTINES)
    build = ["go", "build", "-gcflags=all=-N -l", "-buildvcs=false", "-o", str(root / "garden"), "."]
    subprocess.run(build, cwd=root / "go", check=True, timeout=BUILD_BOUND)
    return root


def core_of(root: Path, *command: str) -> Path:
    """The core file that the system writes of a program that aborts."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")):
        pytest.skip(f"this system does not leave core files beside programs: {pattern}")
    folder = root / f"core of {command[0]}"
    folder.mkdir()
    limit = "ulimit -c unlimited && exec env GOTRACEBACK=crash "
    words = shlex.join([str(root / command[0]), *command[1:]])
    ran = subprocess.run(limit + words, shell=True, cwd=folder, capture_output=True, check=False)
    assert ran.returncode == -signal.SIGABRT
    (core,) = folder.iterdir()
    return core


@unhurried
async def test_a_stop_of_another_goroutine_during_a_step_is_told_and_the_step_goes_on_afterwards(root: Path) -> None:
    main = "goroutines/main.go"
    async with desk(root) as d:
        await d.start(program="goroutines", breakpoints=[f"{main}:11", f"{main}:9"])
        stop = await d.step()
        assert (stop["at"], stop["reason"]) == (f"{main}:9", "breakpoint 2")
        assert "still within its step" in stop["notes"][0]
        with pytest.raises(RefusedError, match="Continue"):
            await d.step()
        assert (await d.context())["at"] == f"{main}:9"
        stop = await d.continue_()
        assert (stop["at"], stop["reason"]) == (f"{main}:12", "step")


@unhurried
async def test_a_stop_of_another_thread_during_a_step_is_told(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="threads", breakpoints=["threads.cpp:10", "threads.cpp:6"])
        while stop["state"] == "stopped" and stop["at"] != "threads.cpp:6":
            stop = await d.step()
        assert stop["reason"] == "breakpoint 2"
        (note,) = stop["notes"]
        assert "stopped first" in note
        stop = await d.continue_()
        assert stop.get("exit_code", 0) == 0


@unhurried
async def test_a_core_file_is_looked_into_and_does_not_run(root: Path) -> None:
    async with desk(root) as d:
        for command, function, variable in (
            (["hall", "throw"], "row(", ("number", "2")),
            (["garden", "panic"], "main.last", ("count", "3")),
        ):
            core = str(core_of(root, *command).relative_to(root))
            stop = await d.attach(core=core, program=command[0])
            assert stop["state"] == "stopped", stop
            context = await d.context()
            frame = next(n for n, line in enumerate(context["stack"]) if function in line)
            seen = await d.context(frame=frame, names=[variable[0]])
            assert seen["variables"] == dict([variable])
            for go_on in (d.step, d.continue_):
                with pytest.raises(CallerError, match="core file: nothing runs"):
                    await go_on()
            with pytest.raises(CallerError, match=r"pass program="):
                await d.attach(core=core)
            assert (await d.stop())["state"] == "ended"
        with pytest.raises(CallerError, match="hall is a compiled program, not a core file"):
            await d.attach(core="hall", program="hall")


@unhurried
async def test_a_process_of_go_is_attached_to_by_its_own_debugger_and_goes_on(root: Path) -> None:
    program = subprocess.Popen([root / "garden", "loop"], stdout=subprocess.PIPE)
    try:
        assert program.stdout and program.stdout.readline() == b"waiting\n"
        async with desk(root) as d:
            assert (await d.attach(pid=program.pid))["state"] in ("running", "stopped")
            await d.pause()
            context = await d.context()
            assert d.debug.all[0].plan.adapter.name == "dlv"
            assert any("main.wait" in line for line in context["stack"])
            assert (await d.stop())["state"] == "detached"
            stop = await d.start(program="garden", breakpoints=[f"{MAIN}:19"])
            assert stop["at"] == f"{MAIN}:19"
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


@unhurried
async def test_a_program_that_ends_before_anything_can_be_asked_is_told_with_its_exit_code(root: Path) -> None:
    (root / "quick.py").write_text("import os\nos._exit(5)\n")
    async with desk(root) as d:
        for program in ("dead", "quick.py"):
            end = await d.start(program=program)
            assert (end["state"], end.get("exit_code")) == ("ended", 5), end


@unhurried
async def test_go_is_built_stopped_stepped_and_its_panic_is_shown_where_the_program_is(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="go", breakpoints=[f"{MAIN}:19"])
        assert (stop["at"], stop["function"]) == (f"{MAIN}:19", "main.plans")
        assert stop["called_by"] == [f"main.main {MAIN}:53"]
        step = await d.step()
        assert '["look","sow"] → ' in step["changed"]["morning"]
        assert "both" not in step["changed"]
        await d.breakpoints(at=f"{MAIN}:54", condition="nosuch == 1")
        stop = await d.continue_()
        assert any("nosuch" in note for note in [*stop.get("notes", ()), stop.get("exception", "")])
        assert (await d.continue_())["exit_code"] == 0
        await d.breakpoints(clear="all")
        stop = await d.start(program="go", args=["panic"])
        assert (stop["at"], stop["variables"]["count"]) == (f"{MAIN}:24", "3")
        assert "index out of range [3] with length 3" in stop["exception"]
        assert (await d.continue_())["exit_code"] == 2
        await d.start(program=MAIN, args=["loop"], wait=0)
        session = d.debug.all[-1]
        assert await session.wait_for(lambda: "waiting" in session.output.of_program(), 90)
        stop = await d.pause()
        assert stop["reason"] == "pause"
        context = await d.context()
        assert any(line.split(" ")[1] == "main.wait" for line in context["stack"])


@unhurried
async def test_a_go_test_is_debugged_by_its_name_and_by_the_command_of_find_impact(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(test="cd go && go test . -run '^(TestPlans)$'", breakpoints=["go/main_test.go:7"])
        assert stop["at"] == "go/main_test.go:7"
        await d.breakpoints(clear="all")
        end = await d.continue_()
        assert (end["state"], end["exit_code"]) == ("ended", 1)
        assert "    main_test.go:8: got [look water] [look water]" in end["output"]
        end = await d.start(test="TestPlans")
        assert end["exit_code"] == 1


@unhurried
async def test_a_program_that_cannot_be_built_is_told_with_the_errors_of_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module broken\n\ngo 1.21\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { undefined() }\n")
    async with desk(tmp_path) as d:
        end = await d.start(program=".")
        assert end["state"] == "failed"
        assert "undefined: undefined" in str(end)
        assert (await d.sessions())["sessions"][0]["state"] == "failed"


@unhurried
async def test_cpp_stops_at_conditions_signals_and_throws_and_tells_a_signal_as_a_signal(root: Path) -> None:
    async with desk(root) as d:
        stop = await d.start(program="hall", breakpoints=[f"{HALL}:17 if people == 5"])
        assert (stop["at"], stop["variables"]["left"]) == (f"{HALL}:17", "4294967292")
        assert stop["output"] == ["6: seated", "3: seated"]
        assert (await d.set_variable(name="left", value="0"))["value"] == "0"
        assert (await d.step(times=1))["at"] == f"{HALL}:21"
        await d.breakpoints(clear="all")
        assert (await d.continue_())["exit_code"] == 0
        stop = await d.start(program="hall", args=["throw"])
        assert (stop["at"], stop["exception"]) == (f"{HALL}:25", "signal SIGABRT")
        assert "std::out_of_range" in stop["output"][0]
        end = await d.continue_()
        assert (end["signal"], "exit_code" in end) == ("SIGABRT", False)
        stop = await d.start(program="hall", args=["throw"], break_on_exceptions="raised")
        assert stop["exception"] == "cpp_throw: C++ Throw"
        await d.stop()
        end = await d.start(program="hall", args=["exit"], breakpoints=["seat"])
        assert (end["exit_code"], end["output"]) == (3, ["too many seats"])
        assert end["never_hit"] == ["2 seat: its line was never reached"]
        with pytest.raises(CallerError, match=r"build it with -g -O0"):
            await d.start(program=HALL)


@unhurried
async def test_a_compiled_program_gets_its_input_and_does_not_wait_for_any_that_nobody_gives(root: Path) -> None:
    async with desk(root) as d:
        assert (await d.start(program="reads", stdin="Ada\n"))["output"] == ["hello Ada"]
        assert (await d.start(program="reads"))["output"] == ["hello "]
        await d.start(program="reads", stdin="open", wait=0)
        session = d.debug.all[-1]
        await session.wait_for(lambda: session.state == "running", 90)
        await d.output(send_input="Grace\n")
        end = await d.continue_()
        assert (end["output"][-1:] or (await d.output())["output"]) == ["hello Grace"]


@unhurried
async def test_a_process_is_attached_to_paused_and_left_running(root: Path) -> None:
    program = subprocess.Popen([root / "hall", "loop"], stdout=subprocess.PIPE)
    try:
        assert program.stdout and program.stdout.readline() == b"waiting\n"
        async with desk(root) as d:
            assert (await d.attach(pid=program.pid))["state"] in ("running", "stopped")
            stop = await d.pause()
            assert stop["function"].startswith("wait()")
            assert (await d.stop())["state"] == "detached"
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


@unhurried
async def test_a_pause_that_the_adapter_forgets_is_asked_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = 0
    ask = Target.ask

    async def forgetful(target: Target, command: str, *rest: Any, **options: Any) -> Any:
        nonlocal pauses
        pauses += command == "pause"
        return {} if (command, pauses) == ("pause", 1) else await ask(target, command, *rest, **options)

    monkeypatch.setattr(Target, "ask", forgetful)
    program = subprocess.Popen([root / "hall", "loop"], stdout=subprocess.PIPE)
    try:
        assert program.stdout and program.stdout.readline() == b"waiting\n"
        async with desk(root) as d:
            await d.attach(pid=program.pid)
            assert (await d.pause())["state"] == "stopped"
            assert pauses == 2
    finally:
        program.kill()
        program.wait()


HELD = """
import asyncio, json, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from debugging.desk import Desk
async def main():
    d = Desk(Path({root!r}))
    await d.start(**json.loads(sys.argv[1]), wait=0)
    session = d.debug.all[0]
    await session.wait_for(lambda: "waiting" in session.output.of_program(), 90)
    print("ready", flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""
ORPHANS = {
    "debugpy": '{"program": "python/orders.py", "args": ["loop"]}',
    "dlv": '{"program": "go", "args": ["loop"]}',
    "lldb-dap": '{"program": "hall", "args": ["loop"]}',
    "in a terminal": '{"program": "python/orders.py", "args": ["loop"], "stdin": "open"}',
}


@unhurried
async def test_a_debugger_that_dies_is_not_taken_for_the_end_of_the_program(root: Path) -> None:
    import psutil

    async with desk(root) as d:
        await d.start(program="go", breakpoints=["main.main"])
        debuggers = [one for one in psutil.Process().children(recursive=True) if one.name() == "dlv"]
        for one in debuggers:
            one.kill()
        await d.debug.named(None).over.wait()
        ended = await d.continue_()
        assert ended["state"] == "failed"
        assert "dlv was killed by SIGKILL" in ended["error"]


@pytest.mark.parametrize("started", ORPHANS.values(), ids=ORPHANS)
@pytest.mark.parametrize("number", [signal.SIGKILL])
def test_whatever_is_debugged_ends_with_this_program_however_that_dies(
    root: Path, started: str, number: signal.Signals
) -> None:
    code = HELD.format(tests=str(Path(__file__).parent.parent), root=str(root))
    holder = subprocess.Popen([sys.executable, "-c", code, started], stdout=subprocess.PIPE)
    assert holder.stdout and holder.stdout.readline() == b"ready\n"
    import psutil

    below = [child.pid for child in psutil.Process(holder.pid).children(recursive=True)]
    assert len(below) >= 2
    os.kill(holder.pid, number)
    holder.wait()
    assert [pid for pid in below if not wait_gone(pid)] == []
