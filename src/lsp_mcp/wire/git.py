"""Running git without executing anything that a repository configures."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.errors import LspMcpError
from lsp_mcp.wire.process import run

_TIMEOUT = 20.0  # seconds
# Disables everything that a repository's configuration could run.
GIT = (
    "git",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "diff.external=",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
)
PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color")


async def git_output(root: Path, *arguments: str) -> str | None:
    """The output of git in the folder `root`; None if it refuses, is missing, or takes too long."""
    try:
        status, printed = await run([*GIT, *arguments], cwd=root, timeout=_TIMEOUT)
    except LspMcpError:
        return None
    return None if status else printed
