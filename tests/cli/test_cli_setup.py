"""`lsp-mcp setup`: into every client's file, over whatever is there, and nothing else of it changes."""

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli.cli_helpers import Run, program
from lsp_mcp.cli.config_text import parse
from lsp_mcp.cli.setup import own_command
from lsp_mcp.clients import client_names, load_client, read_client
from lsp_mcp.errors import ConfigError

PROGRAM = own_command()
ARGUMENTS = ["--workspace-root", "."]
IN_FOLDER = ["--workspace-root", "${workspaceFolder}"]

# Client, scope, the file below the project or the home, what a new one holds.
WRITTEN: list[tuple[str, str, str, dict[str, Any]]] = [
    (
        "claude-code",
        "project",
        ".mcp.json",
        {"mcpServers": {"lsp-mcp": {"type": "stdio", "command": PROGRAM, "args": ARGUMENTS}}},
    ),
    (
        "claude-code",
        "user",
        ".claude.json",
        {"mcpServers": {"lsp-mcp": {"type": "stdio", "command": PROGRAM, "args": ARGUMENTS}}},
    ),
    (
        "opencode",
        "project",
        "opencode.json",
        {
            "$schema": "https://opencode.ai/config.json",
            "mcp": {"lsp-mcp": {"type": "local", "command": [PROGRAM, *ARGUMENTS], "enabled": True}},
        },
    ),
    (
        "opencode",
        "user",
        ".config/opencode/opencode.json",
        {
            "$schema": "https://opencode.ai/config.json",
            "mcp": {"lsp-mcp": {"type": "local", "command": [PROGRAM, *ARGUMENTS], "enabled": True}},
        },
    ),
    (
        "cursor",
        "project",
        ".cursor/mcp.json",
        {"mcpServers": {"lsp-mcp": {"type": "stdio", "command": PROGRAM, "args": IN_FOLDER}}},
    ),
    (
        "cursor",
        "user",
        ".cursor/mcp.json",
        {"mcpServers": {"lsp-mcp": {"type": "stdio", "command": PROGRAM, "args": IN_FOLDER}}},
    ),
    (
        "vscode",
        "project",
        ".vscode/mcp.json",
        {"servers": {"lsp-mcp": {"type": "stdio", "command": PROGRAM, "args": IN_FOLDER}}},
    ),
    (
        "codex",
        "user",
        ".codex/config.toml",
        {"mcp_servers": {"lsp-mcp": {"command": PROGRAM, "args": ARGUMENTS, "tool_timeout_sec": 120}}},
    ),
    (
        "codex",
        "project",
        ".codex/config.toml",
        {"mcp_servers": {"lsp-mcp": {"command": PROGRAM, "args": ARGUMENTS, "tool_timeout_sec": 120}}},
    ),
]
PLAIN = {"command": PROGRAM, "args": ARGUMENTS}
IN_PROJECT = {"command": PROGRAM, "args": ["--workspace-root", "{project}"]}


def servers(entry: dict[str, Any], key: str = "mcpServers") -> dict[str, Any]:
    return {key: {"lsp-mcp": entry}}


