"""The MCP server as clients meet it: a process on stdio, in both eras of the protocol."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import Tool

from fakes.workspace import FakeWorkspace, notification
from lsp_mcp.adapters import load_adapter
from lsp_mcp.errors import CallerError, MissingProgramError
from lsp_mcp.programs import find_command
from lsp_mcp.server.instructions import instructions
from lsp_mcp.server.mcp_server import described
from lsp_mcp.toolsets.offered import tools_without_sessions
from mcp_process import (
    BOUND,
    GO_ENV,
    MODES,
    Connected,
    Json,
    Mode,
    Watched,
    connected,
    descendants,
    end_by,
    raw,
    wait_until,
)

GOLDEN = Path(__file__).parent / "golden"
GO_PROJECT = Path(__file__).parent / "fixtures" / "go"
END = 10  # seconds for the process to end: 3 are promised, the rest is for a busy machine
FORMATS = ("text", "structured", "both")
READY = [  # what gopls says when it has loaded the workspace
    notification("$/progress", {"token": 1, "value": {"kind": kind, "title": "Setting up workspace"}})
    for kind in ("begin", "end")
]

try:
    find_command(load_adapter("gopls"))
except MissingProgramError as error:
    pytest.skip(f"gopls: {error}", allow_module_level=True)


@pytest.fixture(scope="module", params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    return request.param


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(GO_PROJECT, tmp_path_factory.mktemp("project") / "library"))


@pytest.fixture(scope="module")
def server(mode: Mode, project: Path) -> Iterator[Connected]:
    """A server with gopls on the Go project, shared by the tests of one era."""
    with connected("--workspace-root", str(project), mode=mode) as server:
        yield server


@pytest.fixture
def fake(tmp_path: Path) -> FakeWorkspace:
    """A workspace whose gopls is the fake server."""
    fake = FakeWorkspace(tmp_path)
    fake.write("go.mod", "module example.com/fake\n")
    fake.write("a.go", "package fake\n\nfunc Foo() {}\n")
    return fake


def flags(fake: FakeWorkspace) -> list[str]:
    """The server's flags for a fake workspace."""
    return ["--workspace-root", str(fake.root), "--gopls-path", str(fake.program(fake.folder / "gopls"))]


def less_one(value: Any) -> Any:
    """`value` with every line and character less by one."""
    if isinstance(value, list):
        return [less_one(one) for one in value]
    if isinstance(value, dict):
        return {key: one - 1 if key.endswith(("line", "character")) else less_one(one) for key, one in value.items()}
    return value


def clangd_flags(fake: FakeWorkspace) -> list[str]:
    """The same if the fake is clangd."""
    program = fake.program(fake.folder / "clangd")
    return ["--workspace-root", str(fake.root), "--backend", "clangd", "--clangd-path", str(program)]


# --- what a client is told ---------------------------------------------------------------------------


def test_each_era_is_spoken(server: Connected, mode: Mode) -> None:
    assert server.client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]


def test_the_list_of_tools_is_the_published_one(server: Connected, request: pytest.FixtureRequest) -> None:
    check_golden("tools_list.json", server.tools(), request)


def test_the_list_of_tools_for_clangd_is_the_published_one(
    fake: FakeWorkspace, server: Connected, request: pytest.FixtureRequest
) -> None:
    everywhere = server.tools()
    with connected(*clangd_flags(fake)) as clangd:
        offered = clangd.tools()
    with connected(*clangd_flags(fake), "--toolset", "clangd-more") as clangd:
        with_more = clangd.tools()
    assert offered[: len(everywhere)] == everywhere
    assert with_more[: len(offered)] == offered
    assert [tool.name for tool in with_more[len(offered) :]] == ["lm_clangd_memoryUsage", "lm_clangd_inlayHints"]
    check_golden("tools_list_clangd.json", with_more[len(everywhere) :], request)


def test_the_list_of_tools_for_neovim_is_the_published_one(request: pytest.FixtureRequest) -> None:
    tools = [described(tool) for tool in tools_without_sessions(CallerError("only looked at"), ["nvim"])]
    assert len(tools) == 33
    check_golden("tools_list_nvim.json", tools, request)
    assert len(json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])) / 4 < 6000


