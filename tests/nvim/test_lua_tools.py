"""The tools that a Neovim's Lua registers, as clients of every transport and era meet them, over a real Neovim."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from fakes.bounded import bounded, gone, steps, told
from lsp_mcp.errors import CallerError, DiedError, LspMcpError, UnavailableError
from lsp_mcp.toolsets.tool import Call
from mcp_process import PROGRAM, raw
from nvim.lua_tools import (
    Direct,
    Face,
    Shared,
    begun,
    bridge,
    cancelled,
    direct,
    on_http,
    on_sse,
    on_stdio,
    shared,
    soon,
    texts,
    with_tools,
)
from nvim.neovims import neovim, skip_without_nvim

skip_without_nvim()

CODE = {"find_symbol_references_by_anchor", "lsp_hover", "connect", "read"}
# With "stdio auto" it is a daemon that answers.
FACES = ["stdio legacy", "stdio auto", "http legacy", "http auto", "sse legacy"]
SHOWN = """
tool('shown', function(args) return args end, {
  title = 'Shown to people',
  description = 'What models read: é😀.',
  read_only = true,
  extra = false,
  args = {
    place = { type = 'object', description = 'where', required = true, properties = {
      line = { type = 'integer', required = true, description = 'from 1' },
      column = { type = 'integer', default = 1 },
    } },
    mode = { type = 'string', enum = { 'fast', 'slow' }, default = 'fast', description = 'how' },
    lines = { type = 'array', items = { type = 'string', enum = { 'a', 'b' } } },
    anything = { type = 'array' },
    verbose = { type = 'boolean', default = false },
    ratio = { type = 'number', required = true },
  },
})
tool('plain_one', function() end)
require('mcp-tools').register({
  name = 'strict', description = 'It says nothing of others.', args = { line = { type = 'integer' } },
  execute = function(args) return args.line end,
})
tool('breaks', function() end, { destructive = true })
"""
SHOWN_SCHEMA = {
    "type": "object",
    "properties": {
        "place": {
            "type": "object",
            "description": "where",
            "properties": {
                "line": {"type": "integer", "description": "from 1"},
                "column": {"type": "integer", "default": 1},
            },
            "required": ["line"],
        },
        "ratio": {"type": "number"},
        "anything": {"type": "array", "items": {}},
        "lines": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "mode": {"type": "string", "description": "how", "default": "fast", "enum": ["fast", "slow"]},
        "verbose": {"type": "boolean", "default": False},
    },
    "required": ["place", "ratio"],
    "additionalProperties": False,
}


@asynccontextmanager
async def face_of(kind: str, folder: Path) -> AsyncIterator[Face]:
    transport, mode = kind.split()
    async with AsyncExitStack() as stack:
        nv = await stack.enter_async_context(with_tools(folder, SHOWN))
        if transport == "stdio":
            (runtime := folder / "run").mkdir(mode=0o700)
            client = on_stdio(nv, folder, mode, runtime=runtime if mode == "auto" else None)
        else:
            serving = await stack.enter_async_context(bridge(nv, folder))
            client = on_sse(nv, serving.port) if transport == "sse" else on_http(nv, serving.port, mode)
        face = await stack.enter_async_context(client)
        face.transport = transport
        yield face


@pytest.fixture(scope="module", params=FACES)
def faces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A Neovim, what serves its tools, and a client, for all tests of one kind of client."""
    with shared(face_of(request.param, tmp_path_factory.mktemp("face"))) as one:
        yield one


def on_face(test: Callable[[Face], Coroutine[Any, Any, None]]) -> Callable[[Shared], None]:
    """A test of what a client sees, on every transport in both eras."""

    def run(faces: Shared) -> None:
        faces.run(test(faces.value))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


# --- what every client sees ------------------------------------------------------------------------


@on_face
async def test_the_list_has_the_tools_of_lua_with_their_schemas_and_hints(face: Face) -> None:
    tools = await face.tools()
    shown, plain, breaks = tools["nvim_shown"], tools["nvim_plain_one"], tools["nvim_breaks"]
    assert shown.input_schema == SHOWN_SCHEMA
    assert list(shown.input_schema["properties"]) == list(SHOWN_SCHEMA["properties"])  # type: ignore[call-overload]
    assert (shown.title, shown.description) == ("Shown to people", "What models read: é😀.")
    assert (plain.title, plain.description) == ("Plain one", "It does plain_one.")
    assert plain.input_schema == {"type": "object", "properties": {}, "additionalProperties": True}
    assert (tools.keys() >= CODE) == (face.transport == "stdio")  # the bridge has them on demand
    hints = [one.annotations for one in (shown, plain, breaks)]
    assert [one and (one.read_only_hint, one.destructive_hint) for one in hints] == [
        (True, None),  # of what only reads, nothing else means anything
        (None, False),
        (None, True),
    ]