CLINE = ".cline/data/settings/cline_mcp_settings.json"
GOOSE = {
    "enabled": True,
    "type": "stdio",
    "name": "lsp-mcp",
    "description": "Semantic code navigation, editing and checking",
    "cmd": PROGRAM,
    "args": ARGUMENTS,
    "envs": {},
    "timeout": 120,
}
COPILOT = {"type": "stdio", **PLAIN, "tools": ["*"]}
WRITTEN += [
    ("amp", "project", ".amp/settings.json", servers(PLAIN, "amp.mcpServers")),
    ("amp", "user", ".config/amp/settings.json", servers(PLAIN, "amp.mcpServers")),
    ("claude-code", "local", ".claude.json", {"projects": {"{project}": servers({"type": "stdio", **PLAIN})}}),
    ("claude-desktop", "user", ".config/Claude/claude_desktop_config.json", servers(IN_PROJECT)),
    ("cline", "user", CLINE, servers({**IN_PROJECT, "timeout": 120})),
    ("continue", "project", ".continue/mcpServers/lsp-mcp.json", servers(IN_PROJECT)),
    ("copilot", "project", ".mcp.json", servers(COPILOT)),
    ("copilot", "user", ".copilot/mcp-config.json", servers(COPILOT)),
    (
        "vscode",
        "user",
        ".config/Code/User/mcp.json",
        servers({"type": "stdio", "command": PROGRAM, "args": IN_PROJECT["args"]}, "servers"),
    ),
    ("goose", "user", ".config/goose/config.yaml", servers(GOOSE, "extensions")),
    ("gemini", "project", ".gemini/settings.json", servers(PLAIN)),
    ("gemini", "user", ".gemini/settings.json", servers(PLAIN)),
    ("junie", "project", ".junie/mcp/mcp.json", servers(IN_PROJECT)),
    ("junie", "user", ".junie/mcp/mcp.json", servers(IN_PROJECT)),
    ("kiro", "project", ".kiro/settings/mcp.json", servers(IN_PROJECT)),
    ("kiro", "user", ".kiro/settings/mcp.json", servers(IN_PROJECT)),
    ("roo", "project", ".roo/mcp.json", servers({**PLAIN, "timeout": 120})),
    ("windsurf", "user", ".codeium/windsurf/mcp_config.json", servers(IN_PROJECT)),
    ("zed", "project", ".zed/settings.json", servers(PLAIN, "context_servers")),
    ("zed", "user", ".config/zed/settings.json", servers(PLAIN, "context_servers")),
]
DEFAULTS = [row for row in WRITTEN if load_client(row[0]).default_scope == row[1]]

written = pytest.mark.parametrize(
    ("client", "scope", "name", "config"), WRITTEN, ids=[f"{row[0]}-{row[1]}" for row in WRITTEN]
)


def place(scope: str, name: str, project: Path, home: Path) -> Path:
    return (project if scope == "project" else home) / name


def here(config: dict[str, Any], project: Path) -> dict[str, Any]:
    """`config` with the project's folder."""
    return json.loads(json.dumps(config).replace("{project}", str(project)))


def read(client: str, file: Path) -> dict[str, Any]:
    return parse(file.read_text("utf-8"), load_client(client).format)


def test_every_client_is_tested() -> None:
    assert sorted({row[0] for row in WRITTEN}) == client_names()
    assert len(DEFAULTS) == len(client_names())
    assert {(row[0], row[1]) for row in WRITTEN} == {(n, s) for n in client_names() for s in load_client(n).scopes}


# --- new files -------------------------------------------------------------------------------------


@written
def test_a_new_file_gets_the_entry(
    client: str, scope: str, name: str, config: dict[str, Any], project: Path, home: Path, run: Run
) -> None:
    result = run("setup", client, "--scope", scope, "--write")
    file = place(scope, name, project, home)
    assert (result.exit_code, result.stdout) == (0, f"{file}: server 'lsp-mcp' added.\n")
    assert read(client, file) == here(config, project)
    assert file.read_text().endswith("\n")
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".lsp-mcp")] == []


@written
def test_a_second_run_changes_nothing(
    client: str, scope: str, name: str, config: dict[str, Any], project: Path, home: Path, run: Run
) -> None:
    file = place(scope, name, project, home)
    run("setup", client, "--scope", scope, "--write")
    before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
    for force in ([], ["--force"]):
        result = run("setup", client, "--scope", scope, "--write", *force)
        assert (result.exit_code, result.stdout) == (
            0,
            f"{file} has the server 'lsp-mcp' already; nothing was changed.\n",
        )
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before


@written
def test_without_write_it_shows_on_stdout_just_what_a_new_file_gets(
    client: str, scope: str, name: str, config: dict[str, Any], project: Path, home: Path, run: Run
) -> None:
    file = place(scope, name, project, home)
    result = run("setup", client, "--scope", scope)
    assert result.exit_code == 0
    assert parse(result.stdout, load_client(client).format) == here(config, project)
    assert str(file) in result.stderr
    assert "--write" in result.stderr
    assert not file.exists()
    run("setup", client, "--scope", scope, "--write")
    assert file.read_text() == result.stdout


