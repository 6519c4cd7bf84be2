"""docs/clients.md has every client, with its files and how a person sees that it is connected; real clients agree."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lsp_mcp.clients import client_names, load_client
from mcp_process import BOUND, PROGRAM

PAGE = (Path(__file__).parent.parent / "docs" / "clients.md").read_text("utf-8")


def test_the_page_has_a_row_for_each_client() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "` | " in line and "`) | " not in line]
    expected = []
    for name in client_names():
        client = load_client(name)
        marked = {scope: f"**{scope}**" if scope == client.default_scope else scope for scope in client.scopes}
        files = "; ".join(f"{marked[scope]} `{one.files[0]}`" for scope, one in client.scopes.items())
        expected.append(f"| {client.title} | `{name}` | {files.replace('{root}/', '')} | {client.check} |")
    assert [row for row in rows if row in expected] == expected, "\n".join(expected)


# What each real client says of a server that it knows; not all connect to it.
REAL = {
    "claude-code": ("claude", "local", "✔ Connected"),
    "opencode": ("opencode", "project", "connected"),
    "codex": ("codex", "user", "enabled"),
    "gemini": ("gemini", "project", "lsp-mcp: "),
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_client_lists_the_server_that_setup_wrote(name: str, tmp_path: Path) -> None:
    program, scope, told = REAL[name]
    if not shutil.which(program):
        pytest.skip(f"no {program}")
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    (root / "go.mod").write_text("module example.com/a\n")
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TERM")}
    env = {**kept, "HOME": str(home), "LSP_MCP_SHARED": "0", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def run(*words: str) -> str:
        found = subprocess.run(
            words,
            cwd=root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BOUND,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout + found.stderr

    assert json.loads(run(PROGRAM, "setup", name, "--scope", scope, "--write", "--json"))["state"] == "added"
    listed = run(program, "mcp", "list")
    assert "lsp-mcp" in listed and told in listed
    run(PROGRAM, "setup", name, "--scope", scope, "--remove")
    assert told not in run(program, "mcp", "list")