@on_face
async def test_what_a_tool_returns_is_compact_json_or_its_own_text(face: Face) -> None:
    (text,) = await face.call("echo", n=[1, 2.5], s="é😀")
    assert json.loads(text) == {"n": [1, 2.5], "s": "é😀"}
    assert " " not in text
    await face.nv.lua("tool('said', function() return 'two\\nlines: \"é😀\"' end)")
    assert await face.call("said") == ['two\nlines: "é😀"']


@on_face
async def test_a_registered_replaced_or_removed_tool_reaches_the_client(face: Face) -> None:
    await face.nv.lua("tool('newcomer', function() return 1 end)")
    found = await face.listed(lambda tools: "nvim_newcomer" in tools)
    assert found["nvim_newcomer"].description == "It does newcomer."
    await face.nv.lua("tool('newcomer', function() return 2 end, { description = 'Another.' })")
    await face.listed(lambda tools: tools["nvim_newcomer"].description == "Another.")
    assert await face.call("newcomer") == ["2"]
    await face.nv.lua("require('mcp-tools').unregister('newcomer')")
    await face.listed(lambda tools: "nvim_newcomer" not in tools)
    assert "unknown tool" in await face.error("newcomer")


@on_face
async def test_every_list_asks_neovim_again(face: Face) -> None:
    # The event does not come: what is listed comes from Neovim all the same.
    await face.nv.lua("vim.o.eventignore = 'User' tool('unheard', function() end)")
    try:
        assert "nvim_unheard" in await face.tools()
        await face.nv.lua("require('mcp-tools').unregister('unheard')")
        assert "nvim_unheard" not in await face.tools()
    finally:
        await face.nv.lua("vim.schedule(function() vim.o.eventignore = '' end)")


@on_face
async def test_remarks_on_unknown_arguments_are_a_second_text(face: Face) -> None:
    answer, remark = await face.call("strict", line=3, lin=4)
    assert answer == "3"
    assert "unknown argument lin" in remark and "line" in remark


@on_face
async def test_errors_are_results_with_the_text(face: Face) -> None:
    await face.nv.lua("""
      tool('throws', function() error('it is é😀 broken', 0) end)
      tool('says_no', function() return nil, 'not today' end)
    """)
    assert await face.error("throws") == "throws failed: it is é😀 broken"
    assert await face.error("says_no") == "not today"
    assert "ratio" in await face.error("shown", place={"line": 1})
    assert "place.line must be an integer" in await face.error("shown", place={"line": "x"}, ratio=1)
    assert "unknown argument z" in await face.error("shown", place={"line": 1}, ratio=1, z=1)


@on_face
async def test_progress_reaches_the_client(face: Face) -> None:
    told: asyncio.Queue[tuple[float, float | None, str | None]] = asyncio.Queue()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.put_nowait((progress, total, message))

    call = asyncio.create_task(face.client.call_tool("nvim_open", {"key": "progress"}, progress_callback=on_progress))
    await begun(face.nv, "progress")
    for number, message in enumerate(["compiles", "é😀 starts"], 1):
        await face.nv.lua("local message = ... _G.open.progress.call.progress(message)", message)
        assert await soon(told.get()) == (number, None, message)
    await face.nv.lua("_G.open.progress.done('ready')")
    assert texts(await call) == ["ready"]


@on_face
async def test_progress_just_before_the_answer_is_not_lost(face: Face) -> None:
    await face.nv.lua("""tool('tells', function(args, done, call)
      for i = 1, 20 do call.progress('step ' .. i) end
      done('all told')
    end)""")
    told: asyncio.Queue[str | None] = asyncio.Queue()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.put_nowait(message)

    result = await face.client.call_tool("nvim_tells", {}, progress_callback=on_progress)
    assert texts(result) == ["all told"]
    async with asyncio.timeout(5):
        assert [await told.get() for _ in range(20)] == [f"step {number}" for number in range(1, 21)]


