"""Python, Go and C++ debugged through MCP: real clients, Neovim, nvim-dap, debugpy, Delve and lldb-dap."""

from __future__ import annotations

from typing import Any

from debugging.debuggers import skip_without
from debugging.nvim_dap_desk import CPP, GO, PYTHON, Debugger, Language, languages
from nvim.lua_tools import Shared
from nvim.neovims import skip_without_nvim

skip_without_nvim()
skip_without("nvim_dap", "debugpy", "dlv", "lldb_dap", "cxx")


def on_desk(test: Any) -> Any:
    """A test of each language, which begins as if nothing had been debugged yet, over HTTP."""

    def run(language: Language, desks: Shared) -> None:
        desks.run(_reset(desks.value[0], test, language))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return languages(run)


def on_stdio_desk(test: Any) -> Any:
    """The same over stdio."""

    def run(language: Language, desks: Shared) -> None:
        desks.run(_reset(desks.value[1], test, language))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return languages(run)


def alone(test: Any) -> Any:
    """A test that begins as if nothing had been debugged yet, over stdio."""

    def run(desks: Shared) -> None:
        desks.run(_reset(desks.value[1], test))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


async def _reset(at: Debugger, test: Any, *arguments: Language) -> None:
    await at.reset()
    await test(at, *arguments)


@on_stdio_desk
async def test_a_program_stops_steps_shows_its_values_and_ends(at: Debugger, language: Language) -> None:
    before = await at.nv.view()
    await at.call("set_breakpoint", filename=language.source, line=language.call)
    stop = await at.run(language)
    assert (stop["reason"], stop["at"], stop["function"]) == ("breakpoint", language.at(language.call), language.caller)
    assert stop["source"][3].startswith(f"→ {language.call}  ")

    inside = await at.call("step_into")
    assert (inside["reason"], inside["at"]) == ("step", language.at(language.entry))
    assert inside["function"] == language.callee
    outside = await at.call("step_out")
    assert (outside["at"], outside["function"]) == (language.at(language.call), language.caller)
    await at.call("clear_breakpoints")
    if language.after != language.call:
        assert (await at.call("step_over"))["at"] == language.at(language.after)

    expression, value = language.good
    assert (await at.call("evaluate", expression=expression))["result"] == value
    said = await at.refused("evaluate", expression=language.wrong)
    assert language.complaint in said
    assert "pydevd" not in said
    frame = (await at.call("stacktrace"))["frames"][0]
    assert (frame["name"], frame["at"]) == (language.caller, language.at(language.after))
    scope = (await at.call("scopes"))["scopes"][0]
    local = (await at.variables(scope["variables_reference"]))[language.structure]
    parts = await at.variables(local["variables_reference"])
    assert {name: parts[name]["value"] for name in language.parts} == language.parts

    end = await at.go_on()
    assert (end["state"], end["exit_code"]) == ("terminated", 0)
    assert end["output"].count(language.output) == 1
    assert language.output in await at.printed()
    assert await at.nv.view() == before


# --- looking ---------------------------------------------------------------------------------------


@on_desk
async def test_an_endless_expression_fails_at_its_deadline_and_the_program_can_be_ended(
    at: Debugger, language: Language
) -> None:
    await at.call("set_breakpoint", filename=language.source, line=language.inner)
    await at.run(language)
    said = await at.refused("evaluate", expression=language.endless, timeout_ms=300)
    assert f'"{language.endless}" has no value after 0.3 s' in said
    assert "dap_terminate" in said
    assert (await at.call("terminate"))["state"] == "terminated"
    assert (await at.call("status"))["active"] is False


# --- breakpoints -----------------------------------------------------------------------------------


@on_desk
async def test_a_condition_stops_only_where_it_is_true(at: Debugger, language: Language) -> None:
    await at.call("set_breakpoint", filename=language.source, line=language.inner, condition=language.condition)
    stop = await at.run(language)
    assert {name: stop["variables"][name] for name in language.third} == language.third
    assert (await at.go_on())["state"] == "terminated"


@alone
async def test_a_condition_that_cannot_be_evaluated_is_told_where_it_stops(at: Debugger) -> None:
    for language in (PYTHON, CPP):
        await at.call("set_breakpoint", filename=language.source, line=language.inner, condition="nosuchname == 80")
        stop = await at.run(language)
        assert stop["at"] == language.at(language.inner)
        assert "the condition nosuchname == 80 cannot be evaluated" in stop["note"]
        await at.reset()


@on_desk
async def test_a_hit_condition_counts(at: Debugger, language: Language) -> None:
    await at.call("set_breakpoint", filename=language.source, line=language.inner, hit_condition=language.hits)
    stop = await at.run(language)
    assert {name: stop["variables"][name] for name in language.third} == language.third


