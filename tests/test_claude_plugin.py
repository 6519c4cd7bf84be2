"""The plugin for Claude Code in `claude/` is about this version, and names tools that there are."""

import json
import re
from pathlib import Path

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