def test_the_list_of_tools_for_debugging_is_the_published_one(request: pytest.FixtureRequest) -> None:
    tools = [described(tool) for tool in tools_without_sessions(CallerError("only looked at"), ["debug"])]
    assert len(tools) == 12
    check_golden("tools_list_debug.json", tools, request)
    assert len(json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])) / 4 < 2400


def test_debugging_alone_needs_no_language_server(tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_text("name = 'Ada'\nprint('hello', name)\n")
    (tmp_path / "empty").mkdir()
    for flag, root in ((["--backend", "dap"], tmp_path), (["--toolset", "debug"], tmp_path / "empty")):
        with connected("--workspace-root", str(root), *flag) as alone:
            assert {tool.name.partition("_")[0] for tool in alone.tools()} == {"debug"}
            if flag[0] == "--backend":
                stop = json.loads(alone.answer("debug_start", program="greet.py", breakpoints=["greet.py:2"], wait=50))
                assert stop["variables"] == {"name": "'Ada'"}


def check_golden(name: str, tools: list[Tool], request: pytest.FixtureRequest) -> None:
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    text = json.dumps(listed, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if request.config.getoption("update"):
        (GOLDEN / name).write_text(text, "utf-8")
    assert text == (GOLDEN / name).read_text("utf-8"), "if that is right: pytest tests/test_mcp_server.py --update"


def test_the_list_of_tools_is_short_enough_for_a_model(project: Path, fake: FakeWorkspace) -> None:
    for flag in (["--workspace-root", str(project)], [*clangd_flags(fake), "--toolset", "clangd-more"]):
        with raw(*flag) as server:
            server.initialize()
            result = server.request("tools/list")["result"]
        assert len(json.dumps(result, ensure_ascii=False).encode()) / 4 < 4000
        for tool in result["tools"]:
            assert len(tool["description"].encode()) < 2048


def test_the_tools_and_instructions_that_every_conversation_carries_keep_their_budgets() -> None:
    reason = CallerError("only looked at")

    def size(*toolsets: str) -> tuple[int, int]:
        listed = [described(tool) for tool in tools_without_sessions(reason, toolsets) if tool.listed()]
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
        return len(listed), len(json.dumps({"tools": shown}, ensure_ascii=False, separators=(",", ":")).encode())

    number, size_of_code = size("code", "lsp")
    assert number <= 12
    assert size_of_code / 4 <= 2_100
    number, size_of_clangd = size("clangd")
    assert (number, size_of_clangd <= 2_000) == (6, True)
    root = "/home/somebody/go/src/example.com/organization/example"
    for languages, backend, more in (("Go", "gopls", ()), ("C, C++", "clangd", ("clangd",))):
        tools = tools_without_sessions(reason, ["code", "lsp", *more])
        names = [tool.name for tool in tools if tool.listed()]
        assert len(instructions(languages, backend, root, names).encode()) <= 1_200


def test_the_instructions_are_short_and_say_what_runs_where(server: Connected, project: Path) -> None:
    told = server.client.instructions
    assert told
    assert len(told.encode()) < 2048
    for fact in ("gopls", "Go", str(project), *(tool.name for tool in server.tools())):
        assert fact in told


def test_the_instructions_stay_short_in_a_deep_folder(tmp_path: Path, fake: FakeWorkspace) -> None:
    root = tmp_path.joinpath(*["😀" * 50] * 8)
    shutil.copytree(GO_PROJECT, root)
    for flag in ([], [*clangd_flags(fake), "--toolset", "clangd-more"]):
        with raw(*flag, "--workspace-root", str(root)) as server:
            assert len(server.initialize()["instructions"].encode()) < 2048


def test_the_instructions_name_every_tool_of_the_loop_that_is_offered_and_no_other(fake: FakeWorkspace) -> None:
    reason = CallerError("only looked at")
    of_the_loop = {tool.name for tool in tools_without_sessions(reason, ["code", "lsp"])}
    known = of_the_loop | {tool.name for tool in tools_without_sessions(reason, ["clangd", "clangd-more"])}
    for more in (["--toolset", "clangd-more"], ["--without-toolset", "code"], ["--without-toolset", "lsp"]):
        with connected(*clangd_flags(fake), *more) as server:
            assert server.client.instructions
            words = set(re.findall(r"\w+", server.client.instructions))
            offered = {tool.name for tool in server.tools()} & of_the_loop
            assert words & known - {"check", "refactor"} == offered - {"check", "refactor"}


def test_toolsets_can_be_left_out(server: Connected, project: Path) -> None:
    names = [tool.name for tool in server.tools()]
    with connected("--workspace-root", str(project), "--without-toolset", "code") as only_lsp:
        assert [tool.name for tool in only_lsp.tools()] == ["lsp_request"]
    with connected("--workspace-root", str(project), "--without-toolset", "lsp") as only_code:
        assert [tool.name for tool in only_code.tools()] == names[:-1]


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        (["--toolset", "klangd"], "unknown toolset 'klangd'; available: code, lsp, clangd, clangd-more"),
        (["--without-toolset", "klangd"], "unknown toolset 'klangd'"),
        (
            ["--toolset", "clangd-more"],
            "the toolset clangd-more needs the backend clangd; running: gopls",
        ),
        (["--toolset", "clangd"], "the toolset clangd needs the backend clangd; running: gopls"),
        (["--compile-commands", "/nowhere/x.json"], "--compile-commands /nowhere/x.json: there is no such file"),
        (["--compile-commands", "/"], "--compile-commands /: there is no such file"),
    ],
)
def test_a_flag_that_cannot_be_followed_is_said_in_each_call(fake: FakeWorkspace, flag: list[str], words: str) -> None:
    with raw(*flags(fake), *flag) as server:
        assert words in server.initialize()["instructions"]
        for name in ("list_symbols_in_file", "lsp_request"):
            answer = server.call(name, file_path="a.go") if name == "list_symbols_in_file" else server.call(
                name, method="textDocument/hover"
            )  # fmt: skip
            assert answer["isError"] is True
            assert words in answer["content"][0]["text"]
        below = Watched(descendants(server.process.pid))
        end_by(server, "end of input")
        assert server.process.wait(END) == 0
        below.wait_gone()
        assert "Traceback" not in server.said()


