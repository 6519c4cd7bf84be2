"""The state of language servers and the programs that they need: `server_checks`, each a `Check`."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lsp_mcp.adapters import Adapter, Requirement
from lsp_mcp.errors import LspMcpError, MissingProgramError
from lsp_mcp.lsp.process.trial_start import trial_start
from lsp_mcp.programs import Installable, find_command, find_program, installed_folder, version_words
from lsp_mcp.servers.registry import plugin_of
from lsp_mcp.wire.process import run

_TIMEOUT = 5.0  # seconds for a program to print its version
_START_TIMEOUT = 30.0  # seconds for a server to answer `initialize`
_TRIAL_TIMEOUT = 30.0  # seconds for a program to do what a server will ask of it
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")

State = Literal["ok", "low", "missing", "broken", "unusable"]


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    state: State
    needed: bool  # whether any state but "ok" and "low" is a failure
    version: str = ""
    path: str = ""
    note: str = ""  # further information for people
    get: str = ""  # the fix: a command, or a sentence that begins with a verb
    advised: bool = False  # optional, but answers lack much without it: `get` is shown, though nothing has failed

    @property
    def failed(self) -> bool:
        """Whether this makes the exit status 1."""
        return self.needed and self.state in ("missing", "broken", "unusable")


async def server_checks(adapter: Adapter, path: str | None, root: Check, needed: bool) -> list[Check]:
    """The server, and the programs that it needs."""
    place = Path(root.path) if root.state == "ok" else Path.cwd()
    return await asyncio.gather(
        _program(adapter, path, place, needed),
        *(requirement_check(adapter, need, place, needed=needed) for need in adapter.requires),
    )


async def _program(adapter: Adapter, path: str | None, place: Path, needed: bool) -> Check:
    """Whether the server starts. A version that cannot be found out is not a failure."""
    get = f"lsp-mcp install {adapter.name}" if adapter.install else f"install {adapter.title}, and put it on PATH"
    try:
        command = (path, *adapter.command[1:]) if path else find_command(adapter)
        program = path or str(find_program(adapter))
    except MissingProgramError as error:
        return Check(adapter.name, "missing", needed, note=str(error), get=get)
    own = installed_folder(adapter)
    ours = own is not None and Path(program).is_relative_to(own)
    pinned = adapter.install.version if adapter.install else ""
    try:
        told = await trial_start(plugin_of(adapter), command, place, _START_TIMEOUT)
    except LspMcpError as error:
        if path:
            get = f"name another program for {adapter.name}, or none, after: {get}"
        elif ours:
            get = f"{get} --force"
        return Check(adapter.name, "broken", needed, path=program, note=str(error), get=get)
    words = version_words(adapter, Path(program))
    version, problem = await printed_version(words) if words else (pinned if ours else "", "")
    if not version:  # the server may name more than its number
        named = _VERSION.search(told)
        version = named[0] if named else ""
    notes = [
        *(["not tested with lsp-mcp"] if adapter.untested else []),
        *([f"lsp-mcp is tested with {pinned}"] if _differs(version, pinned) and not adapter.untested else []),
        *([f"its version is unknown: {problem}"] if problem and not version else []),
    ]
    return Check(adapter.name, "ok", needed, version, program, "; ".join(notes))


def _differs(version: str, pinned: str) -> bool:
    return bool(version and pinned and version != pinned)


async def requirement_check(adapter: Installable, need: Requirement, place: Path, *, needed: bool) -> Check:
    """Whether a program that `adapter` depends on is there, and works in `place` if it is `needed`."""
    name = f"{need.command[0]} (for {adapter.name})"
    program = shutil.which(need.command[0])
    if program is None:
        return Check(name, "missing", needed, note=f"{need.command[0]} is not on PATH", get=need.get)
    version, problem = await printed_version((program, *need.command[1:]))
    if problem:
        return Check(name, "broken", needed, path=program, note=problem, get=need.get)
    # What is wrong with its settings or the project is its own to say; another program would not help.
    _, problem = await _output(need.trial_command, place, _TRIAL_TIMEOUT) if needed and need.trial_command else ("", "")
    return Check(name, "broken" if problem else "ok", needed, version, program, problem)


async def printed_version(command: Sequence[str]) -> tuple[str, str]:
    """The version that `command` prints, or the problem with it."""
    output, problem = await _output(command, Path.cwd(), _TIMEOUT)
    found = _VERSION.search(output)
    return (found[0], "") if found else ("", problem or f"it prints no version{_first(output)}")


async def _output(command: Sequence[str], place: Path, timeout: float) -> tuple[str, str]:
    """What `command` prints if it succeeds, or the problem with it."""
    try:
        status, output = await run(command, cwd=place, timeout=timeout)
    except LspMcpError as error:
        return "", str(error)
    return ("", f"exit status {status}{_first(output)}") if status else (output, "")


def _first(output: str) -> str:
    return f": {output.partition(chr(10))[0][:200]}" if output else ""
