"""The debug tools beside a language server: its anchors are breakpoints, and stacks hand out what code tools read."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from asking import skip_without as skip_without_server
from debugging.debuggers import PROGRAMS, skip_without
from mcp_process import connected

skip_without_server("gopls")
skip_without("dlv")

TEST = """package main

import "testing"

func TestPlans(t *testing.T) {
	morning, _ := plans()
	if morning[1] != "sow" {
		t.Errorf("got %v", morning)
	}
}
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("anchors")
    shutil.copytree(PROGRAMS / "go", root, dirs_exist_ok=True)
    (root / "main_test.go").write_text(TEST)
    return root


def test_anchors_are_breakpoints_and_come_back_in_stacks_and_the_test_command_of_find_impact_is_debugged(
    root: Path,
) -> None:
    flags = ("--workspace-root", str(root), "--backend", "gopls", "--toolset", "debug")
    with connected(*flags) as server:
        said: list[str] = []

        def ask(tool: str, **arguments: Any) -> Any:
            result = server.call(tool, **arguments)
            said[:] = [block.text for block in result.content]  # type: ignore[union-attr]
            assert not result.is_error, said
            return json.loads(said[0])

        found = server.answer("find_symbol_definitions_by_name", symbol_name="with")
        [anchor] = set(re.findall(r"go://main\.go#10:\d+", found))
        path = root / "main.go"
        path.write_text("// One line more.\n" + path.read_text())
        impact = ask("find_impact", symbols=["with"])
        [command] = [one for one in re.findall(r'go test [^"]+', json.dumps(impact)) if "TestPlans" in one][:1]
        stop = ask("debug_start", test=command, breakpoints=[anchor], wait=50)
        assert said[1].startswith(f"anchor moved: {anchor} →")
        assert (stop["state"], stop["function"]) == ("stopped", "garden.with")
        context = ask("debug_context")
        assert context["anchor"].startswith("go://main.go#11:")
        assert "func with(plan []string" in server.answer("read_symbol", symbols=[context["anchor"]])
        by_name = ask("debug_breakpoints", at="last")
        assert "main.go:24" in by_name["breakpoints"][0]
        ask("debug_stop")
