"""`lsp-mcp call --batch`: read calls from stdin and answer them in order."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click

from lsp_mcp.backend import Report, no_report
from lsp_mcp.cli.call import Here, Outcome, ToolCall
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.sessions.running import Running
from lsp_mcp.visible import quoted, visible_lines


def call_batch(flags: ServerFlags, *, as_json: bool) -> int:
    """Answer each line of stdin; returns the exit status, that of the worst call.

    Raises:
        ConfigError: see `ServerFlags.sessions`.
    """
    running = flags.running()
    try:
        return asyncio.run(_answer_all(running, flags, as_json=as_json))
    finally:
        running.kill()


async def _answer_all(running: Running, flags: ServerFlags, *, as_json: bool) -> int:
    running.begin()
    here = Here(running, flags)
    worst = 0
    try:
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            outcome = await answered(
                line.decode("utf-8", "replace"), here, no_report, as_json=as_json, terminal=sys.stdout.isatty()
            )
            if outcome:
                for text in outcome.err:
                    click.echo(text, err=True)
                click.echo(outcome.out)
                worst = max(worst, outcome.status)
    finally:
        await running.close()
    return worst


async def answered(line: str, here: Here, report: Report, *, as_json: bool, terminal: bool) -> Outcome | None:
    """What the call on one `line` prints; None if the line is empty or a comment (`#`)."""
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    try:
        name, arguments = _question(line)
        call = ToolCall(here.flags, name, arguments, as_json=as_json, terminal=terminal)
        found = await call.outcome(here, report)
    except LspMcpError as error:
        call, found = None, Outcome(None, (visible_lines(str(error)),), 2 if isinstance(error, CallerError) else 1)
    if call and call.format == "compact":
        return Outcome(f"> {visible_lines(line)}\n{found.out or ''}\n", found.err, found.status)
    whole: dict[str, Any] = {"question": line, "status": found.status}
    if found.out is not None:
        whole["answer"] = _parsed(found.out)
    if found.err:
        whole["remarks" if found.out is not None else "error"] = "\n".join(found.err)
    return Outcome(json.dumps(whole, ensure_ascii=False), (), found.status)


def _question(line: str) -> tuple[str, Sequence[str] | dict[str, Any]]:
    """The tool and its arguments: `TOOL KEY=VALUE ...` as in a shell, or `{"tool": …, "arguments": {…}}`.

    Raises:
        CallerError: it is neither.
    """
    try:
        if not line.startswith("{"):
            name, *words = shlex.split(line)
            return name, words
        found = json.loads(line)
        name, arguments = found["tool"], found.get("arguments", {})
    except (ValueError, LookupError) as error:
        raise CallerError(
            f'{quoted(line)} is neither TOOL KEY=VALUE ... nor {{"tool": NAME, "arguments": {{...}}}}: {error}'
        ) from None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise CallerError(f"{quoted(line)}: `tool` must be a name, and `arguments` an object")
    return name, arguments


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
