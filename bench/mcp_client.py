"""lsp-mcp as seen by an MCP client: `started` runs the program and connects to it over stdio."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters

_PROGRAM = Path(sys.executable).with_name("lsp-mcp")
logging.getLogger("client").setLevel(logging.ERROR)  # the SDK warns at each call of a tool that is not listed


@dataclass
class McpClient:
    """A connected lsp-mcp; `pid` is its process, None if the system doesn't tell."""

    client: Client
    pid: int | None

    async def text(self, tool: str, arguments: dict[str, Any]) -> str:
        """The answer of one call.

        Raises:
            RuntimeError: it is an error.
        """
        result = await self.client.call_tool(tool, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise RuntimeError(f"{tool} {arguments} failed: {text}")
        return text

    async def answer(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The answer of one call, read as JSON."""
        answer: dict[str, Any] = json.loads(await self.text(tool, arguments))
        return answer

    async def nothing(self) -> None:
        """A call that does nothing: the cost of MCP, its Python client and two pipes."""
        with suppress(MCPError):
            await self.client.call_tool("no_such_tool", {})

    async def tools_size(self) -> int:
        """Bytes of the list of tools."""
        tools = await self.client.list_tools()
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in tools.tools]
        return len(json.dumps({"tools": shown}, ensure_ascii=False, separators=(",", ":")).encode())

    def cpu(self) -> float | None:
        """Seconds of CPU time used so far by the lsp-mcp process; None as `memory`."""
        if self.pid is None:
            return None
        tasks = (Path("/proc") / str(self.pid) / "task").glob("*/schedstat")
        spent = [int(task.read_text().split()[0]) for task in tasks]
        return sum(spent) / 1e9 if spent else None

    def memory(self) -> tuple[float | None, float | None]:
        """RSS and PSS of the lsp-mcp process alone, in MiB; None where the system doesn't tell."""
        if self.pid is None:
            return None, None
        proc = Path("/proc") / str(self.pid)
        return _field(proc / "status", "VmRSS"), _field(proc / "smaps_rollup", "Pss")


@asynccontextmanager
async def started(backend: str, root: Path, cache: Path, *more: str) -> AsyncIterator[McpClient]:
    """lsp-mcp with `backend` on `root`, in a process of its own, from its start to its end; indexes are in `cache`.

    `more` are arguments of its command line.
    """
    arguments = ["--backend", backend, "--workspace-root", str(root), "--log-level", "error", *more]
    before = _children()
    # Claude Code uses MCP 2025-11-25 with stdio servers: with a handshake.
    server = StdioServerParameters(
        command=str(_PROGRAM), args=arguments, env={**os.environ, "LSP_MCP_CACHE": str(cache), "LSP_MCP_SHARED": "0"}
    )
    failure = None
    async with Client(server, mode="legacy") as client:
        new = _children() - before
        try:
            yield McpClient(client, new.pop() if len(new) == 1 else None)
        except Exception as error:  # noqa: BLE001 (raised below: in here the SDK would wrap it into two groups)
            failure = error
    if failure:
        raise failure


def _children() -> set[int]:
    """The processes that this one has started; empty where the system doesn't tell."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def _field(file: Path, name: str) -> float | None:
    """The figure `name: 123 kB` of a file in /proc, in MiB."""
    try:
        lines = file.read_text().split("\n")
    except OSError:
        return None
    found = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return next((int(kilobytes) / 1024 for kilobytes in found), None)