def test_the_default_scope_is_the_clients(project: Path, home: Path, run: Run) -> None:
    for client, scope, name, config in DEFAULTS:
        assert run("setup", client, "--write").exit_code == 0
        file = place(scope, name, project, home)
        assert read(client, file) == here(config, project)
        file.unlink()  # two clients may read the same one


def test_claude_codes_own_command_is_shown(project: Path, run: Run) -> None:
    assert (
        f"\n  claude mcp add --scope project lsp-mcp -- {PROGRAM} --workspace-root .\n"
        in run("setup", "claude-code").stderr
    )


def test_without_a_client_it_lists_them_all(project: Path, home: Path, run: Run) -> None:
    result = run("setup")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.split("\n") if line and line[0] != " "] == client_names()
    assert f"project: {project}/.mcp.json (default)" in result.stdout
    listed = {client["name"]: client["files"] for client in json.loads(run("setup", "--json").stdout)}
    assert listed["codex"]["user"] == f"{home}/.codex/config.toml"


def test_scripts_get_json(project: Path, run: Run) -> None:
    shown = json.loads(run("setup", "claude-code", "--json").stdout)
    assert (shown["state"], shown["file"], shown["path"]) == (
        "shown",
        f"{project}/.mcp.json",
        ["mcpServers", "lsp-mcp"],
    )
    assert shown["entry"]["args"] == ARGUMENTS
    assert shown["command"][:3] == ["claude", "mcp", "add"]
    assert json.loads(run("setup", "claude-code", "--write", "--json").stdout)["state"] == "added"
    assert json.loads(run("setup", "claude-code", "--write", "--json").stdout)["state"] == "there"


# --- over files that are there ---------------------------------------------------------------------

CLAUDE = """{
    "mcpServers": {
        "github": {
            "type": "http",
            "url": "https://api.example.com/mcp//x"
        }
    },
    "z": [1, 2.50, 1e3, "\\u00e9"]
}
"""
CLAUDE_AFTER = (
    """{
    "mcpServers": {
        "github": {
            "type": "http",
            "url": "https://api.example.com/mcp//x"
        },
        "lsp-mcp": {
            "type": "stdio",
            "command": "PROGRAM",
            "args": [
                "--workspace-root",
                "."
            ]
        }
    },
    "z": [1, 2.50, 1e3, "\\u00e9"]
}
"""
).replace("PROGRAM", PROGRAM)

OPENCODE = """\
// my opencode
{
\t"mcp": {
\t\t// search
\t\t"search": { "type": "remote", "url": "https://example.com" }, /* keep */
\t\t// "old": {},
\t},
\t"theme": "x", // "mcp": {}
}
"""
OPENCODE_AFTER = (
    """\
// my opencode
{
\t"mcp": {
\t\t// search
\t\t"search": { "type": "remote", "url": "https://example.com" }, /* keep */
\t\t// "old": {},
\t\t"lsp-mcp": {
\t\t\t"type": "local",
\t\t\t"command": [
\t\t\t\t"PROGRAM",
\t\t\t\t"--workspace-root",
\t\t\t\t"."
\t\t\t],
\t\t\t"enabled": true
\t\t},
\t},
\t"theme": "x", // "mcp": {}
}
"""
).replace("PROGRAM", PROGRAM)

OPENCODE_2 = """{
  "mcp": {
    "timeout": { "catalog": 1 },
    "servers": {}
  }
}"""
OPENCODE_2_AFTER = (
    """{
  "mcp": {
    "timeout": { "catalog": 1 },
    "servers": {
      "lsp-mcp": {
        "type": "local",
        "command": [
          "PROGRAM",
          "--workspace-root",
          "."
        ]
      }
    }
  }
}"""
).replace("PROGRAM", PROGRAM)

CURSOR = '{"mcpServers":{"a":{"command":"a"}},"b":1}'
CURSOR_AFTER = (
    '{"mcpServers":{"a":{"command":"a"}, "lsp-mcp": {"type": "stdio", "command": "PROGRAM", "args": '
    '["--workspace-root", "${workspaceFolder}"]}},"b":1}'
).replace("PROGRAM", PROGRAM)

