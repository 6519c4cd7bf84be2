"""What a real bash offers while `lsp-mcp …` is typed."""

import os
import subprocess
from pathlib import Path

import pytest

from cli.cli_helpers import Run
from mcp_process import BOUND, PROGRAM

# As readline calls the function; it splits words at `=`.
TYPED = """
eval "$(lsp-mcp completion bash)"
compopt() { :; }
typed() {
    COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _lsp_mcp_completion lsp-mcp && echo "${COMPREPLY[*]}" | tr '\\n' ' ' && echo
}
"""


def test_commands_tools_arguments_and_names_are_completed(project: Path) -> None:
    expected = {
        "lsp-mcp doct": "doctor",
        "lsp-mcp call find_impl": "find_implementations",
        "lsp-mcp call check s": "severity= since= syntactic=",
        "lsp-mcp call check since = s": "start",
        "lsp-mcp setup claude": "claude-code claude-desktop",
        "lsp-mcp install g": "gopls",
        "lsp-mcp --backend g": "gopls",
        "lsp-mcp --backend gopls --backend n": "nvim",
        "lsp-mcp call --toolset de": "debug",
        "lsp-mcp --without-toolset l": "lsp lua",
    }
    lines = [f"typed {line}" for line in expected]
    env = {**os.environ, "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}", "LSP_MCP_SHARED": "1"}
    found = subprocess.run(
        ["bash", "-c", "\n".join([TYPED, *lines])],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * BOUND,
        check=True,
    )
    assert found.stderr == ""
    assert [line.strip() for line in found.stdout.splitlines()] == list(expected.values())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_of_its_own(run: Run, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_LSP_MCP_COMPLETE" in script and f"{shell}_complete" in script
    if shell == "bash":
        assert "[[ $value == *= ]] && compopt -o nospace" in script and "-o default -F" in script
    if shell == "fish":
        assert 'set -l metadata (string split --max 1 "," $completion)' in script
        assert 'echo "$flag$metadata[2]"' in script and "echo $metadata[2]" not in script
