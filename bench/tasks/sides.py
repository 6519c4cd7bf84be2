"""Who does a task: `ours` with lsp-mcp, `another` with any MCP server, `script` with a shell.

All give what an agent would have read.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_client import McpClient

Calls = Sequence[tuple[str, dict[str, Any]]]


@dataclass
class Done:
    """What was done: how many calls, and what came back; `failed` has the errors."""

    calls: int = 0
    answers: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """How much an agent has read."""
        return sum(len(answer.encode()) for answer in (*self.answers, *self.failed))


async def ours(client: McpClient, calls: Calls, *, first_right: bool) -> Done:
    """The calls one after the other; with `first_right` only until one succeeds."""
    done = Done()
    for tool, arguments in calls:
        done.calls += 1
        try:
            done.answers.append(await client.text(tool, arguments))
        except Exception as error:  # noqa: BLE001 (whatever a call ends with is what the agent reads)
            done.failed.append(str(error))
            continue
        if first_right:
            break
    return done


async def another(
    command: Sequence[str],
    root: Path,
    before: Calls,
    groups: Sequence[Calls],
    *,
    edit: Callable[[], None] = lambda: None,
) -> list[Done]:
    """What came of each group of calls of the MCP server that `command` starts in `root`.

    Those `before`, and `edit` then, do not count.
    """
    server = StdioServerParameters(command=command[0], args=list(command[1:]), cwd=root, env=dict(os.environ))
    async with Client(server, mode="legacy") as client:
        for tool, arguments in before:
            await client.call_tool(tool, arguments)
        edit()
        return [await _group(client, calls) for calls in groups]


async def _group(client: Client, calls: Calls) -> Done:
    done = Done()
    for tool, arguments in calls:
        done.calls += 1
        try:
            result = await client.call_tool(tool, arguments)
        except Exception as error:  # noqa: BLE001 (as `ours`)
            done.failed.append(str(error))
            continue
        said = "\n".join(block.text for block in result.content if block.type == "text")
        (done.failed if result.is_error else done.answers).append(said)
    return done


def script(root: Path, commands: list[str]) -> Done:
    """The commands one after the other, each a call of a shell."""
    done = Done()
    for command in commands:
        done.calls += 1
        ran = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, check=False)
        done.answers.append(ran.stdout + ran.stderr)
    return done