VSCODE = '{\r\n  "inputs": [ ] // none\r\n}\r\n'
VSCODE_AFTER = (
    '{\r\n  "inputs": [ ], // none\r\n  "servers": {\r\n    "lsp-mcp": {\r\n      "type": "stdio",\r\n'
    '      "command": "PROGRAM",\r\n      "args": [\r\n'
    '        "--workspace-root",\r\n        "${workspaceFolder}"\r\n      ]\r\n    }\r\n  }\r\n}\r\n'
).replace("PROGRAM", PROGRAM)

CODEX = """\
model = "gpt" # the best

[mcp_servers.docs] # the documentation
command = 'docs'   # a program
env = { KEY = "1" }

# How I work:
[profiles.mine]
model = "x"
"""
CODEX_AFTER = (
    CODEX
    + f"""
[mcp_servers.lsp-mcp]
command = "{PROGRAM}"
args = ["--workspace-root", "."]
tool_timeout_sec = 120
"""
)

OVER = [
    ("claude-code", CLAUDE, CLAUDE_AFTER),
    ("opencode", OPENCODE, OPENCODE_AFTER),
    ("opencode", OPENCODE_2, OPENCODE_2_AFTER),
    ("cursor", CURSOR, CURSOR_AFTER),
    ("vscode", VSCODE, VSCODE_AFTER),
    ("codex", CODEX, CODEX_AFTER),
]
FILES = {client: (scope, name) for client, scope, name, _ in WRITTEN if scope == load_client(client).default_scope}


def put(client: str, content: str | bytes, project: Path, home: Path) -> Path:
    """The file of `client`, which is there with this content."""
    file = place(*FILES[client], project, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(("client", "before", "after"), OVER)
def test_everything_else_in_the_file_stays_as_it_is(
    client: str, before: str, after: str, bom: str, project: Path, home: Path, run: Run
) -> None:
    file = put(client, bom + before, project, home)
    for _ in range(2):
        assert run("setup", client, "--write").exit_code == 0
        assert file.read_bytes().decode() == bom + after


@pytest.mark.parametrize(
    ("client", "content"),
    [("claude-code", ""), ("claude-code", " \n"), ("vscode", "// mine\n"), ("codex", ""), ("codex", "# mine\n")],
)
def test_a_file_that_holds_nothing_gets_the_entry(
    client: str, content: str, project: Path, home: Path, run: Run
) -> None:
    file = put(client, content, project, home)
    assert run("setup", client, "--write").exit_code == 0
    assert file.read_text().startswith(content.strip())
    config = next(row[3] for row in DEFAULTS if row[0] == client)
    assert read(client, file) == here(config, project)


def test_the_file_that_opencode_has_already_is_the_one_that_is_written(project: Path, run: Run) -> None:
    (project / "opencode.jsonc").write_text("{}\n")
    assert run("setup", "opencode", "--write").exit_code == 0
    assert "lsp-mcp" in (project / "opencode.jsonc").read_text()
    assert not (project / "opencode.json").exists()


def test_what_a_user_added_to_our_entry_stays(project: Path, home: Path, run: Run) -> None:
    run("setup", "claude-code", "--write")
    file = project / ".mcp.json"
    edited = file.read_text().replace('"type"', '"timeout": 600000, "type"')
    file.write_text(edited)
    assert "already" in run("setup", "claude-code", "--write").stdout
    assert file.read_text() == edited


@pytest.mark.parametrize(
    ("client", "content"),
    [
        ("claude-code", '{"mcpServers": {"lsp-mcp": {"command": "old", "env": {"A": "1"}}, "b": {}}}'),
        ("claude-code", '{"mcpServers": {"lsp-mcp": "nonsense", "b": {}}}'),
        ("opencode", '{\n  "mcp": {\n    "lsp-mcp": {"type": "remote"}, // c\n    "b": {}\n  }\n}'),
        ("codex", '[mcp_servers.lsp-mcp]\ncommand = "old"\nenv = {A = "1"}\n\n[mcp_servers.b]\n'),
        ("codex", '[mcp_servers.b]\n[mcp_servers.lsp-mcp]\nurl = "x"\n[mcp_servers.lsp-mcp.headers]\na = "b"\n'),
        ("codex", 'mcp_servers = { b = {}, lsp-mcp = { command = "old" } }\n'),
    ],
)
def test_another_entry_of_that_name_is_replaced_with_force_only(
    client: str, content: str, project: Path, home: Path, run: Run
) -> None:
    file = put(client, content, project, home)
    refused = run("setup", client, "--write")
    assert refused.exit_code == 2
    assert "with other settings: " in refused.stderr
    assert "--force" in refused.stderr
    assert "--name OTHER" in refused.stderr
    assert file.read_text() == content

    done = run("setup", client, "--write", "--force")
    assert done.exit_code == 0
    assert "server 'lsp-mcp' replaced (beside b)." in done.stdout
    assert "It was: " in done.stdout
    config = read(client, file)
    (key,) = config
    ours = here(next(row[3] for row in DEFAULTS if row[0] == client), project)
    assert config[key] == {"b": {}, **ours[key]}


def test_another_name_comes_beside_it(project: Path, run: Run) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {"lsp-mcp": {"command": "old"}}}')
    assert run("setup", "claude-code", "--write", "--name", "lsp").exit_code == 0
    config = json.loads((project / ".mcp.json").read_text())
    assert config["mcpServers"]["lsp-mcp"] == {"command": "old"}
    assert config["mcpServers"]["lsp"]["command"] == PROGRAM


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "a/b"])
def test_a_name_that_not_every_client_takes_is_refused(name: str, project: Path, run: Run) -> None:
    assert run("setup", "claude-code", "--write", "--name", name).exit_code == 2
    assert not (project / ".mcp.json").exists()