@on_desk
async def test_a_log_message_is_printed_and_a_program_that_never_stops_is_told_as_ended(
    at: Debugger, language: Language
) -> None:
    await at.call("set_breakpoint", filename=language.source, line=language.inner, log_message=language.log)
    await at.call("set_breakpoint", filename=language.source, line=language.loop)
    end = await at.run(language)
    assert (end["state"], end["exit_code"]) == ("terminated", 0)
    assert language.output in "\n".join(end["output"])
    assert language.logged in await at.printed()
    assert (await at.call("wait_until_paused"))["state"] == "terminated"


@on_desk
async def test_a_breakpoint_says_where_it_was_bound_and_is_not_hit_once_it_is_removed(
    at: Debugger, language: Language
) -> None:
    early = await at.call("set_breakpoint", filename=language.source, line=language.call)
    assert (early["at"], early["verified"]) == (language.at(language.call), False)
    assert early["status"].startswith("not bound yet")
    await at.run(language)
    (bound,) = (await at.call("breakpoints"))["breakpoints"]
    assert (bound["at"], bound["verified"], bound["status"]) == (language.at(language.call), True, "bound")
    count = len((at.root / language.source).read_text().splitlines())
    said = await at.refused("set_breakpoint", filename=language.source, line=count + 1)
    assert f"line {count + 1} is past the end of {language.source}: it has {count}" in said
    await at.call("set_breakpoint", filename=language.source, line=language.inner)
    assert (await at.call("remove_breakpoint", filename=language.source, line=language.inner))["left_in_file"] == 1
    assert "line " + str(language.call) in await at.refused("remove_breakpoint", filename=language.source, line=1)
    assert (await at.call("clear_breakpoints"))["removed"] == [language.at(language.call)]
    assert (await at.call("breakpoints"))["breakpoints"] == []
    assert (await at.go_on())["state"] == "terminated"


@on_desk
async def test_it_runs_to_a_statement_unless_a_breakpoint_stops_it_before(at: Debugger, language: Language) -> None:
    await at.call("set_breakpoint", filename=language.source, line=language.call)
    await at.run(language)
    await at.call("clear_breakpoints")
    await at.call("set_breakpoint", filename=language.source, line=language.inner)
    before = await at.call("run_to", filename=language.source, statement=language.last)
    assert (before["at"], before["reached"]) == (language.at(language.inner), False)
    assert "dap_run_to" in before["hint"]
    await at.call("clear_breakpoints")
    there = await at.call("run_to", filename=language.source, statement=language.last)
    assert there["reached"] is True
    assert "hint" not in there
    assert (await at.call("breakpoints"))["breakpoints"] == []


# --- how it ends -----------------------------------------------------------------------------------


@on_desk
async def test_an_uncaught_error_stops_at_the_programs_own_frame(at: Debugger, language: Language) -> None:
    before = await at.nv.view()
    stop = await at.run(language, language.crash)
    function, line, variables = language.raised
    assert (stop["reason"], stop["at"], stop["function"]) == ("exception", language.at(line), function)
    assert language.exception in stop["exception"]
    assert {name: stop["variables"][name] for name in variables} == variables
    name = next(iter(variables))
    assert (await at.call("evaluate", expression=name))["result"].endswith(variables[name])
    end = await at.go_on()
    assert (end["state"], end["exit_code"]) == ("terminated", language.crashed)
    assert await at.nv.view() == before


@on_desk
async def test_the_exit_code_and_the_error_output_are_told_after_the_end(at: Debugger, language: Language) -> None:
    end = await at.run(language, "exit")
    if language is PYTHON:
        assert "sys.exit" in end["note"]
        end = await at.go_on()
    assert (end["state"], end["exit_code"]) == ("terminated", 3)
    said = await at.call("program_output", category="stderr" if language is not CPP else "all")
    assert any(line.startswith("too many") for line in said["lines"])
    assert said["exit_code"] == 3
    for tool in ("continue", "step_over", "stacktrace", "scopes", "current_location", "threads"):
        assert "has ended with exit code 3" in await at.refused(tool)
    assert (await at.call("status"))["last"]["exit_code"] == 3


@on_desk
async def test_a_program_without_end_is_pending_until_a_breakpoint_stops_it(at: Debugger, language: Language) -> None:
    assert (await at.run(language, "loop", wait_until_paused=False))["state"] == "running"
    pending = await at.call("wait_until_paused", timeout_ms=1)
    assert (pending["pending"], pending["state"]) == (True, "running")
    assert "dap_set_breakpoint" in pending["hint"]
    assert "is running" in await at.refused("stacktrace")
    assert "already running" in await at.refused("run", **at.how(language))
    bound = await at.call("set_breakpoint", filename=language.source, line=language.loop)
    assert bound["status"] == "bound"
    assert (await at.call("wait_until_paused"))["at"] == language.at(language.loop)
    await at.call("clear_breakpoints")
    assert (await at.call("continue", wait_until_paused=False))["state"] == "running"
    assert (await at.call("terminate"))["state"] == "terminated"


