"""The scenarios for each debugger: short scripts, each checked by an oracle.

A scenario is a coroutine over a `Hand`: it raises AssertionError if an answer is not true, and NotOfferedError if the
server has no tool for it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from debug.programs import Program, running
from debug.way import Hand, Seen

from fakes.bounded import gone

_LOOPS = 60  # seconds for a program to be in its loop: a hang


@dataclass
class Try:
    """One program in the hands of a client."""

    hand: Hand
    p: Program

    async def do(self, operation: str, /, **values: Any) -> Seen:
        """The operation, which has to succeed."""
        seen = await self.hand.do(operation, **values)
        assert not seen.refused, f"{operation}: {seen.text[:300]}"
        return seen

    async def refused(self, operation: str, /, **values: Any) -> str:
        """The words of a refusal."""
        seen = await self.hand.do(operation, **values)
        assert seen.refused, f"{operation} was taken: {seen.text[:300]}"
        return seen.text

    async def set(self, **more: Any) -> Seen:
        """A breakpoint at the inner line."""
        return await self.do("set", place=self.p.place, file=self.p.file, line=self.p.inner, **more)

    async def start(self, mode: str = "", **more: Any) -> Seen:
        """Start it; the answer is its first stop, or its end."""
        return await self.do("start", args=[mode] if mode else [], **more)

    async def at_inner(self, **more: Any) -> Seen:
        """Start it, and stop at the inner line."""
        await self.set(**more)
        stop = await self.start()
        assert stop.at.endswith(self.p.place), stop.text[:300]
        return stop

    async def looping(self) -> Seen:
        """Start it in its endless loop, and wait until it is there."""
        begun = await self.do("begin", args=["loop"])
        async with asyncio.timeout(_LOOPS):
            while "waiting" not in (await self.do("output", session=begun.session)).text:
                await asyncio.sleep(0.2)
        return begun


Scenario = Callable[[Try], Awaitable[None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(run: Scenario) -> Scenario:
    """One of the scenarios."""
    SCENARIOS[run.__name__.removeprefix("_")] = run
    return run


# --- breakpoints -----------------------------------------------------------------------------------


@scenario
async def _stops_at_a_line(t: Try) -> None:
    assert (await t.at_inner()).state == "stopped"
    assert t.p.value in (await t.do("variables")).text


@scenario
async def _stops_at_a_text(t: Try) -> None:
    await t.do("set_text", file=t.p.file, text=t.p.text)
    assert (await t.start()).at.endswith(t.p.place)


@scenario
async def _stops_in_a_function(t: Try) -> None:
    await t.do("set_function", function=t.p.function)
    assert t.p.function in (await t.start()).function


@scenario
async def _stops_on_a_condition(t: Try) -> None:
    await t.at_inner(condition=t.p.condition)
    assert t.p.value not in values(await t.do("variables"), t.p.variable)


@scenario
async def _tells_a_condition_that_fails(t: Try) -> None:
    set_ = await t.hand.do("set", place=t.p.place, file=t.p.file, line=t.p.inner, condition="nosuchname == 80")
    stop = await t.hand.do("start", args=[])
    said = set_.text if set_.refused else stop.text.replace("nosuchname == 80", "", 1)
    assert "nosuchname" in said, said[:300]


@scenario
async def _stops_at_a_hit(t: Try) -> None:
    await t.at_inner(hit=2, hits="2")
    assert t.p.value not in values(await t.do("variables"), t.p.variable)


@scenario
async def _logs_without_stopping(t: Try) -> None:
    await t.set(log="reached {" + t.p.variable + "}")
    assert (await t.start()).state == "ended"
    assert "reached" in (await t.do("logged")).text


@scenario
async def _counts_every_hit(t: Try) -> None:
    stop, hits = await t.at_inner(), 0
    while stop.state == "stopped" and hits < 10:
        hits += 1
        stop = await t.do("go_on")
    assert (hits, stop.state) == (t.p.hits, "ended")


@scenario
async def _removes_a_breakpoint(t: Try) -> None:
    await t.at_inner()
    await t.do("remove", file=t.p.file, line=t.p.inner)
    assert (await t.do("go_on")).state == "ended"


@scenario
async def _clears_a_file(t: Try) -> None:
    await t.at_inner()
    await t.do("clear", file=t.p.file)
    assert (await t.do("go_on")).state == "ended"


@scenario
async def _tells_what_was_never_hit(t: Try) -> None:
    await t.do("set", place=f"{t.p.file}:{t.p.unreached}", file=t.p.file, line=t.p.unreached)
    end = await t.start()
    assert end.state == "ended"
    assert "never" in end.text, end.text


@scenario
async def _refuses_a_line_past_the_end(t: Try) -> None:
    seen = await t.hand.do("set", place=f"{t.p.file}:99999", file=t.p.file, line=99999)
    assert seen.refused, seen.text


@scenario
async def _expects_a_text(t: Try) -> None:
    await t.set(expect=t.p.text)
    await t.refused("set", place=t.p.place, file=t.p.file, line=t.p.inner, expect="something else")


@scenario
async def _follows_an_edit(t: Try) -> None:
    await t.set()
    path = t.hand.root / t.p.file
    before = path.read_text()
    try:
        path.write_text("\n" + before)
        listed = await t.do("list")
        assert f"{t.p.file}:{t.p.inner + 1}" in listed.text, listed.text
    finally:
        path.write_text(before)


# --- going on --------------------------------------------------------------------------------------


@scenario
async def _steps_over(t: Try) -> None:
    await t.at_inner()
    step = await t.do("over")
    assert step.state == "stopped"
    assert not step.at.endswith(t.p.place) or t.p.hits > 1


@scenario
async def _steps_in(t: Try) -> None:
    await t.at_inner()
    assert (await t.do("in")).state == "stopped"


@scenario
async def _steps_out(t: Try) -> None:
    await t.at_inner()
    await t.do("clear", file=t.p.file)
    out = await t.do("out")
    assert out.state == "stopped"
    assert t.p.function not in out.function


@scenario
async def _goes_on_to_a_line(t: Try) -> None:
    await t.at_inner()
    await t.do("clear", file=t.p.file)
    reached = await t.do("to", place=t.p.place, file=t.p.file, line=t.p.inner)
    assert reached.at.endswith(t.p.place)


@scenario
async def _runs_at_the_bound(t: Try) -> None:
    await t.looping()
    seen = await t.do("wait")
    assert seen.state == "running", seen.text
    assert "pause" in seen.text, seen.text


@scenario
async def _pauses(t: Try) -> None:
    await t.looping()
    assert (await t.do("pause")).state == "stopped"


@scenario
async def _breaks_into_a_running_program(t: Try) -> None:
    await t.looping()
    await t.do("pause")
    assert t.p.file.rpartition("/")[2] in (await t.do("stack")).text
    assert (await t.do("go_briefly")).state == "running"


@scenario
async def _refuses_a_step_while_it_runs(t: Try) -> None:
    await t.looping()
    await t.refused("over")


@scenario
async def _ends_a_running_program(t: Try) -> None:
    await t.looping()
    pids = running(t.hand.root, t.p, "loop")
    assert pids
    await t.do("end")
    for pid in pids:
        await gone(pid)


@scenario
async def _restarts_with_the_same_breakpoints(t: Try) -> None:
    await t.at_inner()
    assert (await t.do("restart")).at.endswith(t.p.place)


@scenario
async def _two_sessions_are_apart(t: Try) -> None:
    first = await t.at_inner()
    if "open" in t.hand.way.operations:
        await t.do("open")
    second = await t.looping()
    assert first.session != second.session
    assert (await t.do("where", session=first.session)).at.endswith(t.p.place)
    assert (await t.do("pause", session=second.session)).state == "stopped"
    assert (await t.do("where", session=first.session)).at.endswith(t.p.place)


# --- what is seen ----------------------------------------------------------------------------------


@scenario
async def _shows_the_stack(t: Try) -> None:
    await t.at_inner()
    stack = (await t.do("stack")).text
    assert t.p.function in stack
    assert stack.count(t.p.file.rpartition("/")[2]) > 1


@scenario
async def _shows_another_frame(t: Try) -> None:
    await t.at_inner()
    outer = await t.do("caller")
    assert t.p.function not in outer.function


@scenario
async def _names_variables(t: Try) -> None:
    await t.at_inner()
    named = await t.do("named", name=t.p.variable)
    assert t.p.value in values(named, t.p.variable)


@scenario
async def _stays_in_its_budget(t: Try) -> None:
    await t.at_inner()
    assert len((await t.do("within_200")).text) < 1500


@scenario
async def _evaluates(t: Try) -> None:
    await t.at_inner()
    assert t.p.result in (await t.do("evaluate", expression=t.p.expression)).text


@scenario
async def _refuses_an_unknown_name(t: Try) -> None:
    await t.at_inner()
    assert "nosuchname" in await t.refused("evaluate", expression="nosuchname")


@scenario
async def _a_letter_is_not_a_command(t: Try) -> None:
    await t.at_inner()
    await t.hand.do("evaluate", expression="c")
    assert (await t.do("where")).at.endswith(t.p.place)


@scenario
async def _sets_a_variable(t: Try) -> None:
    await t.at_inner()
    name, value = t.p.assign
    await t.do("assign", name=name, value=value)
    assert value in (await t.do("evaluate", expression=name)).text


# --- ends ------------------------------------------------------------------------------------------


@scenario
async def _stops_at_a_crash(t: Try) -> None:
    stop = await t.start(t.p.crash)
    assert stop.state == "stopped"
    assert stop.at.endswith(f"{t.p.file}:{t.p.crash_line}"), stop.text[:300]
    assert t.p.crash_says in stop.text


@scenario
async def _ends_after_a_crash(t: Try) -> None:
    await t.start(t.p.crash)
    end = await t.do("go_on")
    assert end.state == "ended"
    assert end.signal or end.code not in ("", "0"), end.text[:300]


@scenario
async def _tells_the_exit_code(t: Try) -> None:
    end = await t.start("exit")
    assert (end.state, end.code) == ("ended", "3"), end.text[:300]


@scenario
async def _keeps_stderr(t: Try) -> None:
    await t.start("exit")
    assert t.p.stderr in (await t.do("output")).text


@scenario
async def _output_after_the_end(t: Try) -> None:
    assert (await t.start("exit")).state == "ended"
    assert t.p.stderr in (await t.do("output")).text


@scenario
async def _hides_secrets(t: Try) -> None:
    await t.set()
    stop = await t.start(env={"SOME_TOKEN": "s3cr3t-s3cr3t"})
    assert "s3cr3t" not in stop.text


@scenario
async def _gives_end_of_input(t: Try) -> None:
    assert (await t.start(stdin="")).state == "ended"


def values(seen: Seen, name: str) -> str:
    """The value that is told of a variable."""
    found = re.search(rf'"{name}"(?:: ?|,"value":)"(.*?)"[,}}]', seen.text)
    assert found, f"{name} is not in {seen.text[:300]}"
    return found[1]