# --- what cannot be written ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "content", "message"),
    [
        ("claude-code", '{"mcpServers": {', "it is not JSON: Expecting property name"),
        ("claude-code", '{"a": 1,\n "b": 2 "c": 3}', "line 2 column 9"),
        ("claude-code", '{\n  // mine\n  "mcpServers": {}\n}', "comments are not allowed in this file"),
        ("claude-code", "[]", "it holds a list, not an object"),
        ("claude-code", '{"mcpServers": []}', "its 'mcpServers' is not a table"),
        ("claude-code", '{"mcpServers": null}', "its 'mcpServers' is not a table"),
        ("claude-code", b'{"a": "\xff"}', "it is not UTF-8 (byte 7)"),
        ("claude-code", '{"mcpServers": {}}'.encode("utf-16"), "it is not UTF-8"),
        ("claude-code", "[" * 100_000, "it is nested too deeply"),
        ("vscode", '{"servers": {} /* open', "it is not JSONC"),
        ("vscode", '{"servers": {,}}', "it is not JSONC"),
        ("vscode", '{"a": "b}', "it is not JSONC"),
        ("opencode", '{"mcp": "x"}', "its 'mcp' is not a table"),
        ("codex", "a = \n", "it is not TOML: Invalid value (at line 1, column 5)"),
        ("codex", "mcp_servers = 1\n", "its 'mcp_servers' is not a table"),
        ("codex", "[[mcp_servers]]\n", "its 'mcp_servers' is not a table"),
    ],
)
def test_a_broken_file_is_refused_and_stays_as_it_is(
    client: str, content: str | bytes, message: str, project: Path, home: Path, run: Run
) -> None:
    file = put(client, content, project, home)
    before = file.read_bytes()
    for force in ([], ["--force"]):
        result = run("setup", client, "--write", *force)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"lsp-mcp: {file} cannot be used: ")
        assert message in result.stderr
    assert file.read_bytes() == before
    shown = run("setup", client)
    assert shown.exit_code == 0
    assert PROGRAM in shown.stdout