@on_desk
async def test_a_program_that_is_not_there_is_named(at: Debugger, language: Language) -> None:
    said = await at.refused("run", **at.how(language, program="nowhere"))
    assert language.missing.format(root=at.root) in said
    assert (await at.call("status"))["active"] is False


# --- one at a time ---------------------------------------------------------------------------------


@alone
async def test_a_compile_error_of_go_is_told_in_the_compilers_words(at: Debugger) -> None:
    (at.root / "broken").mkdir()
    (at.root / "broken" / "go.mod").write_text("module ex.com/broken\n\ngo 1.22\n")
    (at.root / "broken" / "main.go").write_text("package main\n\nfunc main() {\n\tundefinedThing()\n}\n")
    said = await at.refused("run", **at.how(GO, program="broken"))
    assert "undefined: undefinedThing" in said
    assert "main.go:4:2" in said


@alone
async def test_a_program_that_ended_without_a_stop_says_which_breakpoints_were_not_bound(at: Debugger) -> None:
    await at.call("set_breakpoint", filename=GO.source, line=12)
    await at.call("set_breakpoint", filename=GO.source, line=14)
    end = await at.run(GO, "exit")
    (why,) = end["not_bound"]
    assert why.startswith("go/main.go:14: ")
    assert "could not find statement" in why


@alone
async def test_a_syntax_error_of_python_is_told_with_its_place(at: Debugger) -> None:
    (at.root / "broken.py").write_text("def (\n")
    end = await at.run(PYTHON, program="broken.py")
    assert (end["state"], end["exit_code"]) == ("terminated", 1)
    said = "\n".join(end["output"])
    assert "SyntaxError" in said
    assert "broken.py" in said


@alone
async def test_a_file_that_is_not_a_program_is_refused_with_the_adapters_message(at: Debugger) -> None:
    said = await at.refused("run", **at.how(CPP, program="cpp/hall.cpp"))
    assert "did not start" in said
    assert "cpp/hall.cpp" in said
    assert (await at.call("status"))["active"] is False


@alone
async def test_an_unknown_adapter_is_answered_with_those_that_there_are(at: Debugger) -> None:
    said = await at.refused("run", **at.how(PYTHON, type="ruby"))
    assert 'unknown debug adapter "ruby"' in said
    assert "go, lldb, python" in said
    assert '"python" is the same debugger' in await at.refused("run", **at.how(PYTHON, type="debugpy"))


@alone
async def test_a_statement_must_be_there_once(at: Debugger) -> None:
    set_at = await at.call("set_breakpoint", filename=PYTHON.source, statement="  return   int(amount)")
    assert (set_at["at"], set_at["text"]) == ("python/orders.py:11", "return int(amount)")
    part = await at.call("set_breakpoint", filename=GO.source, statement="append(plan, task)")
    assert part["at"] == "go/main.go:11"
    said = await at.refused("set_breakpoint", filename=PYTHON.source, statement="owed")
    assert "say which one as `line`" in said
    assert [line for line in said.split("\n") if line[:2].isdigit()] == [
        "15: owed = 0",
        "18: owed += each * count",
        "19: return owed",
    ]
    said = await at.refused("set_breakpoint", filename=PYTHON.source, statement="return int(amounts)")
    assert "\n11: return int(amount)" in said
    assert len((await at.call("breakpoints"))["breakpoints"]) == 2


@alone
async def test_nothing_to_debug_is_said_by_every_tool(at: Debugger) -> None:
    assert "there is no file" in await at.refused("set_breakpoint", filename="none.py", line=1)
    assert "missing location" in await at.refused("run_to")
    assert "no breakpoint" in await at.refused("remove_breakpoint", filename=PYTHON.source, line=1)


@alone
async def test_an_anchor_is_a_place_also_where_no_language_server_knows_the_file(at: Debugger) -> None:
    place = await at.call("set_breakpoint", anchor="py://python/orders.py#11:5")
    assert place["at"] == "python/orders.py:11"
    assert "orders" in await at.refused("set_breakpoint", anchor="py://python/orders.py#99:1")


@alone
async def test_all_of_it_is_listed_with_hints_and_in_few_tokens(at: Debugger) -> None:
    listed = {name: tool for name, tool in (await at.face.tools()).items() if name.startswith("nvim_dap_")}
    assert len(listed) == 25
    evaluate, status = (listed[f"nvim_dap_{name}"].annotations for name in ("evaluate", "status"))
    assert evaluate and evaluate.destructive_hint is True
    assert status and status.read_only_hint is True
    size = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed.values())
    assert size / 4 < 3900


@alone
async def test_a_symbol_that_no_language_server_can_find_is_asked_for_by_its_place(at: Debugger) -> None:
    said = await at.refused("set_breakpoint", anchor=PYTHON.callee)
    assert said.startswith(f"'{PYTHON.callee}' is the name of a symbol, and no language server of this Neovim can find")
    assert (await at.call("breakpoints"))["breakpoints"] == []
