"""The hooks of an agent: `lsp-mcp hook`, as the plugin's script runs it, with a real daemon and a real gopls."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without
from mcp_process import BOUND, GO_ENV, PROGRAM
from shared_daemon import SOURCES, Desk, ask, killed_half_way

skip_without("gopls")

PLUGIN = Path(__file__).parent.parent.parent / "claude"
SCRIPT = PLUGIN / "hooks" / "hook.sh"
LONG_ENOUGH = ("--within", str(BOUND))


def hook(desk: Desk, event: object, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **GO_ENV, **desk.env}
    text = event if isinstance(event, str) else json.dumps(event)
    return subprocess.run(
        [PROGRAM, "hook", *words], input=text, env=env, capture_output=True, text=True, timeout=BOUND, check=False
    )


def told(found: subprocess.CompletedProcess[str]) -> str:
    """What the agent reads; empty without an answer."""
    assert (found.returncode, found.stderr) == (0, "")
    return json.loads(found.stdout)["hookSpecificOutput"]["additionalContext"] if found.stdout else ""


def edited(desk: Desk, name: str, text: str) -> dict[str, Any]:
    """The event after a tool wrote `text`, as Claude Code 2.1 has it."""
    path = str(desk.root / name)
    (desk.root / name).write_text(text)
    return {
        "session_id": "0d5c",
        "transcript_path": "/tmp/0d5c.jsonl",
        "cwd": str(desk.root),
        "permission_mode": "acceptEdits",
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": path, "content": text},
        "tool_response": {"type": "create", "filePath": path},
        "tool_use_id": "toolu_1",
        "duration_ms": 7,
    }


def searching(desk: Desk, session: str, command: str) -> dict[str, Any]:
    return {
        "session_id": session,
        "cwd": str(desk.root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Search"},
    }


def test_after_an_edit_the_files_new_errors_are_told_until_there_are_none(desk: Desk) -> None:
    with desk.client() as one:
        ask(one)
        broken = edited(desk, "b.go", "package shared\n\nfunc Three() { Four() }\n")
        assert told(hook(desk, broken, *LONG_ENOUGH)) == (
            "lsp-mcp check: 1 new error in b.go\n3:16| undefined: Four [fix: Create function Four]"
        )
        assert told(hook(desk, edited(desk, "c.go", "package shared\n\nvar five = 5\n"), *LONG_ENOUGH)) == ""
        assert "undefined: Four" in told(hook(desk, broken, *LONG_ENOUGH)), "it is still there"
        right = edited(desk, "b.go", "package shared\n\nfunc Three() { One() }\n")
        assert told(hook(desk, right, *LONG_ENOUGH)) == ""
        # Nothing to say of what no language server knows, of files elsewhere, and in too short a time.
        assert told(hook(desk, edited(desk, "notes.txt", "text\n"), *LONG_ENOUGH)) == ""
        assert told(hook(desk, {**broken, "tool_input": {"file_path": "/etc/hostname"}}, *LONG_ENOUGH)) == ""
        assert told(hook(desk, edited(desk, "b.go", "package shared\n\nvar six = seven\n"), "--within", "1e-5")) == ""


def test_after_an_edit_what_could_not_be_undone_of_another_is_passed_on(desk: Desk) -> None:
    with desk.client() as one:
        ask(one)
        killed_half_way(desk)
        text = f"{SOURCES['a.go'].replace('One', 'Uno')}\nvar mine = 1\n"
        assert told(hook(desk, edited(desk, "a.go", text), *LONG_ENOUGH)).startswith("an earlier edit was interrupted")


def test_a_search_for_an_identifier_is_answered_once_a_session(desk: Desk) -> None:
    with desk.client() as one:
        ask(one)
        assert told(hook(desk, searching(desk, desk.root.as_uri(), "grep -rn 'not found' ."), *LONG_ENOUGH)) == ""
        search = searching(desk, desk.root.as_uri(), "grep -rn NewReader .")
        assert "symbol_anchor=NewReader" in told(hook(desk, search, *LONG_ENOUGH))
        assert told(hook(desk, search, *LONG_ENOUGH)) == ""
        assert "NewReader" in told(hook(desk, {**search, "session_id": f"{desk.root}2"}, *LONG_ENOUGH))


def test_no_daemon_is_started_for_a_hook(desk: Desk) -> None:
    assert told(hook(desk, edited(desk, "b.go", "package shared\n\nvar x = y\n"), *LONG_ENOUGH)) == ""
    assert told(hook(desk, searching(desk, str(desk.root), "grep -rn NewReader ."), *LONG_ENOUGH)) == ""
    assert desk.status() == []


@pytest.mark.parametrize("event", ["", "no JSON", "[" * 100_000])
def test_what_is_not_json_is_said_and_is_not_a_refusal_of_a_tool(desk: Desk, event: str) -> None:
    found = hook(desk, event, *LONG_ENOUGH)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith("lsp-mcp: the hook's input on stdin is not JSON")


@pytest.mark.parametrize("event", [[], {}, {"hook_event_name": "PostToolUse"}, {"tool_input": {"file_path": 7}}])
def test_an_event_that_is_of_no_concern_has_no_answer(desk: Desk, event: object) -> None:
    assert told(hook(desk, event, *LONG_ENOUGH)) == ""


def test_the_plugins_script_never_refuses_a_tool(desk: Desk) -> None:
    """Exit status 2 would: without lsp-mcp, with one that fails, with one that does not know `hook`."""
    shell = ["/bin/sh", str(SCRIPT)]
    folder = desk.root.parent / "bin"
    folder.mkdir()
    for program in ("", "exit 2", "echo no such command >&2; exit 2", "kill -9 $$"):
        if program:
            (folder / "lsp-mcp").write_text(f"#!/bin/sh\n{program}\n")
            (folder / "lsp-mcp").chmod(0o755)
        found = subprocess.run(
            shell, input="{}", env={"PATH": str(folder)}, capture_output=True, text=True, check=False
        )
        assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_the_plugins_hooks_run_the_script_that_asks_for_the_project(desk: Desk) -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    commands = {one["command"] for groups in hooks.values() for group in groups for one in group["hooks"]}
    (command,) = commands
    env = {**os.environ, **GO_ENV, **desk.env, "CLAUDE_PLUGIN_ROOT": str(PLUGIN), "CLAUDE_PROJECT_DIR": str(desk.root)}
    env["PATH"] = f"{Path(PROGRAM).parent}{os.pathsep}{env['PATH']}"
    with desk.client(PATH=env["PATH"]) as one:
        ask(one)
        event = {**edited(desk, "b.go", "package shared\n\nfunc Three() { Four() }\n"), "cwd": "/"}
        command += f" --within {BOUND}"
        found = subprocess.run(
            command, shell=True, input=json.dumps(event), env=env, capture_output=True, text=True, check=False
        )
        assert "undefined: Four" in told(found)
