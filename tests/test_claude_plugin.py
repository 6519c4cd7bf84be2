"""The plugin for Claude Code in `claude/` is about this version, and names tools that there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import lsp_mcp
from lsp_mcp.errors import CallerError
from lsp_mcp.toolsets.offered import tools_without_sessions

ROOT = Path(__file__).parent.parent


def test_the_marketplace_leads_to_the_plugin_of_this_version() -> None:
    (entry,) = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    plugin = json.loads((ROOT / entry["source"] / ".claude-plugin" / "plugin.json").read_text())
    assert (plugin["name"], plugin["version"]) == (entry["name"], lsp_mcp.__version__)
    server = json.loads((ROOT / entry["source"] / ".mcp.json").read_text())["mcpServers"]["lsp-mcp"]
    assert server["command"] == "lsp-mcp"


def test_the_skill_names_only_tools_that_there_are() -> None:
    skill = (ROOT / "claude" / "skills" / "code-navigation" / "SKILL.md").read_text()
    named = set(re.findall(r"`((?:find|list|read|edit|rename)_\w+|refactor|check)`", skill))
    assert len(named) >= 10
    assert named <= {tool.name for tool in tools_without_sessions(CallerError("only looked at"))}


def test_claude_code_accepts_the_plugin_and_the_marketplace(tmp_path: Path) -> None:
    claude = shutil.which("claude")
    if claude is None:
        pytest.skip("no Claude Code")
    for folder in (ROOT, ROOT / "claude"):
        found = subprocess.run(
            [claude, "plugin", "validate", folder],
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stdout + found.stderr