@pytest.mark.parametrize(
    ("client", "content"),
    [
        ("vscode", '{"servers": {"lsp-mcp": {"command": "old" /* why */}}}'),
        ("codex", '[mcp_servers.lsp-mcp]\ncommand = "old"\nurl = "x" # why\n'),
    ],
)
def test_a_replacement_that_would_lose_a_comment_is_left_to_the_user(
    client: str, content: str, project: Path, home: Path, run: Run
) -> None:
    file = put(client, content, project, home)
    result = run("setup", client, "--write", "--force")
    assert result.exit_code == 2
    assert "without losing something" in result.stderr
    assert "Put this into it yourself" in result.stderr
    assert PROGRAM in result.stderr
    assert file.read_text() == content


def test_a_read_only_file_is_refused(project: Path, run: Run) -> None:
    file = project / ".mcp.json"
    file.write_text(CLAUDE)
    file.chmod(0o444)
    result = run("setup", "claude-code", "--write")
    assert (result.exit_code, file.read_text()) == (1, CLAUDE)
    assert f"{file} is read-only" in result.stderr


def test_a_folder_in_the_place_of_the_file_is_refused(project: Path, run: Run) -> None:
    (project / ".mcp.json").mkdir()
    result = run("setup", "claude-code", "--write")
    assert result.exit_code == 2
    assert "it is not a regular file" in result.stderr


def test_a_file_in_the_place_of_a_folder_is_refused(project: Path, run: Run) -> None:
    (project / ".cursor").write_text("")
    result = run("setup", "cursor", "--write")
    assert result.exit_code in (1, 2)
    assert "Nothing was changed" in result.stderr or "nothing was changed" in result.stderr


def test_the_mode_of_the_file_stays(project: Path, run: Run) -> None:
    file = project / ".mcp.json"
    file.write_text(CLAUDE)
    file.chmod(0o600)
    assert run("setup", "claude-code", "--write").exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(project: Path, tmp_path: Path, run: Run) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text(CLAUDE)
    (project / ".mcp.json").symlink_to(real)
    assert run("setup", "claude-code", "--write").exit_code == 0
    assert (project / ".mcp.json").is_symlink()
    assert real.read_text() == CLAUDE_AFTER


def test_a_link_to_nothing_is_refused(project: Path, tmp_path: Path, run: Run) -> None:
    (project / ".mcp.json").symlink_to(tmp_path / "nowhere.json")
    assert run("setup", "claude-code", "--write").exit_code == 1
    assert (project / ".mcp.json").is_symlink()
    assert not (tmp_path / "nowhere.json").exists()


# --- what is written -------------------------------------------------------------------------------


def test_the_flags_that_were_given_are_what_the_client_starts_it_with(project: Path, run: Run) -> None:
    flags = ["--backend", "gopls", "--gopls-path", "./bin/gopls", "--ready-timeout", "5"]
    wanted = [
        *["--backend", "gopls", "--gopls-path", f"{project}/bin/gopls", "--ready-timeout", "5"],
        *["--workspace-root", "."],
    ]
    for words in (["setup", "claude-code", *flags], [*flags, "setup", "claude-code"]):
        assert json.loads(run(*words, "--json").stdout)["entry"]["args"] == wanted


