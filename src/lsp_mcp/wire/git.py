"""Running git without executing anything that a repository configures."""

from __future__ import annotations

from pathlib import Path

from lsp_mcp.errors import LspMcpError
from lsp_mcp.wire.process import run

_TIMEOUT = 20.0  # seconds
# Turns off what a repository's configuration could run under names that are known. tests/golden/git_config.txt has
# every key of git's, with the way in which those that run something are off.
_GIT = (
    "git",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "diff.external=",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "log.showSignature=false",  # by gpg.program
    "-c",
    "core.quotePath=false",
)
# A partial clone fetches what it lacks, by any command that it names: no protocol is allowed, whatever the keys
# `protocol.*` say. And the index is not written, which runs hooks.
_ENVIRONMENT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
# Those under names that the repository chooses, by the section.
_NAMED = {"filter": ("clean=", "smudge=", "process=", "required=false"), "hook": ("enabled=false",)}
PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")


async def git(root: Path, *arguments: str) -> tuple[int, str]:
    """The exit status and output of git in the folder `root`; nothing that is configured there runs, no filter either.

    Raises:
        LspMcpError: git is missing, takes too long, or has a filter that cannot be turned off.
    """
    pattern = f"^({'|'.join(_NAMED)})\\."
    _, printed = await _run(root, "config", "-z", "--name-only", "--get-regexp", pattern)
    drivers = sorted({key[: key.rindex(".")] for key in printed.split("\0") if key.count(".") > 1})
    if unclear := [driver for driver in drivers if "=" in driver]:
        raise LspMcpError(f"git is not run in {root}: the name of {unclear[0]!r} in its configuration has a `=`")
    off = [f"{driver}.{key}" for driver in drivers for key in _NAMED[driver.partition(".")[0]]]
    return await _run(root, *(word for one in off for word in ("-c", one)), *arguments)


async def git_output(root: Path, *arguments: str) -> str | None:
    """The output of git in the folder `root`; None if it refuses, is missing, or takes too long."""
    try:
        status, printed = await git(root, *arguments)
    except LspMcpError:
        return None
    return None if status else printed


async def _run(root: Path, *arguments: str) -> tuple[int, str]:
    return await run([*_GIT, *arguments], cwd=root, timeout=_TIMEOUT, env=_ENVIRONMENT)