def test_only_what_writes_is_said_to_write(server: Connected) -> None:
    for tool in server.tools():
        hints = tool.annotations
        assert hints
        writes = tool.name in ("rename_symbol_by_anchor", "edit_symbol", "refactor")
        assert bool(hints.read_only_hint) is not writes
        assert hints.open_world_hint is (False if writes else None)
        assert tool.title


# --- calls -------------------------------------------------------------------------------------------


def test_every_tool_answers_in_json_as_published(server: Connected, project: Path) -> None:
    listed = json.loads(server.answer("list_symbols_in_file", file_path="loan/loan.go", limit=2))
    assert listed["message"] == "Found 17 symbols in file."
    assert listed["arguments"] == {"file_path": "loan/loan.go", "limit": 2}
    assert [symbol["name"] for symbol in listed["file_symbols"]] == ["ErrLent", "DefaultDays"]

    found = json.loads(server.answer("find_symbol_definitions_by_name", symbol_name="Desk.Lend"))
    assert found["message"] == "Found 1 symbol definition in the Go workspace."
    anchor = found["definitions"][0]["anchor"]
    assert anchor == "go://loan/loan.go#46:16"

    used = json.loads(server.answer("find_symbol_references_by_anchor", symbol_anchor=anchor))
    assert [place["location"]["file"] for place in used["references"]] == [
        "cmd/lend/main.go",
        "loan/loan.go",
        "loan/loan_test.go",
        "loan/loan_test.go",
    ]

    before = (project / "loan" / "loan.go").read_bytes()
    for old, new in (("Lend", "Give"), ("Give", "Lend")):
        renamed = json.loads(server.answer("rename_symbol_by_anchor", symbol_anchor=anchor, new_name=new))
        assert renamed["message"] == f"Successfully renamed symbol to '{new}' with 5 edits across 3 files."
        edits = [edit for file in renamed["file_edits"] for edit in file["edits"]]
        assert {(edit["old_text"], edit["new_text"]) for edit in edits} == {(old, new)}
        assert (new.encode() in (project / "loan" / "loan.go").read_bytes()) is True
    assert (project / "loan" / "loan.go").read_bytes() == before
    for answer in (listed, found, used):
        assert answer["status"] == ("capped at 2 of 17; pass offset=2 for more" if answer is listed else "complete")


