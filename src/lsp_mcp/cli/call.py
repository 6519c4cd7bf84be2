"""`lsp-mcp call`: any tool from the shell."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import click

from lsp_mcp.adapters import adapter_names
from lsp_mcp.backend import Report
from lsp_mcp.cli.help import console
from lsp_mcp.cli.options import ServerFlags
from lsp_mcp.errors import ArgumentsError, CallerError, ConfigError, LspMcpError, defect, unknown
from lsp_mcp.sessions.running import Running
from lsp_mcp.toolsets.lua import PREFIX, LuaTools
from lsp_mcp.toolsets.offered import chosen_toolsets, offered_tools, tool_context, tools_without_sessions, toolset_of
from lsp_mcp.toolsets.tool import Call, Format, Tool
from lsp_mcp.visible import quoted, visible, visible_lines

log = logging.getLogger(__name__)


def list_tools(flags: ServerFlags, *, as_json: bool, every: bool) -> None:
    """Print the tools that can run here (or `every` tool) with their arguments and a one-line description.

    Raises:
        ConfigError: no tool can run here; the message says why. Not raised with `every`.
    """
    flags.check()
    tools = list(known_tools().values())
    try:
        here = chosen_toolsets(flags.fitting(), flags.settings(), through_neovim=flags.through_neovim)
    except ConfigError as error:
        if not every:
            raise ConfigError(f"{error} (--all lists every tool)") from None
        here = []
    needs = {tool.name: _needs(flags, tool.name, here) for tool in tools}
    tools = [tool for tool in tools if every or not needs[tool.name]]
    if as_json:
        shown = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.whole_schema,
                **({"needs": needs[tool.name]} if needs[tool.name] else {}),
            }
            for tool in tools
        ]
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    for tool in tools:
        what = tool.description.split("\n")[0]
        why = f"\n    not here: {needs[tool.name]}" if needs[tool.name] else ""
        click.echo(f"{click.style(tool.name, bold=True)}\n    {what}\n    {_usage(tool)}{why}")
    more = "" if every else "; all tools:  lsp-mcp call list --all"
    click.echo(f"\nCall one:  lsp-mcp call TOOL KEY=VALUE ...{more}", err=True)


def call_tool(flags: ServerFlags, name: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Call the tool `name` with `words` (`key=value`); exit status 1 if it fails, or `check` finds errors.

    Exit status 2: the arguments do not fit it, or `check` could not check everything.

    The answer is compact text on a terminal, and JSON in a pipe or with `as_json`.

    Raises:
        CallerError: there is no such tool, or a word is not `key=value`.
        ConfigError: see `ServerFlags.sessions`.
    """
    tool_call = ToolCall(flags, name, words, as_json=as_json, terminal=sys.stdout.isatty())
    tool_call.check()
    running = flags.running()
    try:
        outcome = asyncio.run(_call(running, tool_call))
    finally:
        running.kill()
    for line in outcome.err:
        click.echo(line, err=True)
    if outcome.out is not None:
        click.echo(outcome.out)
    sys.exit(outcome.status)


@dataclass(frozen=True)
class Outcome:
    """The output of a call, and its exit status."""

    out: str | None
    err: tuple[str, ...] = ()
    status: int = 0


class Here:
    """What is `running`, and its tools for calls with these `flags`: making them takes longer than a warm answer."""

    def __init__(self, running: Running, flags: ServerFlags) -> None:
        self.running = running
        self.flags = flags

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """Those that are offered, by name. Raises ConfigError as `offered_tools`."""
        return {tool.name: tool for tool in offered_tools(tool_context(self.running, self.flags.settings()))}


@dataclass(frozen=True)
class ToolCall:
    """One call from the shell, with arguments as `key=value` or by name; `terminal`: the answer is shown on one."""

    flags: ServerFlags
    name: str
    words: Sequence[str] | Mapping[str, Any]
    as_json: bool
    terminal: bool

    def check(self) -> dict[str, Any]:
        """Check the arguments as far as that is possible before anything runs.

        Raises:
            CallerError: there is no such tool, or a word is not `key=value`.
        """
        known = known_tools()
        in_lua = self.name.startswith(PREFIX)
        if self.name not in known and not in_lua:
            raise CallerError(unknown("tool", self.name, known, listed_by="lsp-mcp call --all"))
        if in_lua and not self.flags.through_neovim:
            raise CallerError(f"{self.name} is a tool of a Neovim; add --backend nvim, or --socket PATH")
        if isinstance(self.words, Mapping):
            return dict(self.words)
        return _arguments(self.words, self.name, {} if in_lua else known[self.name].input_schema)

    async def outcome(self, here: Here, report: Report) -> Outcome:
        """Run the call in `here`, which was opened with the flags of the call. An error of the tool is an outcome too.

        Raises:
            CallerError: see `check`.
        """
        call = Call(format=self.format, report=report)
        arguments = self.check()
        try:
            if self.name.startswith(PREFIX):
                question = _in_lua(here.running, self.name, self.words)
            else:
                question = _question(here, self.name, arguments)
            answer = await question(call)
        except LspMcpError as error:
            said = str(error).removeprefix(f"{self.name}: ").removeprefix(f"{self.name.removeprefix(PREFIX)}: ")
            status = 2 if isinstance(error, ArgumentsError | ConfigError) else 1
            return Outcome(None, (visible_lines(f"{self.name}: {said}"),), status)
        except Exception:
            log.exception("%s failed", self.name)
            where = "the log on stderr, or of the daemon (see: lsp-mcp daemon status), has the details"
            return Outcome(None, (defect(self.name, where),), 1)
        if self.flags.response_format == "text":
            # A Neovim tool may answer with plain text: unchanged for a program, escaped for a terminal.
            shown = visible_lines(answer) if self.terminal else answer
            return Outcome(shown, tuple(call.remarks), _status(call))
        from lsp_mcp.server.envelope import answered

        whole = answered([answer, *call.remarks], self.flags.response_format)
        return Outcome(json.dumps(whole, ensure_ascii=False), (), _status(call))

    @property
    def format(self) -> Format:
        """The form of the answer: as requested, or else chosen by the kind of output."""
        if self.as_json:
            return "json"
        if "--format" in self.flags.given:
            return self.flags.form
        return "compact" if self.terminal else "json"


