"""Running git without executing anything that a repository configures."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.errors import LspMcpError
from lsp_mcp.wire.process import run

_TIMEOUT = 20.0  # seconds
# Turns off what a repository's configuration could run under names that are known.
_GIT = (
    "git",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "diff.external=",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
    "-c",
    "protocol.allow=never",  # a partial clone fetches what it lacks, by any command that it names
)
PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")


async def git_command(root: Path) -> tuple[str, ...]:
    """git with options by which nothing runs that is configured in the folder `root`, its filters included.

    Raises:
        LspMcpError: git is missing, takes too long, or has a filter that cannot be turned off.
    """
    _, printed = await run(
        [*_GIT, "config", "-z", "--name-only", "--get-regexp", r"^filter\."], cwd=root, timeout=_TIMEOUT
    )
    drivers = sorted({key[: key.rindex(".")] for key in printed.split("\0") if key.count(".") > 1})
    if unclear := [driver for driver in drivers if "=" in driver]:
        raise LspMcpError(f"git is not run in {root}: the name of {unclear[0]!r} in its configuration has a `=`")
    off = [f"{driver}.{key}" for driver in drivers for key in ("clean=", "smudge=", "process=", "required=false")]
    return (*_GIT, *(word for one in off for word in ("-c", one)))


async def git_output(root: Path, *arguments: str) -> str | None:
    """The output of git in the folder `root`; None if it refuses, is missing, or takes too long."""
    try:
        status, printed = await run([*await git_command(root), *arguments], cwd=root, timeout=_TIMEOUT)
    except LspMcpError:
        return None
    return None if status else printed