def test_the_form_of_answers_is_the_callers_choice_and_else_the_users(project: Path) -> None:
    arguments = {"symbol_name": "Desk.Lend", "include_code": False}
    compact = (
        "Found 1 symbol definition in the Go workspace.\n"
        "go://loan/loan.go#46:16-57 method loan.Desk.Lend\n"
        "status: complete"
    )
    for flag, default_is_compact in (([], False), (["--format", "compact"], True)):
        with connected("--workspace-root", str(project), *flag) as server:
            name = "find_symbol_definitions_by_name"
            assert (server.answer(name, **arguments) == compact) is default_is_compact
            assert server.answer(name, **arguments, format="compact") == compact
            assert json.loads(server.answer(name, **arguments, format="json"))["definitions"]


def test_the_position_base_is_for_all_numbers_but_those_of_anchors(server: Connected, project: Path) -> None:
    calls: list[tuple[str, Json]] = [
        ("list_symbols_in_file", {"file_path": "loan/loan.go"}),
        ("find_symbol_definitions_by_name", {"symbol_name": "Desk.Lend"}),
        ("find_symbol_references_by_anchor", {"symbol_anchor": "go://loan/loan.go#46:16"}),
        ("find_callers_by_anchor", {"symbol_anchor": "go://loan/loan.go#46:16"}),
        ("find_type_hierarchy_by_anchor", {"symbol_anchor": "loan.Desk"}),
        ("rename_symbol_by_anchor", {"symbol_anchor": "go://loan/loan.go#46:16", "new_name": "Give", "apply": False}),
    ]
    uri = {"uri": "loan/loan.go"}
    position = {"line": 46, "character": 16}
    asked = {"method": "textDocument/definition", "params": {"textDocument": uri, "position": position}}
    with connected("--workspace-root", str(project), "--position-base", "0") as from_0:
        for name, arguments in calls:
            assert json.loads(from_0.answer(name, **arguments)) == less_one(
                json.loads(server.answer(name, **arguments))
            )
            assert from_0.answer(name, **arguments, format="compact") == server.answer(
                name, **arguments, format="compact"
            )
        wanted = less_one(json.loads(server.answer("lsp_request", **asked)))
        found = json.loads(from_0.answer("lsp_request", **less_one(asked)))
        assert found == wanted
        assert found["result"][0]["range"]["start"] == {"line": 45, "character": 15}
        past = {**asked, "params": {"textDocument": uri, "position": {"line": 5000, "character": 0}}}
        assert "line 5000 (counted from 0)" in from_0.error("lsp_request", **past)
        told = {tool.name: tool for tool in from_0.tools()}
    assert "count from 0" in (told["lsp_request"].description or "")
    for tool in server.tools():
        assert json.loads(tool.model_dump_json().replace("from 1", "from 0")) == told[tool.name].model_dump(mode="json")


@pytest.mark.parametrize("response_format", FORMATS)
def test_the_envelope_is_the_published_one(project: Path, response_format: str) -> None:
    flags = [] if response_format == "text" else ["--response-format", response_format]  # text is the default
    with raw("--workspace-root", str(project), *flags) as server:
        server.initialize()
        schemas = [tool.get("outputSchema") for tool in server.request("tools/list")["result"]["tools"]]
        answer = server.call("list_symbols_in_file", file_path="loan/loan.go", limit=1)
        error = server.call("list_symbols_in_file", file_path="nowhere.go")
    assert answer.pop("isError") is False
    payload = (answer["content"] or answer["structuredContent"]["blocks"])[0]["text"]
    assert json.loads(payload)["message"] == "Found 17 symbols in file."
    block = {"type": "text", "text": payload}
    assert (
        answer
        == {
            "text": {"content": [block]},
            "structured": {"content": [], "structuredContent": {"blocks": [block]}},
            "both": {"content": [block], "structuredContent": {"blocks": [block]}},
        }[response_format]
    )
    required = None if response_format == "text" else ["blocks"]
    assert [schema and schema["required"] for schema in schemas] == [required] * len(schemas)
    # Every client shows a failed call's text, and only that.
    assert error.keys() == {"content", "isError"}
    assert error["isError"] is True
    assert error["content"][0]["text"].startswith("nowhere.go does not exist")