def _status(call: Call) -> int:
    """The exit status of an answered call, for `lsp-mcp call check && git push`."""
    return 2 if call.is_unfinished else 1 if call.found_errors else 0


def _needs(flags: ServerFlags, tool: str, here: Sequence[str]) -> str:
    """What to change on the command line for `tool` to run, given the toolsets `here`; empty if it runs."""
    toolset = toolset_of(tool)
    if toolset in here:
        return "add --allow-exec-lua" if tool == "exec_lua" and not flags.allow_exec_lua else ""
    if toolset in flags.without_toolsets:
        return f"leave out --without-toolset {toolset}"
    if toolset == "nvim":
        return "add --backend nvim"
    return f"add --backend {toolset}" if toolset in adapter_names() else f"add --toolset {toolset}"


def _question(here: Here, name: str, arguments: dict[str, Any]) -> Callable[[Call], Awaitable[str]]:
    """The call of the tool `name`.

    Raises:
        ArgumentsError: the tool is not offered with these flags.
    """
    if name not in here.tools:
        raise ArgumentsError(f"it belongs to the toolset {toolset_of(name)}; {_needs(here.flags, name, ())}")
    return lambda call: here.tools[name].call(call, arguments)


def _in_lua(running: Running, name: str, words: Sequence[str] | Mapping[str, Any]) -> Callable[[Call], Awaitable[str]]:
    """A call of a Neovim's own tool, whose arguments only that Neovim knows."""

    async def ask(call: Call) -> str:
        assert running.neovims
        lua = LuaTools(running.neovims)
        schema = next((tool.input_schema for tool in await lua.tools() if tool.name == name), {})
        given = dict(words) if isinstance(words, Mapping) else _arguments(words, name, schema)
        return await lua.call(call, name, given)

    return ask


async def _call(running: Running, tool_call: ToolCall) -> Outcome:
    running.begin()
    try:
        with _Waiting() as waiting:
            return await tool_call.outcome(Here(running, tool_call.flags), waiting.report)
    finally:
        await running.close()


class _Waiting:
    """Shows progress on a terminal's stderr; silent elsewhere."""

    def __enter__(self) -> _Waiting:
        self._status: Any = None
        if sys.stderr.isatty():
            self._status = console(stderr=True).status("starting …")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()

    async def report(self, done: float, total: float | None, message: str) -> None:
        if self._status:
            from rich.markup import escape

            self._status.update(escape(visible(message)))


@cache
def known_tools() -> Mapping[str, Tool]:
    """The tools by name, for listing: no server is started, so none of them can be called."""
    return {tool.name: tool for tool in tools_without_sessions(CallerError("no server was started"))}


def _usage(tool: Tool) -> str:
    """The tool's arguments; those in brackets are optional."""
    fields = tool.model.model_fields.items()
    return " ".join(name if field.is_required() else f"[{name}]" for name, field in fields)


def _arguments(words: Sequence[str], tool: str, schema: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for word in words:
        key, value = _argument(word, tool, schema)
        if key in given:
            raise CallerError(f"{key} is given twice; a list is written as JSON: {key}='[...]'")
        given[key] = value
    return given


def _argument(word: str, tool: str, schema: dict[str, Any]) -> tuple[str, Any]:
    """`key=value`; the value is JSON where the tool doesn't want text: `limit=5`, `apply=false`."""
    properties = schema.get("properties", {})
    key, equals, value = word.partition("=")
    if not equals:
        wanted = [name if name in schema.get("required", ()) else f"[{name}]" for name in properties]
        raise CallerError(f"{quoted(word)} is not KEY=VALUE; {tool} takes: {' '.join(wanted)}")
    declared = properties.get(key)
    kind = declared.get("type") if declared else None
    if kind == "string" or (declared and kind is None and value[:1] not in ("{", "[")):
        return key, value
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