def test_the_workspace_root_says_which_project(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert run("setup", "claude-code", "--write", "--workspace-root", project).exit_code == 0
    config = json.loads((project / ".mcp.json").read_text())
    assert config["mcpServers"]["lsp-mcp"]["args"] == ARGUMENTS


def test_in_the_users_own_file_a_workspace_root_that_was_given_is_fixed(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    entry = json.loads(run("setup", "codex", "--json", "--workspace-root", "project").stdout)["entry"]
    assert entry["args"][-2:] == ["--workspace-root", str(project)]


def test_a_workspace_root_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("setup", "claude-code", "--workspace-root", tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_an_unknown_client_and_scope_are_named_with_those_that_there_are(project: Path, run: Run) -> None:
    unknown = run("setup", "emacs")
    assert unknown.exit_code == 2
    assert unknown.stderr == (
        f"lsp-mcp: unknown client 'emacs'; available: {', '.join(client_names())}; "
        "for another one: lsp-mcp setup print\n"
    )
    scope = run("setup", "roo", "--scope", "user", "--write")
    assert scope.exit_code == 2
    assert "Roo Code has no scope 'user' that lsp-mcp can use; it has: project" in scope.stderr


def test_variables_of_the_environment_move_the_users_files(
    project: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert run("setup", "codex", "--write").exit_code == 0
    assert run("setup", "opencode", "--scope", "user", "--write").exit_code == 0
    assert "lsp-mcp" in (tmp_path / "codex" / "config.toml").read_text()
    assert "lsp-mcp" in (tmp_path / "config" / "opencode" / "opencode.json").read_text()


def test_the_program_is_its_name_where_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = program(tmp_path / "tool" / "lsp-mcp", "exit")
    monkeypatch.setattr(sys, "argv", [str(installed)])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert own_command() == str(installed)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lsp-mcp").symlink_to(installed)
    assert own_command() == "lsp-mcp"


def test_the_program_is_its_full_path_where_path_leads_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = program(tmp_path / "tool" / "lsp-mcp", "exit")
    program(tmp_path / "bin" / "lsp-mcp", "exit 1")
    monkeypatch.setattr(sys, "argv", [str(installed)])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert own_command() == str(installed)


def test_the_program_is_its_full_path_in_an_activated_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = program(tmp_path / "venv" / "bin" / "lsp-mcp", "exit")
    monkeypatch.setattr(sys, "argv", [str(installed)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(installed.parent), "/usr/bin"]))
    assert own_command() == str(installed)


def test_the_path_of_the_program_has_no_detour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = program(tmp_path / "tool" / "lsp-mcp", "exit")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setattr(sys, "argv", ["../tool/lsp-mcp"])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert own_command() == str(installed)


# --- the data --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", client_names())
def test_every_clients_file_has_its_own_name_and_all_that_it_needs(name: str) -> None:
    client = load_client(name)
    assert client.name == name
    assert client.title
    assert client.check
    assert all(scope.after for scope in client.scopes.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title =", "titel ="), "unknown field `titel`"),
        (('format = "json"', 'format = "ini"'), "Invalid enum value 'ini'"),
        (("[scopes.project]", "[scopes.team]"), "Invalid enum value 'team'"),
        (("[[shapes]]", "[[shapes]"), "cannot be used"),
        (('name = "claude-code"', 'name = "claude-code"\ndefault_scope = "user"\nshapes = []\n[x]'), "cannot be used"),
    ],
)
def test_a_wrong_file_of_a_client_is_an_error_that_names_the_key(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    from lsp_mcp.data import data_folder

    text = (data_folder("adapters") / "mcp" / "claude-code.toml").read_text()
    file = tmp_path / "claude-code.toml"
    file.write_text(text.replace(*change, 1))
    with pytest.raises(ConfigError, match=r"the client claude-code\.toml cannot be used") as error:
        read_client(file)
    assert message in str(error.value)


def test_codex_gets_toml_that_others_read_too(project: Path, home: Path, run: Run) -> None:
    file = put("codex", CODEX, project, home)
    run("setup", "codex", "--write")
    assert tomllib.loads(file.read_text())["mcp_servers"]["docs"]["env"] == {"KEY": "1"}


# --- out of a file, and for other clients ----------------------------------------------------------


@written
@pytest.mark.parametrize("also", [False, True], ids=["alone", "beside another"])
def test_what_was_written_is_removed_and_nothing_else(
    client: str, scope: str, name: str, config: dict[str, Any], also: bool, project: Path, home: Path, run: Run
) -> None:
    file = place(scope, name, project, home)
    if also:
        run("setup", client, "--scope", scope, "--write", "--name", "other")
    run("setup", client, "--scope", scope, "--write")
    result = run("setup", client, "--scope", scope, "--remove")
    assert result.exit_code == 0
    gone = "" if also else " Nothing else was in the file, so it was deleted."
    assert result.stdout.startswith(f"{file}: server 'lsp-mcp' removed.{gone}\nIt was: {{")
    if also:
        left = json.dumps(read(client, file))
        assert '"lsp-mcp"' not in left.replace(json.dumps(PROGRAM), "")
        assert '"other"' in left
    else:
        assert not file.exists()
        assert [one.name for one in project.iterdir()] == ["go.mod"]  # no empty folder either
    again = run("setup", client, "--scope", scope, "--remove")
    assert (again.exit_code, again.stdout) == (0, f"{file} has no server 'lsp-mcp'; nothing was changed.\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"mcpServers": {"lsp-mcp": {}, "b": {}}, "c": 1}', '{"mcpServers": {"b": {}}, "c": 1}'),
        ('{"mcpServers": {"b": {}, "lsp-mcp": {}}, "c": 1}', '{"mcpServers": {"b": {}}, "c": 1}'),
        ('{\n  // mine\n  "mcpServers": {\n    "lsp-mcp": {},\n  },\n}', '{\n  // mine\n  "mcpServers": {\n  },\n}'),
    ],
)
def test_what_stands_around_a_removed_entry_stays(before: str, after: str, project: Path, run: Run) -> None:
    (project / ".cursor").mkdir()
    (project / ".cursor" / "mcp.json").write_text(before)
    run("setup", "cursor", "--remove")
    assert parse((project / ".cursor" / "mcp.json").read_text(), "jsonc") == parse(after, "jsonc")
    assert ("// mine" in before) == ("// mine" in (project / ".cursor" / "mcp.json").read_text())


@pytest.mark.parametrize("before", ['{"mcpServers": {}, "a": {}}', "// mine\n{}", '{"a": null}'])
def test_a_file_with_content_of_its_own_is_not_deleted(before: str, project: Path, run: Run) -> None:
    file = project / ".vscode" / "mcp.json"
    file.parent.mkdir()
    file.write_text(before)
    for flag in ("--write", "--remove"):
        assert run("setup", "vscode", flag).exit_code == 0
    assert {**parse(before, "jsonc"), "servers": {}} == {"servers": {}, **parse(file.read_text(), "jsonc")}
    assert ("// mine" in before) == ("// mine" in file.read_text())


def test_a_file_elsewhere_that_a_link_leads_to_is_not_deleted(project: Path, tmp_path: Path, run: Run) -> None:
    link, own = project / ".mcp.json", tmp_path / "dotfiles.json"
    own.write_text("{}")
    link.symlink_to(own)
    for flag in ("--write", "--remove"):
        assert run("setup", "claude-code", flag).exit_code == 0
    assert link.is_symlink()
    assert json.loads(own.read_text()) == {"mcpServers": {}}


def test_the_entry_for_any_other_client_is_printed(project: Path, run: Run) -> None:
    result = run("setup", "print", "--backend", "gopls", "--name", "go")
    arguments = ["--backend", "gopls", "--workspace-root", str(project)]
    assert json.loads(result.stdout) == {"mcpServers": {"go": {"command": PROGRAM, "args": arguments}}}
    assert run("setup", "print", "--write").exit_code == 2


def test_a_named_pipe_in_the_place_of_the_file_is_refused(project: Path, run: Run) -> None:
    os.mkfifo(project / ".mcp.json")
    for flag in ("--write", "--remove"):
        result = run("setup", "claude-code", flag)
        assert result.exit_code == 2
        assert "it is not a regular file" in result.stderr


def test_a_yaml_file_keeps_its_comments_quotes_and_order(project: Path, home: Path, run: Run) -> None:
    file = home / ".config" / "goose" / "config.yaml"
    file.parent.mkdir(parents=True)
    before = """# mine
GOOSE_MODEL: 'gpt'  # the good one
extensions:
  # for files
  developer:
    enabled: true
    args:
      - "-x"
    timeout: 300
GOOSE_MODE: "auto"
"""
    file.write_text(before)
    assert run("setup", "goose", "--write").exit_code == 0
    after = file.read_text()
    assert set(before.splitlines()) <= set(after.splitlines())
    assert parse(after, "yaml")["extensions"]["lsp-mcp"]["args"] == ARGUMENTS
    assert run("setup", "goose", "--remove").exit_code == 0
    assert file.read_text() == before
    for broken in ("a: [", "- 1\n", "extensions: 7\n"):
        file.write_text(broken)
        assert run("setup", "goose", "--write").exit_code == 2
        assert file.read_text() == broken
