"""Warm times of the loop's tools on Go code: `run`, `tables`."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from mcp_client import McpClient, started
from raw_client import RawClient
from report import Table
from workload import GoModule, Tree, code

from lsp_mcp.adapters import load_adapter
from lsp_mcp.programs import find_command

_SERVER = "gopls"
_READS, _IMPACTS, _CHECKS = 50, 3, 10
_IMPACT_OF = "executeCommand"  # of cobra, which 188 tests call


@dataclass(frozen=True)
class Time:
    """What some calls took, in seconds, and what took turns with them: as many others, or nothing."""

    what: str
    seconds: list[float]
    others: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Of each call to the other of its turn, in the median: a busy machine is as busy for both."""
        return median(one / other for one, other in zip(self.seconds, self.others, strict=True))


async def run(folder: Path, *, progress: Callable[[str], None]) -> list[Time]:
    """Measure, in copies below `folder`. Raises `RuntimeError` if code cannot be fetched."""
    times = []
    cobra = _copy("cobra", GoModule("github.com/spf13/cobra", "v1.9.1"), folder)
    async with _client(cobra, folder) as client:
        progress("read_symbol, find_impact")
        read = {"symbols": ["Command.ExecuteC"]}
        times.append(Time("read_symbol", await _times(client, "read_symbol", read, _READS)))
        impact = {"symbols": [_IMPACT_OF]}
        answer = json.loads(await client.text("find_impact", {**impact, "format": "json", "limit": 1000}))
        what = f"find_impact, {sum(answer['reached_from'].values()) + len(answer['tests'])} functions come to call it"
        times.append(Time(what, await _times(client, "find_impact", impact, _IMPACTS)))
    progress("check after an edit")
    tools = _copy("tools", GoModule("golang.org/x/tools", "v0.50.0"), folder)
    ours, alone = await _checks(tools, tools / "go" / "packages" / "packages.go", folder)
    times.append(Time("check after an edit in x/tools", ours, alone))
    return times


def tables(times: list[Time]) -> list[Table]:
    """What a person reads."""
    rows = [
        (
            one.what,
            f"{median(one.seconds) * 1000:,.0f}",
            f"{min(one.seconds) * 1000:,.0f}",
            f"{median(one.others) * 1000:,.0f}" if one.others else "",
            f"{one.ratio:.2f}" if one.others else "",
        )
        for one in times
    ]
    head = ("warm", "median, ms", "fastest, ms", "gopls alone, ms", "ratio")
    below = "gopls alone: the same edit, then gopls.diagnose_files, taking turns; ratio: the median of the turns."
    return [Table("Time of the loop's tools", head, rows, below)]


def _client(root: Path, folder: Path) -> Any:
    return started(_SERVER, root, folder / "cache", "--format", "compact", "--request-timeout", "300")


def _copy(name: str, module: GoModule, folder: Path) -> Path:
    source = code(Tree(name=name, code=module, references=[], outlines=[], names=[]))
    return Path(shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(".git")))


async def _times(client: McpClient, tool: str, arguments: dict[str, Any], number: int) -> list[float]:
    async def once() -> float:
        began = time.perf_counter()
        await client.text(tool, arguments)
        return time.perf_counter() - began

    return await _times_of(once, number)


async def _times_of(once: Callable[[], Awaitable[float]], number: int) -> list[float]:
    await once()  # the first is cold
    return [await once() for _ in range(number)]


def _edit(file: Path, number: int) -> None:
    """Another error in the file each time: each edit breaks what depends on it, or fixes it."""
    text = file.read_text("utf-8")
    there = "func Load(cfg *Config, patterns ...string)"
    other = "func Load(cfg *Config, broken int, patterns ...string)"
    file.write_text(text.replace(there, other) if number % 2 == 0 else text.replace(other, there), "utf-8")


async def _checks(root: Path, file: Path, folder: Path) -> tuple[list[float], list[float]]:
    """How long `check` took after each edit, and gopls alone: both run, and take turns, on a machine that is busy."""
    adapter = load_adapter(_SERVER)
    ours: list[float] = []
    alone: list[float] = []
    with RawClient(adapter, find_command(adapter), root, folder / "alone") as raw:
        raw.initialize()
        params = {"command": "gopls.diagnose_files", "arguments": [{"Files": [file.as_uri()]}]}
        raw.request("workspace/executeCommand", params)
        async with _client(root, folder) as client:
            await client.text("check", {})
            for number in range(_CHECKS):
                _edit(file, number)
                for first in (number % 2 == 0, number % 2 == 1):
                    began = time.perf_counter()
                    if first:
                        await client.text("check", {})
                    else:
                        raw.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 2}]})
                        raw.request("workspace/executeCommand", params)
                    (ours if first else alone).append(time.perf_counter() - began)
    return ours, alone
