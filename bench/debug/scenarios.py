"""What is tried of each debugger: short scripts of calls, each with an oracle that says whether it held.

A scenario is a coroutine over a `Desk`: it raises AssertionError where what a caller reads is not the truth.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debugging.desk import Desk
from lsp_mcp.errors import LspMcpError

Run = Callable[[Desk], Awaitable[None]]


@dataclass(frozen=True)
class Program:
    """The same program in one language: where it is, and what is on its lines."""

    start: dict[str, Any]  # arguments of debug_start
    file: str
    inner: int  # a line within a function that is called by another; reached with the default mode
    inner_text: str  # of that line
    function: str  # its name, as breakpoints take it
    shown: str  # its name, as stops tell it
    condition: str  # true at the second hit of `inner`, or later
    variable: str  # there, with
    value: str  # this value at the first hit; a part of it
    expression: str
    result: str  # a part
    assign: tuple[str, str]
    unreached: int  # a line that the default mode does not reach
    crash: str  # the mode, with
    crash_line: int
    crash_says: str
    exit_code: int  # of the mode `exit`
    stderr: str
    hits: int  # how often `inner` is reached


def modes(program: Program, mode: str) -> dict[str, Any]:
    """The arguments to start it in a mode."""
    return {**program.start, "args": [mode]}


def scenarios(p: Program) -> dict[str, Run]:
    """The scenarios by name."""
    at = f"{p.file}:{p.inner}"
    all_: dict[str, Run] = {}

    def scenario(run: Run) -> Run:
        all_[run.__name__] = run
        return run

    @scenario
    async def stops_at_a_line(d: Desk) -> None:
        stop = await d.start(**p.start, breakpoints=[at])
        assert (stop["at"], stop["function"]) == (at, p.shown)
        assert p.value in stop["variables"][p.variable]

    @scenario
    async def stops_at_a_text(d: Desk) -> None:
        assert (await d.start(**p.start, breakpoints=[f"{p.file}:{p.inner_text}"]))["at"] == at

    @scenario
    async def stops_in_a_function(d: Desk) -> None:
        stop = await d.start(**p.start, breakpoints=[p.function])
        assert stop["function"] == p.shown

    @scenario
    async def stops_on_a_condition(d: Desk) -> None:
        stop = await d.start(**p.start, breakpoints=[f"{at} if {p.condition}"])
        assert stop["at"] == at
        assert p.value not in stop["variables"][p.variable]

    @scenario
    async def tells_a_condition_that_fails(d: Desk) -> None:
        stop = await d.start(**p.start, breakpoints=[f"{at} if nosuchname == 80"])
        assert "nosuchname" in str(stop)
        assert stop["state"] == "stopped" or "not bound" in str(stop) or "nosuchname" in str(stop.get("output"))

    @scenario
    async def stops_at_a_hit(d: Desk) -> None:
        await d.breakpoints(at=at, hit=2)
        stop = await d.start(**p.start)
        assert p.value not in stop["variables"][p.variable]

    @scenario
    async def logs_without_stopping(d: Desk) -> None:
        await d.breakpoints(at=at, log="reached {" + p.variable + "}")
        end = await d.start(**p.start)
        assert end["state"] == "ended"
        lines = (await d.output(stream="debugger"))["output"] + (await d.output())["output"]
        assert any("reached" in line for line in lines)

    @scenario
    async def counts_every_hit(d: Desk) -> None:
        stop, hits = await d.start(**p.start, breakpoints=[at]), 0
        while stop["state"] == "stopped":
            hits += 1
            stop = await d.continue_()
        assert (hits, stop["exit_code"]) == (p.hits, 0)

    @scenario
    async def removes_a_breakpoint(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        await d.breakpoints(remove=1)
        assert (await d.continue_())["state"] == "ended"

    @scenario
    async def clears_a_file(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert (await d.breakpoints(clear=p.file))["removed"] == 1
        assert (await d.continue_())["exit_code"] == 0

    @scenario
    async def tells_what_was_never_hit(d: Desk) -> None:
        end = await d.start(**p.start, breakpoints=[f"{p.file}:{p.unreached}"])
        assert "never reached" in end["never_hit"][0]

    @scenario
    async def refuses_a_line_past_the_end(d: Desk) -> None:
        try:
            await d.start(**p.start, breakpoints=[f"{p.file}:99999"])
        except LspMcpError as error:
            assert "has no line" in str(error)
        else:
            raise AssertionError("it was taken")

    @scenario
    async def steps_over(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        step = await d.step()
        assert step["reason"] in ("step", "breakpoint 1")
        assert step["at"] != at or p.hits > 1

    @scenario
    async def steps_out(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        await d.breakpoints(clear="all")
        assert (await d.step(how="out"))["function"] != p.shown

    @scenario
    async def steps_in(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert (await d.step(how="in"))["state"] == "stopped"

    @scenario
    async def shows_the_stack(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        stack = (await d.context())["stack"]
        assert stack[0].startswith("0 ")
        assert at in stack[0]
        assert len(stack) > 1

    @scenario
    async def shows_another_frame(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        outer = await d.context(frame=1)
        assert outer["function"] != p.shown

    @scenario
    async def evaluates(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert p.result in (await d.evaluate(expression=p.expression))["value"]

    @scenario
    async def refuses_an_unknown_name(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        try:
            await d.evaluate(expression="nosuchname")
        except LspMcpError as error:
            assert "nosuchname" in str(error)
        else:
            raise AssertionError("it has a value")

    @scenario
    async def a_letter_is_no_command(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        try:
            await d.evaluate(expression="c")
        except LspMcpError as error:
            assert error
        assert (await d.sessions())["sessions"][0]["state"] == "stopped"

    @scenario
    async def sets_a_variable(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        name, value = p.assign
        await d.set_variable(name=name, value=value)
        assert value in (await d.evaluate(expression=name))["value"]

    @scenario
    async def stops_at_a_crash(d: Desk) -> None:
        stop = await d.start(**modes(p, p.crash))
        assert (stop["state"], stop["reason"]) == ("stopped", "exception")
        assert stop["at"] == f"{p.file}:{p.crash_line}"
        assert p.crash_says in str(stop)

    @scenario
    async def ends_after_a_crash(d: Desk) -> None:
        await d.start(**modes(p, p.crash))
        end = await d.continue_()
        assert end["state"] == "ended"
        assert end.get("signal") or end["exit_code"]

    @scenario
    async def tells_the_exit_code(d: Desk) -> None:
        end = await d.start(**modes(p, "exit"))
        assert (end["state"], end["exit_code"]) == ("ended", p.exit_code)

    @scenario
    async def keeps_stderr(d: Desk) -> None:
        await d.start(**modes(p, "exit"))
        assert p.stderr in "\n".join((await d.output())["output"])

    @scenario
    async def output_after_the_end(d: Desk) -> None:
        await d.start(**p.start)
        read = await d.output()
        assert read["output"]
        assert (await d.output(since=read["next"]))["output"] == []

    @scenario
    async def runs_at_the_bound(d: Desk) -> None:
        await looping(d, p)
        running = await d.continue_(wait=0)
        assert (running["state"], "debug_pause" in running["next"]) == ("running", True)

    @scenario
    async def pauses(d: Desk) -> None:
        await looping(d, p)
        assert (await d.pause())["state"] == "stopped"

    @scenario
    async def breaks_into_a_running_program(d: Desk) -> None:
        await looping(d, p)
        await d.pause()
        assert (await d.context())["stack"]
        assert (await d.continue_(wait=0))["state"] == "running"

    @scenario
    async def refuses_a_step_while_it_runs(d: Desk) -> None:
        await looping(d, p)
        try:
            await d.step()
        except LspMcpError as error:
            assert "debug_pause" in str(error)
        else:
            raise AssertionError("it stepped")

    @scenario
    async def ends_a_running_program(d: Desk) -> None:
        await looping(d, p)
        assert (await d.stop())["state"] == "ended"

    @scenario
    async def restarts_with_the_same_breakpoints(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert (await d.stop(restart=True))["at"] == at

    @scenario
    async def two_sessions_are_apart(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        await looping(d, p)
        assert (await d.context(session="s1"))["at"] == at
        assert (await d.pause(session="s2"))["session"] == "s2"
        assert (await d.continue_(session="s1"))["session"] == "s1"

    @scenario
    async def goes_on_to_a_line(d: Desk) -> None:
        await d.start(**p.start, stop_on_entry=p.file.endswith(".py"), breakpoints=[at])
        reached = await d.continue_(to=at) if p.file.endswith(".py") else await d.context()
        assert reached["at"] == at

    @scenario
    async def follows_an_edit(d: Desk) -> None:
        await d.breakpoints(at=at)
        path = d.root / p.file
        before = path.read_text()
        try:
            path.write_text("\n" + before)
            assert str(p.inner + 1) in (await d.breakpoints())["notes"][0]
        finally:
            path.write_text(before)

    @scenario
    async def expects_a_text(d: Desk) -> None:
        assert (await d.breakpoints(at=at, expect=p.inner_text))["breakpoints"]
        try:
            await d.breakpoints(at=at, expect="something else")
        except LspMcpError as error:
            assert "without" in str(error)
        else:
            raise AssertionError("it was taken")

    @scenario
    async def hides_secrets(d: Desk) -> None:
        answer = await d.start(**p.start, env={"SOME_TOKEN": "s3cr3t-s3cr3t"}, breakpoints=[at])
        assert "s3cr3t" not in str(answer)

    @scenario
    async def names_variables(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert set((await d.context(names=[p.variable]))["variables"]) == {p.variable}

    @scenario
    async def stays_in_its_budget(d: Desk) -> None:
        await d.start(**p.start, breakpoints=[at])
        assert len(str((await d.context(budget=200))["variables"])) < 500

    @scenario
    async def gives_end_of_input(d: Desk) -> None:
        end = await d.start(**p.start, stdin="")
        assert end["exit_code"] == 0

    return all_


async def looping(d: Desk, p: Program) -> None:
    """Start it in its endless loop, and wait until it is there."""
    await d.start(**modes(p, "loop"), wait=0)
    session = d.debug.all[-1]
    assert await session.wait_for(lambda: "waiting" in session.output.of_program(), 90)


def programs(root: Path) -> dict[str, Program]:
    """The programs of tests/fixtures/debugging below `root`, by debugger."""
    return {
        "debugpy": Program(
            {"program": "python/orders.py"}, "python/orders.py", 11, "return int(amount)", "cents", "cents",
            "price == '0.29'", "amount", "434.9", "amount * 2", "869.9", ("amount", "5.0"), 30,
            "crash", 23, "KeyError", 3, "too many: pen", 3,
        ),
        "dlv": Program(
            {"program": "go"}, "go/main.go", 11, "longer := append(plan, task)", "with", "main.with",
            'task == "water"', "task", "sow", "len(plan)", "1", ("plan", "nil"), 31,
            "panic", 24, "index out of range", 3, "too many in bed", 2,
        ),
        "lldb-dap": Program(
            {"program": "hall"}, "cpp/hall.cpp", 17, "if (left >= hall.kept) {", "seat", "seat(Hall&, unsigned int)",
            "people == 5", "people", "6", "hall.seats", "10", ("left", "1"), 31,
            "throw", 25, "SIGABRT", 3, "too many seats", 3,
        ),
    }  # fmt: skip
