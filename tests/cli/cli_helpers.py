"""What the tests of the command line share: the fake adapter, and programs that are shell scripts."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]
"""Called with the words after `lsp-mcp`."""

Programs = Callable[[str, str], Path]
"""Called with a name and the lines of a shell script: puts that program on PATH."""

FAKE_ADAPTER = """
name = "fake"
title = "Fake, a server for tests"
command = ["fakels", "--stdio"]
version_command = ["fakels", "version"]

[[requires]]
command = ["maker", "version"]
get = "ask the fairies for a maker"

[[languages]]
id = "fake"
name = "Fake"
scheme = "fake"
extensions = [".fake"]

[install]
version = "1.2.3"
command = ["maker", "make", "fakels@{version}"]
env = { MAKER_TARGET = "{folder}" }
"""
# The whole program with the adapters of another folder, as a process of its own.
DRIVER = """
import sys
from pathlib import Path
import lsp_mcp.adapters
lsp_mcp.adapters.data_folder = lambda name: Path(sys.argv[1]) / name
from lsp_mcp.cli.main import main
main(sys.argv[2:], prog_name="lsp-mcp")
"""


def program(path: Path, script: str) -> Path:
    """A shell script at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def start(fake_adapters: Path, *words: str) -> subprocess.Popen[str]:
    """`lsp-mcp` with the fake adapter, as a process."""
    command = [sys.executable, "-c", DRIVER, str(fake_adapters), *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        preexec_fn=respects_interrupts,  # noqa: PLW1509 (no thread of these tests holds a lock then)
    )


def respects_interrupts() -> None:
    """Where the tests run in the background, SIGINT is ignored, and so it would be by what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