@on_face
async def test_a_cancelled_call_cancels_the_tool(face: Face) -> None:
    call = asyncio.create_task(face.client.call_tool("nvim_open", {"key": "cancel"}))
    await begun(face.nv, "cancel")
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await cancelled(face.nv, "cancel")
    # What it says afterwards is nobody's answer, and no complaint.
    await face.nv.lua("_G.open.cancel.done('late') _G.open.cancel.done('later')")
    assert await face.call("echo", n=1) == ['{"n":1}']


@on_face
async def test_fifty_calls_at_once_each_get_their_answer_and_a_slow_one_holds_none_up(face: Face) -> None:
    slow = asyncio.create_task(face.call("open", key="slow"))
    await begun(face.nv, "slow")
    answers = await asyncio.gather(*(face.call("echo", n=number) for number in range(50)))
    assert answers == [[f'{{"n":{number}}}'] for number in range(50)]
    assert not slow.done()
    await face.nv.lua("_G.open.slow.done(vim.NIL)")
    assert await slow == ["null"]


@on_face
async def test_a_large_result_arrives_whole(face: Face) -> None:
    # The SDK's client of the oldest transport takes no event of more than 1 MiB.
    count = 50_000 if face.transport == "sse" else 500_000
    await face.nv.lua("local n = ... tool('large', function() return ('é123456789'):rep(n) end)", count)
    (text,) = await face.call("large")
    assert text == "é123456789" * count


NO_UTF8 = {  # a tool's body, and what its caller reads
    r"return 'a\255b'": "a\ufffdb",
    r"return { ['k\255'] = 'a\255b' }": '{"k\ufffd":"a\ufffdb"}',
    r"error('a\255b', 0)": r"odd failed: a\u{dcff}b",  # errors are escaped, answers are exact
    r"return nil, 'a\255b'": r"a\u{dcff}b",
    r"call.progress('a\255b') done('told')": "told",
}


