"""One way to debug, as data: which tools of an MCP server a client calls, and what their answers say.

`ways/NAME.toml` has these fields:

- `command` starts the server on stdio; `folder` is the environment variable that names where it is installed.
- `debuggers`: by debugger, values for the calls of that language.
- `operations`: by name, calls as `[TOOL, ARGUMENTS]`. `{name}` stands for a value; an argument without a value is left
  out. An operation without calls is answered by the last answer; one that is missing is not offered.
- `sessions`: the name of the session that an operation begins, where answers do not say it.
- `settle`: a call that is repeated until its answer matches `settled`, where `"settle"` stands among the calls.
- `facts`: patterns that find a fact in the text of an answer; a fact that `Seen` does not have is a value for later
  calls. `states`: its words for `stopped`, `running`, `ended`.
- `hunts`: calls until the cause of a bug, `found`, is in an answer.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import TextContent

WAYS = Path(__file__).with_name("ways")
_NAME = re.compile(r"\{(\w+)\}")
_MISSING = object()
_SETTLE = 8.0  # seconds that a repeated call is repeated for, each
_PAUSE = 0.1  # seconds between repetitions
_CALL = 60.0  # seconds for one call: a hang


class NotOfferedError(Exception):
    """The server has no tool for it."""


@dataclass(frozen=True)
class Way:
    """The contents of one file."""

    name: str
    title: str
    command: list[str]
    debuggers: Mapping[str, Mapping[str, Any]]
    facts: Mapping[str, str]
    operations: Mapping[str, list[Any]]
    states: Mapping[str, str] = field(default_factory=dict)
    hunts: list[Mapping[str, Any]] = field(default_factory=list)
    folder: str = ""
    sessions: Mapping[str, str] = field(default_factory=dict)
    settle: list[Any] = field(default_factory=list)
    settled: str = ""

    @property
    def missing(self) -> str:
        """What is not installed; empty if it can run."""
        if self.folder and not os.environ.get(self.folder):
            return f"{self.folder} names no folder in which it is installed (see {WAYS.name}/{self.name}.toml)"
        return ""


def load(name: str) -> Way:
    """The way of that name."""
    return Way(name=name, **tomllib.loads((WAYS / f"{name}.toml").read_text("utf-8")))


@dataclass(frozen=True)
class Seen:
    """What an operation let a client see."""

    text: str
    state: str = ""
    at: str = ""  # FILE:LINE
    function: str = ""
    code: str = ""
    signal: str = ""
    session: str = ""
    refused: bool = False

    @property
    def line(self) -> int:
        """The line of `at`; 0 if it says none."""
        number = re.search(r"\d+$", self.at)
        return int(number[0]) if number else 0


class Hand:
    """Does the operations of a way with one debugger, and counts calls and bytes."""

    def __init__(self, way: Way, client: Client, root: Path, debugger: str) -> None:
        self.way = way
        self._client = client
        self._values: dict[str, Any] = {**filled(way.debuggers[debugger], {"root": str(root)}), "root": str(root)}
        self._last = Seen("")
        self.root = root
        self.sessions: set[str] = set()  # that it has begun
        self.calls = 0
        self.said = 0  # bytes of the answers

    async def do(self, operation: str, /, **values: Any) -> Seen:
        """What it lets a client see.

        Raises:
            NotOfferedError: the way has no such operation.
        """
        calls = self.way.operations.get(operation)
        if calls is None:
            raise NotOfferedError(operation)
        if calls:
            self._last = await self.run(calls, values)
            if operation in self.way.sessions and self._last.state not in ("", "ended"):
                self._last = replace(self._last, session=self.way.sessions[operation])
        return self._last

    async def run(self, calls: list[Any], values: Mapping[str, Any]) -> Seen:
        """The same of calls that do not belong to an operation."""
        texts, refused = [], None
        for one in calls:
            if values.get("session"):
                self._values["id"] = values["session"]
            text, failed = await (self._settle() if one == "settle" else self._call(one, values))
            for name in self.way.facts.keys() - Seen.__dataclass_fields__.keys():
                if found := self._found(name, text):
                    self._values[name] = int(found) if found.isdecimal() else found
            refused = failed if refused is None else refused  # what follows the first call only looks
            texts.append(text)
        text = "\n".join(texts)
        facts = {name: self._found(name, text) for name in ("state", "at", "function", "code", "signal", "session")}
        facts["at"] = re.sub(r'","line":', ":", facts["at"])
        state = self.way.states.get(facts.pop("state"), self._found("state", text))
        facts["session"] = facts["session"] or self._values.get("id", "")
        if facts["session"]:
            self.sessions.add(facts["session"])
        return Seen(text, state, refused=bool(refused), **facts)

    def _found(self, fact: str, text: str) -> str:
        found = re.findall(self.way.facts.get(fact, "(?!)"), text)
        return str(found[-1]) if found else ""

    async def _settle(self) -> tuple[str, bool]:
        tool, arguments = self.way.settle
        loop = asyncio.get_running_loop()
        until = loop.time() + _SETTLE
        wanted = self.way.settled.replace("{id}", str(self._values.get("id", "")))
        while True:
            calls, said = self.calls, self.said
            text, failed = await self._call([tool, arguments], {})
            if re.search(wanted, text) or loop.time() > until:
                return text, failed
            self.calls, self.said = calls, said
            await asyncio.sleep(_PAUSE)

    async def _call(self, call: list[Any], values: Mapping[str, Any]) -> tuple[str, bool]:
        tool, template = call
        arguments = filled(template, {**self._values, **values})
        self.calls += 1
        try:
            async with asyncio.timeout(_CALL):
                result = await self._client.call_tool(tool, arguments)
        except MCPError as error:
            self.said += len(str(error).encode())
            return str(error), True
        text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
        self.said += len(text.encode())
        return text, bool(result.is_error) or bool(self._found("refused", text))


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its values; what has no value, or an empty one, is left out."""
    if isinstance(template, dict):
        pairs = {key: filled(one, values) for key, one in template.items()}
        return {key: one for key, one in pairs.items() if one is not _MISSING}
    if isinstance(template, list):
        return [one for one in (filled(one, values) for one in template) if one is not _MISSING]
    if not isinstance(template, str):
        return template
    if whole := _NAME.fullmatch(template):
        value = values.get(whole[1])
        return _MISSING if value in (None, False, "") and whole[1] != "stdin" else value
    if any(name not in values for name in _NAME.findall(template)):
        return _MISSING
    return _NAME.sub(lambda name: str(values[name[1]]), template)


@asynccontextmanager
async def connected(way: Way, root: Path, **values: str) -> AsyncIterator[Client]:
    """A client of the server of `way`, from its start to its end."""
    known = {
        "root": str(root),
        "lsp_mcp": str(Path(sys.executable).with_name("lsp-mcp")),
        "folder": os.environ.get(way.folder, ""),
        **values,
    }
    command = [filled(word, known) for word in way.command]
    server = StdioServerParameters(
        command=shutil.which(command[0]) or command[0],
        args=command[1:],
        env={**os.environ, "LSP_MCP_SHARED": "0"},
        cwd=str(root),
    )
    async with Client(server, mode="legacy") as client:
        yield client