def test_an_unknown_argument_is_refused_with_the_likely_one(server: Connected) -> None:
    assert server.error("find_symbol_definitions_by_name", symbol_name="Lend", include_hovers=True) == (
        "unknown argument 'include_hovers' (did you mean 'include_hover'?). find_symbol_definitions_by_name takes: "
        "symbol_name, kind, path, dependencies, similar, limit, include_hover, include_code, format, "
        "wait, answer_within, syntactic."
    )


def test_an_unknown_tool_is_refused_with_those_that_there_are(server: Connected) -> None:
    names = [tool.name for tool in server.tools()]
    with pytest.raises(MCPError) as caught:
        server.call("find_references")
    assert caught.value.error.code == -32602
    assert caught.value.error.message == f"unknown tool 'find_references'; available: {', '.join(names)}"


def test_a_cursor_that_was_never_given_is_refused(project: Path) -> None:
    with raw("--workspace-root", str(project)) as server:
        server.initialize()
        refused = server.request("tools/list", {"cursor": "2"})
    assert refused["error"]["code"] == -32602
    assert "unknown cursor '2'" in refused["error"]["message"]


def test_a_list_of_tools_that_stays_is_not_said_to_change(project: Path) -> None:
    with raw("--workspace-root", str(project)) as server:
        assert server.initialize()["capabilities"]["tools"] == {"listChanged": False}


def test_nonsense_on_the_wire_is_survived(project: Path) -> None:
    with raw("--workspace-root", str(project), "--log-level", "debug") as server:
        server.initialize()
        for line in ("", "{", "[]", '{"jsonrpc": "2.0"}', '"\\ud800"', "\x00\xff", '{"jsonrpc": "2.0", "method": "x"}'):
            server.write(line)
        assert "error" in server.request("tools/call", {"name": "list_symbols_in_file", "arguments": [1]})
        assert "error" in server.request("tools/nothing")
        assert server.call("list_symbols_in_file", file_path="loan/loan.go")["isError"] is False


# --- several at once, and cancelling -----------------------------------------------------------------


def test_a_second_call_is_answered_while_a_slow_one_waits(fake: FakeWorkspace, mode: Mode) -> None:
    fake.script({"rules": {"initialized": READY, "textDocument/references": [["hold"]]}})
    with connected(*flags(fake), mode=mode) as server:
        slow = server.start("find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6")
        wait_until(lambda: "textDocument/references" in fake.methods(), fake.folder)
        assert "No symbols found" in server.answer("list_symbols_in_file", file_path="a.go")
        assert not slow.done()
        slow.cancel()


def test_cancelling_a_call_cancels_the_language_servers_request(fake: FakeWorkspace, mode: Mode) -> None:
    fake.script({"rules": {"initialized": READY, "textDocument/references": [["hold"]]}})
    with connected(*flags(fake), mode=mode) as server:
        slow = server.start("find_symbol_references_by_anchor", symbol_anchor="go://a.go#3:6")
        wait_until(lambda: "textDocument/references" in fake.methods(), fake.folder)
        slow.cancel()
        with pytest.raises(CancelledError):
            slow.result(BOUND)
        wait_until(lambda: bool(fake.params("$/cancelRequest")), fake.folder)
        (asked,) = [message["id"] for message in fake.received() if message.get("method") == "textDocument/references"]
        assert fake.params("$/cancelRequest") == [{"id": asked}]
        assert "No symbols found" in server.answer("list_symbols_in_file", file_path="a.go")


def test_a_client_that_waits_is_told_what_for(fake: FakeWorkspace) -> None:
    begin, end = READY
    fake.script({"rules": {"initialized": [begin], "textDocument/didOpen": [end]}})
    with raw(*flags(fake)) as server:
        server.initialize()
        arguments = {"symbol_anchor": "go://a.go#3:6"}
        params = {"name": "find_symbol_references_by_anchor", "arguments": arguments, "_meta": {"progressToken": "p"}}
        server.send({"id": "slow", "method": "tools/call", "params": params})
        progress = server.receive()
        assert progress["method"] == "notifications/progress"
        assert progress["params"]["progressToken"] == "p"
        assert progress["params"]["message"] == "gopls: indexing (Setting up workspace)"
        # An outline needs nothing but the file; opening it makes the fake say that it is ready.
        assert server.call("list_symbols_in_file", file_path="a.go")["isError"] is False


