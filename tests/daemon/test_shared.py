"""Sessions and shell calls that share one daemon: one language server for all, and nothing lost when one dies."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from asking import skip_without
from lsp_mcp.adapters import adapter_names
from lsp_mcp.cli.options import _options
from lsp_mcp.door import place
from lsp_mcp.door.request import OF_A_CLIENT, OF_WHAT_RUNS, SWITCHES, DaemonRequest, daemon_request
from mcp_process import BOUND, PROGRAM
from shared_daemon import REFERENCES, SOURCES, Desk, Played, answer, ask, played

skip_without("gopls")


def test_sessions_and_calls_share_one_language_server_and_have_anchors_of_their_own(desk: Desk) -> None:
    with desk.client() as one, desk.client("--format", "compact") as other:
        assert "Found 2 references" in ask(one)
        assert "Found 2 references" in answer(other.call("find_symbol_references_by_anchor", symbol_anchor="One"))
        called = desk.run("call", REFERENCES[0], "symbol_anchor=One", "--format", "compact")
        assert called.stdout.startswith("Found 2 references"), called.stderr
        (about,) = desk.status()
        assert {client["pid"] for client in about["clients"]} == {one.process.pid, other.process.pid}
        assert about["root"] == str(desk.root)

        # What one client was given is followed for that one: to a new one, the position is what is there now.
        assert "3:6 function| func One" in answer(one.call("list_symbols_in_file", file_path="a.go", format="compact"))
        (desk.root / "a.go").write_text(SOURCES["a.go"].replace("func One", "func Zero() {}\n\nfunc One"))
        at = "go://a.go#3:6"
        assert "5:6" in answer(one.call("find_symbol_references_by_anchor", symbol_anchor=at, format="compact"))
        with desk.client() as third:
            assert "Found 1 ref" in answer(third.call("find_symbol_references_by_anchor", symbol_anchor=at))


def test_a_flood_of_calls_of_one_client_does_not_hold_up_another(desk: Desk) -> None:
    flood = 300
    name, arguments = REFERENCES
    with desk.client() as one, desk.client() as other:
        assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
        for number in range(flood):
            one.send({"id": 1000 + number, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        assert one.receive()["id"] >= 1000  # it has begun
        assert "Found 2 references" in ask(other)
        one.send({"id": 2, "method": "ping"})
        answered = 1
        while one.receive()["id"] != 2:
            answered += 1
        assert answered < flood, "the other client waited for all of them"


def test_progress_goes_to_who_asked_and_a_cancelled_call_ends_in_the_daemon(desk: Desk) -> None:
    with desk.client() as one, desk.client() as other:
        assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
        servers = desk.daemon().children()
        for server in servers:
            server.suspend()
        name, arguments = REFERENCES
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": "token"}}
        one.send({"id": 101, "method": "tools/call", "params": params})
        assert one.receive()["params"]["progressToken"] == "token"
        other.send({"id": 102, "method": "ping"})
        assert other.receive()["id"] == 102
        one.send({"method": "notifications/cancelled", "params": {"requestId": 101}})
        one.send({"id": 103, "method": "ping"})
        while (message := one.receive()).get("id") != 103:
            assert message["method"] == "notifications/progress"
        assert desk.status()[0]["calls"] == 0
        for server in servers:
            server.resume()
        assert "Found 2 references" in ask(one)


def test_edits_of_two_clients_at_once_are_made_one_after_the_other(desk: Desk) -> None:
    with desk.client() as one, desk.client() as other:
        for number in range(3):
            for client, name in ((one, "One"), (other, "Two")):
                arguments = {"symbol_anchor": f"{name}{number or ''}", "new_name": f"{name}{number + 1}"}
                params = {"name": "rename_symbol_by_anchor", "arguments": arguments}
                client.send({"id": 7, "method": "tools/call", "params": params})
            for client in (one, other):
                result = client.receive()["result"]
                assert not result.get("isError"), answer(result)
        assert (desk.root / "a.go").read_text() == SOURCES["a.go"].replace("One", "One3").replace("Two", "Two3")


def test_an_edit_whose_caller_is_gone_while_it_waits_for_another_is_not_made(desk: Desk) -> None:
    def rename(name: str) -> dict[str, Any]:
        return {"name": "rename_symbol_by_anchor", "arguments": {"symbol_anchor": name, "new_name": f"{name}x"}}

    with desk.client() as one, desk.client() as other:
        assert "Found 2 references" in ask(one) and "Found 2 references" in ask(other)
        servers = desk.daemon().children()
        for server in servers:
            server.suspend()
        one.send({"id": 101, "method": "tools/call", "params": {**rename("One"), "_meta": {"progressToken": 1}}})
        assert one.receive()["params"]["progressToken"] == 1  # it has begun
        other.send({"id": 102, "method": "tools/call", "params": {**rename("Two"), "_meta": {"progressToken": 2}}})
        assert "an earlier call is being carried out" in other.receive()["params"]["message"]
        batch = desk.start("call", "--batch")
        assert batch.stdin
        batch.stdin.write(f"{json.dumps({'tool': rename('Two')['name'], **rename('Two')})}\n".encode())
        batch.stdin.flush()
        assert any(desk.status()[0]["calls"] == 3 for _ in range(BOUND)), "the batch does not arrive"
        batch.kill()
        batch.communicate()
        other.send({"method": "notifications/cancelled", "params": {"requestId": 102}})
        assert any(desk.status()[0]["calls"] == 1 for _ in range(BOUND)), "they still wait"
        for server in servers:
            server.resume()
        while one.receive().get("id") != 101:
            pass
        assert "Found 2 references" in answer(other.call(REFERENCES[0], symbol_anchor="Onex", format="compact"))
        assert (desk.root / "a.go").read_text() == SOURCES["a.go"].replace("One", "Onex")


def test_many_doors_at_once_start_one_daemon(desk: Desk) -> None:
    with ThreadPoolExecutor(12) as pool:
        words = ("call", REFERENCES[0], "symbol_anchor=One", "--format", "compact")
        found = list(pool.map(lambda _: desk.run(*words), range(12)))
    assert all(one.stdout.startswith("Found 2 references") for one in found), found
    assert len(desk.status()) == 1
    assert len(list(desk.home.glob("*.log"))) == 1


def test_another_environment_or_another_set_of_servers_is_another_daemon(desk: Desk) -> None:
    with desk.client() as one, desk.client(GOFLAGS="-tags=other") as other, desk.client("--backend", "gopls") as third:
        assert all("Found 2" in ask(client) for client in (one, other, third))
        assert len({about["pid"] for about in desk.status()}) == 3
    with desk.client(TERM="dumb", CLAUDE_SESSION="1") as same:
        assert "Found 2" in ask(same)
        assert len(desk.status()) == 3


def test_who_may_do_other_things_is_served_by_another_daemon(desk: Desk) -> None:
    with desk.client() as one:
        ask(one)
        before = os.umask(0o077)  # what a daemon makes for others would not be private
        try:
            assert desk.run("call", "list_symbols_in_file", "file_path=a.go").returncode == 0
        finally:
            os.umask(before)
        assert len(desk.status()) == 2


def test_a_client_goes_on_when_the_daemon_is_killed_between_its_calls(desk: Desk) -> None:
    with desk.client() as client:
        assert "restarted" not in ask(client)
        daemon = desk.daemon()
        servers = daemon.children(recursive=True)
        daemon.kill()
        told = ask(client)
        assert "Found 2 references" in told and "lsp-mcp restarted" in told
        assert "restarted" not in ask(client)
        daemon = desk.daemon()
        daemon.kill()
        assert not psutil.wait_procs([daemon], BOUND)[1]
        renamed = client.call("rename_symbol_by_anchor", symbol_anchor="One", new_name="Eins")
        assert not renamed.get("isError"), "no daemon had begun it, so the next one does"
        assert not psutil.wait_procs(servers, BOUND)[1], "a language server outlives its daemon"
        assert desk.daemon().pid != daemon.pid


def test_a_question_that_dies_with_the_daemon_is_asked_again_and_an_edit_is_not(desk: Desk) -> None:
    with played(desk) as (listening, _), desk.client() as client:
        daemon = Played(listening)
        assert "served" in daemon.heard()
        daemon.say({"serves": "1", "writing": ["rename_symbol_by_anchor", "nvim_*"]})
        name, arguments = REFERENCES
        client.send({"id": 104, "method": "tools/call", "params": {"name": "nvim_of_a_user", "arguments": {}}})
        client.send({"id": 101, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        rename = {"symbol_anchor": "One", "new_name": "Eins"}
        client.send(
            {"id": 102, "method": "tools/call", "params": {"name": "rename_symbol_by_anchor", "arguments": rename}}
        )
        client.send({"id": 103, "method": "tools/list", "params": {}})
        # It dies with all of them in its hands: what it never got, the next daemon does.
        while daemon.heard().get("id") != 103:
            pass
        listening.close()
        daemon.close()
        messages: dict[int, Any] = {}
        while len(messages) < 4:
            message = client.receive()
            messages[message["id"]] = message["result"]
        assert "Found 2 references" in answer(messages[101])
        for number in (102, 104):
            assert messages[number]["isError"] and "not known whether it changed anything" in answer(messages[number])
        assert messages[103]["tools"]
        assert "One" in (desk.root / "a.go").read_text()


def test_an_edit_that_does_not_reach_a_daemon_is_made_by_the_next(desk: Desk) -> None:
    with played(desk) as (listening, _), desk.client() as client:
        daemon = Played(listening)
        daemon.heard()
        daemon.say({"serves": "1", "writing": ["rename_symbol_by_anchor"]})
        client.send({"id": 101, "method": "ping"})
        while (message := daemon.heard()).get("id") != 101:
            pass
        daemon.say({"jsonrpc": "2.0", "id": 101, "result": {}})
        while client.receive().get("id") != message["id"]:
            pass
        daemon.reads_no_more()
        rename = {"symbol_anchor": "One", "new_name": "Eins"}
        client.send(
            {"id": 102, "method": "tools/call", "params": {"name": "rename_symbol_by_anchor", "arguments": rename}}
        )
        # The door has found that when it looks for the next daemon.
        listening.close()
        daemon.close()
        while (message := client.receive()).get("id") != 102:
            pass
        assert not message["result"].get("isError"), answer(message["result"])
        assert (desk.root / "a.go").read_text() == SOURCES["a.go"].replace("One", "Eins")


def test_a_question_that_runs_while_the_daemon_is_stopped_is_asked_again(desk: Desk) -> None:
    with desk.client() as client:
        ask(client)
        servers = desk.daemon().children()
        for server in servers:
            server.suspend()  # so that the question runs until then
        name, arguments = REFERENCES
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": "token"}}
        client.send({"id": 101, "method": "tools/call", "params": params})
        assert client.receive()["params"]["progressToken"] == "token"  # it has arrived
        assert desk.run("daemon", "stop").returncode == 0
        while (message := client.receive()).get("method") == "notifications/progress":
            pass
        assert message["id"] == 101 and "Found 2 references" in answer(message["result"])
        assert not psutil.wait_procs(servers, BOUND)[1]


def test_a_daemon_that_was_stopped_has_ended_when_the_command_returns(desk: Desk) -> None:
    with desk.client() as client:
        ask(client)
        daemon = desk.daemon()
        for server in daemon.children():
            server.suspend()  # so that its end takes a while
        assert desk.run("daemon", "stop").returncode == 0
        assert not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE


def test_a_daemon_whose_folder_is_removed_serves_on_and_ends_with_its_last_client(desk: Desk) -> None:
    with desk.client() as client:
        ask(client)
        daemon = desk.daemon()
        shutil.rmtree(desk.home)
        assert "restarted" not in ask(client)
        assert desk.run("call", *("list_symbols_in_file", "file_path=a.go")).returncode == 0
        assert desk.daemon().pid != daemon.pid
    assert not psutil.wait_procs([daemon], BOUND)[1]
    assert desk.daemon().pid != daemon.pid, "it took the place of the next one away"


def test_a_folder_that_is_removed_while_a_daemon_is_started_is_made_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(desk.runtime))
    asked = DaemonRequest((), (), str(desk.root), {})
    left = [desk.home]

    def removed(path: str) -> socket.socket | None:
        if left:
            shutil.rmtree(left.pop())
        return connected(path)

    connected = place._connected
    monkeypatch.setattr(place, "_connected", removed)
    monkeypatch.setattr(place, "_spawn", lambda *_: None)
    connection = place.connect(asked)
    assert connection
    connection.close()
    for file in desk.home.iterdir():
        file.unlink()


def test_a_runtime_folder_with_a_long_path_is_replaced_by_another(desk: Desk, tmp_path: Path) -> None:
    long = tmp_path / ("long" * 25)
    long.mkdir(mode=0o700)
    place = {"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(long)}
    called = desk.run("call", "list_symbols_in_file", "file_path=a.go", "--idle-timeout", "0", **place)
    assert called.returncode == 0 and not called.stderr
    assert Path("/tmp", f"lsp-mcp-{os.geteuid()}").is_dir()


def test_a_daemon_that_was_killed_leaves_nothing_that_stops_the_next(desk: Desk) -> None:
    with desk.client() as client:
        ask(client)
        desk.daemon().kill()
    assert desk.run("call", *("list_symbols_in_file", "file_path=a.go")).returncode == 0
    assert len(desk.status()) == 1


def test_a_daemon_without_clients_ends_by_itself(desk: Desk) -> None:
    with desk.client("--idle-timeout", "0.2") as client:
        ask(client)
        daemon = desk.daemon()
        servers = daemon.children(recursive=True)
    assert not psutil.wait_procs([daemon, *servers], BOUND)[1]
    assert not list(desk.home.glob("*.sock"))


def test_where_there_is_no_private_folder_each_session_runs_alone(desk: Desk) -> None:
    # A short path: one that is too long for a socket is replaced.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        (Path(folder) / f"lsp-mcp-{os.geteuid()}").mkdir()
        (Path(folder) / f"lsp-mcp-{os.geteuid()}").chmod(0o755)
        with desk.client(XDG_RUNTIME_DIR="", TMPDIR=folder) as client:
            assert "Found 2 references" in ask(client)
            assert f"not shared with other sessions: {place.NO_FOLDER}; see: lsp-mcp doctor" in client.said()
        status = desk.run("daemon", "status", XDG_RUNTIME_DIR="", TMPDIR=folder)
        assert status.stdout == f"no daemon is running; {place.NO_FOLDER}; see: lsp-mcp doctor\n"
    assert desk.status() == []


def test_flags_that_mean_nothing_are_told_as_without_a_daemon(desk: Desk) -> None:
    for flags in (["--toolset", "nope"], ["--compile-commands", "missing.json"], ["--nope"]):
        shared = desk.run("call", "list_symbols_in_file", "file_path=a.go", *flags)
        alone = desk.run("call", "list_symbols_in_file", "file_path=a.go", *flags, "--no-shared")
        assert shared.returncode == alone.returncode != 0
        assert alone.stderr.strip() in shared.stderr
    assert desk.run("call", "nope").stderr == desk.run("call", "nope", "--no-shared").stderr
    for words in (["file_path=b.go"], ["file_path"], ["nope=1"], ["file_path=a.go", "limit=x"]):
        shared, alone = (desk.run("call", "list_symbols_in_file", *words, *flag) for flag in ([], ["--no-shared"]))
        assert (shared.returncode, shared.stdout, shared.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_every_flag_is_of_a_client_or_of_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_MCP_SHARED", "1")
    flags = _options(adapter_names())
    for flag, (kind, _) in flags.items():
        assert bool(kind.get("is_flag")) == (flag in SWITCHES)
        is_path = flag.endswith("-path") or flag == "--workspace-root"
        assert (flag in OF_A_CLIENT) + (flag in OF_WHAT_RUNS) + is_path == 1, flag


@pytest.mark.parametrize(
    "words",
    [
        *(["doctor"], ["call"], ["call", "list"], ["--help"], ["-h"], ["--version"], ["--transport", "http"]),
        *(["--backend", "dap"], ["--toolset", "board"], ["--no-shared"], ["--workspace-root"], ["call", "x", "--all"]),
    ],
)
def test_what_is_not_a_session_and_not_a_call_of_a_language_server_is_left_to_the_program(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSP_MCP_SHARED", "1")
    assert daemon_request(words) is None


def test_the_door_imports_no_more_than_it_needs() -> None:
    code = "import sys, lsp_mcp.door.serve; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    out = subprocess.run([Path(PROGRAM).with_name("python"), "-c", code], capture_output=True, text=True, check=True)
    heavy = {"click", "asyncio", "pathlib", "mcp", "pydantic", "msgspec", "hashlib", "logging", "subprocess", "rich"}
    assert not heavy & set(out.stdout.split())


def test_a_daemon_starts_language_servers_before_it_imports_what_clients_need() -> None:
    code = "import sys, lsp_mcp.daemon.run; print(*sys.modules)"
    out = subprocess.run([Path(PROGRAM).with_name("python"), "-c", code], capture_output=True, text=True, check=True)
    imported = set(out.stdout.split())
    assert "lsp_mcp.lsp.process.connection" in imported
    late = {
        "mcp",
        "pydantic",
        "rich",
        "lsp_mcp.toolsets.offered",
        "lsp_mcp.render.answers",
        "lsp_mcp.cli.call",
        "lsp_mcp.nvim",
    }
    assert not late & imported


def test_no_daemon_is_started_for_a_workspace_root_that_does_not_exist(desk: Desk) -> None:
    nowhere = desk.root / "nowhere"
    called = desk.run("--workspace-root", str(nowhere), "call", "check")
    message = f"lsp-mcp: the workspace root {nowhere} does not exist; pass --workspace-root FOLDER\n"
    assert (called.returncode, called.stdout, called.stderr) == (2, "", message)


def test_who_asks_first_after_a_restart_is_told_of_it_and_so_are_earlier_sessions_but_no_later_one(desk: Desk) -> None:
    with desk.client() as one, desk.client() as two:
        ask(one), ask(two)
        servers = desk.daemon().children()
        for server in servers:
            server.kill()
        assert not psutil.wait_procs(servers, BOUND)[1]
        assert "gopls restarted" in ask(one) and "gopls restarted" in ask(two)
        with desk.client() as three:
            assert "restarted" not in ask(three)
        called = desk.run("call", REFERENCES[0], "symbol_anchor=One", "--format", "compact")
        assert "Found 2 references" in called.stdout and "restarted" not in called.stdout
        assert "restarted" not in ask(one)


def test_each_session_is_told_what_is_new_since_its_own_last_check(desk: Desk) -> None:
    with desk.client("--format", "compact") as one, desk.client("--format", "compact") as other:
        assert answer(one.call("check")).startswith("No ") and answer(other.call("check")).startswith("No ")
        (desk.root / "b.go").write_text("package shared\n\nvar x = undefined\n")
        assert answer(one.call("check")).startswith("1 new error in 1 file")
        assert answer(one.call("check", since="start")).startswith("1 new error in 1 file")
        assert "1 remaining" in answer(one.call("check"))
        assert answer(other.call("check")).startswith("1 new error in 1 file")
