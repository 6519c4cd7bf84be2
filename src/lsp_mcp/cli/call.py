"""`lsp-mcp call`: any tool from the shell."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import click

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.sessions.neovims import Neovims
from lsp_mcp.sessions.sessions import Sessions
from lsp_mcp.toolsets.offered import offered_tools, tools_without_sessions, toolset_of
from lsp_mcp.toolsets.tool import Call, Tool


def list_tools(*, as_json: bool) -> None:
    """Print every tool: its arguments, and what it does in one line."""
    tools = _known_tools().values()
    if as_json:
        shown = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools
        ]
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for tool in tools:
        what = tool.description.split("\n")[0]
        click.echo(f"{click.style(tool.name, bold=True)}\n    {what}\n    {_usage(tool)}")
    click.echo("\nCall one:  lsp-mcp call TOOL KEY=VALUE ...", err=True)


def call_tool(flags: ServerFlags, name: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Call the tool `name` with `words` (`key=value`); exit status 1 if it has no answer.

    On a terminal the answer is the compact text; piped, or with `as_json`, the JSON.

    Raises:
        CallerError: there is no such tool, or a word is no `key=value`.
        ConfigError: see `ServerFlags.sessions`.
    """
    known = _known_tools()
    if name not in known:
        raise CallerError(f"there is no tool {name!r}; there is: {', '.join(known)}")
    arguments = dict(_argument(word, known[name]) for word in words)
    people = sys.stdout.isatty() and not as_json
    running = flags.running()
    neovims = running if isinstance(running, Neovims) else None
    sessions = running.code if isinstance(running, Neovims) else running
    call = Call(format="compact" if people else "json")
    try:
        offered = {tool.name: tool for tool in offered_tools(sessions, flags.settings(), neovims)}
        if name not in offered:
            toolset = toolset_of(name)
            left_out = toolset in flags.without_toolsets
            how = f"leave out --without-toolset {toolset}" if left_out else f"add --toolset {toolset}"
            how = "add --backend nvim" if toolset == "nvim" and not left_out else how
            raise CallerError(f"it belongs to the toolset {toolset}; {how}")
        tool = offered[name]
        answer = asyncio.run(_call(running, tool, arguments, call))
    except LspMcpError as error:
        click.echo(f"{name}: {str(error).removeprefix(f'{name}: ')}", err=True)
        sys.exit(1)
    finally:
        running.kill()
    click.echo(answer)
    for remark in call.remarks:
        click.echo(remark, err=True)


async def _call(running: Sessions | Neovims, tool: Tool, arguments: dict[str, Any], call: Call) -> str:
    running.begin()
    try:
        with _Waiting() as waiting:
            call.report = waiting.report
            return await tool.call(call, arguments)
    finally:
        await running.close()


class _Waiting:
    """Shows on a terminal's stderr what is waited for; silent elsewhere."""

    def __enter__(self) -> _Waiting:
        self._status: Any = None
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting …")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    async def report(self, done: float, total: float | None, message: str) -> None:
        if self._status:
            self._status.update(message)


def _known_tools() -> dict[str, Tool]:
    """The tools by name, to look at: no server is started, so none of these can be called."""
    return {tool.name: tool for tool in tools_without_sessions(CallerError("no server was started"))}


def _usage(tool: Tool) -> str:
    """Its arguments, those in brackets may be left out."""
    fields = tool.model.model_fields.items()
    return " ".join(name if field.is_required() else f"[{name}]" for name, field in fields)


def _argument(word: str, tool: Tool) -> tuple[str, Any]:
    """`key=value`; the value is JSON where the tool doesn't want text: `limit=5`, `apply=false`."""
    key, equals, value = word.partition("=")
    if not equals:
        raise CallerError(f"{word!r} is not KEY=VALUE; {tool.name} takes: {_usage(tool)}")
    wanted = tool.input_schema.get("properties", {}).get(key, {}).get("type")
    if wanted == "string" or (wanted is None and value[:1] not in ("{", "[")):
        return key, value
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