# --- the end -----------------------------------------------------------------------------------------

Way = Literal["end of input"] | signal.Signals
WAYS: tuple[Way, ...] = ("end of input", signal.SIGTERM, signal.SIGINT, signal.SIGKILL)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: getattr(way, "name", way))
@pytest.mark.parametrize("when", ["at the start", "after an answer", "during a call"])
def test_however_the_server_ends_nothing_is_left_of_it(fake: FakeWorkspace, project: Path, way: Way, when: str) -> None:
    fake.script({"rules": {"initialized": READY, "textDocument/references": [["hold"]]}})
    with raw(*(flags(fake) if when == "during a call" else ["--workspace-root", str(project)])) as server:
        server.initialize()
        if when == "after an answer":
            server.call("list_symbols_in_file", file_path="loan/loan.go")
        if when == "during a call":
            params = {"name": "find_symbol_references_by_anchor", "arguments": {"symbol_anchor": "go://a.go#3:6"}}
            server.send({"id": "slow", "method": "tools/call", "params": params})
            wait_until(lambda: "textDocument/references" in fake.methods(), fake.folder)
        below = Watched(descendants(server.process.pid))
        assert below.pids, "the language server runs"
        end_by(server, way)
        status = server.process.wait(END)
        below.wait_gone()
        assert status == (-signal.SIGKILL if way == signal.SIGKILL else 0)
        for line in server.rest().splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
        assert "Traceback" not in server.said()


@pytest.mark.parametrize("way", WAYS[:3], ids=lambda way: getattr(way, "name", way))
def test_a_language_server_that_will_not_end_is_killed(fake: FakeWorkspace, way: Way) -> None:
    sleeper = [sys.executable, "-c", "import signal; signal.pause()"]
    stubborn: list[Any] = [["shut_ears"], ["spawn", sleeper, False], ["stall"]]
    fake.script({"rules": {"initialized": READY, "textDocument/references": stubborn}})
    with raw(*flags(fake)) as server:
        server.initialize()
        params = {"name": "find_symbol_references_by_anchor", "arguments": {"symbol_anchor": "go://a.go#3:6"}}
        server.send({"id": "slow", "method": "tools/call", "params": params})
        wait_until(lambda: bool(fake.spawned()), fake.folder)
        below = Watched([*fake.pids(), *fake.spawned()])
        end_by(server, way)
        assert server.process.wait(END) == 0
        below.wait_gone()


# --- a language server that is not there -------------------------------------------------------------


def test_without_gopls_each_call_says_how_to_get_it_until_it_is_there(tmp_path: Path, project: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    go = shutil.which("go")
    assert go
    (programs / "go").symlink_to(go)
    nowhere = str(tmp_path / "nowhere")
    env = {"PATH": str(programs), "HOME": nowhere, "GOPATH": nowhere, "GOBIN": nowhere, "LSP_MCP_SERVERS": nowhere}
    env["GOCACHE"] = str(tmp_path / "cache")
    with connected("--workspace-root", str(project), env=env) as server:
        for _ in range(2):
            error = server.error("list_symbols_in_file", file_path="loan/loan.go")
            assert "gopls is not installed" in error
            assert "lsp-mcp install gopls" in error
        assert server.tools()
        (programs / "gopls").symlink_to(find_command(load_adapter("gopls"))[0])
        assert "Found 17 symbols" in server.answer("list_symbols_in_file", file_path="loan/loan.go")


def test_a_gopls_path_that_leads_nowhere_is_said_in_each_call(project: Path) -> None:
    with connected("--workspace-root", str(project), "--gopls-path", "/nowhere/gopls") as server:
        error = server.error("list_symbols_in_file", file_path="loan/loan.go")
        assert "/nowhere/gopls" in error
        assert server.tools()


# --- the fixture -------------------------------------------------------------------------------------


def test_the_go_project_of_the_tests_and_the_demo_builds(project: Path) -> None:
    env = {**os.environ, **GO_ENV, "GOWORK": "off"}
    for command in (["go", "vet", "./..."], ["go", "test", "./..."]):
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=BOUND, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
