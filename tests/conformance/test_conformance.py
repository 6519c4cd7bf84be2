"""The MCP conformance suite against its own fixtures behind our transports: every scenario passes on HTTP and stdio."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mcp_process import BOUND

HERE = Path(__file__).parent
MODULES = HERE.parent.parent / ".tools" / "conformance" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REFERENCE = str(HERE / "reference_server.py")
COMMANDS = {
    "http": [REFERENCE, "http"],
    "stdio": [str(HERE / "stdio_bridge.py"), sys.executable, REFERENCE, "stdio"],
}
OF_HTTP = "dns-rebinding-protection"  # the bridge's own, where the server is on stdio

if not SUITE.is_file():
    pytest.skip("the MCP conformance suite is not installed: scripts/tools.sh conformance", allow_module_level=True)


@contextmanager
def served(words: list[str]) -> Iterator[int]:
    """The port of a server that runs."""
    env = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline().split()[-1])
        finally:
            process.kill()


@pytest.mark.parametrize("transport", COMMANDS)
def test_every_scenario_passes(transport: str, tmp_path: Path) -> None:
    with served(COMMANDS[transport]) as port:
        command = [str(MODULES / "node" / "bin" / "node"), str(SUITE), "server", "--suite", "all"]
        done = subprocess.run(
            [*command, "--url", f"http://localhost:{port}/mcp"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20 * BOUND,
            check=False,
        )
    results = {name: mark for mark, name in re.findall(r"^(.) ([\w-]+): \d+ passed", done.stdout, re.M)}
    assert len(results) > 30, done.stdout + done.stderr
    failed = {name for name, mark in results.items() if mark != "✓"}
    assert failed <= ({OF_HTTP} if transport == "stdio" else set()), done.stdout
