"""An agent, scripted, that knows only what a program prints finds its bug through the debug tools alone."""

from __future__ import annotations

from typing import Any

from debugging.debuggers import skip_without
from debugging.nvim_dap_desk import CPP, GO, PYTHON, Debugger
from nvim.lua_tools import Shared
from nvim.neovims import skip_without_nvim

skip_without_nvim()
skip_without("nvim_dap", "debugpy", "dlv", "lldb_dap", "cxx")


def agent(test: Any) -> Any:
    """A test that begins as if nothing had been debugged yet."""

    def run(desks: Shared) -> None:
        at = desks.value[1]

        async def reset() -> None:
            await at.reset()
            await test(at)

        desks.run(reset())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@agent
async def test_the_agent_finds_that_prices_are_cut_off(at: Debugger) -> None:
    """`total` prints 3146, and 3159 is right: 2 × 435 + 10 × 29 + 1999."""
    await at.call("set_breakpoint", filename=PYTHON.source, statement="owed += each * count")
    stop = await at.run(PYTHON)
    wrong: list[Any] = []
    while len(wrong) < 3:
        right = await at.call("evaluate", expression="round(float(price) * 100)")
        wrong.append((stop["variables"]["price"], stop["variables"]["each"], right["result"]))
        if len(wrong) == 2:  # each is one too low, so it is the function that makes them: into it, the next time
            await at.call("clear_breakpoints")
            await at.call("run_to", filename=PYTHON.source, statement="each = cents(price)")
            assert (await at.call("step_into"))["function"] == "cents"
            inside = await at.call("step_over")
            back = await at.call("step_out")
            stop = await at.call("step_over")
        else:
            stop = await at.go_on()
    assert wrong == [("'4.35'", "434", "435"), ("'0.29'", "28", "29"), ("'19.99'", "1998", "1999")]
    assert (inside["variables"]["amount"], culprit(inside)) == ("1998.9999999999998", "return int(amount)")
    assert back["variables"]["(return) cents"] == "1998"
    assert (stop["state"], stop["output"]) == ("terminated", ["total: 3146"])
    print("int(amount) cuts off what is a little less than 1999: round it, and the order costs 3159")


@agent
async def test_the_agent_finds_that_two_lists_share_one_array(at: Debugger) -> None:
    """`plan` prints `water` twice, where `sow` and `water` is right."""
    await at.call("set_breakpoint", filename=GO.source, statement="longer := append(plan, task)")
    first = await at.run(GO)
    assert first["variables"]["task"] == '"sow"'
    assert (await at.call("step_out"))["function"] == "main.plans"
    before = await at.call("step_over")
    assert before["variables"]["morning"] == '[]string len: 2, cap: 4, ["look","sow"]'
    second = await at.go_on()
    assert (second["stop"], second["variables"]["task"]) == (4, '"water"')
    # The list has room, so `append` writes behind its end: into what `morning` has there.
    room = await at.call("evaluate", expression="cap(plan) - len(plan)")
    assert room["result"] == "3"
    caller = (await at.call("stacktrace"))["frames"][1]
    seen = [(await morning(at, caller))["[1]"]["value"]]
    after = await at.call("step_over")
    assert culprit(second) == "longer := append(plan, task)"
    caller = (await at.call("stacktrace"))["frames"][1]
    seen.append((await morning(at, caller))["[1]"]["value"])
    assert seen == ['"sow"', '"water"']
    assert after["variables"]["longer"] == '[]string len: 2, cap: 4, ["look","water"]'
    end = await at.go_on()
    assert end["output"] == ["morning: [look water] evening: [look water]"]
    print("append(plan, task) writes into the array of both plans: morning[1] changes from sow to water")


@agent
async def test_the_agent_finds_that_a_negative_number_is_a_large_one(at: Debugger) -> None:
    """`seat` seats 14 people on 10 seats."""
    await at.call(
        "set_breakpoint",
        filename=CPP.source,
        statement="if (left >= hall.kept) {",
        condition="hall.taken + people > hall.seats",
    )
    stop = await at.run(CPP)
    assert (stop["variables"]["left"], stop["variables"]["people"]) == ("4294967292", "5")
    assert (await at.call("evaluate", expression="(int)left"))["result"] == "-4"
    # There `c` is not an expression but the debugger's command to continue.
    await at.face.client.call_tool("nvim_dap_evaluate", {"expression": "c"})
    assert await at.call("current_location", context_lines=3) == stop
    out = await at.call("step_out")
    assert out["variables"]["hall"] == "{seats:10, taken:14, kept:1}"
    assert culprit(stop) == "if (left >= hall.kept) {"
    print("left is unsigned: 10 - 9 - 5 is 4294967292, and no number is below what is kept free")


async def morning(at: Debugger, frame: dict[str, Any]) -> dict[str, Any]:
    """The parts of `morning` in a frame."""
    value = await at.call("evaluate", expression="morning", frame_id=frame["id"])
    return await at.variables(value["variables_reference"])


def culprit(stop: dict[str, Any]) -> str:
    """The source line of a stop."""
    (line,) = [line for line in stop["source"] if line.startswith("→")]
    return str(line.lstrip("→ 0123456789").strip())
