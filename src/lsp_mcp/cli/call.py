"""`lsp-mcp call`: any tool from the shell."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import click

from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import CallerError, LspMcpError
from lsp_mcp.sessions import Sessions
from lsp_mcp.toolsets.code import CodeTools
from lsp_mcp.toolsets.tool import Call, Tool, tools_of


def call_tool(flags: ServerFlags, name: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Call the tool `name` with `words` (`key=value`); exit status 1 if it has no answer.

    On a terminal the answer is the compact text; piped, or with `as_json`, the JSON.

    Raises:
        CallerError: there is no such tool, or a word is no `key=value`.
        ConfigError: see `ServerFlags.sessions`.
    """
    sessions = flags.sessions()
    by_name = {tool.name: tool for tool in tools_of(CodeTools(sessions))}
    try:
        tool = by_name.get(name)
        if tool is None:
            raise CallerError(f"there is no tool {name!r}; there is: {', '.join(by_name)}")
        arguments = dict(_argument(word, tool) for word in words)
        people = sys.stdout.isatty() and not as_json
        answer = asyncio.run(_call(sessions, tool, arguments, Call(format="compact" if people else "json")))
    except LspMcpError as error:
        click.echo(f"{name}: {error}", err=True)
        sys.exit(1)
    finally:
        sessions.kill()
    click.echo(answer)


async def _call(sessions: Sessions, tool: Tool, arguments: dict[str, Any], call: Call) -> str:
    sessions.begin()
    try:
        with _Waiting() as waiting:
            call.report = waiting.report
            return await tool.call(call, arguments)
    finally:
        await sessions.close()


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


def _argument(word: str, tool: Tool) -> tuple[str, Any]:
    """`key=value`; the value is JSON where the tool doesn't want text: `limit=5`, `apply=false`."""
    key, equals, value = word.partition("=")
    if not equals:
        raise CallerError(f"{word!r} is not KEY=VALUE; {tool.name} takes: {', '.join(tool.model.model_fields)}")
    wanted = tool.input_schema.get("properties", {}).get(key, {}).get("type")
    if wanted in (None, "string"):
        return key, value
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