@pytest.mark.parametrize("kind", ["stdio legacy", "http auto"])
def test_text_that_is_not_utf8_is_told_readably_and_the_server_lives(kind: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with face_of(kind, tmp_path) as face, asyncio.timeout(5):
            told: list[str | None] = []

            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                told.append(message)

            for body, said in NO_UTF8.items():
                await face.nv.lua(f"tool('odd', function(args, done, call) {body} end)")
                result = await face.client.call_tool("nvim_odd", {}, progress_callback=on_progress)
                assert texts(result) == [said], body
            assert told == [r"a\u{dcff}b"]
            await face.nv.lua(r"""tool('odd_words', function() end, {
              description = 'x\255y',
              title = 't\255',
              args = { ['a\255'] = { type = 'string', description = 'u\255' } },
            })""")
            tools = await face.tools()
            assert "nvim_echo" in tools
            assert tools["nvim_odd_words"].description == "x\ufffdy"
            assert await face.call("echo", n=1) == ['{"n":1}']

    run()


@pytest.mark.parametrize(
    "definition",
    [
        "timeout = math.huge",
        "args = { a = { type = 'object', default = { f = print } } }",
        "args = { a = { type = 'number', default = 0 / 0 } }",
        "args = { a = { type = 'string', enum = { print } } }",
        "args = { a = { type = 'string', description = print } }",
        "title = print",
        "extra = print",
        "read_only = print",
    ],
)
def test_a_tool_that_json_cannot_tell_of_does_not_hide_the_others(calls: Shared, definition: str) -> None:
    async def run(at: Direct) -> None:
        # Refused is as good as listed.
        refused = await at.nv.lua(f"return not pcall(tool, 'untold', function() return 1 end, {{ {definition} }})")
        try:
            tools = await at.tools()
            assert "nvim_echo" in tools
            assert refused or "nvim_untold" in tools
        finally:
            await at.nv.lua("require('mcp-tools').unregister('untold')")

    calls.run(run(calls.value))


# --- calls -----------------------------------------------------------------------------------------


@asynccontextmanager
async def _calls(folder: Path) -> AsyncIterator[Direct]:
    async with with_tools(folder, SHOWN) as nv, direct(folder, nv) as at:
        yield at


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A Neovim and the toolset in this process."""
    with shared(_calls(tmp_path_factory.mktemp("calls"))) as one:
        yield one


def on_calls(test: Callable[[Direct], Coroutine[Any, Any, None]]) -> Callable[[Shared], None]:
    def run(calls: Shared) -> None:
        calls.run(test(calls.value))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("{ a = 1 }", '{"a":1}'),
        ("{ 1, 2, { b = 'x' } }", '[1,2,{"b":"x"}]'),
        ("'text'", "text"),
        ("''", ""),
        ("'[1]'", "[1]"),
        ("'null'", "null"),
        ("'a\\0b'", "a\0b"),
        ("nil", "null"),
        ("vim.NIL", "null"),
        ("vim.empty_dict()", "{}"),
        ("{ a = vim.NIL }", '{"a":null}'),
        ("true", "true"),
        ("false", "false"),
        ("0", "0"),
        ("-1", "-1"),
        ("1.5", "1.5"),
        ("3.0", "3"),
        ("1732218386123456", "1732218386123456"),
        ("2 ^ 53", "9007199254740992"),
        ("'\\u{e9}\\u{1F600}'", "é😀"),
    ],
)
def test_a_result_is_json_and_text_is_itself(calls: Shared, returned: str, text: str) -> None:
    async def run(at: Direct) -> None:
        for how in ("function()", "function(args, done)"):
            await at.nv.lua(f"tool('gives', {how} return {returned} end)") if how == "function()" else (
                await at.nv.lua(f"tool('gives', {how} done({returned}) end)")
            )
            assert (await at.call("gives")).text == text

    calls.run(run(calls.value))


@on_calls
async def test_an_empty_table_is_an_empty_json_value(at: Direct) -> None:
    await at.nv.lua("tool('gives', function() return { list = {}, {} and nil } end)")
    assert (await at.call("gives")).json == {"list": []} or (await at.call("gives")).json == {"list": {}}
    await at.nv.lua("tool('gives', function() return {} end)")
    assert (await at.call("gives")).text in ("[]", "{}")


@on_calls
async def test_a_name_without_the_prefix_is_not_a_tool_and_the_list_has_the_names_that_clients_know(at: Direct) -> None:
    with pytest.raises(CallerError) as caught:
        await at.lua.call(Call(), "echo", {})
    known = str(caught.value).partition("unknown tool 'echo'; available: ")[2].split(", ")
    assert {"nvim_echo", "nvim_open"} <= set(known)


@on_calls
async def test_numbers_keep_their_value(at: Direct) -> None:
    await at.nv.lua("tool('gives', function() return { 1 / 3, 1e300, 0.1, -2.5e-10 } end)")
    assert (await at.call("gives")).json == [1 / 3, 1e300, 0.1, -2.5e-10]
    assert (await at.call("echo", n=2**53, f=1 / 3)).json == {"n": 2**53, "f": 1 / 3}


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        ("{ a = { b = print } }", "result.a.b is a function"),
        ("{ list = { 1, print } }", "result.list[2] is a function"),
        ("(function() local t = {} t.again = { t } return t end)()", "result.again[1] contains itself"),
        ("{ a = 0 / 0 }", "result.a is nan"),
        ("{ a = math.huge }", "result.a is inf"),
        ("{ [1] = 1, [5] = 2 }", "list with gaps"),
        ("{ 1, a = 2 }", "both numbered and named keys"),
        ("{ [true] = 1 }", "key that is a boolean"),
        ("coroutine.create(print)", "result is a thread"),
        ("vim.uv.new_timer()", "result is a userdata"),
        ("setmetatable({}, { __pairs = function() error('no pairs', 0) end })", None),
        ("{ a = setmetatable({}, { __index = function() error('no index', 0) end }) }", None),
    ],
)
def test_a_result_that_json_cannot_hold_is_refused_with_the_key(
    calls: Shared, returned: str, named: str | None
) -> None:
    async def run(at: Direct) -> None:
        await at.nv.lua(f"tool('gives', function() return {returned} end)")
        if named is None:  # its metatable is the tool's own affair, but the caller hears something
            async with asyncio.timeout(5):
                await asyncio.gather(at.call("gives"), return_exceptions=True)
            return
        message = await at.refused("gives")
        assert "gives returned what JSON cannot hold" in message
        assert named in message

    calls.run(run(calls.value))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("error('text', 0)", "text"),
        ("error({ code = 7 })", "code = 7"),
        ("error()", "nil"),
        ("error(setmetatable({}, { __tostring = function() return 'spoken' end }))", "spoken"),
        ("vim.cmd('nonsense')", "Not an editor command: nonsense"),
        ("vim.api.nvim_buf_set_lines(99999, 0, 0, true, {})", "Invalid buffer id: 99999"),
        ("local function f() return f() + 1 end return f()", "stack overflow"),
        ("return nil, 'why'", "why"),
        ("return nil, { a = 1 }", "a = 1"),
        ("return nil, false", "false"),
        ("return nil, ''", ""),
        ("return 1, 'why'", "why"),
    ],
)
def test_an_error_of_a_tool_is_told_in_its_words(calls: Shared, body: str, said: str) -> None:
    async def run(at: Direct) -> None:
        await at.nv.lua(f"tool('fails', function() {body} end)")
        assert said in await at.refused("fails")

    calls.run(run(calls.value))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "shown: missing required argument: place"),
        ({"place": {"line": 1}}, "shown: missing required argument: ratio"),
        ({"place": {}, "ratio": 1}, "shown: missing required argument: place.line"),
        ({"place": [1], "ratio": 1}, "place must be an object"),
        ({"place": {"line": 1.5}, "ratio": 1}, "place.line must be an integer, and is 1.5"),
        ({"place": {"line": 1}, "ratio": "nan"}, "ratio must be a number"),
        ({"place": {"line": 1}, "ratio": True}, "ratio must be a number"),
        ({"place": {"line": 1}, "ratio": 1, "mode": "medium"}, "mode must be one of"),
        ({"place": {"line": 1}, "ratio": 1, "lines": ["a", "c"]}, "lines[2] must be one of"),
        ({"place": {"line": 1}, "ratio": 1, "lines": {"a": 1}}, "lines must be an array"),
        ({"place": {"line": 1}, "ratio": 1, "verbos": True}, "unknown argument verbos (did you mean verbose?)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_the_tool_runs(
    calls: Shared, arguments: dict[str, Any], said: str
) -> None:
    async def run(at: Direct) -> None:
        assert said in await at.refused("shown", **arguments)

    calls.run(run(calls.value))


@on_calls
async def test_arguments_get_their_defaults_and_values_in_text_are_understood(at: Direct) -> None:
    answer = await at.call("shown", place='{"line": 3}', ratio="0.5", verbose="true", lines='["a"]', anything=None)
    assert answer.json == {
        "place": {"line": 3, "column": 1},
        "ratio": 0.5,
        "mode": "fast",
        "verbose": True,
        "lines": ["a"],
    }
    assert answer.remarks == []


@on_calls
async def test_arguments_in_any_script_and_of_any_size_arrive(at: Direct) -> None:
    values = {"é😀": 'a\0b"\\\n', "deep": {"er": [[], {}, [1]]}, "big": "x" * 1_000_000}
    found = (await at.call("echo", **values)).json
    assert (found["é😀"], found["big"]) == (values["é😀"], values["big"])


@on_calls
async def test_an_argument_that_is_nested_too_deeply_is_an_error_and_neovim_lives(at: Direct) -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(Exception):  # noqa: B017
        await at.call("echo", n=deep)
    assert (await at.call("echo", n=1)).json == {"n": 1}


@on_calls
async def test_an_unknown_tool_is_refused_with_those_there_are(at: Direct) -> None:
    known = (await at.refused("nonsense")).partition("available: ")[2].split(", ")
    assert {"echo", "open", "shown"} <= {name.removeprefix("nvim_") for name in known}


@on_calls
async def test_a_tool_that_removes_itself_while_it_runs_still_answers(at: Direct) -> None:
    for finish in ("return 'gone'", "vim.schedule(function() done('gone') end)"):
        await at.nv.lua(f"""tool('leaves', function(args, done)
          require('mcp-tools').unregister('leaves')
          {finish}
        end)""")
        assert (await at.call("leaves")).text == "gone"
        assert "unknown tool " in await at.refused("leaves")


@on_calls
async def test_done_called_twice_answers_once_and_neovim_lives(at: Direct) -> None:
    await at.nv.lua("""tool('twice', function(args, done)
      done('first')
      done('second')
      vim.schedule(function() done(nil, 'third') end)
    end)""")
    assert (await at.call("twice")).text == "first"
    assert (await at.call("twice")).text == "first"
    assert (await at.call("echo", n=1)).json == {"n": 1}


@on_calls
async def test_done_may_be_called_from_a_callback_that_may_not_call_neovim(at: Direct) -> None:
    await at.nv.lua("""tool('timed', function(args, done, call)
      local timer = vim.uv.new_timer()
      timer:start(1, 0, function()
        call.progress('nearly')
        done({ ok = true })
        timer:close()
      end)
    end)""")
    assert (await at.call("timed")).json == {"ok": True}


@on_calls
async def test_a_tool_that_never_answers_fails_at_its_own_timeout_and_is_cancelled(at: Direct) -> None:
    await at.nv.lua("""tool('never', function(args, done, call)
      call.on_cancel(function() vim.g.never_cancelled = true happened() end)
    end, { timeout = 50 })""")
    assert "never has not answered within 0.05 s" in await at.refused("never")
    await at.nv.until("return vim.g.never_cancelled", "User")


HOLDS = """
local begun, over = ...
assert(io.open(begun, 'w')):close()
assert(io.open(over, 'r')):close() -- waits until somebody opens it to write
"""


@on_calls
async def test_a_call_that_is_cancelled_before_neovim_comes_to_it_does_not_run_on(at: Direct) -> None:
    pipes = [at.nv.folder / "begun", at.nv.folder / "over"]
    for pipe in pipes:
        os.mkfifo(pipe)
    for key in ("early 1", "early 2", "early 3"):
        held = asyncio.create_task(at.nv.lua(HOLDS, *map(str, pipes)))
        await told(pipes[0])
        call = asyncio.create_task(at.call("open", key=key))
        await steps()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        later = asyncio.create_task(at.call("echo"))  # all three wait for Neovim now
        await steps()
        await asyncio.to_thread(lambda: pipes[1].open("w").close())
        await held
        await later
        assert await at.nv.lua("local o = _G.open[...] return o == nil or o.cancelled == true", key), key


@on_calls
async def test_a_tool_whose_timeout_is_zero_may_take_any_time(at: Direct) -> None:
    await at.nv.lua("""tool('patient', function(args, done)
      _G.open.patient = { done = done }
      happened()
    end, { timeout = 0 })""")
    call = asyncio.create_task(at.call("patient"))
    await begun(at.nv, "patient")
    assert (await at.call("echo", n=1)).json == {"n": 1}
    await at.nv.lua("_G.open.patient.done('at last')")
    assert (await call).text == "at last"


@on_calls
async def test_a_later_tool_that_returns_a_value_is_answered_with_it(at: Direct) -> None:
    await at.nv.lua("tool('both', function(args, done) return 'returned' end)")
    assert (await at.call("both")).text == "returned"


@on_calls
async def test_a_tool_may_be_a_callable_table(at: Direct) -> None:
    await at.nv.lua("tool('table', setmetatable({}, { __call = function(_, args) return args.n end }))")
    assert (await at.call("table", n=3)).text == "3"


@pytest.mark.parametrize(
    "block", ["vim.wait(1000)", "local e = vim.uv.hrtime() + 1e9 while vim.uv.hrtime() < e do end"]
)
def test_a_tool_that_holds_neovim_up_for_a_second_is_answered_and_so_are_others(calls: Shared, block: str) -> None:
    async def run(at: Direct) -> None:
        await at.nv.lua(f"tool('holds', function() {block} return 'held' end)")
        slow = asyncio.create_task(at.call("holds"))
        others = [asyncio.create_task(at.call("echo", n=number)) for number in range(3)]
        assert (await slow).text == "held"
        assert [answer.json for answer in await asyncio.gather(*others)] == [{"n": 0}, {"n": 1}, {"n": 2}]

    calls.run(run(calls.value))


@on_calls
async def test_a_tool_that_changes_what_is_on_the_screen_is_answered(at: Direct) -> None:
    await at.nv.lua(
        "tool('moves', function() vim.cmd('new') vim.cmd('only') vim.cmd('enew!') return vim.fn.mode() end)"
    )
    assert (await at.call("moves")).text == "n"


@on_calls
async def test_two_programs_at_one_neovim_have_calls_and_lists_of_their_own(at: Direct) -> None:
    async with direct(Path("/tmp"), at.nv) as other:
        first = asyncio.create_task(at.call("open", key="of one"))
        second = asyncio.create_task(other.call("open", key="of other"))
        await begun(at.nv, "of one")
        await begun(at.nv, "of other")
        first.cancel()
        await cancelled(at.nv, "of one")
        assert not await at.nv.lua("return _G.open['of other'].cancelled")
        await at.nv.lua("_G.open['of other'].done('mine')")
        assert (await second).text == "mine"
        assert set(await other.tools()) == set(await at.tools())


@on_calls
async def test_a_program_that_disconnects_cancels_its_calls_only(at: Direct) -> None:
    mine = asyncio.create_task(at.call("open", key="stays"))
    await begun(at.nv, "stays")
    async with direct(Path("/tmp"), at.nv) as other:
        theirs = asyncio.create_task(other.call("open", key="leaves"))
        await begun(at.nv, "leaves")
    (error,) = await asyncio.gather(theirs, return_exceptions=True)
    assert isinstance(error, LspMcpError)  # it was cancelled, or the connection is over: whatever comes first
    await cancelled(at.nv, "leaves")
    await at.nv.lua("_G.open.stays.done('here')")
    assert (await mine).text == "here"


# --- Neovim waits for its user, or goes ------------------------------------------------------------


HIT_ENTER = (':echo "one\\ntwo"\r', "Press ENTER", "\r")
GETCHAR = (":echo 'as'..'king' | call getchar()\r", "asking", "x")
COUNT = "vim.g.ran = 0 tool('counts', function() vim.g.ran = vim.g.ran + 1 return vim.g.ran end)"


@bounded
async def test_at_a_hit_enter_prompt_a_call_says_so_and_is_not_carried_out_later(tmp_path: Path) -> None:
    async with with_tools(tmp_path, COUNT, ui=True) as nv, direct(tmp_path, nv) as at:
        before = await at.tools()
        nv.type(HIT_ENTER[0])
        await nv.shows(HIT_ENTER[1])
        assert (await nv.mode())["blocking"]
        message, listed = await asyncio.gather(at.refused("counts"), at.tools())
        assert "waiting at a hit-enter prompt: press Enter there" in message
        assert nv.socket in message
        assert listed == before
        nv.type(HIT_ENTER[2])
        assert (await at.call("echo", n=1)).json == {"n": 1}
        assert await nv.lua("return vim.g.ran") == 0
        assert (await at.call("counts")).text == "1"


@bounded
async def test_while_neovim_waits_for_a_key_a_call_is_answered_or_not_carried_out(tmp_path: Path) -> None:
    async with with_tools(tmp_path, COUNT, ui=True) as nv, direct(tmp_path, nv) as at:
        nv.type(GETCHAR[0])
        await nv.shows(GETCHAR[1])
        try:
            assert (await at.call("counts")).text == "1"
            ran = 1
        except UnavailableError as error:
            assert "waiting for a key to be pressed there" in str(error)
            ran = 0
        nv.type(GETCHAR[2])
        await at.call("echo")
        assert await nv.lua("return vim.g.ran") == ran


@bounded
async def test_a_tool_that_asks_its_user_is_answered_when_the_user_has_answered(tmp_path: Path) -> None:
    asks = "tool('asks', function() return vim.fn.input('Na' .. 'me: ') end)"
    async with with_tools(tmp_path, asks, ui=True) as nv, direct(tmp_path, nv) as at:
        call = asyncio.create_task(at.call("asks"))
        await nv.shows("Name:")
        nv.type("Ada\r")
        assert (await call).text == "Ada"


@pytest.mark.parametrize("end", ["quit", "kill"])
def test_when_neovim_goes_a_call_under_way_fails_at_once_with_its_name(end: str, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with with_tools(tmp_path) as nv, direct(tmp_path, nv) as at:
            call = asyncio.create_task(at.call("open", key="lost"))
            await begun(nv, "lost")
            await (nv.quit() if end == "quit" else nv.kill())
            (error,) = await asyncio.gather(call, return_exceptions=True)
            assert isinstance(error, DiedError)
            assert f"Neovim at {nv.socket} is gone" in str(error)
            assert await at.tools() == {}
            assert nv.socket in await at.refused("echo")

    run()


@bounded
async def test_a_tool_that_quits_neovim_fails_its_call(tmp_path: Path) -> None:
    async with with_tools(tmp_path, "tool('quits', function() vim.cmd('qall!') return 'never seen' end)") as nv:
        async with direct(tmp_path, nv) as at:
            (error,) = await asyncio.gather(at.call("quits"), return_exceptions=True)
            assert isinstance(error, DiedError), error
            assert nv.socket in str(error)
        await gone(nv.pid)


@bounded
async def test_a_neovim_without_the_plugin_has_no_such_tools_and_a_call_says_how_to_get_it(tmp_path: Path) -> None:
    async with neovim(tmp_path, servers=()) as nv, direct(tmp_path, nv) as at:
        assert await at.tools() == {}
        message = await at.refused("echo", n=1)
        assert f"Neovim at {nv.socket}" in message
        assert "lsp-mcp plugin" in message
        assert "runtimepath" in message
        assert ":help mcp-tools" in message


# --- the process on stdio --------------------------------------------------------------------------


@bounded
async def test_without_the_toolset_there_are_no_tools_of_lua(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv, on_stdio(nv, tmp_path, "auto", "--toolset", "lsp") as face:
        names = set(await face.tools())
        assert names >= CODE
        assert not any(name.startswith("nvim_") for name in names)
        with pytest.raises(MCPError, match="unknown tool 'nvim_echo'"):
            await face.error("echo")


@bounded
async def test_tools_come_and_go_with_their_neovim(tmp_path: Path) -> None:
    async with with_tools(tmp_path) as nv, on_stdio(nv, tmp_path, "auto") as face:
        assert "nvim_echo" in await face.tools()
        call = asyncio.create_task(face.error("open", key="lost"))
        await begun(nv, "lost")
        await nv.quit()
        assert f"Neovim at {nv.socket} is gone" in await call
        await face.listed(lambda tools: "nvim_echo" not in tools)
        assert nv.socket in await face.error("echo")


@pytest.mark.parametrize("how", [signal.SIGKILL, "end of input"], ids=str)
def test_a_client_on_stdio_that_goes_half_way_cancels_the_call(how: Any, tmp_path: Path) -> None:
    @bounded
    async def run() -> None:
        async with with_tools(tmp_path) as nv:
            words = ["--backend", "nvim", "--socket", nv.socket, "--workspace-root", str(tmp_path), "--toolset", "lua"]
            with raw(*words, "--log-level", "error") as server:
                await asyncio.to_thread(server.initialize)
                server.send(
                    {"id": 7, "method": "tools/call", "params": {"name": "nvim_open", "arguments": {"key": "half"}}}
                )
                await begun(nv, "half")
                if how == "end of input":
                    assert server.process.stdin
                    server.process.stdin.close()
                else:
                    server.process.send_signal(how)
                await gone(server.process.pid)
                # After kill -9 Neovim notices when the next one connects, which this does.
                await cancelled(nv, "half")
                assert await nv.lua("return vim.tbl_count(_G.lsp_mcp)") == 0
                await nv.lua("_G.open.half.done('nobody hears')")
                assert await nv.lua("return 1 + 1") == 2

    run()


# --- from the shell --------------------------------------------------------------------------------


async def shell(folder: Path, *words: str) -> tuple[int, str, str]:
    """Status, stdout and stderr of a program."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, said = await soon(process.communicate())
    assert process.returncode is not None
    return process.returncode, out.decode(), said.decode()


@bounded
async def test_lua_tools_are_called_from_the_shell(tmp_path: Path) -> None:
    async with with_tools(tmp_path, SHOWN) as nv:
        call = [PROGRAM, "call", "--socket", nv.socket, "--log-level", "error"]
        good, bad, unknown, word = await asyncio.gather(
            shell(tmp_path, *call, "nvim_shown", 'place={"line": 2}', "ratio=1", "mode=slow"),
            shell(tmp_path, *call, "nvim_shown", "ratio=1"),
            shell(tmp_path, *call, "nvim_nonsense"),
            shell(tmp_path, *call, "nvim_shown", "ratio"),
        )
    assert good[0] == 0, good
    assert json.loads(good[1]) == {
        "place": {"line": 2, "column": 1},
        "ratio": 1,
        "mode": "slow",
        "verbose": False,
    }
    assert bad[:2] == (1, "")
    assert bad[2].startswith("nvim_shown: ") and bad[2].endswith("missing required argument: place\n")
    assert (unknown[0], unknown[1]) == (1, "")
    assert "unknown tool " in unknown[2] and "shown" in unknown[2]
    assert (word[0], word[1]) == (2, "")
    assert "'ratio' is not KEY=VALUE" in word[2]


@bounded
async def test_the_folder_that_the_program_prints_works_as_runtimepath(tmp_path: Path) -> None:
    status, folder, said = await shell(tmp_path, PROGRAM, "plugin")
    assert (status, said) == (0, "")
    assert folder.count("\n") == 1
    nvim = ["nvim", "--headless", "--clean", "--cmd", f"set rtp^={folder.strip()}"]
    check = "+lua io.stdout:write(type(require('mcp-tools').setup))"
    status, out, said = await shell(tmp_path, *nvim, check, "+qall!")
    assert (status, out) == (0, "function"), said
